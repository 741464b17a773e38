"""The difference between two fingerprints: the summaries and the numbers that changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.fingerprints import Fingerprint

# The numeric fields of a summary, which are not part of its content.
_NUMBER_FIELDS = ("confidence", "outcome_count", "observed_count", "occurrence_count", "success_rate")
# Kinds of changes, in the order in which they are listed.
_CHANGES = ("learned", "rewritten", "changed", "gone")
Summary: TypeAlias = dict[str, Any]
NameFields: TypeAlias = tuple[str, ...]
# For each set, the fields that form the name of a summary in a diff. Two summaries are versions of the same one if the
# first of these fields is equal.
_NAME_FIELDS: Mapping[str, NameFields] = {
    POLICIES: ("condition", "recommendation"),
    TASKS: ("title",),
    PLAYBOOKS: ("title",),
    CLUSTERS: ("label",),
}


@dataclass(frozen=True, slots=True)
class _SummaryChange:
    """One changed summary.

    ``change`` is ``learned``, ``gone``, ``rewritten`` (same name, different text) or ``changed`` (different numbers;
    for a cluster, any different field).
    """

    set_name: str
    change: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def document(self) -> dict[str, Any]:
        """The change as a dict for JSON."""
        fields = {"change": self.change, "name": self.name, "before": self.before, "after": self.after}
        return {"set": self.set_name, **fields}


@dataclass(frozen=True, slots=True)
class _NumberChange:
    """One changed number: its dotted path, and its values before and after the change."""

    path: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class FingerprintDiff:
    """The changes from one fingerprint to another."""

    before_id: str
    after_id: str
    summaries: tuple[_SummaryChange, ...]
    numbers: tuple[_NumberChange, ...]

    def document(self) -> dict[str, Any]:
        """The changes as a dict for JSON."""
        return {
            "before": self.before_id,
            "after": self.after_id,
            "summaries": [change.document() for change in self.summaries],
            "numbers": [
                {"path": change.path, "before": change.before, "after": change.after} for change in self.numbers
            ],
        }


def diff(before: Fingerprint, after: Fingerprint) -> FingerprintDiff:
    """The changes of summaries and numbers from *before* to *after*.

    Summaries are matched by content, then by name; clusters by id.
    """
    old, new = before.document(), after.document()
    return FingerprintDiff(
        before.fingerprint_id,
        after.fingerprint_id,
        tuple(_summary_changes(old["artifact_summaries"], new["artifact_summaries"])),
        tuple(_number_changes(old, new)),
    )


def knowledge_in(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a summary without id and numbers, which is equal for the same knowledge in two tenants.

    >>> knowledge_in({"artifact_id": "a", "confidence": 0.9, "title": "Deploy"})
    {'title': 'Deploy'}

    """
    return {name: value for name, value in summary.items() if name not in {"artifact_id", *_NUMBER_FIELDS}}


def _summary_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_SummaryChange]:
    """Yield the changes of summaries, set by set, each set in the order of `_CHANGES` and by name."""
    for set_name, name_fields in _NAME_FIELDS.items():
        before, after = _by_content(set_name, old[set_name]), _by_content(set_name, new[set_name])
        pairs = [(before[key], after[key]) for key in sorted(before.keys() & after.keys())]
        changes = [_change(set_name, "changed", name_fields, *pair) for pair in pairs if _has_changed(set_name, *pair)]
        gone = [before[key] for key in sorted(before.keys() - after.keys())]
        learned = [after[key] for key in sorted(after.keys() - before.keys())]
        changes += _unmatched_changes(set_name, name_fields, gone, learned)
        yield from sorted(changes, key=lambda change: (_CHANGES.index(change.change), change.name))


def _unmatched_changes(
    set_name: str, name_fields: NameFields, gone: list[Summary], learned: list[Summary]
) -> Iterator[_SummaryChange]:
    """The changes of summaries that only one of the two fingerprints has; two with the same name are one rewritten."""
    for later in learned:
        later_name = _name(later, name_fields[:1])
        earlier = next((summary for summary in gone if _name(summary, name_fields[:1]) == later_name), None)
        if earlier is not None:
            gone.remove(earlier)
        yield _change(set_name, "learned" if earlier is None else "rewritten", name_fields, earlier, later)
    for earlier in gone:
        yield _change(set_name, "gone", name_fields, earlier, None)


def _change(
    set_name: str, change: str, name_fields: NameFields, earlier: Summary | None, later: Summary | None
) -> _SummaryChange:
    return _SummaryChange(set_name, change, _name(later or earlier or {}, name_fields), earlier, later)


def _by_content(set_name: str, summaries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The summaries by the hash of their content; clusters by their id."""
    if set_name == CLUSTERS:
        return {summary["cluster_id"]: summary for summary in summaries}
    return {content_hash(knowledge_in(summary)): summary for summary in summaries}


def _name(summary: Mapping[str, Any], name_fields: NameFields) -> str:
    return ": ".join(str(summary.get(field, "")) for field in name_fields)


def _has_changed(set_name: str, earlier: Summary, later: Summary) -> bool:
    """Whether two matched summaries differ: in any field for clusters, which are matched by id, else in numbers."""
    return earlier != later if set_name == CLUSTERS else _numbers(earlier) != _numbers(later)


def _numbers(summary: Summary) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name in _NUMBER_FIELDS}


def _number_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_NumberChange]:
    before, after = dict(_numbers_in("", old)), dict(_numbers_in("", new))
    for path in sorted(before.keys() | after.keys()):
        earlier, later = before.get(path, 0), after.get(path, 0)
        if earlier != later:
            yield _NumberChange(path, earlier, later)


def _numbers_in(path: str, value: Any) -> Iterator[tuple[str, float]]:
    """The numbers in *value* by dotted path, except those in summaries, metadata and most lists.

    In a list of compiler parameters, the name of the parameter takes the place of the index in the path.
    """
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in {"artifact_summaries", "metadata"}:
                yield from _numbers_in(f"{path}.{name}" if path else name, part)
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, Mapping) and isinstance(name := part.get("parameter"), str):
                yield from _numbers_in(f"{path}.{name}", part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
