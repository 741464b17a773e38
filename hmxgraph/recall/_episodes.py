"""Whole episodes: a few sessions, shown as messages and calls with their results instead of isolated lines.

A *unit* is a message, or a call with its results. A *log of many tasks* is a session too long to be one episode: steps
of it are shown instead, and each of its events has the number of its step (events of other sessions have -1).
"""

from collections.abc import Container, Iterable, Sequence
from itertools import chain, groupby

from hmxgraph.recall._packing import Box, Repeats
from hmxgraph.recall.candidates import SECTION, THRESHOLD, Dropped, Ranked
from hmxgraph.recall.draft import ALONE, BESIDE_ANSWERS
from hmxgraph.text.lines import foreign

# In a pack with entries in one of these sections, episodes fill at most BESIDE_ANSWERS of the budget. Otherwise they
# may fill all that is left, but logs of many tasks at most ALONE. If the section's own budget is larger, it applies.
_ANSWERS = frozenset({"procedures", "facts"})

Unit = tuple[Ranked, ...]


def add_episodes(
    box: Box, ranking: Iterable[Ranked], stated: Repeats, errors: Container[int], *, guessed: bool
) -> list[Dropped]:
    """Add the sessions, best first; return the events dropped as low_relevance or duplicate, or by their verdict.

    Each session in turn gets an equal share of the tokens left below the cap (see ``_ANSWERS``), and fills it with the
    units that :func:`_chosen` prefers. All logs of many tasks together count as one session, of which the best steps
    are added, up to a cap of its own. Units that only repeat memories in *stated* or earlier units of their session are
    dropped.

    *errors* are the places of the events that report the error that the question quotes. With *guessed*, the section
    ``procedures`` shows only a guess, and does not lower the caps.
    """
    parts = _parts(ranking)
    dropped, eligible = list[Dropped](), list[Unit]()
    section_budget = box.budgets.get(SECTION, 0)
    no_answers = (_ANSWERS - {"procedures"} if guessed else _ANSWERS).isdisjoint(box.in_section)
    log_cap = max(section_budget, int(box.total * (ALONE if no_answers else BESIDE_ANSWERS)))
    session_cap = box.free if no_answers else max(section_budget, int(box.total * BESIDE_ANSWERS))
    for place, sessions in enumerate(parts):
        kept = list[Unit]()
        for events in sessions:
            units_of_session, dropped_of_session = _kept(events, stated.only_statements())
            dropped += dropped_of_session
            kept += units_of_session
        eligible += kept
        used = box.in_section.get(SECTION, 0)
        if _is_log(sessions[0]):
            chosen = _chosen_steps(kept, log_cap - used, may_lack=not used)
        else:
            chosen = _chosen(kept, (session_cap - used) // (len(parts) - place), errors)
        for unit in chosen:
            _add(box, unit)
    if SECTION not in box.in_section:
        _add_best(box, eligible, log_cap)
    return dropped


def _add_best(box: Box, units: Sequence[Unit], cap: int) -> None:
    """Add the best of *units*, and the next one if it matters as much; together cut to *cap* tokens.

    Called if no session fits, because a section with eligible candidates must get an entry (HMX-C 4).
    """
    if not units:
        return
    at = min(range(len(units)), key=lambda place: min(units[place]))
    explanation = [unit for unit in units[at + 1 : at + 2] if _explains(units[at], unit)]
    for ranked in sorted(chain(units[at], *explanation), key=lambda ranked: ranked.candidate.tokens):
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
    by_place: dict[int, list[Ranked]] = {}
    latest = list[Ranked]()
    for ranked in events:
        own = ranked.candidate
        if own.tool and foreign(own.label) and (own.call >= 0 or calls):
            latest = by_place.get(own.call, [])
        elif own.tool or not (latest and foreign(own.label)):
            latest = by_place[own.place] = []
        latest.append(ranked)
    return list(map(tuple, by_place.values()))


def _is_call(ranked: Ranked) -> bool:
    return ranked.candidate.tool and not foreign(ranked.candidate.label)


def _parts(ranking: Iterable[Ranked]) -> list[list[list[Ranked]]]:
    """Return the sessions in parts, best first: each session is one part, and all logs of many tasks are one.

    A part is a list of sessions, best first; a session is the list of its events in session order.
    """
    placed = sorted(ranking, key=lambda ranked: (ranked.candidate.session_id, ranked.candidate.place))
    grouped = (list(events) for _, events in groupby(placed, key=lambda ranked: ranked.candidate.session_id))
    parts: dict[str, list[list[Ranked]]] = {}
    for events in sorted(grouped, key=lambda events: min(ranked.rank for ranked in events)):
        parts.setdefault("" if _is_log(events) else events[0].candidate.session_id, []).append(events)
    return list(parts.values())


def _is_log(events: Sequence[Ranked]) -> bool:
    return events[0].candidate.step >= 0


def _kept(events: Sequence[Ranked], repeats: Repeats) -> tuple[list[Unit], list[Dropped]]:
    """Return the units of a session that may be shown, and its dropped events.

    Events that repeat a memory or their own session are dropped, but not those that repeat another session, so that
    each session stays complete. A call is dropped as a repeat only together with its results: the same call may have
    had another result. A result whose call is dropped is dropped, too.
    """
    related, dropped, kept = list[Ranked](), list[Dropped](), list[Unit]()
    for ranked in events:
        if reason := ranked.candidate.verdict or ("low_relevance" if ranked.candidate.score < THRESHOLD else ""):
            dropped.append(Dropped(ranked, reason))
        else:
            related.append(ranked)
    whole = units(related, calls=any(map(_is_call, events)))
    in_units = {ranked.rank for unit in whole for ranked in unit}
    dropped += (Dropped(ranked, "low_relevance") for ranked in related if ranked.rank not in in_units)
    for unit in whole:
        reasons = [repeats.reason(ranked.candidate) for ranked in unit]
        if all(reasons):
            dropped += map(Dropped, unit, reasons)
        else:
            kept.append(unit)
    return kept, dropped


def _chosen(units: Sequence[Unit], limit: int, errors: Container[int]) -> list[Unit]:
    """Return the units that fit *limit*: those with *errors* and the next ones, the first and the last, then the best.

    If units have the same relevance to one decimal, the later one is better: findings and actions come late in a
    session.
    """
    with_error = (place for place, unit in enumerate(units) if any(ranked.candidate.place in errors for ranked in unit))
    first = [at for place in with_error for at in (place, place + 1) if at < len(units)]
    ends = [place for place in (0, len(units) - 1) if units]
    best = sorted(range(len(units)), key=lambda place: (-round(_relevance(units[place]), 1), -place))
    return _fitting(units, [*first, *ends, *best], limit)


def _chosen_steps(units: Sequence[Unit], limit: int, *, may_lack: bool) -> list[Unit]:
    """Return the units of the best steps that fit *limit* whole; if *may_lack*, the best step may be incomplete."""
    by_step = groupby(range(len(units)), key=lambda place: units[place][0].candidate.step)
    steps = sorted((list(places) for _, places in by_step), key=lambda places: min(_rank(units[at]) for at in places))
    chosen, left = list[int](), limit
    for places in steps:
        tokens = sum(_tokens(units[place]) for place in places)
        if tokens <= left or (may_lack and not chosen):
            chosen += places
            left -= min(tokens, left)
    return _fitting(units, chosen, limit)


def _fitting(units: Sequence[Unit], places: Iterable[int], limit: int) -> list[Unit]:
    """Return the units at *places* that together fit *limit*, tried in order; none if only one event of many fits."""
    kept = list[Unit]()
    for place in dict.fromkeys(places):
        tokens = _tokens(units[place])
        if tokens <= limit:
            kept.append(units[place])
            limit -= tokens
    return kept if sum(map(len, kept)) > 1 or sum(map(len, units)) == 1 else []


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
