"""The lines of events in a pack: long texts cut to the passages that match the question, and token counts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hmxgraph.recall._examples import decisive_weights
from hmxgraph.recall.candidates import THRESHOLD
from hmxgraph.recall.event_candidates import Episodes
from hmxgraph.recall.pool import EventPool, is_assistant
from hmxgraph.text.excerpts import Passages, without_old_text
from hmxgraph.text.lines import SUPERSEDED, event_line
from hmxgraph.text.terms import TokenCounter

# The passages of a long message get 1/32 of the budget, within these limits in tokens.
_PASSAGES_OF_BUDGET = 32
_LEAST_PASSAGES, _MOST_PASSAGES = 48, 80
# They get up to this many times as many tokens if the passages of all messages then fit.
_WITH_ROOM = 2
# Approximate characters per token.
_TOKEN_CHARACTERS = 4
# A text is cut only if it is more than this many times as long as its passages may be.
_LONGER = 2
# Nothing is cut if the texts together fill at most this share of the budget.
_WHOLE_SHARE = 0.75
# Texts are cut in order, best first, until together they exceed the budget by this factor.
_CUT_BEYOND = 1.5
# The passages of one text from an outside source get 1/4 of the budget.
_RESULT_OF_BUDGET = 4


def with_excerpts(
    pool: EventPool, whole: Mapping[str, str], weight_by_term: Mapping[str, float], count_tokens: TokenCounter
) -> EventPool:
    """Return *pool* with excerpts in place of truncated texts if the part that was cut off matches the terms.

    *whole* maps event ids to full texts. An excerpt is never longer than the truncated text.
    """
    texts, tokens = list(pool.text), list(pool.tokens)
    for event_id, text in whole.items():
        index = pool.index[event_id]
        passages = Passages.of(without_old_text(text), weight_by_term)
        if passages.anything_after(len(texts[index])):
            texts[index] = passages.excerpt(len(texts[index]))
            tokens[index] = count_tokens(event_line(texts[index], pool.label[index], pool.shown_speaker[index]))
    return pool.with_lines(texts, tokens) if whole else pool


def recounted(pool: EventPool, count_tokens: TokenCounter) -> EventPool:
    """Return *pool* with the tokens of its rendered lines counted by *count_tokens*."""
    lines = map(event_line, pool.text, pool.label, pool.shown_speaker)
    return pool.with_lines(pool.text, list(map(count_tokens, lines)))


def marked_as_superseded(pool: EventPool, event_ids: Collection[str], count_tokens: TokenCounter) -> EventPool:
    """Return *pool* with the events in *event_ids*, which state what no longer holds, labelled as superseded."""
    labels, tokens = list(pool.label), list(pool.tokens)
    superseded = [pool.index[event_id] for event_id in sorted(event_ids) if event_id in pool.index]
    for index in superseded:
        labels[index] = f"{labels[index]}, {SUPERSEDED}" if labels[index] else SUPERSEDED
        tokens[index] = count_tokens(event_line(pool.text[index], labels[index], pool.shown_speaker[index]))
    return replace(pool, label=tuple(labels), tokens=tuple(tokens)) if superseded else pool


def with_passages(
    episodes: Episodes,
    whole: Mapping[str, str],
    weight_by_term: Mapping[str, float],
    budget: int,
    count_tokens: TokenCounter,
    sessions: Collection[str] = (),
    room: int = 0,
) -> Episodes:
    """Return *episodes* with long texts cut to the passages that match *weight_by_term*.

    Only events that reach the threshold are cut. None are cut if there is only one, or if together they fill at most
    three quarters of *budget*. Passages are longer if all of them then fit.

    If whole *sessions* are shown, only their events are cut. Passages then also match terms that were decisive in a
    session (:func:`decisive_weights`), and are as long as an equal share of *room* for each session allows.

    Documents are not cut. Neither is text from an outside source that fills at most half the budget, because half a
    record is misleading; longer text would leave no room for what followed. Steps of logs are short already.
    """
    limit = min(max(budget // _PASSAGES_OF_BUDGET, _LEAST_PASSAGES), _MOST_PASSAGES)
    pool, scores = episodes.pool, episodes.scores
    ranked = (index for index in np.argsort(-scores, kind="stable").tolist() if scores[index] >= THRESHOLD)
    best = [index for index in ranked if not sessions or pool.session_id[index] in sessions]
    if len(best) == 1 or sum(pool.tokens[index] for index in best) <= _WHOLE_SHARE * budget:
        return episodes
    weights = {
        session_id: decisive_weights(pool, pool.of_session(session_id), weight_by_term) for session_id in sessions
    }
    limits = _limits([(pool.session_id[index], pool.tokens[index]) for index in best], limit, room) if sessions else {}
    if not sessions:
        longest = _longest_passages([pool.tokens[index] for index in best], limit, int(_WHOLE_SHARE * budget))
        limit = min(longest, _WITH_ROOM * limit)
    texts, tokens, used = list(pool.text), list(pool.tokens), 0
    for index in best:
        if used > _CUT_BEYOND * budget:
            break
        message_limit = limits.get(pool.session_id[index], limit)
        own_limit = message_limit if pool.label[index] in {"", SUPERSEDED} else budget // _RESULT_OF_BUDGET
        is_step = bool(episodes.step) and episodes.step[index] >= 0
        if tokens[index] > _LONGER * own_limit and not pool.title[index] and not is_step:
            own_weights = weights.get(pool.session_id[index], weight_by_term)
            passages = Passages.of(whole.get(pool.event_id[index], texts[index]), own_weights)
            # Keep the beginning of calls and results, which names the tool, and of all messages but assistants', which
            # states the subject.
            from_beginning = bool(pool.kinds[index]) or not is_assistant(pool.speaker[index])
            excerpt = passages.excerpt(own_limit * _TOKEN_CHARACTERS, from_beginning=from_beginning)
            texts[index] = excerpt or texts[index]
            tokens[index] = count_tokens(event_line(texts[index], pool.label[index], pool.shown_speaker[index]))
        used += tokens[index]
    return replace(episodes, pool=pool.with_lines(texts, tokens))


def _limits(sizes: Iterable[tuple[str, int]], least: int, room: int) -> dict[str, int]:
    """Return, for each session, the maximum number of tokens for the passages of one event.

    Sessions get equal parts of *room*. *sizes* are the session id and the token count of each event.
    """
    tokens: defaultdict[str, list[int]] = defaultdict(list)
    for session_id, size in sizes:
        tokens[session_id].append(size)
    return {
        session_id: _longest_passages(token_counts, least, room // len(tokens))
        for session_id, token_counts in tokens.items()
    }


def _longest_passages(tokens: Sequence[int], least: int, room: int) -> int:
    """Return the largest multiple of *least* such that texts with these *tokens*, cut to it, fit *room*; else *least*.

    >>> _longest_passages([30, 90, 210], 50, 300), _longest_passages([30, 90, 210], 50, 100)
    (100, 50)
    """
    fitting = (size for size in range(max(tokens) // least * least, least, -least) if _after_cut(size, tokens) <= room)
    return next(fitting, least)


def _after_cut(limit: int, tokens: Iterable[int]) -> int:
    """Return the total of *tokens* after texts more than twice as long as *limit* are cut to it."""
    return sum(limit if count > _LONGER * limit else count for count in tokens)
