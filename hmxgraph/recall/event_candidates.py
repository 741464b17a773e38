"""Events as candidates: scored as columns, and turned into `Candidate` values only when a pack may use them.

Four terms recur. The *share* of an event is the part of the question's terms, by weight, that it contains. An *example*
is a past session that is shown because its request resembles this one. A *case* is a session about a person or thing
that the question names. A *log of many tasks* is a session too long to be shown as one episode: a pack shows only some
of its steps.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, islice, repeat
from typing import NamedTuple

import numpy as np

from hmxgraph.recall._endings import adds_a_remark
from hmxgraph.recall._examples import changed_fields, decisive_weights
from hmxgraph.recall._steps import LINE, acknowledgements, shortened, steps
from hmxgraph.recall.candidates import (
    EPISODIC,
    SECTION,
    THRESHOLD,
    WEIGHTS,
    Candidate,
    Components,
    Order,
    RecencyDecay,
    scores,
)
from hmxgraph.recall.pool import EventPool, Flags, Floats
from hmxgraph.recall.question import asks, objects, speaks_of_trouble, withdrawn
from hmxgraph.recall.relevance import as_examples
from hmxgraph.text.lines import attributed
from hmxgraph.text.terms import TokenCounter
from hmxgraph.text.terms import terms as terms_of

# One message repeats another if at least the share ``_SAME_REQUEST`` of all terms in either is in both. Only messages
# of at most ``_SHORT_REQUEST`` terms are compared, each with at most ``_MOST_ALIKE`` messages with the same
# particulars.
_SAME_REQUEST, _SHORT_REQUEST, _MOST_ALIKE = 0.6, 40, 64
_NEGATION = re.compile(r"\b(?:no|not|never|without|cannot|nor)\b|n['\u2019]t\b", re.IGNORECASE)
# A word with a digit: a number, a date, an id.
_NUMBER = re.compile(r"\w*\d\w*")
# A word with a capital letter that does not begin a sentence.
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<!\w)[A-Z][\w-]{2,}")
# Number of terms, without numbers, that a sentence which says that something changed shares with what it changed, and
# the length of that statement in tokens.
_SAME_MATTER, _SHORT_STATEMENT = 4, 64
# A name in more events than this does not show that two of them are about the same thing.
_FEW_MESSAGES = 8
# The minimum relevance of an event that matches the question at all, before relevance is scaled by the assurance (how
# well the best events match the question).
HELPS = 0.2
# Weight of recency among nearly equal examples.
_BY_TIME = 0.05
# Factor on examples in which none of the expected changes, or no successful call, was made.
_IF_OTHER = 0.6
# Minimum relevance of an event in an episode shown whole, as a fraction of the relevance of the episode's best event.
# The fraction grows with the event's share of the question, by at most ``_BY_SHARE``.
_WITHIN_EPISODE, _BY_SHARE = 0.5, 0.2
# A message is small talk if it has fewer than ``_FEW_WORDS`` distinct terms, and if its share is at most ``_HARDLY``
# times the largest share.
_FEW_WORDS, _HARDLY = 8, 0.2
# A message that assistants repeat word for word in at least this many sessions is a formula.
_FORMULA = 3
# Factors on the relevance of the best and the last of several cases.
_FIRST_TO_LAST = 1.0, 0.7
# Messages with at most this fraction of the largest share are off topic.
_LITTLE = 0.2
# If the pack has a procedure, an episode of which fewer events than this remain besides its end is dropped.
_FEW_LEFT = 2
# Consecutive words with digits, such as numbers and identifiers. They are ignored when results are compared.
_WITH_DIGITS = re.compile(r"\S*\d\S*(?: \S*\d\S*)*")
# A session of more events than this is a log of many tasks, not one episode.
LONGEST_EPISODE = 256
# Steps of logs are related to the question if they score at least this fraction of the best step.
_NEARLY = 0.65
# Minimum quality of an example, as a fraction of the best one. Measured on 125 requests that went well, in three
# domains: the F1 between the changes that were made and those in the best of three examples was 78.9, 68.9 and 45.5 %;
# with two examples and no minimum, 76.4, 68.9 and 43.0 %. With 0.85 instead of 0.7, packs for 28 questions kept all
# sessions that help to answer them, and six of 26 other sessions were dropped.
_AS_GOOD = 0.85
# An identifier mixes letters and digits ("W2378156"), or is a long number.
_IDENTIFIER = re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z_])\w{5,}\b|\b\d{6,}\b")
# One session is a copy of another if more than this share of the identifiers of the one with fewer are in both.
_ALIKE = 0.5
# In an outline, a message is on topic if its share is at least this fraction of the largest share on its side (people
# or assistants).
_ON_TOPIC = 0.7
# Maximum number of messages on topic that are kept on each side.
_MOST_ON_TOPIC = 3
# In an outline, minimum relevance of requests, changes and the end, as a fraction of the session's top relevance.
_DECISIVE = 0.8
# Relevance of messages on topic, as a fraction of the session's top relevance, in the outline of a session with the
# error that the question is about.
_BESIDE_ERROR = 0.7
# Fraction of the top relevance above which recency counts fully.
FULL_RECENCY = 0.4


class Sketch(NamedTuple):
    """The values of an event that are needed to look for duplicates, without a whole candidate."""

    event_id: str
    words: str
    tokens: int
    score: float


class _Columns(NamedTuple):
    """Columns as lists, because reading single numbers from arrays is much slower."""

    relevance: list[float]
    recency: list[float]
    salience: list[float]
    score: list[float]


@dataclass(frozen=True)
class Episodes:
    """The events of *pool* with their relevance. The methods that change these return a changed copy.

    - ``verdicts``: drop reasons known in advance, by event id.
    - ``timely``: how much recency counts for each event, in [0, 1].
    - ``related``: which events are related to the question; None for all. For the others, every component of the score
      except provenance is 0, so that their low score drops them.
    - ``outcomes``: the last feedback on each session, "positive" or "negative", where known.
    - ``results``: the id of each result's call, keyed by the id of the result, where recorded.
    - ``long_sessions``: the ids of the logs of many tasks.
    - ``step``: for each event, the number of its step in a log that is shown by steps, or -1.
    """

    pool: EventPool
    relevance: Floats
    decay: RecencyDecay
    verdicts: Mapping[str, str] = field(default_factory=dict)
    timely: Floats | float = 1.0
    related: Flags | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    long_sessions: frozenset[str] = frozenset()
    step: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.pool)

    @cached_property
    def recency(self) -> Floats:
        """Recency of each event in [0, 1]: scaled by ``timely``, but not so far that this alone drops the event."""
        decayed = self.decay.recencies(self.pool.times)
        needed = (THRESHOLD - self._scored(np.zeros(len(self)))) / WEIGHTS["recency"]
        recencies: Floats = self._related_factor * np.maximum(self.timely * decayed, np.minimum(decayed, needed))
        return recencies

    @cached_property
    def scores(self) -> Floats:
        """Score of each event; recorded events have full provenance."""
        return self._scored(self.recency)

    def _scored(self, recency: Floats) -> Floats:
        return scores(self._relevance, recency, 1.0, self._salience)

    @property
    def is_related(self) -> Flags:
        """Which events are about the question."""
        return np.broadcast_to(self._related_factor > 0, len(self))

    @cached_property
    def _related_factor(self) -> Floats:
        """1 for related events, 0 for others."""
        return np.ones(len(self)) if self.related is None else self.related.astype(np.float64)

    @cached_property
    def _relevance(self) -> Floats:
        return self._related_factor * self.relevance

    @cached_property
    def _salience(self) -> Floats:
        return self._related_factor * np.array(self.pool.salience, dtype=np.float64)

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns(*(column.tolist() for column in (self._relevance, self.recency, self._salience, self.scores)))

    def best_sessions(
        self,
        most: int,
        eligible: Collection[str],
        shares: Floats,
        failed: Collection[str] = (),
        changes: Collection[str] = (),
        if_failed: float = 1.0,
    ) -> list[str]:
        """Return at most *most* of the *eligible* sessions, best examples first; much worse ones are left out.

        How good a session is depends on the largest of the *shares* and the largest relevance of its events
        (:func:`as_examples`); for a log of many tasks, the relevance of its best step counts as the share, too. Recency
        decides between nearly equal sessions.

        - System prompts are ignored, and so are, except in logs, the answers of assistants, who give many users the
          same advice.
        - Except in logs, the shares of successful results are ignored: what a lookup returned is not what was asked.
        - Sessions that *failed* are multiplied by *if_failed*.
        - Sessions with none of the expected *changes* count less if another session made one of them. If most events
          are of sessions with tool results, sessions without a successful call count less, too.
        """
        factors = np.where(self.pool.of_sessions(failed), if_failed, 1.0)
        if self.pool.of_tools:
            factors[~self.pool.in_sessions_of(self.pool.successes)] = _IF_OTHER
        changed = self.pool.with_tools(changes)
        if changed.any():
            factors[~self.pool.in_sessions_of(changed)] = _IF_OTHER
        answers = (self.pool.by_assistants & ~self.pool.results & ~self._of_logs) | self.pool.prompts
        own_shares = np.where(self.pool.successes | answers, 0.0, shares)
        matched = np.where(self._of_logs, self._relevance, own_shares)
        relevance = np.where(answers, 0.0, self._relevance)
        worth = as_examples(self.pool.sessions, matched, relevance) + _BY_TIME * self.recency
        worth *= factors
        usable = (self.scores >= THRESHOLD) & self.pool.of_sessions(eligible)
        usable &= worth >= _AS_GOOD * worth[usable].max(initial=0.0)
        ranked = (self.pool.session_id[index] for index in np.argsort(-worth, kind="stable").tolist() if usable[index])
        return list(islice(dict.fromkeys(ranked), most))

    def without_copies(self, sessions: Iterable[str]) -> Iterator[str]:
        """Yield *sessions* except copies of those already yielded.

        A session is a copy of another if their calls share most identifiers, as when the same customer tries again or
        the same task is run twice, and if both or neither ended with negative feedback. Logs of many tasks are never
        copies.
        """
        yielded: list[tuple[frozenset[str], bool]] = []
        for session_id in sessions:
            is_log, failed = session_id in self.long_sessions, self.outcomes.get(session_id) == "negative"
            identifiers = frozenset[str]() if is_log else self._identifiers(session_id)
            if not any(failed == other_failed and _are_copies(identifiers, other) for other, other_failed in yielded):
                yielded.append((identifiers, failed))
                yield session_id

    def _identifiers(self, session_id: str) -> frozenset[str]:
        """Return the identifiers in the calls of a session."""
        calls = np.flatnonzero(self.pool.of_session(session_id) & self.pool.calls).tolist()
        return frozenset(identifier for index in calls for identifier in _IDENTIFIER.findall(self.pool.text[index]))

    def by_steps(self, scores: Floats, weight_by_term: Mapping[str, float], count_tokens: TokenCounter) -> "Episodes":
        """Return the events; those in logs of many tasks are ranked by the *scores* of their steps and shortened.

        In logs, only steps nearly as good as the best remain related, together with the messages directly after their
        failures, which explain them. Of these steps, empty results and mere acknowledgements ("OK") are unrelated. In a
        log without any related event, no step is related.
        """
        logs = self._of_logs
        if not logs.any():
            return self
        in_related_logs = self.pool.in_sessions_of(self._related_factor > 0)
        relevance = np.where(logs, scores * self._relevance.max(initial=0.0), self._relevance)
        related = np.where(logs, in_related_logs & (scores >= _NEARLY), self._related_factor > 0)
        step = np.where(logs, steps(self.pool), -1)
        explained = self._explanations & logs
        explained[1:] &= related[:-1]
        for column in (relevance, step):
            column[1:] = np.where(explained[1:], column[:-1], column[1:])
        related = (related | explained) & ~(logs & (self.pool.empty | acknowledgements(self.pool, self._call_of)))
        pool = shortened(self.pool, related & logs, weight_by_term, count_tokens)
        return replace(self, pool=pool, relevance=relevance, related=related, step=tuple(step.tolist()))

    def with_longer_texts(
        self,
        whole: EventPool,
        sessions: Collection[str],
        weight_by_term: Mapping[str, float],
        count_tokens: TokenCounter,
        room: int,
    ) -> "Episodes":
        """Return the events; if those of logs in *sessions* fill less than half of *room* tokens, texts are cut less.

        The pool *whole* has the texts as they were before they were cut.
        """
        logs = self._of_logs & (self._related_factor > 0)
        used = sum(compress(self.pool.tokens, logs & self.pool.of_sessions(sessions)))
        if not 0 < 2 * used < room:
            return self
        return replace(self, pool=shortened(whole, logs, weight_by_term, count_tokens, roomy=True))

    def with_results(self) -> "Episodes":
        """Return the events; short results of related calls become related: a call alone would seem to have worked."""
        relevance, related = self._relevance.copy(), self._related_factor > 0
        for index in np.flatnonzero(self.pool.results & ~self.pool.empty).tolist():
            call = self._call_of[index]
            if call >= 0 and related[call] and len(self.pool.text[index]) <= LINE:
                relevance[index] = max(relevance[index], relevance[call])
                related[index] = True
        return replace(self, relevance=relevance, related=related)

    def without_repeated_requests(self, running: str | None) -> "Episodes":
        """Return the events; in work with tools, a message that repeats a better one of another session is a duplicate.

        Users often ask for the same thing in nearly the same words. A message repeats another message of the same user
        if both have the same particulars (:func:`_particulars`) and if at least ``_SAME_REQUEST`` of all terms in
        either are in both. Objections, long messages and messages of the *running* session are never duplicates.
        """
        pool, verdicts = self.pool, dict(self.verdicts)
        if not pool.of_tools:
            return self
        messages = (self._related_factor > 0) & pool.by_people & ~pool.of_session(running)
        messages &= pool.occurrences.vocabulary <= _SHORT_REQUEST
        distinct: dict[tuple[str, frozenset[str]], list[tuple[str, frozenset[str]]]] = {}
        for index in sorted(
            np.flatnonzero(messages).tolist(), key=lambda index: (-float(self.relevance[index]), index)
        ):
            session_id, own_words = pool.session_id[index], frozenset(pool.words[index].split())
            user_id = pool.user_id[index] if pool.user_id else ""
            similar = distinct.setdefault((user_id, _particulars(pool.text[index])), [])
            others = (other for other_id, other in similar if other_id != session_id)
            overlaps = (len(own_words & other) / len(own_words | other) for other in others)
            if not objects(pool.text[index]) and any(overlap >= _SAME_REQUEST for overlap in overlaps):
                verdicts[pool.event_id[index]] = "duplicate"
            elif len(similar) < _MOST_ALIKE:
                similar.append((session_id, own_words))
        return replace(self, verdicts=verdicts)

    def with_objections(self) -> "Episodes":
        """Return the events; an objection to a related answer of an assistant, and the reply to it, become related.

        Without the objection, a pack would show an answer that was found to be wrong in its own session.
        """
        pool, relevance, related = self.pool, self._relevance.copy(), self._related_factor > 0
        answers = pool.by_assistants & ~pool.calls
        answer, objected = -1, False
        for index in range(len(self)):
            if not pool.follows[index]:
                answer, objected = -1, False
            if pool.by_people[index]:
                objected = answer >= 0 and objects(pool.text[index], to_question=bool(pool.questions[answer]))
            if objected and (pool.by_people[index] or answers[index]):
                relevance[index], related[index] = max(relevance[index], relevance[answer]), True
            if answers[index] and related[index]:
                answer, objected = index, False
            elif pool.by_people[index] and not objected:
                answer = -1
        return replace(self, relevance=relevance, related=related)

    def with_withdrawals(self) -> "Episodes":
        """Return the events; a message of a user that withdraws what an earlier related message states becomes related.

        The later message has a sentence with a word for a change. Either that sentence has a name ("I cancelled
        Valencia"), and the name is in the earlier message and in few others; or it shares at least ``_SAME_MATTER``
        terms with the earlier message, if that is short ("free shipping starts at 75 euros, no longer at 60"). Only
        conversations with an assistant are searched: people tell each other of many changes that have nothing to do
        with the question.
        """
        pool, relevance, related = self.pool, self._relevance.copy(), self._related_factor > 0
        if not pool.by_assistants.any():
            return self
        statements = related & pool.by_people
        changed = {index: withdrawn(pool.text[index]) for index in np.flatnonzero(pool.by_people).tolist()}
        for index, withdrawal in changed.items():
            if withdrawal and statements.any():
                earlier = statements & (pool.times < pool.times[index]) & self._of_matter(withdrawal)
                best = relevance[earlier].max(initial=0.0)
                if best > relevance[index]:
                    relevance[index], related[index] = best, True
        return replace(self, relevance=relevance, related=related)

    def _of_matter(self, withdrawal: str) -> Flags:
        """Which messages state something about the matter of a *withdrawal*: see :meth:`with_withdrawals`."""
        words = [term for term in dict.fromkeys(terms_of(withdrawal)) if not term.isdigit()]
        shared = (self.pool.occurrences.counts(words) >= 1).sum(axis=0)
        of_matter: Flags = (shared >= _SAME_MATTER) & (np.array(self.pool.tokens) <= _SHORT_STATEMENT)
        for name in sorted(filter(self._is_rare, frozenset(_NAME.findall(withdrawal)))):
            with_name = np.flatnonzero(self.pool.occurrences.matched(terms_of(name))).tolist()
            of_matter[[index for index in with_name if name in _NAME.findall(self.pool.text[index])]] = True
        return of_matter

    def with_rules(self, rules: Sequence[int]) -> "Episodes":
        """Return the events; those at the indexes *rules* become as relevant as the best event, and related."""
        relevance, related = self._relevance.copy(), self._related_factor > 0
        relevance[list(rules)], related[list(rules)] = relevance.max(initial=0.0) or 1.0, True
        return replace(self, relevance=relevance, related=related) if rules else self

    def _is_rare(self, name: str) -> bool:
        """Whether at most ``_FEW_MESSAGES`` events contain *name*."""
        return 0 < int(np.count_nonzero(self.pool.occurrences.matched(terms_of(name)))) <= _FEW_MESSAGES

    def with_whole_sessions(self, sessions: Collection[str], shares: Floats, running: str | None = None) -> "Episodes":
        """Return the events; those of *sessions* have at least half the relevance of the best event in their session.

        This minimum rises with their *shares*. These events are left out:

        - empty events and system prompts;
        - greetings, and messages that assistants repeat in several sessions;
        - small talk: short messages that match hardly any of the question and are neither the request, its answer nor
          an instruction;
        - farewells that are off topic and add no remark, except in the *running* session.

        Of logs of many tasks, only empty events and the small talk before calls ("Now let me run the tests") are left
        out.
        """
        relevance, related = self._relevance.copy(), (self._related_factor > 0) & ~self.pool.empty
        related &= ~(self._of_logs & self._small_talk(shares) & self._before_calls)
        informative = self._requests | self._answers | self._instructions
        small_talk = (self._small_talk(shares) & ~informative) | self._greetings | self._formulas | self.pool.prompts
        farewells = self._farewells & self._off_topic(shares)
        for session_id in sorted(set(sessions) - self.long_sessions):
            in_session = self.pool.of_session(session_id)
            for index in np.flatnonzero(in_session & farewells & self.pool.by_people).tolist():
                farewells[index] = not adds_a_remark(self.pool.text[index])
            # The running session has not ended, so its last messages are not farewells.
            skipped = small_talk if session_id == running else small_talk | farewells
            related &= ~(in_session & skipped)
            in_session &= ~self.pool.empty & ~skipped
            # Unrelated events have no relevance here. If the question is about a failure, these are the results of
            # calls that worked, and a session may have no other match; then the relevance before they were excluded
            # counts.
            best = relevance[in_session].max(initial=0.0) or self.relevance[in_session].max(initial=0.0)
            gain = _BY_SHARE / max(float(shares[in_session].max(initial=0.0)), 1e-9)
            least = best * (_WITHIN_EPISODE + gain * shares[in_session])
            relevance[in_session] = np.maximum(relevance[in_session], least)
            # The end alone does not say what has ended.
            related |= in_session & (in_session & ~self._ends).any()
        return replace(self, relevance=relevance, related=related)

    def within(self, sessions: Collection[str]) -> "Episodes":
        """Return the events; only those of *sessions* remain related, for a pack that shows whole sessions only."""
        return replace(self, related=(self._related_factor > 0) & self.pool.of_sessions(sessions))

    def outlined(
        self,
        sessions: Collection[str],
        shares: Floats,
        changes: Collection[str],
        most_tokens: int,
        errors: Flags,
        answers: Flags | None = None,
    ) -> "Episodes":
        """Return the events, with *sessions* of more than *most_tokens* reduced to an outline.

        An outline consists of the request, each call of one of the tools in *changes* with its result, what other users
        answered, the messages that match the question best, the *answers*, and the event that says how the session
        ended: a message, or the last result and its call. The *errors* that the question is about, their calls and the
        message after each have the highest relevance.
        """
        relevance, related = self._relevance.copy(), self._related_factor > 0
        ends = self._ends | self._calls_of(self._ends & self.pool.results)
        decisive = (self._requests | self._joins | ends | self.pool.with_tools(changes)) & ~self.pool.empty
        if answers is not None:
            decisive |= answers
        tokens = np.array(self.pool.tokens)
        for session_id in sorted(sessions):
            in_session = self.pool.of_session(session_id)
            if tokens[in_session & related].sum() <= most_tokens:
                continue
            on_topic, top = self._on_topic(in_session & related, shares), relevance[in_session].max(initial=0.0)
            relevance[in_session & decisive] = np.maximum(relevance[in_session & decisive], _DECISIVE * top)
            in_error = in_session & ((errors & ~self._repeated_errors) | self._calls_of(errors) | self._after(errors))
            relevance[on_topic] = top * (_BESIDE_ERROR if in_error.any() else 1.0)
            relevance[in_error] = top
            related = (related & ~in_session) | (in_session & decisive) | on_topic | in_error
        return replace(self, relevance=relevance, related=related)

    def _after(self, errors: Flags) -> Flags:
        """Which messages report one of the *errors*, or are the first after it with only results in between."""
        messages, waiting = np.zeros(len(self), dtype=np.bool_), False
        for index in range(len(self)):
            waiting = bool(errors[index]) or (waiting and bool(self.pool.follows[index]))
            if waiting and not self.pool.results[index]:
                messages[index], waiting = bool(self.pool.spoken[index]), False
        return messages

    def _on_topic(self, events: Flags, shares: Floats) -> Flags:
        """Which messages among these *events* have nearly the largest share on their side.

        The sides are people and assistants. They are ranked separately, because people use the words of the question
        and assistants, who answer, rarely do. At most three messages on each side are chosen, and none that is off
        topic. A message with more than half of its words in a better one is left out, because refusals are often
        repeated.
        """
        spoken = events & ~self.pool.results & self.pool.spoken
        on_topic = np.zeros(len(self), dtype=np.bool_)
        for side in (spoken & self.pool.by_assistants, spoken & self.pool.by_people):
            near_best = side & (shares >= _ON_TOPIC * shares[side].max(initial=0.0))
            on_topic[self._different(near_best, shares)] = True
        chosen: Flags = on_topic & (shares > _LITTLE * shares.max(initial=0.0))
        return chosen

    def _different(self, messages: Flags, shares: Floats) -> list[int]:
        """Return the indexes of at most three *messages* with the largest shares and different words."""
        different, word_sets = list[int](), list[frozenset[str]]()
        for index in sorted(np.flatnonzero(messages).tolist(), key=lambda index: (-float(shares[index]), index)):
            own_words = frozenset(self.pool.words[index].split())
            repeats = any(2 * len(own_words & other) > len(own_words) for other in word_sets)
            if len(different) < _MOST_ON_TOPIC and not repeats:
                different.append(index)
                word_sets.append(own_words)
        return different

    def with_short_results(
        self, sessions: Collection[str], weight_by_term: Mapping[str, float], count_tokens: TokenCounter
    ) -> "Episodes":
        """Return the events; long results in *sessions* keep their beginning, changed fields and matching passages.

        A passage matches if it has terms of *weight_by_term*, or terms that were decisive in the session
        (:func:`decisive_weights`).
        """
        pool = self.pool
        for session_id in sorted(sessions):
            in_session = self.pool.of_session(session_id)
            weights = decisive_weights(self.pool, in_session, weight_by_term)
            changed = changed_fields(self.pool, in_session)
            pool = shortened(pool, in_session & pool.results, weights, count_tokens, changed)
        return replace(self, pool=pool)

    def beside_procedure(
        self, sessions: Collection[str], shares: Floats, routine: Collection[str], special: Flags, statements: Flags
    ) -> "Episodes":
        """Return the events; past *sessions* lose what the procedure in the same pack already says.

        The procedure already lists the calls of its *routine* actions and what the user must provide. An episode keeps
        messages about the request, other calls, and failures. It is dropped if at most one event besides its end
        remains, or if it has none of the *special* events, which contain the special terms of this request. Of a
        dropped episode, only *statements* (events that state what is asked) remain.
        """
        covered = self._routine_events(routine) | self._repeated_errors | self._off_topic(shares)
        related = self._related_factor > 0
        for session_id in sorted(sessions):
            in_session = self.pool.of_session(session_id)
            remaining = in_session & related & ~covered
            is_informative = np.count_nonzero(remaining & ~self._ends) >= _FEW_LEFT and (in_session & special).any()
            related &= ~in_session | (remaining if is_informative else statements)
        return replace(self, related=related)

    def without_idle_steps(self, sessions: Collection[str], shares: Floats, least: float) -> "Episodes":
        """Return the events without the steps of *sessions* that say little about a question: by their *shares* of it.

        A call stays if it or one of its results has more than *least* times the largest share in a message, or if it
        failed.
        """
        steps = self.pool.calls | self.pool.results
        messages = ~steps & self.pool.of_sessions(sessions)
        says_something = steps & ((shares > least * shares[messages].max(initial=0.0)) | self.pool.failures)
        says_something |= self._calls_of(says_something & self.pool.results)
        answered = np.array([call >= 0 and says_something[call] for call in self._call_of], dtype=np.bool_)
        idle = steps & self.pool.of_sessions(sessions) & ~says_something & ~(answered & self.pool.results)
        return replace(self, related=(self._related_factor > 0) & ~idle)

    def of_cases(self, sessions: Sequence[str], shares: Floats, changes: Collection[str]) -> "Episodes":
        """Return the events, with *sessions* (best first) reduced to outlines, each less relevant than the one before.

        The *shares* are those of :attr:`Ranking.share_of_case`.
        """
        no_errors = np.zeros(len(self), dtype=np.bool_)
        outlined = self.outlined(sessions, shares, changes, 0, no_errors, self._answers)
        relevance = outlined.relevance.copy()
        for session_id, part in zip(sessions, np.linspace(*_FIRST_TO_LAST, len(sessions)).tolist(), strict=True):
            relevance[self.pool.of_session(session_id)] *= part
        return replace(outlined, relevance=relevance)

    @property
    def _answers(self) -> Flags:
        """Which messages by assistants, the first after a result, reply to a session's first message or request."""
        answers, looked_up = np.zeros(len(self), dtype=np.bool_), False
        people = np.flatnonzero(self.pool.by_people)
        waiting, requests = False, self._requests
        requests[people[np.unique(self.pool.sessions[people], return_index=True)[1]]] = True
        for at in range(len(self)):
            if self.pool.by_people[at] or not self.pool.follows[at]:
                waiting, looked_up = bool(requests[at]), False
            elif waiting and self.pool.results[at]:
                looked_up = True
            elif looked_up and self.pool.by_assistants[at] and not self.pool.calls[at]:
                # A question back to the user is no answer.
                answers[at], waiting, looked_up = not self.pool.questions[at], False, False
        return answers

    @property
    def _requests(self) -> Flags:
        """The first message of each session in which a person asks for something or says more than a few words."""
        long = self.pool.occurrences.vocabulary >= _FEW_WORDS
        likely = (
            index
            for index in np.flatnonzero(self.pool.by_people).tolist()
            if long[index] or asks(self.pool.text[index])
        )
        candidates = np.fromiter(likely, dtype=np.int64)
        _, first = np.unique(self.pool.sessions[candidates], return_index=True)
        requests = np.zeros(len(self), dtype=np.bool_)
        requests[candidates[first]] = True
        return requests

    def of_trouble(self, sessions: Collection[str], *, repeated: bool) -> "Episodes":
        """Return the events for a question about a failure, without calls that went well.

        These are left out: empty results, results that report no trouble, errors that repeat the result before them,
        and calls without a remaining result. Of steps of logs, only empty results and repeated errors are left out.

        Results that differ only in numbers and identifiers report the same failure. Outside *sessions*, only the most
        relevant of them remains (the latest of several equally relevant ones), unless *repeated* is set.
        """
        messages_and_steps = self.pool.spoken | (np.array(self.step or [-1] * len(self)) >= 0)
        kept = (self._related_factor > 0) & ~self.pool.empty & ~self._repeated_errors
        for index in np.flatnonzero(kept & ~messages_and_steps & self.pool.successes).tolist():
            kept[index] = speaks_of_trouble(self.pool.text[index])
        if not repeated:
            kept &= ~self._same_failure(kept) | self.pool.of_sessions(sessions)
        answered = self._calls_of(kept & self.pool.results)
        return replace(self, related=kept & (messages_and_steps | ~self.pool.calls | answered))

    def _same_failure(self, kept: Flags) -> Flags:
        """Which results among the *kept* events differ from a better one only in numbers and identifiers."""
        order = np.lexsort((-self.pool.times, -self.relevance))
        best: dict[str, int] = {}
        for index in order[(kept & self.pool.results)[order]].tolist():
            best.setdefault(_WITH_DIGITS.sub("0", self.pool.words[index]), index)
        same: Flags = kept & self.pool.results
        same[list(best.values())] = False
        return same

    def _small_talk(self, shares: Floats) -> Flags:
        """Which messages are short and match hardly any of the question, such as thanks; not the ends of sessions."""
        short = self.pool.occurrences.vocabulary < _FEW_WORDS
        small_talk: Flags = short & self._unmatched_messages(shares, _HARDLY)
        return small_talk

    @property
    def _before_calls(self) -> Flags:
        """Which events are directly followed by a call."""
        before = np.zeros(len(self), dtype=np.bool_)
        before[:-1] = (self.pool.follows & self.pool.calls)[1:]
        return before

    @property
    def _instructions(self) -> Flags:
        """Which messages of people say what to do next: a call follows, and they are more than consent."""
        places = np.flatnonzero(self.pool.by_people & self._before_calls).tolist()
        instructions = np.zeros(len(self), dtype=np.bool_)
        instructions[[at for at in places if adds_a_remark(self.pool.text[at])]] = True
        return instructions

    @property
    def _greetings(self) -> Flags:
        """Which short messages by an assistant begin their session."""
        firsts = np.array(self.pool.sequence, dtype=np.int64) <= 1
        firsts[1:] &= np.diff(self.pool.sessions) != 0
        greetings: Flags = firsts & self.pool.by_assistants & (self.pool.occurrences.vocabulary < _FEW_WORDS)
        return greetings

    @cached_property
    def _formulas(self) -> Flags:
        """Which messages assistants repeat word for word in several sessions, so that they describe none of them."""
        sessions: dict[str, set[str]] = {}
        messages = np.flatnonzero(self.pool.by_assistants & ~self.pool.calls & ~self.pool.results).tolist()
        for index in messages:
            sessions.setdefault(self.pool.text[index], set()).add(self.pool.session_id[index])
        formulas = np.zeros(len(self), dtype=np.bool_)
        formulas[[index for index in messages if len(sessions[self.pool.text[index]]) >= _FORMULA]] = True
        return formulas

    def _off_topic(self, shares: Floats) -> Flags:
        """Which messages match little of the question.

        Two kinds are exempt: the ends of sessions, and an assistant's answer to a message after the end that matches.
        """
        late_requests = self._farewells & (shares > _LITTLE * shares.max(initial=0.0))
        answers = self._farewells & self.pool.follows & self.pool.by_assistants
        answers[1:] &= late_requests[:-1]
        answers[:1] = False
        return self._unmatched_messages(shares, _LITTLE) & ~answers

    def _unmatched_messages(self, shares: Floats, limit: float) -> Flags:
        """Which messages, except the ends of sessions, have at most *limit* times the largest share."""
        messages: Flags = self.pool.spoken & ~self.pool.results & (shares <= limit * shares.max(initial=0.0))
        messages &= ~self._ends & ~self._joins
        return messages

    @cached_property
    def _joins(self) -> Flags:
        """Which messages answer an assistant in a session that another user began, as a colleague who approves it."""
        joins, beginner = np.zeros(len(self), dtype=np.bool_), dict[str, str]()
        users = zip(self.pool.user_id, self.pool.session_id, strict=False) if self.pool.by_assistants.any() else ()
        for index, (user, session_id) in enumerate(users):
            if user and self.pool.by_people[index]:
                is_answer = index > 0 and self.pool.follows[index] and self.pool.by_assistants[index - 1]
                joins[index] = user != beginner.setdefault(session_id, user) and is_answer
        return joins

    @property
    def _ends(self) -> Flags:
        """Which events say how their session ended."""
        ends = np.zeros(len(self), dtype=np.bool_)
        ends[list(self._end_of.values())] = True
        return ends

    @property
    def _farewells(self) -> Flags:
        """Which events come after the event that says how their session ended."""
        ends = self._end_of
        return np.array(
            [index > ends[session] for index, session in enumerate(self.pool.sessions.tolist())], dtype=np.bool_
        )

    @cached_property
    def _end_of(self) -> dict[int, int]:
        """For each session, the index of the event that says how it ended: the first message after the last result.

        Later messages are thanks and farewells. Messages of people, formulas and empty events do not count. If there is
        no such message, or no result, it is the last event that counts; if none counts, it is the last event.
        """
        eligible = (~self.pool.spoken | self.pool.by_assistants) & ~self.pool.empty & ~self._formulas
        last = {**self._last(np.ones(len(self), dtype=np.bool_)), **self._last(eligible)}
        results, sessions = self._last(self.pool.results), self.pool.sessions.tolist()
        messages = np.flatnonzero(eligible & ~self.pool.calls & ~self.pool.results).tolist()
        # Backwards, so that the first message of each session wins.
        return last | {
            sessions[index]: index for index in reversed(messages) if index > results.get(sessions[index], len(self))
        }

    def _last(self, events: Flags) -> dict[int, int]:
        """Return the index of the last of these *events* in each session."""
        indexes = np.flatnonzero(events)
        return dict(zip(self.pool.sessions[indexes].tolist(), indexes.tolist(), strict=True))

    def _routine_events(self, tools: Collection[str]) -> Flags:
        """Which events are calls of these *tools* that did not fail, and their results, except retries."""
        routine: Flags = self.pool.with_tools(tools) & ~self.pool.failures
        return routine & ~self._calls_of(self.pool.failures) & ~self._retries

    @property
    def _retries(self) -> Flags:
        """Which events are retries (the next call of a tool in a session after one that failed), and their results."""
        pool, failed = self.pool, self._calls_of(self.pool.failures)
        retries, failing = np.zeros(len(self), dtype=np.bool_), set[tuple[str, str]]()
        for index in np.flatnonzero(pool.calls).tolist():
            called = pool.session_id[index], (pool.tools[index] or ("",))[0]
            retries[index] = called in failing
            (failing.add if failed[index] else failing.discard)(called)
        retries[[call >= 0 and bool(retries[call]) for call in self._call_of]] = True
        return retries

    @property
    def _repeated_errors(self) -> Flags:
        """Which results without a tool's name, such as errors, have half of their words in the result before them."""
        unnamed = np.array([tool is None for tool in self.pool.tools], dtype=np.bool_)
        repeated = self.pool.results & self.pool.follows & unnamed
        repeated[1:] &= self.pool.results[:-1]
        for index in np.flatnonzero(repeated).tolist():
            before, own_words = (frozenset(words.split()) for words in self.pool.words[index - 1 : index + 1])
            repeated[index] = 2 * len(own_words & before) >= len(own_words)
        return repeated

    @property
    def _explanations(self) -> Flags:
        """Which messages directly follow a failure."""
        messages = self.pool.follows & ~self.pool.calls & ~self.pool.results
        messages[1:] &= self.pool.failures[:-1]
        messages[:1] = False
        return messages

    def _calls_of(self, results: Flags) -> Flags:
        """Which events are the calls of these *results*."""
        calls = np.zeros(len(self), dtype=np.bool_)
        calls[[call for call, result in zip(self._call_of, results, strict=True) if result and call >= 0]] = True
        return calls

    @cached_property
    def _call_of(self) -> list[int]:
        """For each event, the index of the call whose result it is, or -1: as recorded, otherwise as inferred."""
        index_of = self.pool.index
        calls_by_result = ((index_of[result], call) for result, call in self.results.items() if result in index_of)
        recorded = {result: index_of.get(call, -1) for result, call in calls_by_result}
        calls = frozenset(recorded.values())
        inferred = enumerate(self.pool.call_of)
        return [recorded.get(index, -1 if call in calls else call) for index, call in inferred]

    @cached_property
    def _of_logs(self) -> Flags:
        """Which events belong to logs of many tasks."""
        return self.pool.of_sessions(self.long_sessions)

    def orders(self) -> Iterator[Order]:
        """Return the ranking key of each event, as in ``Candidate.order``."""
        pool = self.pool
        return zip((-self.scores).tolist(), pool.tokens, pool.event_id, repeat(SECTION), strict=False)

    def sketch(self, index: int) -> Sketch:
        """Return the sketch of the event at *index*."""
        pool = self.pool
        return Sketch(pool.event_id[index], pool.words[index], pool.tokens[index], self._columns.score[index])

    def candidate(self, index: int) -> Candidate:
        """Return the event at *index* as a candidate."""
        pool, event_id = self.pool, self.pool.event_id[index]
        columns = self._columns
        components = Components(columns.relevance[index], columns.recency[index], 1.0, columns.salience[index])
        return Candidate(
            SECTION,
            "episode",
            event_id,
            pool.tokens[index],
            columns.score[index],
            components,
            attributed(pool.text[index], pool.shown_speaker[index]),
            origin=EPISODIC,
            time_us=pool.time_us[index],
            session_id=pool.session_id[index],
            speaker=pool.shown_speaker[index],
            label=pool.label[index],
            place=index,
            verdict=self.verdicts.get(event_id, ""),
            call=self._call_of[index],
            tool=bool(pool.kinds[index]),
            outcome=self.outcomes.get(pool.session_id[index], ""),
            step=self.step[index] if self.step else -1,
        )


def _particulars(text: str) -> frozenset[str]:
    """Return what distinguishes messages in nearly the same words: numbers and ids, names, and "not" for a negation.

    >>> _particulars("Please don't refund order 1001 of Ann.") == {"1001", "Ann", "not"}
    True

    """
    negation = {"not"} if _NEGATION.search(text) else set[str]()
    return frozenset({*_NUMBER.findall(text), *_NAME.findall(text), *negation})


def _are_copies(identifiers: frozenset[str], other: frozenset[str]) -> bool:
    """Whether sessions with these identifiers in their calls are copies of each other."""
    return len(identifiers & other) > _ALIKE * min(len(identifiers), len(other)) and bool(identifiers and other)


def timely(relevance: Floats, assurance: float) -> Floats:
    """Return how much recency counts for each event, in [0, 1]: less for events of low relevance.

    Otherwise unrelated recent events would displace related work from weeks ago. A low *assurance* means that even the
    best events match little of the question. Then relevance is unreliable, and recency counts more for all events.
    """
    return 1.0 - assurance * (1.0 - np.minimum(relevance / FULL_RECENCY, 1.0))


def separated(relevance: Floats, assurance: float) -> Floats:
    """Return relevance in [0, 1] with every match lifted to at least ``HELPS``, scaled by *assurance*."""
    return assurance * np.where(relevance > 0, HELPS + (1 - HELPS) * relevance, 0.0)
