"""Keep a dict bounded: new entries replace the oldest."""

from typing import TypeVar

V = TypeVar("V")


def remember(memory: dict[str, V], name: str, value: V, most: int) -> None:
    """Store *value* under *name* as the newest entry; if there are then more than *most*, drop the oldest.

    >>> memory = {"a": 1, "b": 2}
    >>> remember(memory, "c", 3, 2)
    >>> memory
    {'b': 2, 'c': 3}
    """
    memory.pop(name, None)
    memory[name] = value
    if len(memory) > most:
        del memory[next(iter(memory))]
