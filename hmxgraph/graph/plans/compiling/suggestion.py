"""What to do next in a running session, stored or told."""

from collections.abc import Sequence
from functools import partial

from hmxgraph.compiler.model import Model
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.sessions.actions import SessionEvent
from hmxgraph.compiler.sessions.reading import summarise
from hmxgraph.compiler.sessions.summary import SessionSummary
from hmxgraph.compiler.suggest import Guide, Suggestion, suggest
from hmxgraph.errors import NotFound
from hmxgraph.graph.plan import Plan, Procedure, read
from hmxgraph.graph.plans.compiling.compilation import session_read
from hmxgraph.graph.rows.compilation import model_key, stored_guide
from hmxgraph.graph.statement import bind
from hmxgraph.graph.tenancy import Tenancy


def suggest_for_events(
    tenancy: Tenancy, events: Sequence[SessionEvent], profile: CompilerProfile = DEFAULT_PROFILE
) -> Procedure[Suggestion]:
    """What to do next in a session that consists of *events* so far."""
    return (yield from read(partial(_suggestion, tenancy, summarise(events, profile), profile)))


def suggest_for_session(
    tenancy: Tenancy, session_id: str, profile: CompilerProfile = DEFAULT_PROFILE
) -> Procedure[Suggestion]:
    """What to do next in a stored session.

    Raises:
        NotFound: the tenant has no visible event of this session.

    """
    return (yield from read(partial(_stored, tenancy, session_id, profile)))


def guides(tenancy: Tenancy) -> Plan[tuple[Model, list[Guide]]]:
    """The tenant's model and the active artifacts that can guide a session."""
    models = yield bind("compiler/model", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))
    rows = yield bind("compiler/guides", tenant_id=tenancy.tenant_id)
    return Model.parse(models[0]["model"] if models else None), [stored_guide(row["guide"]) for row in rows]


def _stored(tenancy: Tenancy, session_id: str, profile: CompilerProfile) -> Plan[Suggestion]:
    reader = yield from session_read(tenancy, tenancy.node_key(session_id), profile)
    running = reader.summary()
    if not running.event_count:
        raise NotFound("session", session_id, tenancy.tenant_id)
    return (yield from _suggestion(tenancy, running, profile))


def _suggestion(tenancy: Tenancy, running: SessionSummary, profile: CompilerProfile) -> Plan[Suggestion]:
    model, found = yield from guides(tenancy)
    return suggest(running, model, found, profile)
