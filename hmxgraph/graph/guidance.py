"""Guidance from the compiled model for a request or a running session."""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from threading import Lock
from typing import Any

from hmxgraph.compiler._verbs import is_action
from hmxgraph.compiler.actions import SessionEvent, actions_of
from hmxgraph.compiler.compilation import Model
from hmxgraph.compiler.failures import failure_key
from hmxgraph.compiler.goal_classes import expected
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.suggest import Guide, fitting_schema, predicted_actions, suggest
from hmxgraph.compiler.summary import SessionSummary
from hmxgraph.errors import NotFound
from hmxgraph.graph.compilations import StoredEvent, session_read, stored_event, stored_guide
from hmxgraph.graph.plan import Plan, Procedure, Row, Tenancy, bind, model_key, read
from hmxgraph.protocol.parsing import parse_json
from hmxgraph.protocol.suggestions import Suggestion
from hmxgraph.recall.knowledge import NO_GUIDANCE, Guidance

# Guidance for a request: the part of a pack that comes from the compiled model.

# Maximum number of parsed models cached between packs.
MODELS_KEPT = 8
# Maximum number of artifacts whose parsed metadata is cached.
_ARTIFACTS_KEPT = 4_096
# Metadata fields of compiled artifacts that name the actions they are about.
_ACTION_FIELDS = ("goal_actions", "tools", "actions")
_models: dict[str, Model] = {}
_models_lock = Lock()


def models_kept() -> Mapping[str, Model]:
    """The cached models by their hash, which need not be fetched again."""
    with _models_lock:
        return dict(_models)


def guidance(request: str, row: Row, cached_models: Mapping[str, Model]) -> Guidance:
    """Guidance for *request* from a row of ``recall/events``.

    *cached_models* were not fetched again, and are looked up by their hash.
    """
    done = tuple(name for values in reversed(row["actions"]) for name in action_names(*values))
    failure = _failure(row["latest"])
    if row["model_hash"] is None:
        return Guidance(done=done, failure=failure) if done or failure else NO_GUIDANCE
    model = cached_models[row["model_hash"]] if row["model"] is None else _parsed_model(row["model_hash"], row["model"])
    guides = [_guide(*values) for values in sorted(row["schemas"])]
    chances = predicted_actions(request, done, model)
    schema = fitting_schema(chances, done, guides, DEFAULT_PROFILE)
    lead = schema.artifact_id if schema else None
    goal_actions: frozenset[str] = frozenset(schema.metadata["goal_actions"]) if schema else frozenset()
    likely = expected(chances, DEFAULT_PROFILE) | goal_actions
    changes = frozenset(filter(is_action, goal_actions))
    chance = min((chances.get(name, 0.0) for name in sorted(changes)), default=1.0)
    known_actions = frozenset(model.goals.actions)
    return Guidance(lead, likely, known_actions, done, failure, led=goal_actions, changes=changes, chance=chance)


def _failure(latest: Sequence[Row]) -> str:
    """The key of the failure with which a session's latest events end, as in the metadata of playbooks; "" if none."""
    signature = summarise(map(stored_event, latest)).ahead.failure
    return failure_key(signature) if signature else ""


@lru_cache(maxsize=_ARTIFACTS_KEPT)
def answered_failures(metadata: str) -> tuple[str, ...]:
    """The keys of the failures that a playbook is about; none for other artifacts.

    >>> answered_failures('{"failure_key": "namespac found"}'), answered_failures("{}")
    (('namespac found',), ())

    """
    fields = parse_json(metadata)
    further_keys = fields.get("failure_keys")
    keys = [fields.get("failure_key"), *(further_keys if isinstance(further_keys, list) else ())]
    return tuple(dict.fromkeys(key for key in keys if isinstance(key, str) and key))


@lru_cache(maxsize=_ARTIFACTS_KEPT)
def guiding_actions(metadata: str, content: str) -> tuple[str, ...]:
    """The actions that an artifact is about, from its metadata or else its content.

    >>> guiding_actions('{"tools": ["cancel", "refund"]}', "{}")
    ('cancel', 'refund')

    """
    fields = parse_json(metadata)
    actions = next((fields[field] for field in _ACTION_FIELDS if fields.get(field)), None) or parse_json(content).get(
        "tools_used"
    )
    return tuple(name for name in actions if isinstance(name, str)) if isinstance(actions, list) else ()


def _parsed_model(model_hash: str, text: str) -> Model:
    """The model in *text*, added to the cache; the oldest one leaves a full cache."""
    model = Model.parse(text)
    with _models_lock:
        while len(_models) >= MODELS_KEPT:
            del _models[next(iter(_models))]
        _models[model_hash] = model
    return model


def _guide(artifact_id: str, metadata: str, content: str, observed_count: int | None) -> Guide:
    actions = guiding_actions(metadata, content)
    return Guide(artifact_id, "task_schema", "", {}, {"goal_actions": actions}, 0.0, observed_count or 0)


def action_names(event_type: str, content: str, text: str) -> tuple[str, ...]:
    """The names of the actions of an event, from its text if its content was too long to be fetched or names none.

    >>> action_names("tool_call", '{"tool_name": "bash", "arguments": {"command": "make build"}}', "bash(make build)")
    ('make build',)
    >>> action_names("command_exec", "{}", "$ make build -> exit 2 stderr: ...")
    ('make build',)

    """
    document: dict[str, Any] = parse_json(content) or _content_of_text(event_type, text)
    actions = actions_of(StoredEvent("", event_type, "", "", 0, 0, document))
    return tuple(action.name for action in actions) or (text.split("(", 1)[0].strip(),)


def _content_of_text(event_type: str, text: str) -> dict[str, Any]:
    """The beginning of an event's text, as content: the tool, the command line, the request or the verb."""
    first, _, rest = text.partition(" ")
    match event_type:
        case "tool_call":
            return {"tool_name": text.split("(", 1)[0].strip()}
        case "command_exec" | "test_run":
            return {"command": rest.partition(" -> ")[0]} if first == "$" else {}
        case "api_result":
            return {"method": first, "url": rest.split(" ", 1)[0]}
        case "browser_action":
            return {"action": first.rstrip(":")}
        case _:
            return {}


# The next action in a running session, stored or given as events.


def suggest_for_events(
    tenancy: Tenancy, events: Sequence[SessionEvent], profile: CompilerProfile = DEFAULT_PROFILE
) -> Procedure[Suggestion]:
    """The suggested next action in a session that consists of *events* so far."""
    return (yield from read(partial(_suggestion, tenancy, summarise(events, profile), profile)))


def suggest_for_session(
    tenancy: Tenancy, session_id: str, profile: CompilerProfile = DEFAULT_PROFILE
) -> Procedure[Suggestion]:
    """The suggested next action in a stored session.

    Raises:
        NotFound: the tenant has no visible event of this session.

    """
    return (yield from read(partial(_suggestion_for_stored, tenancy, session_id, profile)))


def guides(tenancy: Tenancy) -> Plan[tuple[Model, list[Guide]]]:
    """The tenant's model and the active artifacts that can guide a session."""
    models = yield bind("compiler/model", tenant_id=tenancy.tenant_id, model_key=model_key(tenancy))
    rows = yield bind("compiler/guides", tenant_id=tenancy.tenant_id)
    return Model.parse(models[0]["model"] if models else None), [stored_guide(row["guide"]) for row in rows]


def _suggestion_for_stored(tenancy: Tenancy, session_id: str, profile: CompilerProfile) -> Plan[Suggestion]:
    reader = yield from session_read(tenancy, tenancy.node_key(session_id), profile)
    running = reader.summary()
    if not running.event_count:
        raise NotFound("session", session_id, tenancy.tenant_id)
    return (yield from _suggestion(tenancy, running, profile))


def _suggestion(tenancy: Tenancy, running: SessionSummary, profile: CompilerProfile) -> Plan[Suggestion]:
    model, guide_list = yield from guides(tenancy)
    return suggest(running, model, guide_list, profile)
