"""Compare the drafts of a compilation with the stored artifacts, and decide what to change.

A lineage is the chain of versions of one artifact; its newest version is called the head.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hmxgraph.compiler._drafts import ArtifactDraft
from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler._wording import listed
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.protocol.artifacts import ARTIFACT_TYPES, LIVE_STATUSES, Artifact
from hmxgraph.protocol.canonical import content_hash, sha256_hex, stable_id
from hmxgraph.protocol.events import HMX_VERSION
from hmxgraph.protocol.reports import COUNT_FIELDS, ReportedChange
from hmxgraph.protocol.timestamps import iso

# The comparison is pure (HMX-A 5, 7): the same heads and drafts give the same changes.

COMPILER = "hmxgraph-compiler"
# Reasons of status changes. They are compared with stored ones: if a text changes, the code must still recognise the
# earlier text. The compiler's own reasons begin with ``OWN_REASON``; any other reason, except ``ERASED``, was given by
# an operator, whose decision the compiler respects.
OWN_REASON = "compiler: "
ERASED = "all evidence was erased"
_UNSUPPORTED = OWN_REASON + "the evidence no longer shows it"
_CONTRADICTED = OWN_REASON + "experience contradicts it"
_TOO_FEW = OWN_REASON + "too few sessions are left to support it"
FORGOTTEN = OWN_REASON + "events that it cites were erased"
# The text of ``FORGOTTEN`` in databases of earlier releases.
_FORGOTTEN_EARLIER = OWN_REASON + "events that it tells were erased"
REPLACED = OWN_REASON + "replaced before it was validated"
_VALIDATED = OWN_REASON + "enough sessions support it"

# If the chain of a pattern ends, the pattern may get a new chain. From the second chain on, the lineage key ends in
# this character and the number of the chain, called the generation.
_GENERATION_MARK = "~"
_HASH_PREFIX = "sha256:"

_Action: TypeAlias = Literal["created", "updated", "counted", "activated", "deprecated", "unchanged", "skipped"]


@dataclass(frozen=True, slots=True)
class Head:
    """The newest stored version of an artifact.

    ``reason`` explains its status; ``compiled`` is False if a person recorded the artifact.
    """

    artifact_id: str
    artifact_type: str
    lineage_key: str
    version: int
    status: str
    title: str
    summary: str
    content_hash: str
    confidence: float
    observed_count: int | None = None
    success_rate: float | None = None
    reason: str = ""
    compiled: bool = True

    @property
    def pattern(self) -> str:
        """The hashed name of the learned pattern: the last part of :func:`hashed_lineage` without the generation."""
        return _hashed_name(self._name_and_generation()[0])

    @property
    def generation(self) -> int:
        """The number of this chain among the chains of its pattern, counted from 1."""
        return self._name_and_generation()[1]

    def _name_and_generation(self) -> tuple[str, int]:
        return _name_and_generation(self.lineage_key.removeprefix(f"{COMPILER}/{self.artifact_type}/"))


@dataclass(frozen=True, slots=True)
class Change:
    """One change: what to do and why, the head that it changes, the new artifact and its draft, if any.

    ``statuses`` are the statuses that the head takes on, in order, before the new artifact is stored.
    """

    action: _Action
    artifact_type: str
    title: str
    reason: str
    head: Head | None = None
    artifact: Artifact | None = None
    draft: ArtifactDraft | None = None
    statuses: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """The generation of the artifact after the change.

        A new chain starts if a draft that never became active is replaced, or if a retired pattern is learned again.
        """
        return self.head.generation + (self.artifact is not None and not self.artifact.supersedes) if self.head else 1


@dataclass(frozen=True, slots=True)
class BuildContext:
    """What an artifact is built from besides its draft and its position; ``as_of_us`` is the time of creation."""

    tenant_id: str
    profile: CompilerProfile
    as_of_us: int


@dataclass(frozen=True, slots=True)
class Position:
    """The position of an artifact in the chains of its pattern; ``supersedes`` is the id of the version before it."""

    generation: int = 1
    version: int = 1
    supersedes: str | None = None


def reconcile(heads: Iterable[Head], drafts: Sequence[ArtifactDraft], context: BuildContext) -> tuple[Change, ...]:
    """The change for each draft, in order, then for each live head without a draft."""
    newest = _newest(heads)
    patterns = [(draft.artifact_type, _hashed_name(draft.lineage_key)) for draft in drafts]
    changes = [_change(newest.get(pattern), draft, context) for pattern, draft in zip(patterns, drafts, strict=True)]
    without_draft = sorted(newest.keys() - set(patterns))
    changes += [_without_draft(newest[pattern]) for pattern in without_draft if _is_live(newest[pattern])]
    return tuple(changes)


def lineage(draft: ArtifactDraft, generation: int = 1) -> str:
    """The lineage key under which versions of *draft* are stored.

    The lineage key of an artifact that a person recorded is its id instead.
    """
    suffix = f"{_GENERATION_MARK}{generation}" if generation > 1 else ""
    return f"{COMPILER}/{draft.artifact_type}/{draft.lineage_key}{suffix}"


def hashed_lineage(lineage_key: str) -> str:
    """The lineage key of a compiled artifact with the name of its pattern hashed, so that it reveals no words.

    >>> hashed_lineage("hmxgraph-compiler/task_schema/goal:x~2")[:50]
    'hmxgraph-compiler/task_schema/sha256:2e574c51b06fb'
    >>> hashed_lineage("hmxgraph-compiler/task_schema/goal:x~2")[-2:]
    '~2'

    """
    compiler, artifact_type, key = lineage_key.split("/", 2)
    name, generation = _name_and_generation(key)
    suffix = f"{_GENERATION_MARK}{generation}" if generation > 1 else ""
    return f"{compiler}/{artifact_type}/{_hashed_name(name)}{suffix}"


def build(draft: ArtifactDraft, position: Position, context: BuildContext) -> Artifact:
    """The artifact of *draft* at this position of its chain."""
    document = {
        "hmx_version": HMX_VERSION,
        "artifact_id": artifact_id(context.tenant_id, draft, position),
        "artifact_type": draft.artifact_type,
        "title": draft.title,
        "summary": draft.summary,
        "content": dict(draft.content),
        "confidence": draft.seen.confidence,
        "status": "active" if draft.validated(context.profile) else "draft",
        "source_events": list(draft.source_events),
        "source_memory_ids": [],
        "version": position.version,
        "created_at": iso(context.as_of_us),
        "content_hash": content_hash(draft.content),
        "metadata": _metadata(draft, context.profile),
        "tenant_id": context.tenant_id,
        "agent_id": COMPILER,
        "tags": list(draft.tags),
        "observed_count": draft.seen.count,
        "success_rate": draft.seen.success_rate,
    }
    return Artifact.parse(document | ({"supersedes": position.supersedes} if position.supersedes else {}))


def artifact_id(tenant_id: str, draft: ArtifactDraft, position: Position) -> str:
    """A UUIDv5 of tenant, type, lineage and version: a replay in another database gives the same id."""
    return stable_id(tenant_id, draft.artifact_type, lineage(draft, position.generation), str(position.version))


def _metadata(draft: ArtifactDraft, profile: CompilerProfile) -> dict[str, object]:
    return {
        "compiled_by": COMPILER,
        "profile": profile.name,
        "supporting_sessions": draft.seen.sessions,
        **(draft.metadata or {}),
    }


def _newest(heads: Iterable[Head]) -> Mapping[tuple[str, str], Head]:
    """The head of the latest chain of each pattern, by artifact type and pattern."""
    newest: dict[tuple[str, str], Head] = {}
    for head in sorted(heads, key=lambda head: (head.pattern, head.generation, head.version, head.artifact_id)):
        newest[head.artifact_type, head.pattern] = head
    return newest


def _change(head: Head | None, draft: ArtifactDraft, context: BuildContext) -> Change:
    """The change for *draft*, given the *head* of its pattern, if any; skipped if an operator decided on the head."""
    if head is None:
        return _new_chain(draft, context, None)
    if not head.compiled or (head.status not in LIVE_STATUSES and not _is_own_status(head)):
        return Change("skipped", head.artifact_type, head.title, f"{head.status} by decision", head)
    match head.status:
        case "active":
            return _change_active(head, draft, context)
        case "draft":
            return _change_draft(head, draft, context)
        case _:
            return _revived(head, draft, context)


def _new_chain(draft: ArtifactDraft, context: BuildContext, head: Head | None) -> Change:
    """The start of a new chain, unless experience contradicts it; *head* is the end of the previous chain, if any."""
    if draft.contradicted(context.profile):
        return Change("skipped", draft.artifact_type, draft.title, _CONTRADICTED, head)
    position = Position(head.generation + 1) if head is not None else Position()
    reason = "new pattern" if head is None else "the pattern shows again"
    artifact = build(draft, position, context)
    return Change("created", draft.artifact_type, draft.title, reason, head, artifact, draft)


def _successor(head: Head, draft: ArtifactDraft, context: BuildContext) -> Artifact:
    return build(draft, Position(head.generation, head.version + 1, head.artifact_id), context)


def _change_active(head: Head, draft: ArtifactDraft, context: BuildContext) -> Change:
    if draft.contradicted(context.profile):
        return _deprecated(head, _CONTRADICTED)
    if not draft.validated(context.profile):
        return _deprecated(head, _TOO_FEW)
    if reason := _difference(head, draft, context.profile):
        artifact = _successor(head, draft, context)
        return Change("updated", head.artifact_type, draft.title, reason, head, artifact, draft)
    return _counted(head, draft)


def _change_draft(head: Head, draft: ArtifactDraft, context: BuildContext) -> Change:
    if draft.contradicted(context.profile):
        return _deprecated(head, _CONTRADICTED)
    reason = _difference(head, draft, context.profile)
    if draft.validated(context.profile):
        if not reason:
            return Change("activated", head.artifact_type, head.title, _VALIDATED, head, None, draft, ("active",))
        # Only active artifacts can be superseded (HMX-A 5), so the draft is activated first.
        artifact = _successor(head, draft, context)
        return Change("updated", head.artifact_type, draft.title, reason, head, artifact, draft, ("active",))
    if reason:
        artifact = build(draft, Position(head.generation + 1), context)
        return Change("updated", head.artifact_type, draft.title, reason, head, artifact, draft, ("deprecated",))
    return _counted(head, draft)


def _revived(head: Head, draft: ArtifactDraft, context: BuildContext) -> Change:
    """The start of a new chain for a retired pattern, if the draft is validated; else no change.

    If the pattern was retired because its evidence was erased, an unvalidated draft starts a new chain, too.
    """
    if draft.validated(context.profile) or head.reason in {FORGOTTEN, _FORGOTTEN_EARLIER}:
        return _new_chain(draft, context, head)
    return Change("unchanged", head.artifact_type, head.title, head.reason, head)


def _counted(head: Head, draft: ArtifactDraft) -> Change:
    if (head.observed_count, head.success_rate) == (draft.seen.count, draft.seen.success_rate):
        return Change("unchanged", head.artifact_type, head.title, "", head)
    return Change("counted", head.artifact_type, head.title, "new evidence for the same content", head, None, draft)


def _without_draft(head: Head) -> Change:
    if not head.compiled:
        return Change("skipped", head.artifact_type, head.title, "recorded by hand", head)
    return _deprecated(head, _UNSUPPORTED)


def _deprecated(head: Head, reason: str) -> Change:
    return Change("deprecated", head.artifact_type, head.title, reason, head, statuses=("deprecated",))


def _difference(head: Head, draft: ArtifactDraft, profile: CompilerProfile) -> str:
    """Why a new version is needed: content, wording, confidence, or a success rate that crossed one half; else ""."""
    reasons = [text for text, applies in _differences(head, draft, profile) if applies]
    return "; ".join(reasons)


def _differences(head: Head, draft: ArtifactDraft, profile: CompilerProfile) -> Iterator[tuple[str, bool]]:
    """Yield each possible reason for a new version, and whether it applies."""
    yield "content changed", head.content_hash != content_hash(draft.content)
    yield "wording changed", (head.title, head.summary) != (draft.title, draft.summary)
    moved = abs(head.confidence - draft.seen.confidence)
    yield (
        f"confidence moved from {head.confidence:.2f} to {draft.seen.confidence:.2f}",
        round(moved, 6) >= profile.confidence_step,
    )
    earlier_rate = draft.seen.success_rate if head.success_rate is None else head.success_rate
    yield "success rate crossed one half", (earlier_rate >= 0.5) != (draft.seen.success_rate >= 0.5)


def _name_and_generation(key: str) -> tuple[str, int]:
    """The name of a pattern and its generation, from the stored form "name~number"."""
    name, mark, number = key.rpartition(_GENERATION_MARK)
    return (name, int(number)) if mark and number.isdecimal() else (key, 1)


def _hashed_name(name: str) -> str:
    return name if name.startswith(_HASH_PREFIX) else _HASH_PREFIX + sha256_hex(name.encode())


def _is_live(head: Head) -> bool:
    return head.status in LIVE_STATUSES


def _is_own_status(head: Head) -> bool:
    """Whether the compiler or an erasure set the status, and not an operator."""
    return head.reason.startswith(OWN_REASON) or head.reason == ERASED


# What a stored draft needs to become active: the conditions of ``ArtifactDraft.validated``, as far as its document
# shows them.

_OPERATOR = "an operator who activates it"
_CLEARER_EVIDENCE = {
    "task_schema": "more cases that follow the same steps, with requests that show when to follow them",
    "failure_playbook": "evidence that a recovery helps, in several cases",
    "decision_policy": "more cases in which following it helps",
    "causal_pattern": "evidence that the effect is clearly more frequent with the cause than without it",
    "strategy_template": "evidence that sessions with all its phases succeed clearly more often than others",
}


def awaited(draft: Mapping[str, Any], lineage_key: str) -> tuple[str, ...]:
    """What is missing for a draft, given as its document, to become active; an operator may activate it earlier.

    >>> awaited({"artifact_type": "task_schema", "metadata": {"imported": {}}}, "a1")
    ('events of this tenant that confirm it', 'an operator who activates it')
    """
    metadata = draft.get("metadata") or {}
    if lineage_key.startswith(f"{COMPILER}/"):
        return tuple(_evidence_awaited(draft, metadata))
    return ("events of this tenant that confirm it", _OPERATOR) if "imported" in metadata else (_OPERATOR,)


def _evidence_awaited(draft: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield the evidence that is missing for a compiled draft to become active."""
    trust = metadata.get("trust") or {}
    if proposed := not trust.get("in_force", True):
        sources = ", ".join(trust.get("untrusted_sources", ()))
        yield f"support from more sessions and sources, since it relies on {sources}"
    sessions, outcomes = metadata.get("supporting_sessions") or 0, draft.get("observed_count") or 0
    if min(sessions, outcomes) < DEFAULT_PROFILE.min_support:
        yield f"more sessions that show it (so far {sessions}), with known outcomes (so far {outcomes})"
    elif metadata.get("kinds_of_requests") == 1:
        yield "a second kind of request that is done in the same way; one kind has its own task schema"
    elif not proposed:
        yield _CLEARER_EVIDENCE[draft["artifact_type"]] + _required_wording(metadata)


def _required_wording(metadata: Mapping[str, Any]) -> str:
    """What requests must contain to show when a procedure applies, if it makes changes; else "".

    >>> _required_wording({"goal_actions": ["find_patient", "book_seat", "send_sms"], "requests_speak_of": ["seat"]})
    ': most name book_seat and send_sms, share a phrase, or have a word that other requests lack'
    """
    changes = list(filter(is_action, metadata["goal_actions"])) if "requests_speak_of" in metadata else []
    return f": most name {listed(changes)}, share a phrase, or have a word that other requests lack" if changes else ""


# Reports on the changes of a compilation.


# The field of the report under which an action is counted, if it is not named after the action.
_COUNT_FIELD = {"activated": "updated", "counted": "updated"}


def counts(changes: Sequence[Change]) -> dict[str, dict[str, int]]:
    """For each count field of a report, the number of artifacts by type; types without any are omitted."""
    by_field: dict[str, Counter[str]] = {name: Counter() for name in COUNT_FIELDS}
    for change in changes:
        by_field[_COUNT_FIELD.get(change.action, change.action)][change.artifact_type] += 1
    return {
        name: {kind: by_field[name][kind] for kind in ARTIFACT_TYPES if by_field[name][kind]} for name in COUNT_FIELDS
    }


def reported(changes: Sequence[Change]) -> tuple[ReportedChange, ...]:
    """The changes to report: all whose action is not "unchanged"."""
    return tuple(
        ReportedChange(change.action, change.artifact_type, _id(change), change.title, change.reason)
        for change in changes
        if change.action != "unchanged"
    )


def _id(change: Change) -> str:
    if change.artifact is not None:
        return str(change.artifact.artifact_id)
    return change.head.artifact_id if change.head is not None else ""
