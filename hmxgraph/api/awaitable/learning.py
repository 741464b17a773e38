"""Asynchronous twin of ``knowledge.plain.learning``."""

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from hmxgraph.api._base import as_event
from hmxgraph.api.awaitable.face import AsyncFace
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile
from hmxgraph.errors import InvalidRequest
from hmxgraph.graph.compilations import CompileOptions, compile_tenant
from hmxgraph.graph.guidance import suggest_for_events, suggest_for_session
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import CompileReport
from hmxgraph.protocol.suggestions import Suggestion

if TYPE_CHECKING:
    from hmxgraph.compiler.actions import SessionEvent


class AsyncLearning(AsyncFace):
    """The part of the front door that turns events into knowledge."""

    async def compile(
        self,
        *,
        full: bool = False,
        dry_run: bool = False,
        profile: CompilerProfile = DEFAULT_PROFILE,
        progress: Callable[[str, int], None] | None = None,
    ) -> CompileReport:
        """What the tenant's sessions teach, stored as artifacts: only what changed since the last run is read.

        *full* reads every session again and gives the same artifacts; *dry_run* tells what would change and writes
        nothing. *progress* is told each stage and how many sessions of it are done. Running it twice changes nothing.
        """
        options = CompileOptions(full, dry_run, profile, perf_counter, progress or _silent)
        return await self._perform(compile_tenant(self._tenancy, options))

    async def suggest(
        self,
        *,
        session_id: str | None = None,
        events: Iterable[Event | Mapping[str, Any]] | None = None,
        profile: CompilerProfile = DEFAULT_PROFILE,
    ) -> Suggestion:
        """The next tools (``.tools``, likeliest first) and steps of a stored session, or of *events* not stored yet.

        Raises:
            InvalidRequest: neither or both of *session_id* and *events* were given.
            NotFound: the tenant has no such session.

        """
        if (session_id is None) == (events is None):
            raise InvalidRequest("suggest", "of neither or both", "question", "give session_id=... or events=[...]")
        if session_id is not None:
            return await self._perform(suggest_for_session(self._tenancy, session_id, profile))
        # A cached property is a property; the protocol cannot say so.
        given = cast("list[SessionEvent]", [as_event(event) for event in events or ()])
        return await self._perform(suggest_for_events(self._tenancy, given, profile))


def _silent(stage: str, done: int) -> None:
    """Tell nobody."""
