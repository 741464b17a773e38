"""What each search mode prefers: the digest that answers it, and the records it stands for (memd: Exact Filters)."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.records import MODES
from hmxgraph.tasks.facets import facet

# How much a preferred record gains over an equally relevant one.
LIFT = 0.5


class Mode(NamedTuple):
    """What a mode looks for first: a digest's role, and records by facet."""

    role: str | None
    records: tuple[str, ...]

    @property
    def preferred(self) -> tuple[str, ...]:
        """The facets of everything that the mode lifts."""
        return self.records if self.role is None else (facet("artifact_role", self.role), *self.records)


def mode_of(name: str) -> Mode:
    """The mode called *name*.

    Raises:
        UnknownChoice: there is none.

    >>> mode_of("find_decisions").preferred
    ('artifact_role=decision_library', 'artifact_kind=decision')
    """
    if name not in MODES:
        raise UnknownChoice("mode", name, MODES)
    return _MODES[name]


def lifted(mode: Mode, score: float, carried: Collection[str]) -> float:
    """*score* in [0, 1], raised where a record carries what the mode prefers.

    >>> lifted(mode_of("find_failures"), 0.4, ["projection=failed"]), lifted(mode_of("generic"), 0.4, [])
    (0.6, 0.4)
    """
    prefers = any(one in carried for one in mode.preferred)
    return round(score * (1 + LIFT) if prefers else score, 6)


def _kinds(*kinds: str) -> tuple[str, ...]:
    return tuple(facet("artifact_kind", kind) for kind in kinds)


_MODES: Mapping[str, Mode] = {
    "generic": Mode(None, ()),
    "brief_project": Mode("project_brief", _kinds("task_start", "task_finish", "decision")),
    "resume_task": Mode("task_resume", _kinds("task_progress", "task_finish", "run_finish")),
    "find_failures": Mode("failure_library", (facet("projection", "failed"),)),
    "find_decisions": Mode("decision_library", _kinds("decision")),
    "find_evidence": Mode("evidence_library", _kinds("evidence", "verification")),
    "find_highlights": Mode("highlight_library", (facet("projection", "worked"), facet("projection", "validation"))),
}
