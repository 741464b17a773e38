"""Two fingerprints side by side: what was learned between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.fingerprint.summaries import CLUSTERS, PLAYBOOKS, POLICIES, TASKS
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.fingerprints import Fingerprint

# What a summary says, without who says it and how sure it is.
_ABOUT = ("artifact_id", "confidence", "outcome_count", "observed_count", "occurrence_count", "success_rate")
_NAMES = {
    POLICIES: ("condition", "recommendation"),
    TASKS: ("title",),
    PLAYBOOKS: ("title", "failure_pattern"),
    CLUSTERS: ("label",),
}


@dataclass(frozen=True, slots=True)
class SummaryChange:
    """One summary that only one of the fingerprints has, or that both have with other numbers."""

    set_name: str
    change: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class NumberChange:
    """One number, by its dotted path, before and after."""

    path: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class FingerprintDiff:
    """The changes from one fingerprint to another."""

    before_id: str
    after_id: str
    summaries: tuple[SummaryChange, ...]
    numbers: tuple[NumberChange, ...]

    def document(self) -> dict[str, Any]:
        """The changes as a JSON-able dict."""
        return {
            "before": self.before_id,
            "after": self.after_id,
            "summaries": [
                {"set": one.set_name, "change": one.change, "name": one.name, "before": one.before, "after": one.after}
                for one in self.summaries
            ],
            "numbers": [{"path": one.path, "before": one.before, "after": one.after} for one in self.numbers],
        }


def diff(before: Fingerprint, after: Fingerprint) -> FingerprintDiff:
    """What *after* knows otherwise than *before*: summaries matched by what they say, sections number by number."""
    old, new = before.document(), after.document()
    return FingerprintDiff(
        before.fingerprint_id,
        after.fingerprint_id,
        tuple(_summary_changes(old["artifact_summaries"], new["artifact_summaries"])),
        tuple(_number_changes(old, new)),
    )


def said(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What a summary says, without its id and its numbers: equal for the same knowledge in two tenants.

    >>> said({"artifact_id": "a", "confidence": 0.9, "title": "Deploy"})
    {'title': 'Deploy'}

    """
    return {name: value for name, value in summary.items() if name not in _ABOUT}


def _summary_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[SummaryChange]:
    for name, titles in _NAMES.items():
        before, after = _by_content(name, old[name]), _by_content(name, new[name])
        for key in sorted(before.keys() | after.keys(), key=lambda key: _order(before, after, key, titles)):
            earlier, later = before.get(key), after.get(key)
            change = "learned" if earlier is None else "gone" if later is None else "changed"
            if change != "changed" or _numbers(earlier) != _numbers(later):
                yield SummaryChange(name, change, _name(later or earlier or {}, titles), earlier, later)


def _by_content(name: str, summaries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    if name == CLUSTERS:
        return {summary["cluster_id"]: summary for summary in summaries}
    return {content_hash(said(summary)): summary for summary in summaries}


def _order(before: Mapping[str, Any], after: Mapping[str, Any], key: str, titles: tuple[str, ...]) -> tuple[str, str]:
    return _name(after.get(key) or before.get(key) or {}, titles), key


def _name(summary: Mapping[str, Any], titles: tuple[str, ...]) -> str:
    return ": ".join(str(summary.get(title, "")) for title in titles)


def _numbers(summary: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (summary or {}).items() if name in _ABOUT and name != "artifact_id"}


def _number_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[NumberChange]:
    before, after = dict(_numbers_in("", old)), dict(_numbers_in("", new))
    for path in sorted(before.keys() | after.keys()):
        earlier, later = before.get(path, 0), after.get(path, 0)
        if earlier != later:
            yield NumberChange(path, earlier, later)


def _numbers_in(path: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in {"artifact_summaries", "metadata"}:
                yield from _numbers_in(f"{path}.{name}" if path else name, part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
