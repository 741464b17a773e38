"""The operations of the HTTP contract: one function for each, which runs in a worker thread."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import GraphError, InvalidRequest
from hmxgraph.protocol.access import ApiKey
from hmxgraph.protocol.reports import Receipt
from hmxgraph.protocol.timestamps import iso
from hmxgraph.protocol.usage import HOUR_US, hour_of
from hmxgraph.server import contract
from hmxgraph.server.observing import Metrics
from hmxgraph.server.tenants import Tenants, UsageTally
from hmxgraph.server.wire import Refusal

if TYPE_CHECKING:
    from hmxgraph.api._base import PackOptions

# The name, in `hmxgraph.formats`, of the format in which clients send events.
FORMAT = "hippocortex"


@dataclass(frozen=True, slots=True)
class Shared:
    """The objects of a server that all its operations share."""

    tenants: Tenants
    tally: UsageTally
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Call:
    """A validated request.

    ``body`` is the request body, or the query of a GET request, as an instance of the operation's model; ``raw`` is the
    same as it was sent. ``path`` has the path parameters.
    """

    shared: Shared
    key: ApiKey
    body: Any = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph of the key's tenant."""
        return self.shared.tenants.graph(self.key.tenant_id)

    def count(self, **counts: int) -> None:
        """Add *counts* to the usage counters of the tenant."""
        self.shared.tally.count(self.key.tenant_id, **counts)


# Captures.


def capture(call: Call) -> dict[str, Any]:
    """Store one event.

    Raises:
        Refusal: the event was rejected.

    """
    (receipt,) = _record(call, [call.raw])
    if receipt.status == "rejected":
        raise Refusal(422, receipt.reason)
    return contract.capture_result(receipt)


def capture_batch(call: Call) -> dict[str, Any]:
    """Store several events, one transaction per session and idempotency key; invalid events affect no others."""
    return contract.batch_result(_record(call, call.body.events))


def _record(call: Call, events: Sequence[Any]) -> list[Receipt]:
    """Record *events*, and return a receipt for each, in order."""
    groups: dict[tuple[str, str], list[int]] = {}
    for position, event in enumerate(events):
        groups.setdefault(_group_key(event), []).append(position)
    receipts: dict[int, Receipt] = {}
    try:
        for (session_id, key), positions in groups.items():
            with _noting_stored_events(receipts):
                stored = _record_group(call, session_id, key, [events[position] for position in positions])
            receipts |= dict(zip(positions, stored, strict=True))
    finally:
        _count(call, list(receipts.values()))
    return [receipts[position] for position in range(len(events))]


def _record_group(call: Call, session_id: str, key: str, events: Sequence[Any]) -> Sequence[Receipt]:
    """Record the *events* of one session and idempotency key; if one of these two is invalid, all are rejected."""
    try:
        return call.graph.record(
            [event if isinstance(event, Mapping) else {} for event in events],
            session_id=session_id or "unnamed",
            agent_id=call.key.agent_id,
            format=FORMAT,
            idempotency_key=key or None,
        ).receipts
    except InvalidRequest as error:
        return [Receipt(position, "rejected", reason=str(error)) for position in range(len(events))]


@contextmanager
def _noting_stored_events(receipts: Mapping[int, Receipt]) -> Iterator[None]:
    """If the block raises a database error, add to the error which events of the batch are already stored."""
    try:
        yield
    except GraphError as error:
        positions = sorted(
            position for position, receipt in receipts.items() if receipt.status in {"stored", "duplicate"}
        )
        if positions:
            error.stored = f"the events at the positions {', '.join(map(str, positions))} are stored"
        raise


def _group_key(event: Any) -> tuple[str, str]:
    """The session and the idempotency key of an event, by which a batch is grouped; "" for what is missing."""
    if not isinstance(event, Mapping):
        return "", ""
    session_id, key = event.get("sessionId"), event.get("idempotencyKey")
    session = str(session_id) if isinstance(session_id, str | int) and not isinstance(session_id, bool) else ""
    return session, key if isinstance(key, str) else ""


def _count(call: Call, receipts: Sequence[Receipt]) -> None:
    counts = {name: sum(receipt.status == name for receipt in receipts) for name in ("stored", "duplicate", "rejected")}
    call.count(ingested=counts["stored"], duplicates=counts["duplicate"], errors=counts["rejected"])
    for status, number in counts.items():
        call.shared.metrics.count_events(status, number)


# Learning and recall.


def learn(call: Call) -> dict[str, Any]:
    """Compile the tenant's sessions."""
    request: contract.LearnRequest = call.body
    with call.shared.tenants.compile_lock(call.key.tenant_id):
        report = call.graph.compile(full=request.scope == "full")
    run = call.graph.usage.record_run(report)
    call.count(compilations=1)
    options = request.options or contract.LearnOptions.model_validate({})
    ignored = {"minPatternStrength": options.min_pattern_strength, "artifactTypes": options.artifact_types}
    warnings = [f"{name} has no effect on what is learned" for name, value in ignored.items() if value is not None]
    return contract.compile_result(report, run.run_id, warnings)


def synthesize(call: Call) -> dict[str, Any]:
    """The context pack for a query."""
    request: contract.SynthesizeRequest = call.body
    options = request.options or contract.SynthesizeOptions.model_validate({})
    sections = options.sections or None
    pack_options: PackOptions = {
        "budget": options.max_tokens or request.max_tokens or contract.DEFAULT_TOKENS,
        "min_confidence": contract.DEFAULT_CONFIDENCE if options.min_confidence is None else options.min_confidence,
        "session_id": request.session_id,
        "agent_id": request.agent_id or call.key.agent_id,
        "user_id": request.user_id,
    }
    if sections:
        pack_options["sections"] = contract.pack_sections(sections)
    pack = call.graph.pack(request.query, **pack_options)
    ids = [entry.source_id for entry in pack.entries if entry.source_type == "artifact"]
    types = call.graph.artifact_types(ids) if ids else {}
    call.count(syntheses=1)
    return contract.pack_result(pack, types, sections, provenance=options.include_provenance)


# Artifacts, usage, and the vault: the SDK's store for secrets, which this server does not support.


def list_artifacts(call: Call) -> dict[str, Any]:
    """A page of artifacts."""
    query: contract.ArtifactQuery = call.body
    page = call.graph.artifacts(
        status=query.status or None,
        artifact_type=query.type or None,
        sort=contract.ENGINE_SORTS[query.sort] if query.sort else "created",
        order=query.order,
        limit=query.limit,
        after=query.cursor or None,
        total=True,
    )
    answer = contract.artifact_list(page)
    return answer | {"artifacts": [_masked(call, artifact) for artifact in answer["artifacts"]]}


def get_artifact(call: Call) -> dict[str, Any]:
    """One artifact."""
    return _masked(call, contract.artifact_view(call.graph.artifact(call.path["artifact_id"])))


def _masked(call: Call, artifact: dict[str, Any]) -> dict[str, Any]:
    """*artifact* with secrets masked in its texts."""
    texts: dict[str, Any] = call.graph.masked({name: artifact[name] for name in ("title", "content")})
    return artifact | texts


def usage_metrics(call: Call) -> dict[str, Any]:
    """Usage by hour."""
    query: contract.MetricsQuery = call.body
    call.shared.tally.store(call.shared.tenants)
    now = time_ns() // 1_000
    start = hour_of(now) - (contract.HOURS[query.period] - 1) * HOUR_US
    hours = call.graph.usage.hours(since=iso(start), until=iso(now))
    return contract.usage_view(hours, (start, now), query.granularity)


def vault(_call: Call) -> NoReturn:
    """Always 501: this server has no vault, because secrets do not belong in a memory."""
    raise Refusal(501, "this server has no vault: secrets do not belong in a memory", code="not_implemented")


# The table of all operations.

Method: TypeAlias = Literal["GET", "POST"]
Scope: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: its method and path, the scope that a key needs for it, and the function that performs it."""

    method: Method
    path: str
    scope: Scope
    run: Callable[[Call], dict[str, Any]]
    request_model: type[contract.Request] | None = None
    name: str = ""

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.run.__doc__ or "").partition("\n")[0]

    @property
    def operation_id(self) -> str:
        """The name in the OpenAPI document."""
        return self.name or self.run.__name__


OPERATIONS = (
    Operation("POST", "/capture", "write", capture, contract.CaptureRequest),
    Operation("POST", "/capture/batch", "write", capture_batch, contract.CaptureBatchRequest),
    Operation("POST", "/learn", "write", learn, contract.LearnRequest),
    Operation("POST", "/compile", "write", learn, contract.LearnRequest, "compile"),
    Operation("POST", "/synthesize", "read", synthesize, contract.SynthesizeRequest),
    Operation("GET", "/artifacts", "read", list_artifacts, contract.ArtifactQuery),
    Operation("GET", "/artifacts/{artifact_id:path}", "read", get_artifact),
    Operation("GET", "/usage-metrics", "read", usage_metrics, contract.MetricsQuery),
    Operation("POST", "/vault/query", "read", vault, name="vault_query"),
    Operation("POST", "/vault/query/{item_id}/reveal", "read", vault, name="vault_reveal"),
)
