"""The error message that a question quotes, and the past results that report the same error."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hmxgraph.recall.pool import FAILED, EventPool, Flags
from hmxgraph.text.terms import terms

# Words common to all playbooks and failure reports: they do not show which failure is meant.
ANY_FAILURE = frozenset(
    terms(
        "fail fails failed failing failure error errors exception problem issue fix happen wrong"
        " stop tell user call run try again then go before prevent check make sure given corrected work worked help"
    )
)
# A quotation after "with", "says" and the like, or text from "Error:" or "RuntimeError)" on.
_MESSAGE = re.compile(
    r"\b(?:errors?|messages?|by|with|returns?|returned|gives?|got|says?|said|raises?|prints?)\W{0,3}"
    r"[\"\u201c`]([^\"\u201d`]{12,300})"
    r"|(?:\b|\()((?:error:|exception:|\w+(?:error|exception)[:)])\s+[^\"\u201d`\n]{12,300}?)"
    r"(?=[\"\u201d`\n]|[.:?!](?:\s|$)|$)",
    re.IGNORECASE,
)
# The share of the message's words that a result must have to report the same error, and the fewest words of a message.
_SAME_ERROR, _LEAST_TERMS = 0.6, 2
# A failed call with at most this share of the message's words reports another error.
_OTHER_ERROR = 0.5


def quoted_error(text: str) -> str:
    """Return what *text* quotes like an error message, or "".

    >>> quoted_error('The push fails with "no upstream branch". Why?')
    'no upstream branch'
    >>> quoted_error("ship: Error: no carrier here. Why?")
    'Error: no carrier here'
    >>> quoted_error("** (RuntimeError) no key is configured")
    'RuntimeError) no key is configured'

    """
    found = _MESSAGE.search(text)
    return (found[1] or found[2]) if found else ""


def without_reporting_verb(text: str) -> str:
    """Return *text* without the word before a quoted error message.

    >>> without_reporting_verb('fetch returned "Error: all gone"')
    'fetch Error: all gone"'

    """
    return _MESSAGE.sub(lambda match: match[1] or match[2], text)


@dataclass(frozen=True)
class QuotedError:
    """The *message* that a question quotes like an error, or "", and the events of *pool* that report the same error.

    ``troubled``: whether the question speaks of trouble.
    """

    message: str
    troubled: bool
    pool: EventPool

    @property
    def terms(self) -> tuple[str, ...]:
        """The words of the message that tell errors apart; () if they are fewer than two or it is no error message.

        A quotation is an error message if the question speaks of trouble, or if a failed call has most of its words.
        """
        failed = self.troubled or any(self.pool.kinds[at] == FAILED for at in np.flatnonzero(self._alike))
        return self._own_terms if failed and len(self._own_terms) >= _LEAST_TERMS else ()

    @property
    def events(self) -> Flags:
        """Which results report the error; none if the question quotes no error."""
        return self._alike if self.terms else np.zeros(len(self.pool), dtype=np.bool_)

    @cached_property
    def sessions(self) -> frozenset[str]:
        """The sessions with such results."""
        return frozenset(self.pool.session_id[at] for at in np.flatnonzero(self.events).tolist())

    @property
    def is_unknown(self) -> bool:
        """Whether the question quotes an error message that no result reports.

        The quotation must have a word such as "error", and no failed call may have more than half of its words.
        """
        if not self.terms or ANY_FAILURE.isdisjoint(terms(self.message)) or self.sessions:
            return False
        failed = np.array([kind == FAILED for kind in self.pool.kinds], dtype=np.bool_)
        matched = self.pool.occurrences.matched(self.terms)[failed].max(initial=0)
        return bool(matched <= _OTHER_ERROR * len(self.terms))

    @cached_property
    def _own_terms(self) -> tuple[str, ...]:
        """The words of the message without identifiers, which vary, and without words of all failures."""
        own = dict.fromkeys(terms(self.message))
        return tuple(term for term in own if term.isalpha() and term not in ANY_FAILURE)

    @cached_property
    def _alike(self) -> Flags:
        """Which results have the quoted text; if none has, failed calls with most of its words."""
        least = max(_SAME_ERROR * len(self._own_terms), 1)
        alike: Flags = self.pool.results & (self.pool.occurrences.matched(self._own_terms) >= least)
        message, exact = self.message.casefold().rstrip(".!? "), alike.copy()
        for at in np.flatnonzero(alike).tolist():
            exact[at] = message in self.pool.text[at].casefold()
            alike[at] = self.pool.kinds[at] == FAILED
        return exact if exact.any() else alike
