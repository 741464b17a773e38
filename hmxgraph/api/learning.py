"""Learning: compile events into artifacts, and suggest what comes next in a running session."""

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from hmxgraph.api._base import Face, as_event, now_us
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.errors import InvalidRequest
from hmxgraph.graph import clock
from hmxgraph.graph.compilations import CompileOptions, compile_tenant
from hmxgraph.graph.guidance import suggest_for_events, suggest_for_session
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.protocol.suggestions import Suggestion

if TYPE_CHECKING:
    from hmxgraph.compiler.actions import SessionEvent


class Learning(Face):
    """The part of the public API that turns events into knowledge."""

    def compile(
        self,
        *,
        full: bool = False,
        dry_run: bool = False,
        profile: CompilerProfile = DEFAULT_PROFILE,
        progress: Callable[[str, int], None] | None = None,
    ) -> CompileReport:
        """Compile the tenant's sessions into artifacts; reads only sessions that changed since the last run.

        Only the latest sessions count, up to ``max_sessions`` of the *profile*; the report says if older ones were left
        out. Without new events, compiling again changes nothing. *full* reads every session again, with the same
        result. *dry_run* reports what would change and writes nothing. *progress* is called with ``"sessions"`` and the
        number of sessions read so far, then with the name of each later stage and 0.
        """
        if not dry_run:
            self._perform(clock.release(self._tenancy, now_us()))
        options = CompileOptions(full, dry_run, profile, perf_counter, progress or _silent)
        return self._perform(compile_tenant(self._tenancy, options), whole=True)

    def suggest(
        self,
        *,
        session_id: str | None = None,
        events: Iterable[Event | Mapping[str, Any]] | None = None,
        profile: CompilerProfile = DEFAULT_PROFILE,
    ) -> Suggestion:
        """The next tools (``.tools``, most likely first) and steps of a stored session, or of *events* not yet stored.

        Raises:
            InvalidRequest: not exactly one of *session_id* and *events* was given.
            NotFound: the tenant has no such session.
            InvalidDocument: one of *events* violates HMX-E.

        """
        if (session_id is None) == (events is None):
            raise InvalidRequest("suggest", "call", "one of two arguments", "give session_id=... or events=[...]")
        if session_id is not None:
            return self._perform(suggest_for_session(self._tenancy, session_id, profile))
        # mypy does not accept the cached properties of Event as the properties that the protocol SessionEvent declares.
        session_events = cast("list[SessionEvent]", [as_event(event) for event in events or ()])
        return self._perform(suggest_for_events(self._tenancy, session_events, profile))


def _silent(stage: str, done: int) -> None:
    """Ignore the progress."""
