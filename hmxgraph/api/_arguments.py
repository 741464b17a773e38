"""One way to be wrong: an argument that a method does not take is refused with one error, which names the right one."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, wraps
from types import FunctionType
from typing import Any, get_args

from hmxgraph.api._base import StepFields
from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.records import TaskRecord

# What callers write for arguments that have another name here.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "agent": ("agent_id",),
    "author": ("agent_id",),
    "budget": ("token_budget",),
    "claim": ("summary",),
    "description": ("summary", "goal"),
    "duration": ("lease",),
    "failed": ("what_failed",),
    "filter": ("kind",),
    "k": ("limit",),
    "lease_seconds": ("lease",),
    "max_results": ("limit",),
    "message": ("summary", "comment"),
    "n": ("limit",),
    "name": ("goal", "task_id"),
    "next": ("next_step",),
    "note": ("summary", "comment"),
    "outcome": ("status",),
    "owner": ("assignee", "agent_id"),
    "project": ("project_id",),
    "reason": ("why_chosen", "reason", "summary"),
    "reply_to_artifact_id": ("reply_to", "run_id"),
    "result": ("summary", "outcome"),
    "run": ("run_id",),
    "session": ("session_id",),
    "siblings": ("expand_event_siblings",),
    "supports": ("supports_claim",),
    "task": ("task_id",),
    "text": ("summary", "query"),
    "thread": ("thread_id",),
    "title": ("goal", "summary"),
    "tokens": ("token_budget",),
    "tool": ("tool_name",),
    "top_k": ("limit",),
    "why": ("why_chosen",),
    "worked": ("what_worked",),
}
_SHOWN = 12


class NamedArguments:
    """Base of subjects whose public methods refuse wrong arguments with InvalidRequest, never with a TypeError."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _checking(member))


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function*, which checks its arguments before it begins."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(self: Any, /, *args: Any, **named: Any) -> Any:
            check_arguments(function, args, named)
            return await function(self, *args, **named)

        return awaited

    @wraps(function)
    def called(self: Any, /, *args: Any, **named: Any) -> Any:
        check_arguments(function, args, named)
        return function(self, *args, **named)

    return called


def check_arguments(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Refuse arguments that the method *function* does not take, lacks, or gets twice.

    Raises:
        InvalidRequest: names the argument, and the right one.

    """
    taken = _taken(function)
    if len(args) > len(taken.positional):
        place = len(args) - len(taken.positional) - 1
        names = [f"{name}=..." for name in taken.keyword_only[place : place + 1]] or [f"{taken.own}"]
        surplus = args[len(taken.positional)]
        expected = f"a named argument of {function.__name__}()"
        raise InvalidRequest(
            f"argument {len(taken.positional) + 1}", f"{surplus!r:.60}", expected, f"name it: {names[0]}"
        )
    given = taken.positional[: len(args)]
    for name in named:
        if name in given:
            raise InvalidRequest(name, f"{named[name]!r:.60}", "one value", "it is given by position and by name")
        if name not in taken.names or _is_misnamed(name, taken):
            raise _unknown(name, named[name], taken)
    for name in taken.required:
        if name not in given and name not in named:
            raise InvalidRequest(name, "(missing)", f"an argument of {function.__name__}()", f"give it ({name}=...)")
    for name, value in (*zip(given, args, strict=True), *named.items()):
        if name in taken.flags and not isinstance(value, bool) and (value is not None or name not in taken.optional):
            raise InvalidRequest(name, f"{value!r:.60}", "True or False", f"give one of them ({name}=True)")


@dataclass(frozen=True, slots=True)
class _Taken:
    """The arguments of a method: its own, and the fields that it passes on."""

    method: str
    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    required: tuple[str, ...]
    fields: frozenset[str]
    flags: frozenset[str]
    optional: frozenset[str]

    @property
    def own(self) -> tuple[str, ...]:
        """The named parameters of the method."""
        return self.positional + self.keyword_only

    @property
    def names(self) -> frozenset[str]:
        """Every name that it takes."""
        return self.fields.union(self.own)


@cache
def _taken(function: Callable[..., Any]) -> _Taken:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    rest = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    flags = {parameter.name: parameter.annotation for parameter in named if _is_flag(parameter.annotation)}
    return _Taken(
        function.__name__,
        tuple(parameter.name for parameter in named if parameter.kind is not parameter.KEYWORD_ONLY),
        tuple(parameter.name for parameter in named if parameter.kind is parameter.KEYWORD_ONLY),
        tuple(parameter.name for parameter in named if parameter.default is parameter.empty),
        frozenset(name for parameter in rest for name in _fields(parameter.annotation)),
        frozenset(flags),
        frozenset(name for name, annotation in flags.items() if annotation is not bool),
    )


def _is_flag(annotation: Any) -> bool:
    return annotation is bool or annotation == (bool | None)


def _fields(annotation: Any) -> Iterable[str]:
    """The keys of ``**fields: Unpack[...]``; a method that takes the fields of a step takes all of the envelope."""
    keys = frozenset(get_args(annotation)[0].__annotations__)
    return keys.union(TaskRecord.model_fields) if keys >= frozenset(StepFields.__annotations__) else keys


def _is_misnamed(name: str, taken: _Taken) -> bool:
    """Whether a field of the envelope has another name in this method."""
    return name not in taken.own and name == "reply_to_artifact_id" and bool({"reply_to", "run_id"} & {*taken.own})


def _unknown(name: str, value: Any, taken: _Taken) -> InvalidRequest:
    others = [other for other in _OTHER_NAMES.get(name, ()) if other in taken.names and other != name]
    close = others[:1] or get_close_matches(name, sorted(taken.names - {name}), 1, 0.7)
    choices = ", ".join([*taken.own, *sorted(taken.fields - {*taken.own})][:_SHOWN])
    more = ", ..." if len(taken.names) > _SHOWN else ""
    way_out = f"did you mean {close[0]}=...?" if close else f"choose from {choices}{more}"
    return InvalidRequest(name, f"{value!r:.60}", f"an argument of {taken.method}()", way_out)
