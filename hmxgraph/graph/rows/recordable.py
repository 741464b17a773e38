"""What a document alone, or beside its predecessor, shows to be wrong before anything is written (HMX-A 5, 7, 8)."""

from collections.abc import Iterator

from hmxgraph.errors import Fault, InvalidDocument, SuccessorMismatch, SupersessionCycle
from hmxgraph.graph.plan import Row
from hmxgraph.graph.tenancy import Tenancy
from hmxgraph.protocol.artifacts import LIVING, Artifact
from hmxgraph.protocol.canonical import content_hash
from hmxgraph.protocol.timestamps import TELLABLE, microseconds, tellable

RECORDABLE = (*LIVING, "deprecated", "archived")


def check_recordable(tenancy: Tenancy, artifact: Artifact) -> None:
    """Refuse an artifact that cannot begin a chain in this tenant.

    Raises:
        InvalidDocument: with every fault at once.

    """
    _refuse(artifact, [*_faults(tenancy, artifact), *_first_faults(artifact)])


def check_successor(tenancy: Tenancy, old_id: str, artifact: Artifact) -> None:
    """Refuse an artifact that cannot be the successor of *old_id*, whatever that is.

    Raises:
        SupersessionCycle: it is *old_id* itself.
        SuccessorMismatch: it belongs to another tenant, names another predecessor or is neither draft nor active.
        InvalidDocument: its content hash is not its content's, its version of HMX or a time is none that is kept here.

    """
    if artifact.artifact_id == old_id:
        raise SupersessionCycle(old_id, old_id)
    if artifact.tenant_id not in {None, tenancy.tenant_id}:
        raise SuccessorMismatch(old_id, "tenant_id", repr(artifact.tenant_id), repr(tenancy.tenant_id))
    if artifact.supersedes not in {None, old_id}:
        raise SuccessorMismatch(old_id, "supersedes", repr(artifact.supersedes), repr(old_id))
    if artifact.status not in LIVING:
        raise SuccessorMismatch(old_id, "status", repr(artifact.status), " or ".join(LIVING))
    _refuse(artifact, [*_faults(tenancy, artifact)])


def numbered(artifact: Artifact, old: Row) -> Artifact:
    """*artifact* as the successor of *old*: a fresh document gets the next version, any other keeps its own."""
    fresh = artifact.version == 1 and artifact.supersedes is None
    version = old["version"] + 1 if fresh else artifact.version
    return Artifact.parse(artifact.document() | {"version": version, "supersedes": old["artifact_id"]})


def _faults(tenancy: Tenancy, artifact: Artifact) -> Iterator[Fault]:
    if artifact.tenant_id not in {None, tenancy.tenant_id}:
        yield Fault("$.tenant_id", "HMX-A 2.2", repr(artifact.tenant_id), repr(tenancy.tenant_id))
    if not artifact.hash_matches:
        yield Fault("$.content_hash", "HMX-A 8", artifact.content_hash, content_hash(artifact.content))
    if not artifact.hmx_version.startswith("HMX-1."):
        yield Fault("$.hmx_version", "HMX-A 2.1", artifact.hmx_version, "HMX-1.x")
    for name, clause in (("created_at", "HMX-A 2.1"), ("updated_at", "HMX-A 2.2")):
        if (told := getattr(artifact, name)) is not None and not tellable(microseconds(told)):
            yield Fault(f"$.{name}", clause, told, f"a {TELLABLE}")


def _first_faults(artifact: Artifact) -> Iterator[Fault]:
    if artifact.version != 1:
        expected = "1, since it supersedes nothing (or name its predecessor in supersedes)"
        yield Fault("$.version", "HMX-A 2.1", str(artifact.version), expected)
    if artifact.status not in RECORDABLE:
        yield Fault(
            "$.status", "HMX-A 7", repr(artifact.status), f"{', '.join(RECORDABLE)}: superseded needs a successor"
        )
    elif artifact.superseded_by is not None:
        yield Fault(
            "$.superseded_by", "HMX-A 7", repr(artifact.superseded_by), "nothing before a successor is recorded"
        )


def _refuse(artifact: Artifact, faults: list[Fault]) -> None:
    if faults:
        raise InvalidDocument("artifact", artifact.artifact_id, tuple(faults))
