"""Factories for recall tests: events, memories, artifacts and packs of them."""

from types import MappingProxyType

import numpy as np

from hmxgraph.protocol.packs import SECTION_PRIORITY
from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.appraised import appraised, with_relations
from hmxgraph.recall.assemble import assemble
from hmxgraph.recall.candidates import RecencyDecay, State
from hmxgraph.recall.draft import Draft, GlobalRanking
from hmxgraph.recall.event_candidates import LONGEST_EPISODE, Episodes
from hmxgraph.recall.knowledge import (
    NO_GUIDANCE,
    Evidence,
    Known,
    KnownArtifact,
    KnownConflict,
    KnownEntity,
    KnownMemory,
    KnownRecord,
    KnownRelation,
    Related,
    RelatedEntity,
    RunningSession,
)
from hmxgraph.recall.pool import EventPool
from hmxgraph.recall.question import PackRequest, understood
from hmxgraph.recall.relations import Vicinity
from hmxgraph.recall.relevance import Ranking
from hmxgraph.recall.walk import Neighbourhood
from hmxgraph.text.lines import attributed, entry_text, label_of
from hmxgraph.text.terms import counter, search_text

NOW = 1_773_457_200_000_000
QUERY = "Deploy the staging environment"
COUNT = counter()


def event(number, text, *, session="s1", kind="message", source="user", speaker="", age_days=0.0, salience=0.5):
    """Return an event as (pool row, text)."""
    label = label_of(kind, source)
    row = (
        f"e{number:03}",
        session,
        speaker,
        "",
        search_text(text),
        number,
        NOW - int(age_days * DAY_US) + number,
        COUNT(entry_text(attributed(text, speaker), label, speaker) + "\n"),
        salience,
        text.endswith("?"),
        label,
        text,
    )
    return row, text


def memory(number, text=QUERY, *, kind="fact", confidence=0.9, observations=3, **optional):
    """Return a memory."""
    return KnownMemory(
        memory_id=f"m{number:03}",
        kind=kind,
        text=text,
        tokens=COUNT(text),
        words=search_text(text),
        confidence=confidence,
        observations=observations,
        last_us=NOW,
        **optional,
    )


def artifact(number, title=QUERY, *, kind="task_schema", status="active", steps=(), confidence=0.8, **optional):
    """Return an artifact; *steps* are (description, tool)."""
    written = [
        {"order": at, "description": description, "tools_used": [tool]}
        for at, (description, tool) in enumerate(steps, 1)
    ]
    content = {"steps": written} if kind == "task_schema" else {"condition": title, "recommendation": title}
    return KnownArtifact(
        artifact_id=f"a{number:03}",
        artifact_type=kind,
        title=title,
        text=title,
        tokens=COUNT(title),
        words=search_text(title),
        status=status,
        confidence=confidence,
        created_us=NOW,
        content=content,
        observed_count=5,
        **optional,
    )


def entity(number, name, mentions=3):
    """Return an entity."""
    return KnownEntity(f"n{number:03}", name, "concept", mentions, 0.9, NOW)


def relation(number, source, target, weight=0.8, *, kind="runs"):
    """Return a relation."""
    return KnownRelation(f"r{number:03}", source, kind, target, weight, 0.9, 4, NOW, source, target)


def related(*relations, named=(), types=None, labels=None):
    """Return relations with the entities at their ends."""
    names = sorted({end for each in relations for end in (each.source, each.target)})
    ends = (
        RelatedEntity(name, name, (types or {}).get(name, "concept"), name, (labels or {}).get(name)) for name in names
    )
    return Related(tuple(relations), tuple(ends), frozenset(named))


def conflict(number, *sides, text="They differ about the staging environment"):
    """Return an open conflict."""
    return KnownConflict(f"c{number:03}", "differ", text, COUNT(text), NOW, tuple(sorted(sides)))


def record(number, text=QUERY, *, section="episodes", session="s1", **optional):
    """Return a task record."""
    return KnownRecord(f"t{number:03}", section, f"task start: {text}", search_text(text), NOW, session, **optional)


def evidence(record, number, text=QUERY):
    """Return the latest event behind a record."""
    return Evidence(record, f"e{number:03}", "s1", NOW, COUNT(f"- {text}\n"), 0.5, "", text)


def ranked(candidates):
    """Rank these candidates without events."""
    return list(GlobalRanking(Episodes(EventPool(), np.zeros(0), RecencyDecay(None, None)), list(candidates)))


def known(*, session=None, related=None, **lists):
    """Return knowledge by kind."""
    kinds = {name: values if isinstance(values, frozenset) else tuple(values) for name, values in lists.items()}
    return Known(**kinds, session=session or RunningSession(), related=related or Related())


def draft(
    events=(),
    what=None,
    *,
    query=QUERY,
    budget=2048,
    sections=SECTION_PRIORITY,
    guidance=NO_GUIDANCE,
    outcomes=MappingProxyType({}),
    long_sessions=None,
    results=MappingProxyType({}),
    changes=frozenset(),
    names=(),
    **asked,
):
    """Return the draft of a pack over *events* and the knowledge in *what*; *results* name their calls.

    Unless *long_sessions* is given, sequence numbers determine which sessions are long.
    """
    request = PackRequest(query, budget=budget, sections=tuple(sections), **asked)
    state = State("acme", 7, NOW, len(events))
    ranking = Ranking(understood(query, NOW, names), EventPool.of([row for row, _ in events]), len(events))
    what = what or known()
    candidates = appraised(request, state, ranking, what, request.count_tokens, guidance)
    candidates = with_relations(candidates, what.related, Vicinity())
    beside = {
        "outcomes": outcomes,
        "long_sessions": _long_sessions(events) if long_sessions is None else frozenset(long_sessions),
        "results": results,
        "changes": frozenset(changes),
    }
    return Draft(request, state, ranking, Neighbourhood((), len(events)), candidates, **beside)


def _long_sessions(events):
    numbers = {}
    for row, _ in events:
        numbers.setdefault(row[1], []).append(row[5])
    return frozenset(name for name, own in numbers.items() if max(own) - min(own) >= LONGEST_EPISODE)


def packed(events=(), what=None, **asked):
    """Return the pack over *events* and the knowledge in *what*."""
    return assemble(draft(events, what, **asked))
