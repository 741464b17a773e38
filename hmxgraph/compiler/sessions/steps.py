"""The steps of a session while it is read, those whose end may still come included; all of it bounded."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from hmxgraph.compiler.sessions.remembering import remember
from hmxgraph.compiler.sessions.summary import Situation, Step

_OPEN_CALLS = 1000
_NAMED = 1000


@dataclass(slots=True)
class OpenStep:
    """A step whose end may still come; ``number`` counts all steps of the session, kept or not.

    ``tool`` is what its agent called, a shell where the action is the program that ran in it.
    """

    action: str
    event_id: str
    situation: Situation
    inputs: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    command: str = ""
    ok: bool | None = None
    ended: bool = False
    number: int = -1
    given: dict[str, str] = field(default_factory=dict)
    agent_id: str = ""
    tool: str = ""

    def so_far(self) -> Step:
        """The step as it stands now."""
        return Step(self.action, self.event_id, self.situation, self.inputs, self.changed, self.command, self.ok)


class OpenSteps:
    """The first and the last steps of a session, and those whose result is awaited."""

    def __init__(self, most: int) -> None:
        self._first: list[OpenStep] = []
        self._latest: deque[OpenStep] = deque(maxlen=max(1, most // 2))
        self._room = most - most // 2
        self._calls: dict[str, OpenStep] = {}
        self._named: dict[str, OpenStep] = {}
        self.count = 0
        self.last: OpenStep | None = None

    @property
    def pending(self) -> int:
        """How many calls wait for their result."""
        return len(self._calls)

    def add(self, step: OpenStep, call_id: object) -> None:
        """Keep *step* as the newest step, awaited under its call id where it has one."""
        step.number = self.count
        self.count += 1
        self.last = step
        if len(self._first) < self._room:
            self._first.append(step)
        else:
            self._latest.append(step)
        self.name(step.event_id, step)
        if call_id:
            remember(self._calls, str(call_id), step, _OPEN_CALLS)

    def called(self, call_id: object, tool: str) -> OpenStep | None:
        """The step that a result belongs to: by call id, else the newest that has no result and fits the tool."""
        if call_id and str(call_id) in self._calls:
            return self._calls.pop(str(call_id))
        last = self.last
        fits = (
            last is not None
            and last.ok is None
            and (not tool or tool in {last.action, last.tool} or bool(last.command))
        )
        return last if fits else None

    def name(self, event_id: str, step: OpenStep) -> None:
        """Let *event_id* stand for *step* too."""
        remember(self._named, event_id, step, _NAMED)

    def named(self, *event_ids: str | None) -> OpenStep | None:
        """The step that one of the events belongs to."""
        return next((self._named[name] for name in event_ids if name is not None and name in self._named), None)

    def of_tool(self, tool: str, agent_id: str) -> OpenStep | None:
        """The newest call of *tool* that may have failed, one of this agent if there is any."""
        calls = [step for step in self._doubtful() if tool and tool in {step.tool, step.action}]
        return next((step for step in calls if step.agent_id == agent_id), next(iter(calls), None))

    def of_agent(self, agent_id: str) -> OpenStep | None:
        """The newest step of this agent that may have failed; of those before it none that ended without complaint."""
        steps = [step for step in self._newest() if step.agent_id == agent_id]
        found = (step for step in steps if step is steps[0] or step.ok is False or not step.ended)
        return next((step for step in found if not step.ok), None)

    def _doubtful(self) -> Iterator[OpenStep]:
        """The kept steps that nothing good is known of, newest first."""
        return (step for step in self._newest() if not step.ok)

    def _newest(self) -> Iterator[OpenStep]:
        return chain(reversed(self._latest), reversed(self._first))

    def kept(self) -> Iterator[OpenStep]:
        """The steps that were kept, in order."""
        yield from self._first
        yield from self._latest

    def place(self, number: int) -> int:
        """Where the step with this number stands among the kept ones; -1 if it is not."""
        dropped = self.count - len(self._first) - len(self._latest)
        if number < len(self._first):
            return number
        return number - dropped if number - dropped >= len(self._first) else -1
