"""From a draft to the finished pack: choose the entries that fit the budget, and write the document (HMX-C)."""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import Any

from hmxgraph.protocol.canonical import canonical_text, sha256_hex, stable_id
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.packs import (
    MAX_CONSTRAINTS,
    MAX_DROPPED,
    MAX_PACK_BYTES,
    SECTION_PRIORITY,
    UNHASHED_BYTES,
    hashed_bytes,
)
from hmxgraph.protocol.parsing import canonical_size_bound
from hmxgraph.protocol.timestamps import iso
from hmxgraph.recall._episodes import add_episodes
from hmxgraph.recall._packing import (
    NO_WEIGHTS,
    RULES,
    SHARES,
    Box,
    Judgement,
    Packed,
    Repeats,
    fill,
    judged,
    repeated_memories,
    section_budgets,
    truncated_to,
)
from hmxgraph.recall._time_rules import day
from hmxgraph.recall.candidates import SECTION, THRESHOLD, WEIGHTS, Candidate, Dropped, Ranked, plain
from hmxgraph.recall.draft import Draft
from hmxgraph.recall.knowledge import decision_constraints, workflow_hints
from hmxgraph.recall.pack import DATED, Costs, Line, Pack, line_of, parts_of, rendered, shows_date, tokens_of
from hmxgraph.recall.pool import Floats
from hmxgraph.text.lines import foreign, labelled, outside_kind
from hmxgraph.text.masking import linked_secrets, mask_secrets

# The name of this way of assembling packs. It is part of the metadata and of the pack's id.
PROFILE = "hmxgraph-recall-1"
# Masked texts are cached, because packs of one tenant repeat them: maximum number of texts, and of characters of each.
_CACHED_TEXTS, _CACHED_LENGTH = 4_096, 2_000
_cached_masked = lru_cache(maxsize=_CACHED_TEXTS)(linked_secrets)
# An event with the same text as an included one is included, too, if it is of another day, and if its share of the
# question (the part of the terms, by weight, that it contains) is at least this fraction of the largest share.
_RECURS = 0.5
# If whole sessions are shown, these sections get no more than their share of the budget, so that both fit.
_RELATIONS = frozenset({"graph_relations"})
# The retrieval source of the candidates of each source type (HMX-C 5).
_RETRIEVAL_SOURCES = {
    "episode": "episodic",
    "memory": "semantic",
    "policy": "semantic",
    "entity": "graph",
    "relation": "graph",
    "conflict": "conflicts",
    "artifact": "compiler",
}


def assemble(draft: Draft) -> Pack:
    """Return the context pack of *draft*."""
    whole_episodes = draft.whole_episode_ids
    compared_ids = whole_episodes or draft.compared_ids()
    ranking = list(draft.ranking.with_events(compared_ids))
    repeats = Repeats()
    whole_events = [ranked for ranked in ranking if ranked.candidate.section == SECTION] if whole_episodes else []
    others = [ranked for ranked in ranking if ranked.candidate.section != SECTION] if whole_episodes else ranking
    judgement = judged(others, draft.appraised.contest, repeats)
    box = _filled(draft, judgement, _RELATIONS if whole_episodes else frozenset())
    if whole_episodes:
        dropped_events = add_episodes(box, whole_events, repeats, draft.error_places, guessed=draft.only_guesses)
    else:
        dropped_events = _top_up(box, draft, compared_ids, repeats)
    if draft.cases:
        _add_fitting(box, judgement.eligible)
    dropped = (*judgement.dropped, *_without_text(judgement), *dropped_events)
    if draft.events.question.recalls and not whole_episodes:
        _add_recurrences(box, dropped, draft.events.match.share)
    if not whole_episodes:
        _add_results(box, dropped)
    dropped = (*dropped, *_removed(box))
    return _Writer(draft, ranking, replace(judgement, dropped=dropped), box).pack()


def _removed(box: Box) -> Iterator[Dropped]:
    """Remove the memories whose words an event in the pack contains, and yield them as duplicates."""
    for ranked in repeated_memories(box):
        box.remove(ranked)
        yield Dropped(ranked, "duplicate")


def _without_text(judgement: Judgement) -> Iterator[Dropped]:
    """Yield the eligible candidates without text, which cannot be shown, as dropped."""
    return (Dropped(ranked, "provenance_failed") for ranked in judgement.eligible if not ranked.candidate.content)


def _add_fitting(box: Box, eligible: Iterable[Ranked]) -> None:
    """Add the remaining *eligible* candidates that fit, including those of limited sections."""
    for ranked in eligible:
        if ranked.rank not in box.packed and ranked.candidate.content and box.fits(ranked):
            box.add(ranked)


def _filled(draft: Draft, judgement: Judgement, limited: Container[str]) -> Box:
    """Return a box filled with the eligible candidates; *limited* sections get no more than their shares."""
    request = draft.request
    eligible = [ranked for ranked in judgement.eligible if ranked.candidate.content]
    sections = {ranked.candidate.section for ranked in eligible}
    shares = section_budgets(
        request.budget,
        [name for name in request.sections if name in sections or name in SHARES],
        draft.appraised.appraisal.priors,
    )
    budgets = {name: shares.get(name, 0) for name in SECTION_PRIORITY if name in sections or name in shares}
    box = Box(request.budget, budgets, Costs(draft.appraised.appraisal.count_tokens))
    fill(box, eligible, request.strategy, limited)
    return box


def _top_up(box: Box, draft: Draft, compared_ids: Collection[str], repeats: Repeats) -> list[Dropped]:
    """Add further events that fit and reach the threshold; return those dropped as duplicates or by their verdict.

    This fills the budget if many of the events in *compared_ids* were duplicates.
    """
    dropped = []
    for rank, tokens in draft.ranking.events_beyond(compared_ids, THRESHOLD):
        if tokens <= box.free and box.fits(ranked := draft.ranking.at(rank)):
            if reason := ranked.candidate.verdict or repeats.reason(ranked.candidate):
                dropped.append(Dropped(ranked, reason))
            else:
                box.add(ranked)
    return dropped


def _add_recurrences(box: Box, dropped: Iterable[Dropped], shares: Floats) -> None:
    """Add dropped events with exactly the text of an event in the pack, but from another day: it happened again.

    The events must fit, and match the question well by their *shares* of it. Text from outside sources is not added
    again. Called only for questions about the past: for requests for work, the same step on another day says nothing
    new.
    """
    matching = (shares > 0) & (shares >= _RECURS * shares.max(initial=0.0))
    texts = {packed.ranked.candidate.content for packed in box.packed.values() if packed.section == SECTION}
    included_texts = {_occurrence(packed.ranked.candidate) for packed in box.packed.values()}
    for ranked in sorted(drop.ranked for drop in dropped if drop.reason == "duplicate"):
        event = ranked.candidate
        is_repeat = event.section == SECTION and event.content in texts and not (event.verdict or foreign(event.label))
        recurs = is_repeat and _occurrence(event) not in included_texts
        if recurs and matching[event.place] and box.fits(ranked):
            box.add(ranked)
            included_texts.add(_occurrence(event))


def _add_results(box: Box, dropped: Iterable[Dropped]) -> None:
    """Add dropped results that repeat others, if their calls are in the pack: a call alone seems to have worked."""
    calls = {packed.ranked.candidate.place for packed in box.packed.values() if packed.section == SECTION}
    for ranked in sorted(each.ranked for each in dropped if each.reason == "duplicate"):
        event = ranked.candidate
        if event.section == SECTION and not event.verdict and event.call in calls and box.fits(ranked):
            box.add(ranked)


def _occurrence(event: Candidate) -> tuple[str, date]:
    return event.content, day(event.time_us)


class _Writer:
    """Renders a filled box as a document; leaves out entries until budget and size limit hold."""

    def __init__(self, draft: Draft, ranking: Sequence[Ranked], judgement: Judgement, box: Box) -> None:
        self._draft = draft
        self._judgement = judgement
        self._box = box
        self._count = draft.appraised.appraisal.count_tokens
        self._reasons = dict.fromkeys((rank for rank, _ in ranking), "budget_exceeded")
        self._reasons |= {dropped.ranked.rank: dropped.reason for dropped in judgement.dropped}
        self._most_dropped, self._most_constraints = MAX_DROPPED, MAX_CONSTRAINTS
        self._with_components = True
        priors = draft.request.priors if draft.request.strategy == "fingerprint_guided" else None
        self._priors = dict(priors) if priors else None
        order = {section: number for number, section in enumerate(draft.request.sections)}
        self._packed = sorted(box.packed.values(), key=lambda packed: (order[packed.section], *packed.order))
        self._contents = {packed.ranked.rank: self._content(packed) for packed in self._packed}
        self._lines = {packed.ranked.rank: self._line(packed) for packed in self._packed}

    def pack(self) -> Pack:
        """Return the pack, within the budget as rendered and within 256 KB as JSON."""
        while self._packed and self._tokens() > self._draft.request.budget:
            self._remove_last()
        document = self._document()
        while len(hashed := hashed_bytes(document)) + UNHASHED_BYTES > MAX_PACK_BYTES and self._shrink(document):
            document = self._document()
        document["metadata"]["pack_hash"] = sha256_hex(hashed)
        return Pack.from_trusted(document)

    def _shrink(self, document: Mapping[str, Any]) -> bool:
        """Leave out the next part; return False if nothing more can be left out.

        The priors go first, then the score components of dropped candidates. Then the last constraint or the lowest
        entry goes, one at a time, whichever kind takes more space; then half of the dropped candidates at a time.
        """
        if self._priors is not None:
            self._priors = None
        elif self._with_components:
            self._with_components = False
        elif canonical_size_bound(document["decision_constraints"]) > canonical_size_bound(document["entries"]):
            self._most_constraints = len(document["decision_constraints"]) - 1
        elif self._packed:
            self._remove_last()
        else:
            self._most_dropped //= 2
            return self._most_dropped > 0
        return True

    def _remove_last(self) -> None:
        """Remove the lowest-ranked entry; a rule or the only entry of a section (HMX-C 4) only if no other is left.

        Exempt entries (hard rules and pinned memories) are removed last.
        """
        sizes = Counter(packed.section for packed in self._packed)

        def dispensability(packed: Packed) -> tuple[bool, bool, int]:
            candidate = packed.ranked.candidate
            return (
                not candidate.exempt,
                candidate.section not in RULES and sizes[candidate.section] > 1,
                packed.ranked.rank,
            )

        self._packed.remove(max(self._packed, key=dispensability))

    def _content(self, packed: Packed) -> str:
        candidate = packed.ranked.candidate
        shown = self._masked(candidate.content)
        if not packed.cut and shown == candidate.content:
            return shown

        def needed(content: str) -> int:
            return self._line_tokens(line_of(candidate._replace(content=content)))

        if not packed.cut:
            # A mask may be longer than its secret. Before cutting the text, try a shorter mask without the hash.
            for masked in (shown, mask_secrets(candidate.content, personal=False)):
                if needed(masked) <= packed.tokens:
                    return masked
        weight_by_term = self._draft.events.match.weight_by_term if candidate.source_type == "episode" else NO_WEIGHTS
        return truncated_to(shown, packed.tokens, needed, weight_by_term)

    def _masked(self, text: str) -> str:
        key = self._draft.mask_key
        if not key:
            return text
        return _cached_masked(text, key) if len(text) <= _CACHED_LENGTH else linked_secrets(text, key)

    def _tokens(self) -> int:
        """Return the tokens of the rendered text: notice, headings, dates and entries."""
        lines = [self._lines[packed.ranked.rank] for packed in self._packed]
        headings = (part for part in parts_of(lines) if isinstance(part, str))
        entries = (
            self._line_tokens(line) if packed.cut else packed.tokens
            for line, packed in zip(lines, self._packed, strict=True)
        )
        parts = sum(self._count(f"{heading}\n") for heading in headings) + sum(entries)
        # A caller's own tokenizer may count more tokens for the whole text than for its lines together.
        return parts if isinstance(self._draft.request.encoding, str) else max(parts, self._count(rendered(lines)))

    def _line_tokens(self, line: Line) -> int:
        return tokens_of(line, self._count)

    def _line(self, packed: Packed) -> Line:
        return line_of(packed.ranked.candidate._replace(content=self._contents[packed.ranked.rank]))

    def _document(self) -> dict[str, Any]:
        draft, request, appraised = self._draft, self._draft.request, self._draft.appraised
        drops = list(islice(self._drops(), self._most_dropped))
        identity = {"agent_id": request.agent_id, "session_id": request.session_id}
        optional = {
            **identity,
            "workflow_hints": workflow_hints(appraised.progress, appraised.in_force.session, appraised.remedy),
            "fingerprint_priors": self._priors,
        }
        return {
            "hmx_version": HMX_VERSION,
            "pack_id": self._pack_id(),
            "query_context": request.quote,
            "tenant_id": draft.state.tenant_id,
            "entries": [self._entry(packed) for packed in self._packed],
            "token_budget": self._token_budget(),
            "assembly_metadata": self._assembly(),
            "created_at": iso(draft.state.as_of_us),
            "metadata": self._metadata(drops),
            "decision_constraints": self._constraints()[: self._most_constraints],
            "dropped_entries": [_dropped(dropped) for dropped in drops],
            **{name: value for name, value in optional.items() if value is not None},
        }

    def _constraints(self) -> list[dict[str, Any]]:
        rules = decision_constraints(self._draft.appraised.in_force, self._included())
        texts = ("condition", "constraint")
        return [
            {name: self._masked(value) if name in texts else value for name, value in rule.items()} for rule in rules
        ]

    def _pack_id(self) -> str:
        state = self._draft.state
        request = canonical_text(self._draft.request.document())
        return stable_id("pack", request, state.tenant_id, str(state.state_version), iso(state.as_of_us), PROFILE)

    def _entry(self, packed: Packed) -> dict[str, Any]:
        candidate = packed.ranked.candidate
        return {
            "section": candidate.section,
            "content": labelled(self._contents[packed.ranked.rank], candidate.label),
            "source_id": candidate.source_id,
            "source_type": candidate.source_type,
            "relevance_score": plain(candidate.score),
            "token_estimate": packed.tokens,
            "rank": packed.ranked.rank,
            "provenance": {
                "origin": ":".join(filter(None, (candidate.origin, outside_kind(candidate.label)))),
                "confidence": plain(candidate.confidence),
                "evidence_count": candidate.evidence_count,
            },
        }

    def _token_budget(self) -> dict[str, Any]:
        used = dict.fromkeys(self._box.budgets, 0)
        for packed in self._packed:
            used[packed.section] += packed.tokens
        total = self._draft.request.budget
        return {
            "total_budget": total,
            "used": sum(used.values()),
            "remaining": total - sum(used.values()),
            "truncated": any(packed.cut for packed in self._packed) or self._over_budget(),
            "section_budgets": {
                section: {"budget": budget, "used": used[section]} for section, budget in self._box.budgets.items()
            },
            "dropped_count": len(self._draft.ranking) - len(self._packed),
        }

    def _assembly(self) -> dict[str, Any]:
        question = self._draft.events.question
        return {
            "assembly_strategy": self._draft.request.strategy,
            "ranking_weights": dict(WEIGHTS),
            "retrieval_sources": sorted({_RETRIEVAL_SOURCES[name] for name in self._draft.ranking.source_types}),
            "candidate_count": len(self._draft.ranking),
            "included_count": len(self._packed),
            "assembly_duration_ms": 0,
            "query_classification": {
                "intent": question.intent,
                "keywords": list(question.keywords),
                "entities": list(self._draft.entities),
                "time_ref": None if question.span is None else str(question.span),
            },
        }

    def _metadata(self, drops: Sequence[Dropped]) -> dict[str, Any]:
        state = self._draft.state
        shown = [packed.ranked.candidate for packed in self._packed]
        shown += [dropped.ranked.candidate for dropped in drops] if self._with_components else []
        return {
            "as_of": iso(state.as_of_us),
            "state_version": state.state_version,
            "profile": PROFILE,
            "entries": [_entry_metadata(packed.ranked.candidate) for packed in self._packed],
            "score_components": {candidate.source_id: candidate.components.document() for candidate in shown},
            **({} if self._draft.request.stored_counts else {"encoding": self._draft.request.measure}),
            "disputed": list(self._judgement.disputed),
            "pool": {"events_in_tenant": state.event_count, "truncated": state.truncated}
            | ({"unsettled": True} if state.unsettled else {}),
        }

    def _included(self) -> list[str]:
        return [packed.ranked.candidate.source_id for packed in self._packed]

    def _over_budget(self) -> bool:
        """Whether a candidate was dropped for lack of budget; events below the threshold are not examined."""
        ranks = {packed.ranked.rank for packed in self._packed}
        if any(reason == "budget_exceeded" and rank not in ranks for rank, reason in self._reasons.items()):
            return True
        useful_ranks = (rank for rank, _ in self._draft.ranking.events_beyond((), THRESHOLD))
        return any(dropped.reason == "budget_exceeded" for dropped in self._drops(useful_ranks))

    def _drops(self, ranks: Iterable[int] | None = None) -> Iterator[Dropped]:
        """Yield the dropped candidates, best first; only those of *ranks*, if given."""
        packed = {packed.ranked.rank for packed in self._packed}
        included_texts = {packed.ranked.candidate.content for packed in self._packed}
        for rank in range(1, len(self._draft.ranking) + 1) if ranks is None else ranks:
            if rank not in packed:
                ranked = self._draft.ranking.at(rank)
                yield Dropped(ranked, self._reasons.get(rank) or _unjudged_reason(ranked.candidate, included_texts))


def _unjudged_reason(candidate: Candidate, included_texts: Collection[str]) -> str:
    """Return the drop reason of an event that was not judged; *included_texts* are the texts in the pack."""
    if candidate.verdict or candidate.score < THRESHOLD:
        return candidate.verdict or "low_relevance"
    return "duplicate" if candidate.content in included_texts else "budget_exceeded"


def _entry_metadata(candidate: Candidate) -> dict[str, Any]:
    """Return the metadata of an entry: label and shown time; for events also session, outcome, index and speaker."""
    metadata: dict[str, Any] = {"label": candidate.label} if candidate.label else {}
    if candidate.section in DATED:
        metadata |= {"timestamp": iso(candidate.time_us), "session_id": candidate.session_id, "place": candidate.place}
        metadata |= {"outcome": candidate.outcome} if candidate.outcome else {}
        return metadata | ({"speaker": candidate.speaker} if candidate.speaker else {})
    return metadata | ({"timestamp": iso(candidate.time_us)} if shows_date(candidate) else {})


def _dropped(dropped: Dropped) -> dict[str, Any]:
    candidate = dropped.ranked.candidate
    return {
        "source_id": candidate.source_id,
        "source_type": candidate.source_type,
        "section": candidate.section,
        "relevance_score": plain(candidate.score),
        "token_estimate": candidate.tokens,
        "drop_reason": dropped.reason,
        "rank": dropped.ranked.rank,
    }
