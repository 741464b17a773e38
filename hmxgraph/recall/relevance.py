"""Relevance of each event to the question: BM25, cues, pseudo-relevance feedback and a walk over shared entities.

The *share* of an event is the part of the question's terms, by weight, that it contains. *Talk* is every event that is
not a document with a title. A *case* is a session about someone or something that the question names.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from heapq import nlargest, nsmallest
from itertools import chain, islice

import numpy as np

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall._quoted_errors import QuotedError
from hmxgraph.recall.pool import (
    EventPool,
    Flags,
    Floats,
    Integers,
    Nearby,
    WordMatch,
    field_scores,
    is_assistant,
    match_words,
    rarity,
    together,
    weighted,
    with_abbreviations,
)
from hmxgraph.recall.question import DEFAULT_BUDGET, LONGEST_QUESTION, Question, asks, asks_for_value, asks_who
from hmxgraph.recall.walk import Neighbourhood, bridges, closeness
from hmxgraph.text.excerpts import GAP
from hmxgraph.text.terms import search_text, terms

# Cues besides words: the speaker, and whether an event says the kind of thing the question asks for.
#
# A cue that does not apply is zero, so one ranking serves conversations, documents and tool runs. Time is scored
# separately (``candidates.RecencyDecay``).

# Number of texts whose instructions are cached.
_CACHED_TEXTS = 16_384
# Cue weights, on a scale where the best lexical match is 1.
#
# For events of the speaker whom the question names, if it names only one.
SPEAKER = 0.5
# For events of the speaker whom the question asks about, if it names several: Ann in "When did Ann call Bob?".
_SUBJECT = 0.2
# For messages of users, if a question about the past is in the first person and users talk to an assistant.
_ASKER = 0.3
# For the same questions, this is subtracted from the relevance of assistants' messages, which rarely answer them: in
# packs for 179 questions, 15 of 600 lines of assistants were needed for the answer, and 246 of 2,700 lines of users.
_BY_ASSISTANT = 0.2
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our)\b", re.IGNORECASE)
# For events with a word such as "yesterday", if the question asks for a time.
TIME_WORDS = 0.2
# For turns that end with a question mark.
QUESTION_TURN = -0.15
# Extra weight, for questions about the past, of the share of the question that a turn itself contains. The lexical
# match also counts the words of its neighbours, which say less. Higher in chats with an assistant, whose answers are
# long.
OWN_WORDS, _OWN_WORDS_WITH_ASSISTANT = 0.5, 1.0
# Penalty per doubling of length beyond a typical message: a long text matches some word of every question.
_LENGTH = -0.25
# The penalty is capped at this many doublings, so that the only event with the query terms is not outranked by events
# without any.
_MOST_DOUBLINGS = 2.5
# The length of a typical message.
_MESSAGE_TOKENS = 96
# An event with fewer distinct terms than this, none of them in the question, is penalised: it says little, even if its
# neighbours match.
_FEW_WORDS = 5
_FEW_WORDS_PENALTY = -0.5
# Weight of the share of an event's terms that no earlier event uses: a first mention says more than a repetition.
FIRST_MENTION = 0.3
# Weights of standing instructions and of preferences: they apply to later questions in any words. Assistants repeat
# them, so only other speakers' messages count.
_INSTRUCTION, _PREFERENCE = 0.5, 0.2
# The beginning of an instruction: "Please always ..."
_INSTRUCTS = re.compile(
    r"(?:please,? |and |also,? )*(?:always|never|from now on|going forward|make sure (?:to|you)|remember to"
    r"|(?:do not|don['\u2019]t) ever)\b",
    re.IGNORECASE,
)
# The condition of an instruction: "when I ask about dates".
_CONDITION = re.compile(r"\b(?:when|whenever|if) i ask\b(.*)", re.IGNORECASE)
# A preference: "I'd prefer".
_PREFERS = re.compile(r"\bi(?:['\u2019]d| would)? (?:always |really )?prefer\b", re.IGNORECASE)
# Penalty for events that repeat the request: none if at least the share ``_NEWS`` of an event's terms is not in the
# request, ``_ECHO`` if all its terms are.
_NEWS = 0.5
_ECHO = -1.0
_TIME_WORDS = frozenset(
    terms(
        "yesterday today tonight tomorrow ago last next week weekend month year morning night evening recently soon"
        " since monday tuesday wednesday thursday friday saturday sunday"
    )
)


def speakers_named(question: Question, pool: EventPool) -> dict[str, str]:
    """Return the speakers in *pool* that the question names, keyed by the terms of their names."""
    by_name = {name: speaker for speaker, name in pool.speakers.items()} | pool.introduced
    return {name: speaker for name, speaker in by_name.items() if name and question.mentions(name)}


def cue_scores(question: Question, pool: EventPool) -> Floats:
    """Return the sum of all cues per event."""
    speech = _speaker(question, pool) + _time_words(question, pool) + QUESTION_TURN * pool.questions
    form = _length(pool) + _few_words(question, pool) + _instruction_cues(question, pool)
    return speech + form + (_first_mentions(question, pool) if question.recalls else _echoes(question, pool))


def _instruction_cues(question: Question, pool: EventPool) -> Floats:
    """Favour what people told an assistant to do or prefer: later questions rarely use the same words.

    For a question about the past, an instruction with a condition ("when I ask about dates") counts only if the
    question and the condition share a term, or if it asks how to answer. Assistants' messages, text from outside
    sources and documents get 0.
    """
    if not _with_assistant(pool):
        return np.zeros(len(pool))
    assistants = frozenset(filter(is_assistant, pool.speakers))
    turns = zip(pool.text, pool.speaker, pool.label, pool.title, strict=True)
    return np.array(
        [
            0.0 if label or title or speaker in assistants else _instruction(text, question)
            for text, speaker, label, title in turns
        ]
    )


def _instruction(text: str, question: Question) -> float:
    return 0.0 if _is_for_other_questions(text, question) else _instruction_weight(text)[0]


def _is_for_other_questions(text: str, question: Question) -> bool:
    """Whether *text* is an instruction whose condition shares no term with a question about the past.

    If the question asks how to answer, all instructions apply.
    """
    _, condition = _instruction_weight(text)
    return question.recalls and not question.of_manner and bool(condition) and condition.isdisjoint(question.terms)


@lru_cache(maxsize=_CACHED_TEXTS)
def _instruction_weight(text: str) -> tuple[float, frozenset[str]]:
    """Return the weight of an instruction or preference in *text*, and the terms of its condition."""
    # Testing for a word that the pattern needs is several times as fast as searching for the pattern.
    folded = text.casefold()
    if "ask" in folded and (condition := _CONDITION.search(text)):
        return _INSTRUCTION, frozenset(terms(condition[1]))
    if _INSTRUCTS.match(text):
        return _INSTRUCTION, frozenset()
    return _PREFERENCE if "prefer" in folded and _PREFERS.search(text) else 0.0, frozenset()


def _with_assistant(pool: EventPool) -> bool:
    return any(map(is_assistant, pool.speakers))


def _length(pool: EventPool) -> Floats:
    """Penalise long talk, but not documents with a title: however long they are, they cover one subject."""
    doublings: Floats = np.log2(np.maximum(pool.lengths / _MESSAGE_TOKENS, 1.0))
    return _LENGTH * pool.talk * np.minimum(doublings, _MOST_DOUBLINGS)


def _first_mentions(question: Question, pool: EventPool) -> Floats:
    """Favour first mentions in talk, except if the question asks for the latest of something."""
    if question.latest:
        return np.zeros(len(pool))
    return FIRST_MENTION * pool.talk * pool.occurrences.novelty(pool.time_ranks)


def _few_words(question: Question, pool: EventPool) -> Floats:
    """Penalise thanks and greetings, which are adjacent to matching turns but carry no information."""
    lacking = _FEW_WORDS_PENALTY * np.maximum(1.0 - pool.occurrences.vocabulary / _FEW_WORDS, 0.0)
    return np.where(pool.occurrences.matched(question.terms) == 0, lacking, 0.0)


def _echoes(question: Question, pool: EventPool) -> Floats:
    """Penalise earlier requests of the same kind: their outcome helps an agent, their wording does not."""
    news = 1.0 - pool.occurrences.matched(question.terms) / np.maximum(pool.occurrences.vocabulary, 1)
    return _ECHO * np.maximum(1.0 - news / _NEWS, 0.0)


def _speaker(question: Question, pool: EventPool) -> Floats:
    """Favour the speaker whom the question names, the one it asks about if it names several, or the asker."""
    named = speakers_named(question, pool)
    if len(set(named.values())) == 1:
        return SPEAKER * _spoken_by(set(named.values()), pool)
    if _is_about_asker(question, pool):
        return _ASKER * _spoken_by({speaker for speaker in pool.speakers if not is_assistant(speaker)}, pool)
    return _SUBJECT * _spoken_by({speaker for name, speaker in named.items() if name in question.subjects}, pool)


def _is_about_asker(question: Question, pool: EventPool) -> bool:
    """Whether the asker's own words are likely to answer: a question about the past in the first person.

    The question must name no speaker, and an assistant must take part in the conversations.
    """
    personal = question.recalls and bool(_FIRST_PERSON.search(question.text[:LONGEST_QUESTION]))
    return personal and _with_assistant(pool) and not speakers_named(question, pool)


def _spoken_by(speakers: set[str], pool: EventPool) -> Floats:
    return np.array([speaker in speakers for speaker in pool.speaker], dtype=np.float64)


def _time_words(question: Question, pool: EventPool) -> Floats:
    """Favour events with a word for a time if the question asks for one."""
    if not question.when:
        return np.zeros(len(pool))
    return np.where(pool.occurrences.matched(_TIME_WORDS) > 0, TIME_WORDS, 0.0)


# Pseudo-relevance feedback: terms that the best events share beyond the question.
#
# Answers use other words than questions. Terms that the best events have in common and few others contain are likely to
# concern the same topic; they are searched as well, with much less weight. Rocchio 1971, "Relevance feedback in
# information retrieval"; Lavrenko and Croft 2001, "Relevance-based language models".
#
# Only talk gets feedback. Documents are reached through the names they share (``walk``); feedback terms from similar
# documents lead back to the same documents (on multi-hop questions, this cost 3 points of recall).

# Maximum number of events from which terms are taken, and their minimum lexical match.
_FEEDBACK_EVENTS = 10
_LEAST_MATCH = 0.2
# Maximum number of feedback terms.
MOST_TERMS = 15
# A feedback term occurs in at least this many of these events, and in at most this share of the pool.
_SHARED_BY = 2
_COMMON_TERM = 0.15
# Weight of the best feedback match, on a scale where the best lexical match is 1.
FEEDBACK_WEIGHT = 0.2
# Exponent on each feedback match as a fraction of the best: below 1, so that it raises the weaker ones.
_EXPONENT = 0.7


def feedback_scores(
    pool: EventPool, neighbours: Nearby, first: Floats, words: Floats, excluded: Collection[str], event_count: int
) -> Floats:
    """Return the gain of each event from feedback terms, at most ``FEEDBACK_WEIGHT``.

    *first* are the scores without feedback, *words* their lexical part; *excluded* terms are not used.
    """
    talk = pool.talk > 0
    good = np.argsort(-first, kind="stable")[:_FEEDBACK_EVENTS]
    best = good[(words[good] > _LEAST_MATCH) & talk[good]].tolist()
    shared = _shared(pool, best, excluded)
    if not shared:
        return np.zeros(len(pool))
    scores = field_scores(
        _feedback_match(pool, shared, {index: max(float(first[index]), 0.0) for index in best}, event_count), neighbours
    )
    top = scores.max(initial=0.0)
    return np.where(talk, FEEDBACK_WEIGHT * (scores / top) ** _EXPONENT, 0.0) if top else scores


def _shared(pool: EventPool, best: Sequence[int], excluded: Collection[str]) -> list[str]:
    shared = pool.occurrences.shared(best, _SHARED_BY) if best else []
    return [word for word in shared if word not in excluded and not word.isdigit()]


def _feedback_match(
    pool: EventPool, shared: Sequence[str], scores_of_best: dict[int, float], event_count: int
) -> WordMatch:
    """Match the most discriminative of the *shared* terms: frequent in the best events, rare elsewhere."""
    counts = pool.occurrences.counts(shared)
    frequency = (counts > 0).sum(axis=1)
    best = list(scores_of_best)
    support = weighted(np.array([scores_of_best[index] for index in best]), (counts[:, best] > 0).T)
    worth = np.where(frequency <= _COMMON_TERM * len(pool), support * np.log((len(pool) + 1) / (frequency + 0.5)), 0.0)
    order = np.argsort(-worth, kind="stable")[:MOST_TERMS]
    chosen = order[worth[order] > 0]
    weights = rarity(frequency[chosen], max(event_count, len(pool))) * worth[chosen] / worth.max(initial=1e-9)
    return WordMatch(tuple(shared[int(row)] for row in chosen), counts[chosen], weights)


# Relevance of each event in [0, 1]: words, cues and the walk combined.

# Exponent on the lexical match: separates the best events from those that share only a common word.
_SHARPNESS = 1.5
# Weight of a title that the question contains.
TITLE = 1.0
# Weight of closeness to the question's entities on the walk.
_CLOSENESS = 0.3
# Weight of the similarity of vectors from an embedder, on a scale where the best lexical match is 1.
MEANING = 0.3
# An event that contains this share of the question's terms, by weight, is a full match. If the question is about
# something that no event mentions, there usually is none.
SURE = 0.6
# For questions about the past: the minimum relevance of a full match, as a fraction of its share of the question.
ANSWERS = 0.15
# Three minimums. For requests: the evidence of a related event (its score without the cues, where the best lexical
# match is 1), and its coverage of the question's words (its own and its neighbours'), as a fraction of the best
# coverage. For all questions: the similarity of vectors at which an event is related without any common word.
_RELATED = 0.3
# For requests: the weight in this coverage of the gains from links to the best events. For all questions: the minimum
# similarity of vectors as a fraction of the largest.
_LINKED = 0.5
# For requests: the minimum relevance. Of the events below it, one in fifty is an answer (measured on conversations and
# chats).
_NEAR_BEST = 0.35
# For questions about the past: the minimum relevance at the default budget, and the exponent with which a larger budget
# lowers it (twice the budget: to 0.62 of it).
_NEAR_ANSWER, _LOWER = 0.45, 0.7
# This minimum applies to the best ``_FEW_NEAR`` events (to half as many at a quarter of the budget); each doubling of
# the rank beyond that raises it by ``_RISE``. Measured on 240 questions about conversations: packs of 1,024 tokens held
# 86.1 % of the events needed for the answers in 12.5 lines, packs of 2,048 tokens 87.0 % in 14.9 lines. With a minimum
# of 0.35 and a rise of 0.1, it was 86.9 % in 14.7 lines and 89.0 % in 18.8 lines.
_FEW_NEAR, _RISE = 10, 0.05
# A question about the past is vague if its rarest known term is in at least the share ``_VAGUE`` of all events, and in
# at least ``_MANY``. It gets at most ``_FEW_IF_VAGUE`` events at the default budget. With a share of 0.02 and without
# ``_MANY``, packs for chats, which are short, lost 3 to 5 points of recall.
_VAGUE, _MANY, _FEW_IF_VAGUE = 0.05, 30, 14
# If :attr:`Ranking.assurance` is below this, even the best events match little of the question, and the relevance of
# all events is lowered before the related ones are chosen. With 0.7, packs for questions about unknown things were a
# third shorter, but packs of 2,048 tokens from chats lost one point of recall.
_DOUBTED = 0.5
# A question is about something unknown if at least so many of its terms are in no event, and the others have less than
# this part of its weight; the second numbers apply to a question for a value in a log of work with tools, because such
# questions use the words of the work.
_UNKNOWN_TERMS, _KNOWN = (3, 2), (0.2, 0.35)
# If an event contains this share of a question, events of other sessions that contain less than ``SURE`` are about
# something else.
_WHOLE = 0.95
# For questions about the past: the minimum evidence of a related event, even if the person asked about said it.
_HARDLY_RELATED = 0.1
# A path or identifier of several words: "marts/orders.sql", "fct_orders".
_PATH = re.compile(r"\b\w+(?:[./]\w+)+\b|\b[^\W_]+(?:_[^\W_]+)+\b")
# A token that may be an identifier, and its minimum length.
_TOKEN = re.compile(r"[\w-]+")
_SHORTEST_IDENTIFIER = 5
# Not an identifier: a number with one or two letters, such as "120ms".
_QUANTITY = re.compile(r"\d+[^\W\d_]{1,2}")
# A request for work is new if no past request or step contains the share ``_ALIKE`` of it. Steps of more than
# ``_LONGEST_STEP`` distinct terms are ignored: they contain words of any request.
#
# The more terms a request has, the smaller the share that one event can contain. Shares are therefore multiplied by the
# root of n / ``_USUAL_TERMS``, where n is the number of terms, at least ``_LEAST_TERMS``. In logs of a coding agent,
# this classed as new 2 of 32 requests for work done before and 61 of 62 requests for other work; with unscaled shares
# and a ``_LONGEST_STEP`` of 64, it was 13 and 60. Of 120 requests for other work to three other agents, 107 were
# classed as new (before: 108).
_ALIKE, _LONGEST_STEP = 0.36, 128
_USUAL_TERMS, _LEAST_TERMS = 8, 5
# Terms that only ask for what went wrong: "What was wrong with the invoice?" was raised by "the invoice is empty".
_OF_TROUBLE = frozenset(terms("wrong problem issue trouble matter"))
# Number words and units of time, as terms. They are details of a request: "for ten minutes".
_AMOUNTS = frozenset(
    terms("one two three four five six seven eight nine ten twelve twenty hundred half dozen seconds minutes hours days"
          " weeks months years")
)  # fmt: skip
# Months, days of the week and relative days, as terms.
_DATES = frozenset(
    terms("january february march april june july august september october november december monday tuesday wednesday"
          " thursday friday saturday sunday today tomorrow tonight weekend")
)  # fmt: skip
# Even the best events seldom match more than this many terms of a question, so :attr:`Ranking.assurance` allows for the
# length of longer ones.
_LONG_REQUEST = 20
# A user has asked much the same before if a message contains the share ``_RAISED`` of the question. A question of fewer
# than ``_FEW_TERMS`` terms resembles many messages, so that the share ``_RAISED_IF_FEW`` is needed.
_RAISED, _FEW_TERMS, _RAISED_IF_FEW = 0.25, 4, 0.7
# A question is about data, not about a past session, if the largest share of it in a user's message is below this
# fraction of the largest share in a tool result.
_DATA = 0.6
# A term of a request is special if at most this share of all events, or at most this number, contain it.
_SPECIAL, _FEW_EVENTS = 0.02, 5
# How long after an event people still report it.
_REPORTED_WITHIN_US = 30 * DAY_US
# Factor on assistants' messages when the quality of a case is computed.
_OF_ANSWERS = 0.5
# The minimum quality of a case, as a fraction of the best.
_LEAST_CASE = 0.65
# The minimum share of the question without the names in a case, as a fraction of the largest one.
_LEAST_REST = 0.6
# For a question about the latest of something, cases above this fraction of the best quality count as equally good.
_NEARLY_BEST = 0.7
# A session has an event that matches the question beyond the names in it if the event contains this share of the terms
# that belong to no name.
_BEYOND_NAMES = 0.3
# For a question about the latest of something, the relevance of events is multiplied by a factor that rises from
# ``_EARLIEST`` for the earliest to 1 for the latest. Events of less relevance than ``_SOME`` are exempt.
_EARLIEST, _SOME = 0.5, 0.2
# Factor on the weights of query terms that belong to a name: the subject of a question matters more than its phrasing.
_NAME = 1.5
# The score of withheld events, so low that no link makes them relevant.
_WITHHELD = -1.0


@dataclass(frozen=True)
class Ranking:
    """The events of a pool ranked for a question: first by words and cues, then with the walk over shared entities.

    ``event_count`` is the number of the tenant's events; the pool holds only candidates. ``meanings`` maps event ids to
    their similarity to the question by an embedder, in (0, 1]; empty without an embedder.
    """

    question: Question
    pool: EventPool
    event_count: int
    meanings: Mapping[str, float] = field(default_factory=dict)

    @property
    def takes_whole(self) -> bool:
        """Whether the question is ranked as a whole: a request for work, if most events are of work with tools."""
        return self.question.works and self.pool.of_tools

    @property
    def has_parts(self) -> bool:
        """Whether to rank events for each part of the question."""
        return bool(self.question.parts) and not self.takes_whole

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The query terms without speaker names, unless nothing else remains: the speaker is a separate cue."""
        named = speakers_named(self.question, self.pool)
        skipped = {term for name in named for term in name.split()}
        without_names = tuple(term for term in self.question.terms if term not in skipped)
        return without_names or self.question.terms

    @cached_property
    def match(self) -> WordMatch:
        """The matches of the terms in each event; names weigh more and are also matched by their usual abbreviation."""
        match = match_words(self.terms, self.pool, self.event_count, works=self.question.works)
        match = with_abbreviations(match, self.pool, self.question.text[:LONGEST_QUESTION])
        named = {term for name in self.question.names for term in terms(name)}
        factors = np.array([_NAME if term in named else 1.0 for term in match.terms])
        return replace(match, weights=match.weights * factors)

    @cached_property
    def neighbours(self) -> Nearby:
        """How much the words of each event count for its neighbours."""
        return Nearby(self.pool)

    @cached_property
    def words(self) -> Floats:
        """The lexical match, 1 for the best event."""
        scores = np.where(self.pool.is_withheld, 0.0, field_scores(self.match, self.neighbours))
        best = scores.max(initial=0.0)
        return (scores / best) ** _SHARPNESS if best else scores

    @cached_property
    def first(self) -> Floats:
        """The score before the walk: by words, titles, cues, feedback terms and meaning; below 0 if withheld."""
        scores = self._by_words + self._feedback
        scores = scores + MEANING * self._meaning if self.meanings else scores
        return np.where(self.pool.is_withheld, _WITHHELD, scores)

    @cached_property
    def _meaning(self) -> Floats:
        return np.array([self.meanings.get(event_id, 0.0) for event_id in self.pool.event_id])

    @cached_property
    def _by_words(self) -> Floats:
        return self.words + TITLE * self._titles() + self._own_words + cue_scores(self.question, self.pool)

    @property
    def _own_words(self) -> Floats:
        """Favour turns that themselves contain the words of a question about the past.

        For a request for work, what followed such a turn helps most, and it rarely repeats the words.
        """
        if not self.question.recalls:
            return np.zeros(len(self.pool))
        weight = _OWN_WORDS_WITH_ASSISTANT if _with_assistant(self.pool) else OWN_WORDS
        return weight * self.pool.talk * self.match.share

    @cached_property
    def _feedback(self) -> Floats:
        excluded = {*self.question.terms, *(term for name in self.pool.speakers.values() for term in name.split())}
        return feedback_scores(self.pool, self.neighbours, self._by_words, self.words, excluded, self.event_count)

    def anchors(self, most: int) -> tuple[str, ...]:
        """Return the ids of the best events that score above 0, at most *most*: the anchors of the walk."""
        ranks = zip((-self.first).tolist(), self.pool.event_id, strict=True)
        return tuple(event_id for score, event_id in nsmallest(most, ranks) if score < 0)

    def best_sessions(self, most: int) -> dict[str, float]:
        """Return at most *most* sessions, best first, each with its worth.

        For a request for work, that is its worth as an example (:func:`as_examples`), otherwise the score of its best
        event. Events that score 0 or less are ignored. Sessions with the error that the question quotes are worth more.
        """
        worth = self.first
        if self.question.works:
            top = self.first.max(initial=0.0) or 1.0
            worth = as_examples(self.pool.sessions, self.match.share, self.first / top)
        if self.error.sessions:
            worth = worth + self.pool.of_sessions(self.error.sessions)
        order = np.argsort(-worth, kind="stable")
        good = order[self.first[order] > 0].tolist()
        best = dict.fromkeys(map(self.pool.session_id.__getitem__, good), 0.0)
        for index in reversed(good):
            best[self.pool.session_id[index]] = float(worth[index])
        return dict(islice(best.items(), most))

    def best_calls(self, sessions: Collection[str], most: int) -> tuple[str, ...]:
        """Return the ids of the best *most* calls in *sessions*, by the higher score of the call or the next event."""
        pool = self.pool
        worth = np.maximum(self.first, np.append(self.first[1:], 0.0)).tolist()
        calls = np.flatnonzero(pool.calls & pool.of_sessions(sessions)).tolist()
        return tuple(pool.event_id[index] for index in nsmallest(most, calls, key=lambda index: (-worth[index], index)))

    def trail_starts(self, most: int) -> tuple[str, ...]:
        """Return the ids of up to *most* events, best first, whose following events may help.

        If the question speaks of trouble or quotes an error, these are failures, because their solution may follow;
        otherwise they are calls. Events that report the quoted error count more.
        """
        kind = self.pool.failures if self.question.troubled or self.error.terms else self.pool.calls
        starts = np.flatnonzero(kind & (self.first > 0)).tolist()
        worth = self.first + self.error.events
        return tuple(
            self.pool.event_id[index] for index in nlargest(most, starts, key=lambda index: (worth[index], -index))
        )

    def truncated(self, most: int) -> tuple[str, ...]:
        """Return the ids of the best *most* events that score above 0 and whose text in the pool is truncated."""
        truncated = [index for index, text in enumerate(self.pool.text) if text.endswith(GAP)]
        ranks = ((-float(self.first[index]), self.pool.event_id[index]) for index in truncated)
        return tuple(event_id for score, event_id in nsmallest(most, ranks) if score < 0)

    def scores(self, neighbourhood: Neighbourhood) -> Floats:
        """Return the final scores: :attr:`first` plus the gains of the walk."""
        if not neighbourhood.mentions:
            return self.first
        with_closeness = self.first + _CLOSENESS * closeness(self.question, self.pool, neighbourhood, self.words)
        return with_closeness + bridges(self.question, self.pool, neighbourhood, self.match, with_closeness)

    def relevance(self, scores: Floats) -> Floats:
        """Return final *scores* scaled so that the best event has 1; without a match in words or meaning, capped at 1.

        For questions about the past, an event with most of the query terms keeps a minimum relevance, however long it
        is. So do standing instructions, if the question asks for them, and the messages in an :attr:`overview`.
        """
        scores = np.maximum(scores, 0.0)
        best = scores.max(initial=0.0)
        relevance_of_events: Floats = scores / best if best and self._is_matched else scores.clip(0.0, 1.0)
        messages = self.pool.by_people | (self.pool.by_assistants & ~self.pool.calls)
        wanted = self._instructions | (self.overview & messages)
        relevance_of_events = np.maximum(relevance_of_events, _NEAR_ANSWER * wanted)
        return np.maximum(relevance_of_events, self._full_matches) if self.question.recalls else relevance_of_events

    def related(self, scores: Floats, relevance: Floats, budget: int) -> Flags:
        """Which events are about the question: by words (its own or neighbours'), links to the best events, or meaning.

        *scores* are the final scores, *relevance* what :meth:`relevance` returned for them.

        - If the question asks for standing instructions and there are any, only those are related.
        - If a question about the past is about something unknown, none is related.
        - Without a match in words or meaning, all events are related to a question (nothing can be excluded), and none
          to a request for work.
        - Speaker, length and time can exclude an event, but never make it related.
        - For questions about the past, a larger *budget* admits less relevant events.
        - If the question names an identifier that events contain, only these events and their results
          (:attr:`_carriers`) are related by words; if none of them is relevant enough, all of them are related.
        - To a request, events with at least ``SURE`` times the largest share of it are related, too.
        - In logs of work with tools, an event of a session without any name in a question about the past is related
          only if it contains most of the question. If the question asks for a value, and an event contains all of it,
          the same holds for events of sessions without such an event. To a question who somebody is, which people say,
          calls and results are related only if they contain more of it than any message.
        """
        if self._instructions.any():
            return self._instructions
        if self._is_about_the_unknown:
            return np.zeros(len(self.pool), dtype=np.bool_)
        if not self._is_matched:
            return np.full(len(self.pool), not (self.question.works and self.question.terms), dtype=np.bool_)
        relevance = self._of_named_date(relevance * self._certainty)
        if self.question.latest:
            relevance = self._towards_the_newest(relevance)
        gains = scores - self.first
        evidence = self.words + TITLE * self._titles() + self._feedback + gains
        if _is_about_asker(self.question, self.pool) and not self.question.works:
            relevance = relevance - _BY_ASSISTANT * _spoken_by(set(filter(is_assistant, self.pool.speakers)), self.pool)
        if self.question.recalls:
            near = near_best(relevance, budget, few=self._is_vague)
            related = (evidence >= _HARDLY_RELATED) & near & ~self._for_other_questions
        else:
            covered = self.neighbours.coverage(self.match) + _LINKED * gains
            related = (evidence >= _RELATED) & (covered >= _RELATED * covered.max(initial=0.0))
            related &= relevance >= _NEAR_BEST
        if self._carriers.any():
            related &= self._carriers
            related = related if related.any() else self._carriers.copy()
        related &= self.may_answer
        if not self.question.recalls:
            share = self.match.share
            related |= (share > 0) & (share >= SURE * share.max(initial=0.0))
        if self.meanings:
            related |= self._meaning >= np.maximum(_RELATED, _LINKED * self._meaning.max(initial=0.0))
        return related

    def _towards_the_newest(self, relevance: Floats) -> Floats:
        """Return *relevance*, lowered for earlier events, then scaled so that the maximum stays the same.

        Events below ``_SOME`` are not lowered.
        """
        relevant = np.flatnonzero(relevance >= _SOME)
        factors = np.empty(len(relevant))
        factors[np.argsort(self.pool.times[relevant], kind="stable")] = np.linspace(_EARLIEST, 1.0, len(relevant))
        lowered = relevance.copy()
        lowered[relevant] *= factors
        newest: Floats = lowered * (relevance.max(initial=0.0) / (lowered.max(initial=0.0) or 1.0))
        return newest

    @property
    def _is_about_the_unknown(self) -> bool:
        """Whether a question about the past has several unknown terms, and the known ones are a small part of it.

        Never for a question that names something known or a time from which there are events, or that asks several
        things.
        """
        question, weights, is_known = self.question, self.match.weights, (self.match.counts >= 1).any(axis=1)
        if question.works or not question.recalls or self.has_parts or self.meanings:
            return False
        then_or_later = question.span is not None and self.pool.times >= question.span.start_us
        if self._with_names.any() or self._carriers.any() or (self._is_of_named_time & then_or_later).any():
            return False
        of_work = bool(self.pool.results.any()) and asks_for_value(question.text)
        least, known = _UNKNOWN_TERMS[of_work], _KNOWN[of_work]
        several = np.count_nonzero(~is_known) >= least
        return bool(several and weights[is_known].sum() < known * weights.sum())

    @cached_property
    def _with_names(self) -> Flags:
        """Which events contain a name in the question."""
        with_names = np.zeros(len(self.pool), dtype=np.bool_)
        for own_terms in filter(None, map(terms, self.question.names)):
            with_names |= (self.pool.occurrences.counts(own_terms) >= 1).all(axis=0)
        return with_names

    @property
    def may_answer(self) -> Flags:
        """Which events may answer a question in a log of work with tools, by the rules of :meth:`related`."""
        pool, share = self.pool, self.match.share
        may_answer = np.ones(len(pool), dtype=np.bool_)
        if self.question.works or not (self.question.recalls and pool.results.any()):
            return may_answer
        if self._with_names.any():
            may_answer = pool.in_sessions_of(self._with_names) | (share >= SURE)
        whole = share >= _WHOLE
        if whole.any() and len(self.match.terms) > 1 and asks_for_value(self.question.text):
            may_answer &= pool.in_sessions_of(whole) | (share >= SURE)
        if asks_who(self.question.text):
            steps = pool.calls | pool.results
            messages = pool.by_people | (pool.by_assistants & ~steps)
            may_answer &= ~steps | (share > share[messages].max(initial=0.0))
        return may_answer

    @property
    def _is_vague(self) -> bool:
        """Whether even the rarest known term of the question is common, so that many events match equally."""
        frequency = (self.match.counts >= 1).sum(axis=1)
        rarest = int(frequency[frequency > 0].min(initial=self.event_count)) if frequency.any() else 0
        return rarest >= max(_VAGUE * self.event_count, _MANY)

    @property
    def _for_other_questions(self) -> Flags:
        """Which texts, except assistants', tell an assistant what to do when it is asked about something else."""
        is_for_others = [_is_for_other_questions(text, self.question) for text in self.pool.text]
        return np.array(is_for_others, dtype=np.bool_) & ~self.pool.by_assistants

    @cached_property
    def _instructions(self) -> Flags:
        """Which messages are standing instructions or preferences for an assistant, if the question asks for these."""
        if not self.question.of_manner:
            return np.zeros(len(self.pool), dtype=np.bool_)
        weights = np.array([_instruction_weight(text)[0] for text in self.pool.text])
        return (weights > 0) & self.pool.by_people & ~self.pool.is_withheld & _with_assistant(self.pool)

    @cached_property
    def _carriers(self) -> Flags:
        """Which events contain an identifier that the question names, or are results directly after such an event.

        Other events of the same session are usually about something else.
        """
        named = filter(_is_identifier, _TOKEN.findall(self.question.text[:LONGEST_QUESTION]))
        runs = [f" {run} " for name in named if (run := search_text(name))]
        if not runs:
            return np.zeros(len(self.pool), dtype=np.bool_)
        carriers = np.array([any(run in f" {words} " for run in runs) for words in self.pool.words], dtype=np.bool_)
        following_results = self.pool.results & self.pool.follows
        carriers[1:] |= carriers[:-1] & following_results[1:]
        return carriers

    @property
    def _is_matched(self) -> bool:
        """Whether any event matches the question in words or in meaning."""
        return bool(self.words.any()) or bool(self.meanings)

    @property
    def _full_matches(self) -> Floats:
        """The minimum relevance of each event: ``ANSWERS`` times its share of the question if a full match, else 0."""
        share = self.match.share
        return np.where(share >= SURE, ANSWERS * share, 0.0)

    def is_new(self, running: str | None) -> bool:
        """Whether no past request or step is like this request for work.

        Results, such as a file that a tool read, and long texts are ignored, because they contain many words of any
        request. They count if the request speaks of trouble, because they may report the same failure. The *running*
        session is ignored, and so are amounts in the request ("at 8", "for ten minutes"). A request with an identifier
        that events contain is not new. Without any past request, nothing is new.
        """
        past = ~self.pool.of_session(running)
        turns = zip(self.pool.kinds, self.pool.speaker, strict=True)
        requests = np.array([not kind and not is_assistant(speaker) for kind, speaker in turns], dtype=np.bool_)
        if self._carriers.any() or not (past & requests).any():
            return False
        scale = math.sqrt(max(len(self.match.terms), _LEAST_TERMS) / _USUAL_TERMS)
        if self.question.troubled:
            past &= self.contain(_ALIKE / scale)
        else:
            past &= (self.pool.occurrences.vocabulary <= _LONGEST_STEP) & ~self.pool.results
        share = float(self._share_of_known_work[past].max(initial=0.0)) * scale
        similarity = float(self._meaning[past].max(initial=0.0)) * SURE if self.meanings else 0.0
        return max(share, similarity) < _ALIKE

    def contain(self, share: float) -> Flags:
        """Which events contain at least *share* of the question's terms, by weight, in one passage."""
        return together(self.match.weight_by_term, self.pool, share)

    @cached_property
    def error(self) -> QuotedError:
        """The error that the question quotes, if any."""
        return QuotedError(self.question, self.pool, self.event_count)

    @property
    def _relative_length(self) -> float:
        """The length of the question in multiples of a long request, at least 1."""
        return max(1.0, len(self.match.terms) / _LONG_REQUEST)

    @cached_property
    def named_cases(self) -> Flags:
        """Which events are of sessions about someone or something that a question about the past names.

        None for a request for work. What counts as a name is in :attr:`_about_named`.
        """
        if not self.question.recalls or self.question.works:
            return np.zeros(len(self.pool), dtype=np.bool_)
        return self._about_named > 0

    @cached_property
    def _about_named(self) -> Floats:
        """The part of the question's names that the session of each event is about, in [0, 1].

        0 unless most events are of sessions with tool results. Only names with several words or a digit count. A
        session is not about a name that only its results contain. The fewer sessions are about a name, the more it
        counts: in "Ethan Garcia moves to New York", the man counts more than the city.
        """
        named, total, sessions = np.zeros(len(self.pool)), 0.0, self.pool.sessions
        for name in self.question.names if self.pool.of_tools else ():
            if len(own_terms := terms(name)) > 1 or any(map(str.isdigit, name)):
                naming = (self.pool.occurrences.counts(own_terms) >= 1).all(axis=0)
                naming = self.pool.in_sessions_of(naming & ~self.pool.results)
                if count := len(np.unique(sessions[naming])):
                    weight = math.log1p((sessions.max() + 1) / count)
                    named[naming] += weight
                    total += weight
        return named / (total or 1.0)

    def case_sessions(self, most: int) -> tuple[str, ...]:
        """Return at most *most* sessions of :attr:`named_cases`: best first, or latest first if about equally good.

        The quality of a session is the largest share of the question in one of its messages or calls, plus half of the
        largest share of the question without its names, multiplied by the part of the names that the session is about.
        Assistants' messages count half, because they contain words of many requests. Sessions much worse than the best
        are left out, and so are those with much less of the rest of the question, which are about other matters of the
        same thing. If the question asks for the latest of something ("What did Noah pay for his latest order?"), the
        rest does not matter, and all sessions nearly as good as the best count as equally good, so that the latest
        comes first.
        """
        answers = self.pool.by_assistants & ~self.pool.calls
        weights = np.where(answers, _OF_ANSWERS, 1.0) * ~self.pool.results
        rest_shares = weights * self.share_without_names
        worth = as_examples(self.pool.sessions, weights * self.match.share, rest_shares)
        worth *= self._about_named
        best = worth.max(initial=0.0)
        rest = as_examples(self.pool.sessions, rest_shares, np.zeros(len(self.pool)))
        on_topic = self.question.latest | (rest >= _LEAST_REST * rest[self.named_cases].max(initial=0.0))
        cases = np.flatnonzero(self.named_cases & on_topic & (worth >= _LEAST_CASE * best)).tolist()
        worth = worth >= _NEARLY_BEST * best if self.question.latest else worth.round(1)
        times = dict(zip(self.pool.session_id, self.pool.time_us, strict=True))
        ranks = {self.pool.session_id[index]: float(worth[index]) for index in cases}
        return tuple(nlargest(most, ranks, key=lambda session_id: (ranks[session_id], times[session_id], session_id)))

    @property
    def share_without_names(self) -> Floats:
        """The share of the question's terms, except those of its names, that each event contains."""
        return self._share_without(chain.from_iterable(map(terms, self.question.names)))

    @cached_property
    def share_of_request(self) -> Floats:
        """The share of the question's terms that each event contains, by :attr:`weights_of_request`."""
        weights = np.array([self.weights_of_request.get(term, 0.0) for term in self.match.terms])
        shares: Floats = weighted(weights, self.match.counts >= 1)
        return shares

    @cached_property
    def weights_of_request(self) -> dict[str, float]:
        """The weights of the question's terms by which work is told apart; they add up to 1.

        Each name, and each path such as "marts/orders.sql", counts as one term of at most average weight: otherwise,
        "Torre Alta" would say as much about the work as "pool" and "green" together. Numbers, such as that of an order,
        amounts and dates do not count.
        """
        names = [terms(name) for name in self.question.names if not any(map(str.isdigit, name))]
        first = {term for name in names for term in name[:1]}
        paths = [*filter(None, map(terms, _PATH.findall(self.question.text[:LONGEST_QUESTION])))]
        weight_by_term = self.match.weight_by_term
        rarest = {max(path, key=lambda term: (weight_by_term.get(term, 0.0), term)) for path in paths}
        other = set(chain.from_iterable([*names, *paths])) - first - rarest
        particulars = self._are_amounts | self._are_dates
        counted = np.array([term not in other for term in self.match.terms], dtype=np.bool_) & ~particulars
        weights = self.match.weights * counted
        is_name = np.array([term in first | rarest for term in self.match.terms], dtype=np.bool_)
        of_work = weights[counted & ~is_name]
        if len(of_work):
            weights = np.where(is_name, np.minimum(weights, of_work.mean()), weights)
        weights = weights / max(float(weights.sum()), 1e-9)
        return {term: weight for term, weight in zip(self.match.terms, weights.tolist(), strict=True) if weight}

    @property
    def known_weights_of_request(self) -> dict[str, float]:
        """:attr:`weights_of_request` of the terms that any event contains, scaled so that they add up to 1 again."""
        counts = dict(zip(self.match.terms, self.match.counts.sum(axis=1).tolist(), strict=True))
        known = {term: weight for term, weight in self.weights_of_request.items() if counts[term]}
        total = sum(known.values())
        return {term: weight / total for term, weight in known.items()}

    @property
    def _share_of_known_work(self) -> Floats:
        """The share of the request in each event, to tell whether the same work was done before.

        Amounts, dates and new names are ignored: "for ten minutes", or for a new customer, the work is still the same.
        If most terms are known, a term that no event contains weighs at most as much as the average known term.
        """
        has_term = (self.match.counts >= 1).any(axis=1)
        in_names = frozenset(chain.from_iterable(map(terms, self.question.names)))
        new_names = np.array([term in in_names for term in self.match.terms], dtype=np.bool_) & ~has_term
        numbers = self._are_amounts | self._are_dates | new_names
        is_known = has_term & ~numbers
        weights = self.match.weights * ~numbers
        if 2 * np.count_nonzero(is_known) > np.count_nonzero(~numbers):
            weights = np.minimum(weights, np.where(is_known, weights, weights[is_known].mean()))
        shares: Floats = weighted(weights, self.match.counts >= 1) / max(float(weights.sum()), 1e-9)
        return shares

    @property
    def _are_amounts(self) -> Flags:
        """Which terms of the question are numbers or parts of amounts."""
        return np.array([term.isdigit() or term in _AMOUNTS for term in self.match.terms], dtype=np.bool_)

    @property
    def _are_dates(self) -> Flags:
        """Which terms of the question are months, days of the week or days such as "tomorrow"."""
        return np.array([term in _DATES for term in self.match.terms], dtype=np.bool_)

    @property
    def share_of_case(self) -> Floats:
        """The share of the question by which the events within a case are compared.

        Usually that is the share without names, because the whole case is about what the question names. If no event of
        the session matches the question beyond its names ("What is there to know about Moss & Fern?") and no call
        matches at all, the names may occur only in passing, so that the share includes them.
        """
        without_names, share = self.share_without_names, self.match.share
        ignores_names = self.pool.in_sessions_of((without_names >= _BEYOND_NAMES) | (self.pool.calls & (share > 0)))
        return np.where(ignores_names, without_names, share)

    def _share_without(self, skipped: Iterable[str]) -> Floats:
        """Return the share of the question's terms, except the *skipped* ones, that each event contains."""
        skipped_terms = frozenset(skipped)
        weights = self.match.weights * [term not in skipped_terms for term in self.match.terms]
        shares: Floats = weighted(weights, self.match.counts >= 1) / max(float(weights.sum()), 1e-9)
        return shares

    @property
    def share_of_session(self) -> Floats:
        """The share of the question's terms that messages and calls of the session of each event contain together."""
        return self._share_of_session(())

    def _share_of_session(self, skipped: Collection[str]) -> Floats:
        """The same share, without the *skipped* terms."""
        weights = self.match.weights * [term not in skipped for term in self.match.terms]
        has_term = np.zeros((len(self.match.terms), self.pool.sessions.max(initial=-1) + 1), dtype=np.bool_)
        messages_and_calls = ~self.pool.results
        np.logical_or.at(
            has_term.T, self.pool.sessions[messages_and_calls], (self.match.counts[:, messages_and_calls] >= 1).T
        )
        return weighted(weights, has_term)[self.pool.sessions] / max(float(weights.sum()), 1e-9)

    @property
    def wants_examples(self) -> bool:
        """Whether to show past sessions as examples: always for a request for work.

        If most events are of sessions with tool results, also for a question that quotes an error of a past session,
        and for one much like a past question.
        """
        return self.question.works or (self.pool.of_tools and (bool(self.error.sessions) or self.was_raised_before))

    @property
    def troubled(self) -> bool:
        """Whether the question is about a failure: it says so, or quotes an error message."""
        return self.question.troubled or bool(self.error.terms)

    @property
    def if_failed(self) -> float:
        """Factor on the worth of a past session as an example if its last feedback was negative."""
        return _IF_FAILED_LIKEWISE if self.troubled else _IF_FAILED

    @property
    def was_raised_before(self) -> bool:
        """Whether a user asked much the same in a session with results, and no result matches the question much better.

        Only questions, requests and the first message of a person in a session count. That message and the calls may
        together say what is asked: "Olsen cannot log in" and the search for "login olsen".
        """
        pool, share = self.pool, self._share_without(_OF_TROUBLE)
        least = _RAISED_IF_FEW if len(self.match.terms) < _FEW_TERMS else _RAISED
        least = max(least, _DATA * float(share[pool.results].max(initial=0.0)))
        messages = pool.by_people & pool.in_sessions_of(pool.results) & (share >= least)
        firsts = {int(pool.sessions[index]): index for index in reversed(np.flatnonzero(pool.by_people).tolist())}
        similar = np.flatnonzero(messages).tolist()
        if any(asks(pool.text[index]) or firsts[int(pool.sessions[index])] == index for index in similar):
            return True
        together = self._share_of_session(_OF_TROUBLE) >= max(_RAISED_IF_FEW, least)
        candidates = (share > 0) & together & pool.in_sessions_of(pool.results)
        return any(candidates[index] for index in firsts.values())

    @property
    def with_special_terms(self) -> Flags:
        """Which events contain at least half, by weight, of the request's special terms, which few events contain.

        Terms that no event contains, such as the number of a new order, amounts and dates do not count.
        """
        frequency = (self.match.counts > 0).sum(axis=1)
        special = (frequency > 0) & (frequency <= max(_SPECIAL * self.event_count, _FEW_EVENTS))
        weights = np.where(special & ~self._are_amounts & ~self._are_dates, self.match.weights, 0.0)
        enough: Flags = weighted(weights, self.match.counts > 0) >= weights.sum() / 2
        return enough if weights.any() else np.zeros_like(enough)

    @cached_property
    def assurance(self) -> float:
        """How well the best events match the question, in [0, 1]."""
        return self._assurance_of(np.ones(len(self.pool), dtype=np.bool_))

    @property
    def assurance_of_work(self) -> float:
        """How well the best events of sessions with tool results match, in [0, 1]; of all if there are no results.

        Mere talk about some work does not show that such work was done with tools.
        """
        with_results = self.pool.in_sessions_of(self.pool.results)
        return self._assurance_of(with_results) if with_results.any() else self.assurance

    def _assurance_of(self, events: Flags) -> float:
        if self._instructions.any():
            return 1.0
        # If the question has no terms but a time, events from that time count like a full match; if it has terms, like
        # a match of half of them.
        in_time = 1.0 if self._is_of_named_time.any() else 0.0
        best = float(self.match.share[events].max(initial=0.0))
        share = best * self._relative_length if len(self.match.terms) else in_time
        similarity = max(self.meanings.values(), default=0.0) * SURE
        return min(1.0, max(share, in_time * 0.5, similarity) / SURE)

    @cached_property
    def overview(self) -> Flags:
        """Which events are from the named time, if the question asks only what happened then; else none."""
        span = self.question.span if self.question.overview else None
        return np.zeros(len(self.pool), dtype=np.bool_) if span is None else span.distances_us(self.pool.times) == 0

    @cached_property
    def _is_of_named_time(self) -> Flags:
        """Which events are from the time that the question names, or from up to 15 days before or 30 days after."""
        span = self.question.span
        if span is None:
            return np.zeros(len(self.pool), dtype=np.bool_)
        return span.distances_us(self.pool.times) <= _REPORTED_WITHIN_US

    def _of_named_date(self, relevance: Floats) -> Floats:
        """Return *relevance*; for a question about a date, 0 for events of other times that are less relevant.

        Events from other times keep their relevance if they are more relevant than all events from the date. An event
        that names the month, such as a plan, counts as from the date. In packs for 107 questions with dates, this left
        out a third of the entries, and more of the events needed for the answers fitted the same budget.

        Calls and results happened when they were recorded, unlike what people report later: if there are any from the
        date itself, those from other times get 0.
        """
        if self.question.works or not self.question.dated:
            return relevance
        span, steps = self.question.span, self.pool.calls | self.pool.results
        on_date = steps if span is None else steps & (span.distances_us(self.pool.times) == 0)
        if on_date.any():
            relevance = np.where(steps & ~on_date, 0.0, relevance)
        then = self._is_of_named_time | (self.pool.occurrences.matched(self.question.months) > 0)
        best = relevance[then].max(initial=0.0)
        return np.where(then | (relevance > best), relevance, 0.0) if best else relevance

    @property
    def _certainty(self) -> float:
        """The factor on relevance before related events are chosen: below 1 for a low :attr:`assurance`."""
        return min(self.assurance / _DOUBTED, 1.0)

    def _titles(self) -> Floats:
        """Return the weight of each title in the question relative to the weightiest query term, at most 1; else 0."""
        values = self.match.weight_by_term
        top = max(values.values(), default=0.0)
        if not top or not any(self.pool.title):
            return np.zeros(len(self.pool))
        return np.array([self._title(title, values) / top for title in self.pool.title]).clip(0, 1)

    def _title(self, title: str, values: dict[str, float]) -> float:
        name = " ".join(terms(title.split(" (", maxsplit=1)[0])) if title else ""
        return sum(values.get(term, 0.0) for term in name.split()) if self.question.mentions(name) else 0.0


# Sessions are ranked as examples by the largest share of the question in one event, plus this weight times the
# relevance of their best event, whatever its age. Measured on 269 requests that went well, in three domains: the F1
# between the changes that were made and those in the better of two examples was 72.1, 75.4 and 59.0 %. With examples
# ranked by score it was 65.7, 75.0 and 55.2 %.
_BY_RELEVANCE = 0.5
# Factors on examples that ended with negative feedback. The second applies if the question is about a failure, because
# sessions that failed in the same way may say why. Of 211 requests, the factors raised the share with an example that
# had gone well from 89 to 97 %; the F1 above stayed the same.
_IF_FAILED, _IF_FAILED_LIKEWISE = 0.6, 0.8


def as_examples(sessions: Integers, shares: Floats, relevance: Floats) -> Floats:
    """Return for each event how good an example its session is.

    That is the largest of *shares* (of the question) in the session, plus half of the largest of *relevance*.

    >>> as_examples(np.array([0, 0, 1]), np.array([1.0, 0.0, 0.2]), np.array([0.0, 1.0, 0.4])).tolist()
    [1.5, 1.5, 0.4]
    """
    worth = np.zeros(len(sessions))
    for values, weight in ((shares, 1.0), (relevance, _BY_RELEVANCE)):
        best = np.zeros(sessions.max(initial=-1) + 1)
        np.maximum.at(best, sessions, values)
        worth += weight * best[sessions]
    return worth


def near_best(relevance: Floats, budget: int = DEFAULT_BUDGET, *, few: bool = False) -> Flags:
    """Which events are relevant enough, given how many are more relevant and *budget* tokens to fill.

    With *few*, only the best events: ``_FEW_IF_VAGUE`` at the default budget, growing with its square root.

    >>> near_best(np.array([1.0, 0.5, 0.3, 0.1])).tolist()
    [True, True, False, False]
    >>> near_best(np.array([1.0, 0.5, 0.3, 0.1]), 4096).tolist()
    [True, True, True, False]

    """
    relative_budget = budget / DEFAULT_BUDGET
    ranks = np.empty(len(relevance))
    ranks[np.argsort(-relevance, kind="stable")] = np.arange(1, len(relevance) + 1)
    doublings = np.log2(np.maximum(ranks / (_FEW_NEAR * relative_budget**0.5), 1.0))
    near: Flags = relevance >= _NEAR_ANSWER / max(relative_budget, 1.0) ** _LOWER + _RISE * doublings
    return near & (ranks <= _FEW_IF_VAGUE * max(relative_budget**0.5, 0.5)) if few else near


def _is_identifier(token: str) -> bool:
    """Whether *token* has an underscore inside, or mixes letters and digits in at least five characters.

    A number with one or two letters is a quantity, not an identifier.

    >>> [_is_identifier(token) for token in ("mia_li_3668", "W2378156", "59XX6W", "2024-05-20", "1980s", "120ms")]
    [True, True, True, False, False, False]

    """
    if "_" in token.strip("_"):
        return True
    mixed = any(map(str.isdigit, token)) and any(map(str.isalpha, token))
    return mixed and len(token) >= _SHORTEST_IDENTIFIER and not _QUANTITY.fullmatch(token)
