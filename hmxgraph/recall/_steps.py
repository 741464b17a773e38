"""Steps of a log of many tasks: what the agent announced, the calls that followed, and their results.

A log of many tasks is a session too long to be shown as one episode. The *share* of an event is the part of the
question's terms, by weight, that it contains.
"""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from hmxgraph.recall.pool import (
    CALLED,
    FAILED,
    WORKED,
    EventPool,
    Flags,
    Floats,
    Integers,
    WordMatch,
    bm25,
    norms,
    weighted,
)
from hmxgraph.recall.question import speaks_of_trouble
from hmxgraph.text.excerpts import Passages, without_old_text
from hmxgraph.text.lines import event_line
from hmxgraph.text.terms import TokenCounter

# Weight of matches in results, which are long and about many things.
_OF_RESULTS = 0.3
# Weight of the mean score of the steps before and after, because one piece of work takes several steps.
_OF_NEIGHBOURS = 0.5
# For a question about a failure, factor on a step in which no call failed.
_WITHOUT_FAILURE = 0.6
# For other questions, if any step edits a file, factor on a step that edits none, such as a look at the state before a
# commit.
_WITHOUT_EDIT = 0.7
# A call that edits a file passes the new content, a patch, or the old and the new text.
_EDIT = re.compile(r"[(,]\s*(?:(?:old|new)_(?:str|string|text|source)|content|file_text|patch|diff|edits?|code_edit)=")
# The question quotes a failure if the result that reports the failure contains this share of the question.
_QUOTED = 0.6
# The remedy for a failure is expected within this many steps after it. Each scores a little less than the step before.
_STEPS_TO_REMEDY, _LESS_PER_STEP = 5, 0.05
# An event that is known to report the error counts if its share of the question is at least this fraction of the
# largest share of such an event.
_OF_BEST_MATCH = 0.8
# Factor on all scores if it is known which events report the error that the question is about. The steps with the error
# and those directly after them are then raised to nearly 1.
_BESIDE_KNOWN_ERROR = 0.75
# For a question about how something ended, the steps of a session that score at least ``_MATCHES_WELL`` are multiplied
# by a factor that rises from ``_FIRST`` for the first of them to 1 for the last.
_MATCHES_WELL, _FIRST = 0.5, 0.3
# If a step with an edit then scores at least ``_NEAR_END``, up to ``_REASONS`` steps before it are raised, because they
# may say why the edit was made. Each of them scores a little less than the step after it.
_NEAR_END, _REASONS, _LESS_PER_REASON = 0.8, 3, 0.01
# A session with fewer steps counts as one with this many when the rarity of a term among its steps is computed.
_FEW_STEPS = 64
# The score of a step with a report, for a question about the past or about how something ended. A report is a message
# of an assistant whose share of the question is at least ``_OF_QUESTION``, and ``_OF_BEST`` of the largest such share.
_REPORT, _OF_QUESTION, _OF_BEST = 0.9, 0.3, 0.65
# Maximum length of an event of a step, in characters. A call that edits a file may be longer, because it is the most
# informative. Elsewhere, a result of at most ``LINE`` characters counts as short.
LINE, _LINE_OF_EDIT = 240, 360
# The same limits if the pack has room.
_LONG_LINE, _LONG_LINE_OF_EDIT = 480, 1_440
# A result only acknowledges its call if it adds at most ``_FEW_WORDS`` words to those of the call, and more than
# ``_OFTEN`` results of the tool add the same words.
_FEW_WORDS, _OFTEN = 8, 3


def steps(pool: EventPool) -> Integers:
    """Return the step number of each event, from 1. A step begins with the first message after a call or result.

    It also begins with an event that does not directly follow the one before it, and with a message right after a
    message of an assistant: that earlier message announced no call, so it ended a task.
    """
    messages = ~pool.results & np.array([not kind for kind in pool.kinds], dtype=np.bool_)
    begins = ~pool.follows | messages
    begins[1:] &= ~pool.follows[1:] | ~messages[:-1] | pool.by_assistants[:-1]
    numbers: Integers = np.cumsum(begins.astype(np.int64))
    return numbers


def step_scores(
    match: WordMatch,
    pool: EventPool,
    errors: Flags | None = None,
    *,
    troubled: bool = False,
    ended: bool = False,
    works: bool = True,
) -> Floats:
    """Return for each event how well its step matches the question, in [0, 1]; results count less than other events.

    - *works*: the question is a request for work. A step without a call is then no example and scores 0. Otherwise, or
      for a question about how something *ended*, such a step may score, and a step with a report (see ``_REPORT``)
      scores nearly 1.
    - *ended*: the question is about how something ended or how far it has got. Of the steps of a session that match
      well, the last count most.
    - *troubled*: the question is about a failure. A step in which no call failed counts less. A step with the failure
      that the question quotes scores 1 and the next five steps slightly less, even without a call; *errors* are the
      events that are known to report that failure.
    - If the question is not about a failure and any step edits a file, steps that edit none count less.

    Measured on two sets of 18 questions for which all helpful steps of three long logs are known, the nDCG of the best
    eight steps was .48 and .55; without the factor for edits, it was .46 and .53; without that factor, neighbours and
    shares, .40 and .51. For these numbers, scores were multiplied by the square root of the share. On 30 other
    questions, the square root gave .44, the share itself .46. Lower counts for terms that many steps of a session
    contain shortened packs for 8 other questions from 158 to 119 lines, with the same evidence.
    """
    if not len(pool):
        return np.zeros(0)
    calls = pool.calls
    edits = np.array([call and bool(_EDIT.search(text)) for call, text in zip(calls.tolist(), pool.text, strict=True)])
    number = steps(pool)
    starts = np.flatnonzero(np.diff(number, prepend=0))
    reports = _reports(match, pool)
    match = _discriminating(match, starts, pool.sessions)
    scores = _matches(match, pool, ~pool.results, starts) + _OF_RESULTS * _matches(match, pool, pool.results, starts)
    scores *= _shares(match, pool, starts)
    scores += _OF_NEIGHBOURS * _means_beside(scores, pool.follows[starts])
    if works and not ended:
        scores *= np.logical_or.reduceat(calls, starts)
    if troubled:
        scores *= np.where(np.logical_or.reduceat(pool.failures, starts), 1.0, _WITHOUT_FAILURE)
    elif edits.any():
        scores *= np.where(np.logical_or.reduceat(edits, starts), 1.0, _WITHOUT_EDIT)
    scores /= scores.max(initial=0.0) or 1.0
    if ended or not works:
        scores = np.maximum(scores, _REPORT * np.logical_or.reduceat(reports, starts))
    if ended:
        scores = _towards_the_end(scores, np.logical_or.reduceat(edits, starts), pool.sessions[starts])
    if troubled:
        if errors is not None and errors.any():
            failures = errors & (match.share >= _OF_BEST_MATCH * match.share[errors].max())
            scores *= _BESIDE_KNOWN_ERROR
        else:
            failures = _quoted_failures(match, pool)
        scores = _with_remedies(scores, np.logical_or.reduceat(failures, starts), pool.follows[starts])
    per_event: Floats = scores[number - 1]
    return per_event


def _reports(match: WordMatch, pool: EventPool) -> Flags:
    """Which messages of assistants say most about the question, such as the summary at the end of a task."""
    shares = np.where(pool.by_assistants & ~pool.calls & ~pool.results, match.share, 0.0)
    reports: Flags = shares >= max(_OF_BEST * shares.max(initial=0.0), _OF_QUESTION)
    return reports


def _towards_the_end(scores: Floats, edits: Flags, sessions: Integers) -> Floats:
    """Return the *scores* of steps; of those in a session that match well, the earlier ones are lowered.

    Steps directly before a high-scoring step with an edit get nearly its score: they may say why the edit was made.

    >>> edits, sessions = np.array([True, False, True]), np.array([0, 0, 0])
    >>> _towards_the_end(np.array([1.0, 0.1, 0.8]), edits, sessions).round(2)
    array([0.37, 0.99, 1.  ])
    """
    lowered = scores.copy()
    for session in np.unique(sessions):
        matching = np.flatnonzero((sessions == session) & (scores >= _MATCHES_WELL))
        if len(matching) > 1:
            lowered[matching] *= np.linspace(_FIRST, 1.0, len(matching))
    lowered /= lowered.max(initial=0.0) or 1.0
    for index in np.flatnonzero(edits & (lowered >= _NEAR_END)).tolist():
        for before in range(index - 1, max(index - _REASONS, 0) - 1, -1):
            if edits[before] or sessions[before] != sessions[index] or not scores[before]:
                break
            lowered[before] = max(lowered[before], lowered[index] - _LESS_PER_REASON * (index - before))
    return lowered


def _matches(match: WordMatch, pool: EventPool, events: Flags, starts: Integers) -> Floats:
    """Return the BM25 score of each step, computed from these *events* alone."""
    is_counted = events.astype(np.float64)
    counts = np.add.reduceat(match.counts * is_counted, starts, axis=1)
    return bm25(match.weights, counts, norms(np.add.reduceat(pool.occurrences.vocabulary * is_counted, starts)))


def _discriminating(match: WordMatch, starts: Integers, sessions: Integers) -> WordMatch:
    """Return *match* with lower counts for terms that many steps of a session contain.

    The id of a task or the name of a folder finds the session, but does not distinguish its steps.
    """
    has_term = np.add.reduceat(match.counts, starts, axis=1) > 0
    of_step, counts = sessions[starts], match.counts.astype(np.float64)
    for session in np.unique(of_step):
        in_session = of_step == session
        size = max(int(np.count_nonzero(in_session)), _FEW_STEPS) + 1
        rarity_within = np.log(size / (has_term[:, in_session].sum(axis=1) + 0.5)) / np.log(size)
        counts[:, sessions == session] *= rarity_within.clip(0.0, 1.0)[:, np.newaxis]
    return replace(match, counts=counts)


def _shares(match: WordMatch, pool: EventPool, starts: Integers) -> Floats:
    """Return the share of the question's terms, by weight, that each step contains; terms in results count less."""
    counts = match.counts * np.where(pool.results, _OF_RESULTS, 1.0)
    present = np.minimum(np.add.reduceat(counts, starts, axis=1), 1.0)
    return weighted(match.weights, present) / (match.weights.sum() or 1.0)


def _means_beside(scores: Floats, follows: Flags) -> Floats:
    """Return for each step the mean score of the steps directly before and after it; a missing step counts as 0.

    >>> _means_beside(np.array([1.0, 0.0, 0.5]), np.array([False, True, False]))
    array([0. , 0.5, 0. ])
    """
    after, before = np.zeros_like(scores), np.zeros_like(scores)
    before[1:] = np.where(follows[1:], scores[:-1], 0.0)
    after[:-1] = np.where(follows[1:], scores[1:], 0.0)
    means: Floats = (before + after) / 2
    return means


def _quoted_failures(match: WordMatch, pool: EventPool) -> Flags:
    """Which results report a failure in the words of the question."""
    quoted: Flags = match.share >= _QUOTED
    for index in np.flatnonzero(quoted).tolist():
        kind = pool.kinds[index]
        quoted[index] = kind == FAILED or (kind == WORKED and speaks_of_trouble(pool.text[index]))
    return quoted


def _with_remedies(scores: Floats, quoted: Flags, follows: Flags) -> Floats:
    """Return the *scores* of steps, raised to 1 for a *quoted* failure and to nearly 1 for the next five steps.

    >>> _with_remedies(np.array([0.5, 0.0, 0.0]), np.array([True, False, False]), np.array([False, True, False]))
    array([1.  , 0.95, 0.  ])
    """
    best = np.where(quoted, 1.0, 0.0)
    for index in range(1, len(best)):
        if follows[index] and best[index - 1] > 1.0 - _STEPS_TO_REMEDY * _LESS_PER_STEP:
            best[index] = max(best[index], best[index - 1] - _LESS_PER_STEP)
    return np.maximum(scores, best)


def acknowledgements(pool: EventPool, call_of: Sequence[int]) -> Flags:
    """Return which results only acknowledge their call: they add the same few words as other results of the tool.

    A result that only repeats words of its call is no acknowledgement, because it may be the line that was searched
    for.
    """
    added = {
        index: (tool[0] if tool else "", words)
        for index, (kind, tool, call) in enumerate(zip(pool.kinds, pool.tools, call_of, strict=True))
        if kind == WORKED and call >= 0 and (words := _added_words(pool.words[index], pool.words[call])) is not None
    }
    times = Counter(added.values())
    acknowledging = np.zeros(len(pool), dtype=np.bool_)
    acknowledging[[index for index, tool_and_words in added.items() if times[tool_and_words] > _OFTEN]] = True
    return acknowledging


def _added_words(result: str, call: str) -> frozenset[str] | None:
    """Return the words that a *result* adds to those of its *call*, if they are few.

    None if they are many or more than half of the result, or if the result has words but adds none.
    """
    result_words = frozenset(result.split())
    added = result_words - frozenset(call.split())
    return added if (added or not result_words) and len(added) <= min(_FEW_WORDS, len(result_words) // 2) else None


def shortened(
    pool: EventPool,
    events: Flags,
    weight_by_term: Mapping[str, float],
    count_tokens: TokenCounter,
    preferred: Mapping[int, Container[str]] = MappingProxyType({}),
    *,
    roomy: bool = False,
) -> EventPool:
    """Return *pool* with the long texts of *events* cut to their beginning and passages that match *weight_by_term*.

    The old text of an edit is left out, because the new text shows what was done. The *preferred* fields of an event,
    by its index, come before passages that match. If the pack is *roomy*, texts may be longer, most of all edits and
    assistants' messages.
    """
    of_edit, of_others = (_LONG_LINE_OF_EDIT, _LONG_LINE) if roomy else (_LINE_OF_EDIT, LINE)
    texts, tokens = list(pool.text), list(pool.tokens)
    for index in np.flatnonzero(events).tolist():
        edits = pool.kinds[index] == CALLED and _EDIT.search(texts[index])
        reports = roomy and pool.by_assistants[index] and not pool.kinds[index]
        if len(texts[index]) > (_LINE_OF_EDIT if edits else LINE):
            passages = Passages.of(without_old_text(texts[index]), weight_by_term).preferring(preferred.get(index, ()))
            texts[index] = passages.excerpt(of_edit if edits or reports else of_others) or texts[index]
            tokens[index] = count_tokens(event_line(texts[index], pool.label[index], pool.shown_speaker[index]))
    return pool.with_lines(texts, tokens)
