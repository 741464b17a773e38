"""Whole episodes: a few sessions, shown as messages and calls with their results instead of isolated lines.

A *unit* is a message, or a call with its results. A *log of many tasks* is a session too long to be shown as one
episode: a pack shows only some of its steps, and each of its events has the number of its step (events of other
sessions have -1).
"""

from collections.abc import Container, Iterable, Sequence
from itertools import chain, groupby

from hmxgraph.recall._packing import Box, Repeats
from hmxgraph.recall.candidates import SECTION, THRESHOLD, Dropped, Ranked
from hmxgraph.recall.draft import ALONE, BESIDE_ANSWERS
from hmxgraph.text.lines import foreign

# If the pack has entries in one of these sections, episodes fill at most the share BESIDE_ANSWERS of the budget.
# Otherwise, they may fill all that is left, but logs of many tasks at most the share ALONE. If the budget of the
# section ``episodes`` is larger than this cap, it applies instead.
_ANSWERS = frozenset({"procedures", "facts"})

Unit = tuple[Ranked, ...]


def add_episodes(
    box: Box, ranking: Iterable[Ranked], stated: Repeats, errors: Container[int], *, guessed: bool
) -> list[Dropped]:
    """Add the sessions, best first; return the events dropped as low_relevance or duplicate, or by their verdict.

    Each session in turn gets an equal share of the tokens left below the cap (see ``_ANSWERS``), more if later ones
    need less, and fills it with the units that :func:`_chosen` prefers. All logs of many tasks together count as one
    session, with a separate cap, of which the best steps are added. Units that only repeat memories in *stated* or
    earlier units of their session are dropped.

    *errors* are the indexes of the events that report the error quoted in the question. With *guessed*, the section
    ``procedures`` shows only a guess, and does not lower the caps.
    """
    parts = _parts(ranking)
    dropped, eligible = list[Dropped](), list[Unit]()
    section_budget = box.budgets.get(SECTION, 0)
    no_answers = (_ANSWERS - {"procedures"} if guessed else _ANSWERS).isdisjoint(box.in_section)
    log_cap = max(section_budget, int(box.total * (ALONE if no_answers else BESIDE_ANSWERS)))
    session_cap = box.free if no_answers else max(section_budget, int(box.total * BESIDE_ANSWERS))
    sizes = [sum(ranked.candidate.tokens for ranked in chain(*sessions) if _may_be_shown(ranked)) for sessions in parts]
    for number, sessions in enumerate(parts):
        units_of_part = list[Unit]()
        for events in sessions:
            units_of_session, dropped_of_session = _units_and_dropped(events, stated.only_statements())
            dropped += dropped_of_session
            units_of_part += units_of_session
        eligible += units_of_part
        used = box.in_section.get(SECTION, 0)
        if _is_log(sessions[0]):
            chosen = _chosen_steps(units_of_part, log_cap - used, allow_incomplete=not used)
        else:
            chosen = _chosen(units_of_part, _equal_share(sizes[number:], session_cap - used), errors)
        for unit in chosen:
            _add(box, unit)
    if SECTION not in box.in_section:
        _add_best(box, eligible, log_cap)
    return dropped


def _may_be_shown(ranked: Ranked) -> bool:
    return ranked.candidate.score >= THRESHOLD and not ranked.candidate.verdict


def _equal_share(sizes: Sequence[int], total: int) -> int:
    """Return the largest size to which parts of these *sizes* may fill a *total*, if smaller parts leave the rest.

    >>> _equal_share([40, 300, 300], 400), _equal_share([40, 50], 400)
    (180, 360)

    """
    left, share = total, total
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size >= share:
            break
        left -= size
    return share


def _add_best(box: Box, units: Sequence[Unit], cap: int) -> None:
    """Add the best of *units*, and the unit after it if that is at least as relevant, together cut to *cap* tokens.

    Called if no session fits, because a section with eligible candidates must get an entry (HMX-C 4).
    """
    if not units:
        return
    best = min(range(len(units)), key=lambda index: min(units[index]))
    explanation = [unit for unit in units[best + 1 : best + 2] if _explains(units[best], unit)]
    for ranked in sorted(chain(units[best], *explanation), key=lambda ranked: ranked.candidate.tokens):
        box.add_cut(ranked, cap - box.in_section.get(SECTION, 0))


def _explains(unit: Unit, following: Unit) -> bool:
    """Whether *following* begins right after *unit*, with an event at least as relevant as the last one of *unit*."""
    last, first = unit[-1].candidate, following[0].candidate
    follows = (first.session_id, first.place) == (last.session_id, last.place + 1)
    return follows and first.components.relevance >= last.components.relevance


def units(events: Sequence[Ranked], *, calls: bool) -> list[Unit]:
    """Return the units of a session in session order: each message alone, each call with its results.

    A result whose call is not among the *events* belongs to no unit if it is linked to a call or its session has
    *calls*; otherwise, it is a unit of its own. Other outside text, such as an error, belongs to the unit of the event
    before it.
    """
    by_index: dict[int, list[Ranked]] = {}
    latest = list[Ranked]()
    for ranked in events:
        event = ranked.candidate
        if event.tool and foreign(event.label) and (event.call >= 0 or calls):
            latest = by_index.get(event.call, [])
        elif event.tool or not (latest and foreign(event.label)):
            latest = by_index[event.place] = []
        latest.append(ranked)
    return list(map(tuple, by_index.values()))


def _is_call(ranked: Ranked) -> bool:
    return ranked.candidate.tool and not foreign(ranked.candidate.label)


def _parts(ranking: Iterable[Ranked]) -> list[list[list[Ranked]]]:
    """Return the sessions in parts, best first: each session is one part, and all logs of many tasks are one.

    A part is a list of sessions, best first; a session is the list of its events in session order.
    """
    in_order = sorted(ranking, key=lambda ranked: (ranked.candidate.session_id, ranked.candidate.place))
    grouped = (list(events) for _, events in groupby(in_order, key=lambda ranked: ranked.candidate.session_id))
    parts: dict[str, list[list[Ranked]]] = {}
    for events in sorted(grouped, key=lambda events: min(ranked.rank for ranked in events)):
        parts.setdefault("" if _is_log(events) else events[0].candidate.session_id, []).append(events)
    return list(parts.values())


def _is_log(events: Sequence[Ranked]) -> bool:
    return events[0].candidate.step >= 0


def _units_and_dropped(events: Sequence[Ranked], repeats: Repeats) -> tuple[list[Unit], list[Dropped]]:
    """Return the units of a session that may be shown, and its dropped events.

    Events that repeat a memory or another event of their session are dropped, but not events that repeat another
    session, so that each session stays complete. A call is dropped as a duplicate only together with its results,
    because the same call may have had another result. A result whose call is dropped is dropped, too.
    """
    related, dropped, shown = list[Ranked](), list[Dropped](), list[Unit]()
    for ranked in events:
        if reason := ranked.candidate.verdict or ("low_relevance" if ranked.candidate.score < THRESHOLD else ""):
            dropped.append(Dropped(ranked, reason))
        else:
            related.append(ranked)
    related_units = units(related, calls=any(map(_is_call, events)))
    in_units = {ranked.rank for unit in related_units for ranked in unit}
    dropped += (Dropped(ranked, "low_relevance") for ranked in related if ranked.rank not in in_units)
    for unit in related_units:
        reasons = [repeats.reason(ranked.candidate) for ranked in unit]
        if all(reasons):
            dropped += map(Dropped, unit, reasons)
        else:
            shown.append(unit)
    return shown, dropped


def _chosen(units: Sequence[Unit], limit: int, errors: Container[int]) -> list[Unit]:
    """Return the units that fit *limit*, tried in this order.

    First the units with *errors*, each with the next unit, then the first and the last unit, then the best. Of units
    with the same relevance to one decimal, the later is better, because findings and actions come late in a session.
    """
    with_errors = [any(ranked.candidate.place in errors for ranked in unit) for unit in units]
    error_indexes = [index for index, is_error in enumerate(with_errors) if is_error]
    errors_and_next = [index for error in error_indexes for index in (error, error + 1) if index < len(units)]
    ends = [index for index in (0, len(units) - 1) if units]
    best = sorted(range(len(units)), key=lambda index: (-round(_relevance(units[index]), 1), -index))
    return _fitting(units, [*errors_and_next, *ends, *best], limit)


def _chosen_steps(units: Sequence[Unit], limit: int, *, allow_incomplete: bool) -> list[Unit]:
    """Return the units of the best steps that fit *limit* as a whole.

    With *allow_incomplete*, of the best step those of its units that fit are returned, even if others do not.
    """
    by_step = groupby(range(len(units)), key=lambda index: units[index][0].candidate.step)
    steps = sorted(
        (list(indexes) for _, indexes in by_step), key=lambda indexes: min(_rank(units[index]) for index in indexes)
    )
    chosen, left = list[int](), limit
    for indexes in steps:
        tokens = sum(_tokens(units[index]) for index in indexes)
        if tokens <= left or (allow_incomplete and not chosen):
            chosen += indexes
            left -= min(tokens, left)
    return _fitting(units, chosen, limit)


def _fitting(units: Sequence[Unit], indexes: Iterable[int], limit: int) -> list[Unit]:
    """Return the units at *indexes* that together fit *limit*, tried in order; none if only one event of many fits."""
    fitting = list[Unit]()
    for index in dict.fromkeys(indexes):
        tokens = _tokens(units[index])
        if tokens <= limit:
            fitting.append(units[index])
            limit -= tokens
    return fitting if sum(map(len, fitting)) > 1 or sum(map(len, units)) == 1 else []


def _relevance(unit: Unit) -> float:
    return max(ranked.candidate.components.relevance for ranked in unit)


def _rank(unit: Unit) -> int:
    return min(ranked.rank for ranked in unit)


def _tokens(unit: Unit) -> int:
    return sum(ranked.candidate.tokens for ranked in unit)


def _add(box: Box, unit: Unit) -> None:
    """Add the whole unit, or nothing if a part of it does not fit."""
    if _tokens(unit) + sum(box.overhead(ranked) for ranked in unit) <= box.free and all(map(box.fits, unit)):
        for ranked in unit:
            box.add(ranked)
