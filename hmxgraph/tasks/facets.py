"""Exact filters: what a record answers to, as one text per filter value (memd: Exact Filters)."""

from collections.abc import Iterator, Mapping

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.identity import node_key
from hmxgraph.protocol.records import FILTERS, TaskRecord
from hmxgraph.tasks.projections import projections
from hmxgraph.text.asked import checked_text

_PAIRED = {"dataset": ("dataset_name", "dataset_version"), "entity": ("entity_name", "entity_type")}
_SECOND = dict(_PAIRED.values())
_DIRECT = tuple(name for name in FILTERS if not name.startswith(("dataset_", "entity_")))
_TOKEN = 24


def facets(record: TaskRecord) -> tuple[str, ...]:
    """Everything that *record* is found by exactly, sorted.

    >>> facets(TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, goal="Find it", dataset_refs=[{"name": "soil"}]))
    ('artifact_kind=task_start', 'dataset_name=soil', 'projection=task_goal', 'task_id=t')
    """
    found = {facet(name, value) for name in _DIRECT if (value := getattr(record, name)) is not None}
    for dataset in record.dataset_refs or ():
        found |= set(_pairs(_PAIRED["dataset"], dataset.name, dataset.version))
    for entity in record.entity_refs or ():
        found |= set(_pairs(_PAIRED["entity"], entity.name, entity.entity_type))
    found |= {facet("tag", tag) for tag in record.tags or ()}
    found |= {facet("projection", part.kind) for part in projections(record)}
    return tuple(sorted(found))


def wanted(filters: Mapping[str, object]) -> tuple[str, ...]:
    """What a record must answer to under *filters*; a name and its version or type must belong to one reference.

    Raises:
        UnknownChoice: a filter that is not one of the eighteen.
        InvalidRequest: a value that is no text.

    >>> wanted({"dataset_name": "soil", "status": None}), len(wanted({"dataset_name": "soil", "dataset_version": "2"}))
    (('dataset_name=soil',), 1)
    """
    given = _checked(filters)
    asked: list[str] = []
    for first, second in _PAIRED.values():
        if first in given and second in given:
            asked.append(_pair((first, second), given.pop(first), given.pop(second)))
    return tuple(sorted([*asked, *(facet(name, value) for name, value in given.items())]))


def facet(name: str, value: str) -> str:
    """The text that says that *name* has *value*."""
    return f"{name}={value}"


def first_of(text: str) -> tuple[str, str]:
    r"""The name and value of a facet; of a name with its version or type, the name's.

    >>> first_of("status=a=b"), first_of("dataset_name=soil\0dataset_version=2")
    (('status', 'a=b'), ('dataset_name', 'soil'))
    """
    name, _, value = text.partition("=")
    return name, value.partition(_joint(name))[0] if name in _SECOND else value


def filters_in(text: str) -> int:
    r"""How many filters a facet stands for.

    >>> filters_in("status=a"), filters_in("dataset_name=soil\0dataset_version=2")
    (1, 2)
    """
    name = text.partition("=")[0]
    return 2 if name in _SECOND and _joint(name) in text else 1


def facet_token(text: str) -> str:
    """The word under which a facet stands in the full-text index, whatever signs its value has.

    >>> facet_token("status=completed").isalnum(), len(facet_token("status=completed"))
    (True, 25)
    """
    return f"f{node_key('facet', text)[:_TOKEN]}"


def _checked(filters: Mapping[str, object]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in filters.items():
        if name not in FILTERS:
            raise UnknownChoice("filter", name, FILTERS)
        if value is not None:
            given[name] = checked_text(name, value, "give the text that records have")
    return given


def _pairs(names: tuple[str, str], first: str, second: str | None) -> Iterator[str]:
    yield facet(names[0], first)
    if second is not None:
        yield facet(names[1], second)
        yield _pair(names, first, second)


def _pair(names: tuple[str, str], first: str, second: str) -> str:
    return f"{facet(names[0], first)}{_joint(names[0])}{second}"


def _joint(first: str) -> str:
    """What stands between the two values of a pair, by the name of its first."""
    return f"\0{_SECOND[first]}="
