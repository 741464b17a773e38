"""What a task schema says to do, whoever wrote it.

Content unlike its type's is legal: texts and steps of another form are passed over (HMX-A 4.1).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One step of a task schema; where its order is no whole number, its place in the list stands for it."""

    order: int
    description: str
    tools: tuple[str, ...]
    optional: bool


def steps_of(content: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of a task schema's *content* in their order, those of equal order as they stand.

    >>> [step.description for step in steps_of({"steps": [{"order": 2, "description": "Apply"}, "?", {"order": 1}]})]
    ['', 'Apply']

    """
    return tuple(sorted(_steps(content.get("steps")), key=lambda step: step.order))


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, nothing of any other value.

    >>> texts(["kubectl", 7]), texts("kubectl")
    (('kubectl',), ())

    """
    return tuple(part for part in value if isinstance(part, str)) if isinstance(value, list | tuple) else ()


def _steps(told: Any) -> Iterator[Step]:
    for place, step in enumerate(told if isinstance(told, list | tuple) else (), start=1):
        if isinstance(step, Mapping):
            order, description = step.get("order"), step.get("description")
            yield Step(
                order if isinstance(order, int) and not isinstance(order, bool) else place,
                description if isinstance(description, str) else "",
                texts(step.get("tools_used")),
                step.get("optional") is True,
            )
