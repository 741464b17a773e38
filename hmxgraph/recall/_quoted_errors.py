"""The error message that a question quotes, and the past events that report the same error."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hmxgraph.recall.pool import EventPool, Flags, rarity, together
from hmxgraph.recall.question import ANY_FAILURE, Question
from hmxgraph.text.terms import terms

# What a program writes before its message: "failed: TypeError:".
_PREFIX = re.compile(r"^(?:[\w.]*(?:error|exception|fail(?:s|ed)?|fatal)\b[^:]{0,20}:\s*)+", re.IGNORECASE)
# An event reports the same error only if it has this share of the message's words, weighted by rarity.
_SAME_ERROR = 0.6
# An error message must have at least this many words that distinguish it.
_LEAST_TERMS = 2


@dataclass(frozen=True)
class QuotedError:
    """The error message that *question* quotes, if any, and the events of *pool* that report the same error.

    ``event_count``: the number of events of the tenant.
    """

    question: Question
    pool: EventPool
    event_count: int

    @property
    def terms(self) -> tuple[str, ...]:
        """The words of the quotation that distinguish errors; () if they are fewer than two, or it is no error message.

        A quotation is an error message if the question speaks of trouble or certainly quotes an error, or if the result
        of a call has the same message. The result need not be marked as failed: a command that reports failed tests has
        itself worked.
        """
        troubled = self.question.troubled or self.question.reports_error
        is_error = troubled or bool((self._reports & (self.pool.failures | self.pool.successes)).any())
        return tuple(self._weights) if is_error and len(self._weights) >= _LEAST_TERMS else ()

    @property
    def events(self) -> Flags:
        """Which events report the error; none if the question quotes no error."""
        return self._reports if self.terms else np.zeros(len(self.pool), dtype=np.bool_)

    @cached_property
    def sessions(self) -> frozenset[str]:
        """The sessions with an event that reports the error."""
        return frozenset(self.pool.session_id[index] for index in np.flatnonzero(self.events).tolist())

    @property
    def mentions(self) -> Flags:
        """Which events have most of the error's words close together; all events if the question quotes no error."""
        return self._mentions if self.terms else np.ones(len(self.pool), dtype=np.bool_)

    @property
    def is_unknown(self) -> bool:
        """Whether the question certainly quotes an error, and no event has most of its words close together."""
        return bool(self.terms) and self.question.reports_error and not self._mentions.any()

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The rarity of the message's words, except those with digits, which vary, and those in ``ANY_FAILURE``."""
        message_terms = dict.fromkeys(terms(self.question.error))
        specific = [term for term in message_terms if term.isalpha() and term not in ANY_FAILURE]
        frequency = (self.pool.occurrences.counts(specific) > 0).sum(axis=1)
        return dict(zip(specific, rarity(frequency, max(self.event_count, len(self.pool))).tolist(), strict=True))

    @cached_property
    def _reports(self) -> Flags:
        """Which events contain the quoted text; if none do, which results of failed calls mention the error."""
        message, exact = _PREFIX.sub("", self.question.error).casefold().rstrip(".!? "), self._mentions.copy()
        for index in np.flatnonzero(exact).tolist():
            exact[index] = message in self.pool.text[index].casefold()
        return exact if exact.any() else self._mentions & self.pool.failures

    @cached_property
    def _mentions(self) -> Flags:
        """Which events mention the error: they have most of its words close together.

        Words scattered over a text do not count, because a long text has some words of any message.
        """
        return together(self._weights, self.pool, _SAME_ERROR)
