"""The difference between two fingerprints: what was learned in between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.fingerprints import Fingerprint

# The id and the numbers of a summary, which are not part of its content.
_NUMBER_FIELDS = ("artifact_id", "confidence", "outcome_count", "observed_count", "occurrence_count", "success_rate")
_CHANGES = ("learned", "rewritten", "changed", "gone")
Summary: TypeAlias = dict[str, Any]
Titles: TypeAlias = tuple[str, ...]
_NAMES = {
    POLICIES: ("condition", "recommendation"),
    TASKS: ("title",),
    PLAYBOOKS: ("title",),
    CLUSTERS: ("label",),
}


@dataclass(frozen=True, slots=True)
class _SummaryChange:
    """One changed summary: ``learned``, ``rewritten`` (same name, other text), ``changed`` (in numbers) or ``gone``."""

    set_name: str
    change: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    def document(self) -> dict[str, Any]:
        """The change as a JSON-able dict."""
        fields = {"change": self.change, "name": self.name, "before": self.before, "after": self.after}
        return {"set": self.set_name, **fields}


@dataclass(frozen=True, slots=True)
class _NumberChange:
    """One number, by its dotted path, before and after."""

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
        """The changes as a JSON-able dict."""
        return {
            "before": self.before_id,
            "after": self.after_id,
            "summaries": [change.document() for change in self.summaries],
            "numbers": [{"path": item.path, "before": item.before, "after": item.after} for item in self.numbers],
        }


def diff(before: Fingerprint, after: Fingerprint) -> FingerprintDiff:
    """The changes from *before* to *after*: summaries matched by content, other sections number by number."""
    old, new = before.document(), after.document()
    return FingerprintDiff(
        before.fingerprint_id,
        after.fingerprint_id,
        tuple(_summary_changes(old["artifact_summaries"], new["artifact_summaries"])),
        tuple(_number_changes(old, new)),
    )


def statement(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a summary without id and numbers: equal for the same knowledge in two tenants.

    >>> statement({"artifact_id": "a", "confidence": 0.9, "title": "Deploy"})
    {'title': 'Deploy'}

    """
    return {name: value for name, value in summary.items() if name not in _NUMBER_FIELDS}


def _summary_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_SummaryChange]:
    for name, titles in _NAMES.items():
        before, after = _by_content(name, old[name]), _by_content(name, new[name])
        pairs = [(before[key], after[key]) for key in sorted(before.keys() & after.keys())]
        changes = [_change(name, "changed", titles, *pair) for pair in pairs if _differ(name, *pair)]
        gone = [before[key] for key in sorted(before.keys() - after.keys())]
        learned = [after[key] for key in sorted(after.keys() - before.keys())]
        changes += _unmatched_changes(name, titles, gone, learned)
        yield from sorted(changes, key=lambda change: (_CHANGES.index(change.change), change.name))


def _unmatched_changes(
    name: str, titles: Titles, gone: list[Summary], learned: list[Summary]
) -> Iterator[_SummaryChange]:
    """The changes of summaries that occur on one side only; a pair with the same name is one rewritten summary."""
    for later in learned:
        later_name = _name(later, titles[:1])
        earlier = next((summary for summary in gone if _name(summary, titles[:1]) == later_name), None)
        if earlier is not None:
            gone.remove(earlier)
        yield _change(name, "learned" if earlier is None else "rewritten", titles, earlier, later)
    for earlier in gone:
        yield _change(name, "gone", titles, earlier, None)


def _change(name: str, change: str, titles: Titles, earlier: Summary | None, later: Summary | None) -> _SummaryChange:
    return _SummaryChange(name, change, _name(later or earlier or {}, titles), earlier, later)


def _by_content(name: str, summaries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    if name == CLUSTERS:
        return {summary["cluster_id"]: summary for summary in summaries}
    return {content_hash(statement(summary)): summary for summary in summaries}


def _name(summary: Mapping[str, Any], titles: tuple[str, ...]) -> str:
    return ": ".join(str(summary.get(title, "")) for title in titles)


def _differ(name: str, earlier: Summary, later: Summary) -> bool:
    """Whether two matched summaries differ: in any field for clusters, which are matched by id, else in numbers."""
    return earlier != later if name == CLUSTERS else _numbers(earlier) != _numbers(later)


def _numbers(summary: Summary) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name in _NUMBER_FIELDS and name != "artifact_id"}


def _number_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_NumberChange]:
    before, after = dict(_numbers_in("", old)), dict(_numbers_in("", new))
    for path in sorted(before.keys() | after.keys()):
        earlier, later = before.get(path, 0), after.get(path, 0)
        if earlier != later:
            yield _NumberChange(path, earlier, later)


def _numbers_in(path: str, value: Any) -> Iterator[tuple[str, float]]:
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
