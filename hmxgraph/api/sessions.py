"""Record one session while it runs: what its agent says, the tools that it calls, and how it ends."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from time import perf_counter
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, cast
from uuid import uuid4

from hmxgraph.api._base import Face
from hmxgraph.api.recording import AppendOptions, LiveSessions, Recorder, event_draft, event_drafts, latest_live_us
from hmxgraph.graph import appending
from hmxgraph.graph.appending import Draft
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.canonical import canonical_bytes, canonical_text
from hmxgraph.protocol.lenient import storable
from hmxgraph.protocol.parsing import canonical_size_bound
from hmxgraph.protocol.reports import Receipt, RecordReport

Function = TypeVar("Function", bound=Callable[..., Any])

# Maximum size of arguments, of a result or of a message, in bytes. The limit of an event's content (HMX-E 11) is
# higher, but includes other fields.
_MOST_BYTES = 400_000
# A value that is too large is cut to the first of these numbers of characters that fits: in JSON, a character takes one
# to six bytes.
_CUTS = (100_000, 60_000)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a recorded function; the result refers to the call by ``call_id``."""

    tool_name: str
    arguments: Mapping[str, Any]
    call_id: str

    @classmethod
    def of(cls, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> "ToolCall":
        """The call of *function* with these arguments, each under the name of its parameter."""
        bound = inspect.signature(function).bind(*args, **kwargs)
        return cls(function.__name__, bound.arguments, str(uuid4()))

    def content(self) -> dict[str, Any]:
        """The content of the tool_call event."""
        return {"tool_name": self.tool_name, "call_id": self.call_id, "arguments": _within_limits(self.arguments)}

    def result(self, value: Any, seconds: float) -> dict[str, Any]:
        """The content of the tool_result event of a call that returned *value*."""
        return self._result_fields(seconds) | {"success": True, "result": _within_limits(value)}

    def failure(self, error: BaseException, seconds: float) -> dict[str, Any]:
        """The content of the tool_result event of a call that raised *error*."""
        message = _within_limits(f"{type(error).__name__}: {error}")
        return self._result_fields(seconds) | {"success": False, "error": message}

    def _result_fields(self, seconds: float) -> dict[str, Any]:
        return {"tool_name": self.tool_name, "call_id": self.call_id, "duration_ms": round(seconds * 1_000, 3)}


def _within_limits(value: Any) -> Any:
    """*value* as JSON; if that is too large for an event, the beginning of *value* as text.

    >>> _within_limits({1: (2, 3)}), len(_within_limits("x" * 500_000))
    ({'1': [2, 3]}, 100002)
    """
    json_value = storable(value)[0]
    if _fits(json_value):
        return json_value
    text = json_value if isinstance(json_value, str) else canonical_text(json_value)
    return next(filter(_fits, (f"{text[:length]} …" for length in _CUTS)))


def _fits(value: Any) -> bool:
    """Whether *value* takes at most `_MOST_BYTES`; it is measured exactly only if a quick upper bound is larger."""
    return 0 < canonical_size_bound(value) <= _MOST_BYTES or len(canonical_bytes(value)) <= _MOST_BYTES


class RecordedSession(Face):
    """A session being recorded: ``with graph.session() as session``. An `Exception` that ends the block is recorded.

    ``session_id`` is its id, generated if none was given.

    Example::

        with graph.session("s1", agent_id="coder") as session:

            @session.tool
            def list_files(folder):
                return ["a.py"]

            list_files("src")
        events = graph.query("explore/session_story", session_id="s1")
        assert [event["event_type"] for event in events] == ["tool_call", "tool_result"]

    """

    def __init__(self, tenancy: Tenancy, connection: Connection, recorder: Recorder) -> None:
        self._tenancy = tenancy
        self._connection = connection
        self._recorder = recorder
        self._live = LiveSessions()

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._recorder.session_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            message = _within_limits(str(error))
            content = {"error_type": type(error).__name__, "message": message, "recoverable": False}
            self._perform_then_embed(appending.append_all(self._tenancy, [self._draft("error", content)]))

    def record(
        self,
        messages: Any,
        *,
        format: str | None = None,  # noqa: A002 - the word that ingest uses
        idempotency_key: str | None = None,
    ) -> RecordReport:
        """Record *messages* and return a receipt for each; see ``graph.record``."""
        with self._live.recording(self.session_id) as drop_rejected:
            origin = self._recorder.origin(idempotency_key, self._live)
            items = appending.converted(self._tenancy, messages, origin, format)
            return drop_rejected(
                items, self._perform_then_embed(appending.record(self._tenancy, items, latest_live_us()))
            )

    def append(self, event_type: str, content: Mapping[str, Any], **options: Unpack[AppendOptions]) -> Receipt:
        """Append one event and return its receipt; see ``graph.append``."""
        draft = self._draft(event_type, content, **options)
        receipts = self._perform_then_embed(appending.append_all(self._tenancy, [draft]))
        return receipts[0]

    def append_all(self, events: Iterable[Mapping[str, Any]], **options: Unpack[AppendOptions]) -> tuple[Receipt, ...]:
        """Append several events and return their receipts; see ``graph.append_all``."""
        drafts = event_drafts(events, {**self._defaults(), "session_id": self.session_id, **options})
        return self._perform_then_embed(appending.append_all(self._tenancy, drafts))

    def tool(self, function: Function) -> Function:
        """Decorate *function* so that each call is recorded: arguments, result or exception, and duration.

        The call is stored before the function runs, its result before the value is returned; exceptions are recorded
        and raised again. A coroutine function needs a session of :func:`hmxgraph.connect_async`: in a session of
        :func:`hmxgraph.connect`, its calls raise `InvalidRequest`.
        """

        @wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            call = ToolCall.of(function, args, kwargs)
            self._perform_then_embed(appending.append_all(self._tenancy, [self._draft("tool_call", call.content())]))
            started = perf_counter()
            try:
                value = self._called(function, *args, **kwargs)
            except Exception as error:
                failure = call.failure(error, perf_counter() - started)
                self._perform_then_embed(appending.append_all(self._tenancy, [self._draft("tool_result", failure)]))
                raise
            result = call.result(value, perf_counter() - started)
            self._perform_then_embed(appending.append_all(self._tenancy, [self._draft("tool_result", result)]))
            return value

        return cast("Function", recorded)

    def _draft(self, event_type: str, content: Mapping[str, Any], **options: Unpack[AppendOptions]) -> Draft:
        return event_draft(event_type, content, self.session_id, {**self._defaults(), **options})

    def _defaults(self) -> AppendOptions:
        return {"agent_id": self._recorder.agent_id, "user_id": self._recorder.user_id}
