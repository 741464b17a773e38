"""What is known, as recall sees it: artifacts, memories, entities, relations, conflicts and the running session."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hmxgraph.text.validity import ANYWHERE, Validity


@dataclass(frozen=True, slots=True)
class KnownArtifact:
    """An artifact as it was at the moment asked about; ``sound`` while its content and evidence can be verified.

    ``actions`` are those it is about, as the compiler names them; ``failure`` is the key of what a playbook answers;
    ``confirmed_us`` is when it was last seen to hold; the ``conditions`` of its validity scope stand in its text too.
    """

    artifact_id: str
    artifact_type: str
    title: str
    text: str
    tokens: int
    words: str
    status: str
    confidence: float
    created_us: int
    content: Mapping[str, Any] = field(default_factory=dict)
    observed_count: int = 1
    success_rate: float | None = None
    tags: tuple[str, ...] = ()
    agent_id: str | None = None
    validity: Validity = ANYWHERE
    conditions: tuple[str, ...] = ()
    sound: bool = True
    actions: tuple[str, ...] = ()
    failure: str = ""
    confirmed_us: int = 0


# How extraction names ways to come to know something: a plea to remember it, a change of state, what a session asked
# for first.
REMEMBERED = "remembered"
STATE_CHANGE = "state_change"
FIRST_REQUEST = "first_request"


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A semantic memory; ``held`` while it was true at the moment asked about, ``sound`` while evidence is left.

    ``here`` tells that the running session said it; ``open``, of goals, that no outcome of its session is known.
    """

    memory_id: str
    kind: str
    text: str
    tokens: int
    words: str
    confidence: float
    observations: int
    last_us: int
    method: str = ""
    hard: bool = False
    held: bool = True
    sound: bool = True
    here: bool = False
    open: bool = False


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """A task record as it stood at the moment asked about: in which section it belongs, and how far it is trusted.

    ``held`` until another record took its place; ``told_by`` are the events that tell the same.
    """

    record_id: str
    section: str
    text: str
    words: str
    created_us: int
    session_id: str
    agent_id: str | None = None
    trust_tier: str = "canonical_record"
    rejected: bool = False
    countersigned: int = 0
    held: bool = True
    told_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity of the tenant's graph."""

    entity_id: str
    name: str
    type: str
    mentions: int
    confidence: float
    last_us: int


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """A typed relation between two entities, by their names."""

    relation_id: str
    source: str
    relation_type: str
    target: str
    weight: float
    confidence: float
    evidence_count: int
    last_us: int


@dataclass(frozen=True, slots=True)
class KnownConflict:
    """An open conflict, the ids of its sides, and where those of them that are artifacts apply."""

    conflict_id: str
    reason: str
    text: str
    tokens: int
    detected_us: int
    sides: tuple[str, ...]
    scopes: tuple[Validity, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The latest event that a record rests on."""

    record_id: str
    event_id: str
    session_id: str
    time_us: int
    tokens: int
    salience: float
    speaker: str
    text: str
    label: str = ""


class Happened(NamedTuple):
    """A deed, result or error of the running session; ``action`` is the name of what was done."""

    event_type: str
    text: str
    action: str
    failed: bool = False

    @property
    def begins(self) -> bool:
        """Whether something was begun: results and errors only tell what came of it."""
        return self.event_type not in {"tool_result", "error"}

    @property
    def ends(self) -> bool:
        """Whether it is known that it ended: that of a call is told by its result."""
        return self.event_type != "tool_call"


@dataclass(frozen=True, slots=True)
class RunningSession:
    """What the running session did so far, oldest first."""

    events: tuple[Happened, ...] = ()
    event_count: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """Everything known that the question may touch."""

    artifacts: tuple[KnownArtifact, ...] = ()
    memories: tuple[KnownMemory, ...] = ()
    entities: tuple[KnownEntity, ...] = ()
    relations: tuple[KnownRelation, ...] = ()
    conflicts: tuple[KnownConflict, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    session: RunningSession = RunningSession()
    records: tuple[KnownRecord, ...] = ()
