"""Searching task records as the memd specification defines it: retrieval projections, exact filters, tags, matching."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.canonical import canonical_text, node_key
from hmxgraph.protocol.parsing import checked_text
from hmxgraph.protocol.record_results import Projection
from hmxgraph.protocol.records import FILTERS, TaskRecord
from hmxgraph.text.terms import terms

# Projections: searchable texts of nine kinds, derived from a record (memd: Retrieval Projection).

_FAILURE_STATUSES = frozenset({"failed", "failure", "error", "aborted", "abandoned", "cancelled", "timeout", "crashed"})


def means_failure(status: str | None) -> bool:
    """Whether *status* means a failure.

    >>> means_failure("Failed"), means_failure("completed"), means_failure(None)
    (True, False, False)
    """
    return status is not None and status.strip().lower() in _FAILURE_STATUSES


def projections(record: TaskRecord, inherited: Sequence[str] = ()) -> tuple[Projection, ...]:
    """The projections of *record*, its main one first; the record itself stays the source of truth.

    A revision keeps the projection kinds of the record that it replaces (*inherited*), with its own text: revised
    evidence stays evidence, and a revised failure stays a failure unless the revision says what worked.

    >>> record = TaskRecord(artifact_id="r", artifact_kind="task_finish", task_id="t", tenant_id="a",
    ...     timestamp_created=0, status="completed", summary="Leak closed", what_worked=["valgrind"])
    >>> projections(record)
    (Projection(kind='task_summary', text='completed. Leak closed'), Projection(kind='worked', text='valgrind'))
    """
    main = Projection(inherited[0] if inherited else _MAIN[record.artifact_kind], _main_text(record))
    # A digest reports the results of others; it is never a failure or a success itself.
    texts = {} if record.artifact_kind == "digest" else _FURTHER
    further = [Projection(kind, sentences(*extract(record))) for kind, extract in texts.items()]
    own_projections = tuple(part for part in (main, *further) if part.text)
    return own_projections + tuple(Projection(kind, main.text) for kind in _kept_kinds(own_projections, inherited[1:]))


def _kept_kinds(own: Sequence[Projection], inherited: Sequence[str]) -> list[str]:
    """The inherited kinds that the revision neither fills nor contradicts."""
    kinds = {part.kind for part in own}
    withdrawn = {_OPPOSITES[kind] for kind in kinds & _OPPOSITES.keys()}
    return [kind for kind in inherited if kind not in kinds | withdrawn]


def record_text(record: TaskRecord) -> str:
    """The text of *record*: one line for each projection, the first labelled with the record's kind."""
    parts = projections(record)
    lines = [f"{_LABELS[part.kind]}: {part.text}" for part in parts[1:]]
    return "\n".join([f"{record.artifact_kind.replace('_', ' ')}: {parts[0].text}", *lines]) if parts else ""


def _main_text(record: TaskRecord) -> str:
    return sentences(*_TEXTS.get(record.artifact_kind, _plain)(record))


# The parts of the main text, by kind of record.


def _goal(record: TaskRecord) -> Iterator[str | None]:
    yield record.goal
    yield record.motivation
    yield record.hypothesis
    yield record.scientific_question
    yield record.method_summary
    yield record.summary


def _plain(record: TaskRecord) -> Iterator[str | None]:
    yield record.summary
    yield record.why_chosen
    yield from _listed("Blockers", record.blockers)
    yield from _listed("Next", record.followups)
    yield from _listed("Uncertain", record.uncertainty)


def _run(record: TaskRecord) -> Iterator[str | None]:
    yield record.command
    yield _outcome(record)
    yield record.summary
    yield record.why_chosen
    yield from _listed("Inputs", record.inputs)
    yield from _listed("Outputs", record.outputs)
    if record.metrics:
        yield f"Metrics: {canonical_text(record.metrics)}"


def _finish(record: TaskRecord) -> Iterator[str | None]:
    yield record.status
    yield from _plain(record)


def _evidence(record: TaskRecord) -> Iterator[str | None]:
    yield record.summary
    if record.supports_claim is not None:
        yield "Supports the claim" if record.supports_claim else "Contradicts the claim"
    yield from _listed("Outputs", record.outputs)
    if record.metrics:
        yield f"Metrics: {canonical_text(record.metrics)}"


def _digest(record: TaskRecord) -> Iterator[str | None]:
    yield from _plain(record)
    yield from _listed("Worked", record.what_worked)
    yield from _listed("Failed", record.what_failed)
    yield from _listed("Validated", record.validation)
    yield from _listed("Runs", record.outputs)


def _outcome(record: TaskRecord) -> str | None:
    """The tool of a run, and the run's status."""
    tool = " ".join(part for part in (record.tool_name, record.tool_version) if part)
    return sentences(tool, record.status)


def _listed(name: str, values: tuple[str, ...] | None) -> Iterator[str]:
    if values:
        yield f"{name}: {'; '.join(values)}"


def sentences(*parts: str | None) -> str:
    """The non-empty *parts*, joined as sentences.

    >>> sentences("Leak closed.", None, " valgrind ")
    'Leak closed. valgrind'
    """
    return ". ".join(part.strip().rstrip(".") for part in parts if part and part.strip())


_TextParts = Callable[[TaskRecord], Iterator[str | None]]
# The kind of the main projection of each kind of record.
_MAIN: Mapping[str, str] = {
    "task_start": "task_goal",
    "task_progress": "task_summary",
    "run_start": "run",
    "run_finish": "run",
    "evidence": "evidence",
    "review": "evidence",
    "revision": "task_summary",
    "verification": "validation",
    "decision": "decision",
    "digest": "digest",
    "task_finish": "task_summary",
}
# For each kind of record, the function that yields the parts of its main text; `_plain` for kinds not listed.
_TEXTS: Mapping[str, _TextParts] = {
    "task_start": _goal,
    "run_start": _run,
    "run_finish": _run,
    "evidence": _evidence,
    "review": _evidence,
    "verification": _evidence,
    "digest": _digest,
    "task_finish": _finish,
}


def _worked(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.what_worked or ())


def _failed_text(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.what_failed or ())
    if means_failure(record.status) and not record.what_failed:
        yield record.summary or record.command or record.status


def _validation(record: TaskRecord) -> Iterator[str | None]:
    yield "; ".join(record.validation or ())


# The further projections of a record.
_FURTHER: Mapping[str, _TextParts] = {"worked": _worked, "failed": _failed_text, "validation": _validation}
# Kinds of projections that contradict each other.
_OPPOSITES = {"worked": "failed", "failed": "worked"}
# The label of each of these kinds in the text of a record.
_LABELS = {"worked": "worked", "failed": "failed", "validation": "validated"}


# Facets: a name and its value as one text, such as "status=completed", for an exact filter (memd: Exact Filters), a tag
# or a kind of projection. A data set's name and version must match within one reference, so the two filters also have a
# common facet; so do the name and type of an entity.

# The two filters for each kind of reference.
_PAIRED = {"dataset": ("dataset_name", "dataset_version"), "entity": ("entity_name", "entity_type")}
# The second filter of each pair, by the first.
_SECOND = dict(_PAIRED.values())
# The filters that match a field of the record itself.
_DIRECT = tuple(name for name in FILTERS if not name.startswith(("dataset_", "entity_")))
# Hexadecimal digits in the token of a facet.
_TOKEN_DIGITS = 24


def facets(record: TaskRecord, parts: Sequence[Projection] | None = None) -> tuple[str, ...]:
    """The facets of *record*, sorted; *parts* are its projections, by default without inherited kinds.

    >>> facets(TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, goal="Find it", dataset_refs=[{"name": "soil"}]))
    ('artifact_kind=task_start', 'dataset_name=soil', 'projection=task_goal', 'task_id=t')
    """
    record_facets = set(filter_facets(record))
    record_facets |= {facet("tag", tag) for tag in record.tags or ()}
    record_facets |= {facet("projection", part.kind) for part in (projections(record) if parts is None else parts)}
    return tuple(sorted(record_facets))


def filter_facets(record: TaskRecord) -> tuple[str, ...]:
    """The facets of *record* that the eighteen exact filters match, sorted.

    >>> filter_facets(TaskRecord(artifact_id="r", artifact_kind="task_start", task_id="t", tenant_id="a",
    ...     timestamp_created=0, goal="Find it", tags=["urgent"]))
    ('artifact_kind=task_start', 'task_id=t')
    """
    record_facets = {facet(name, value) for name in _DIRECT if (value := getattr(record, name)) is not None}
    for dataset in record.dataset_refs or ():
        record_facets |= set(_pairs(_PAIRED["dataset"], dataset.name, dataset.version))
    for entity in record.entity_refs or ():
        record_facets |= set(_pairs(_PAIRED["entity"], entity.name, entity.entity_type))
    return tuple(sorted(record_facets))


def required_facets(filters: Mapping[str, object]) -> tuple[str, ...]:
    """The facets that *filters* require; a name and its version or type must belong to one reference.

    Raises:
        UnknownChoice: a filter that is not one of the eighteen.
        InvalidRequest: a value that is not text.

    >>> required_facets({"dataset_name": "soil", "status": None})
    ('dataset_name=soil',)
    >>> len(required_facets({"dataset_name": "soil", "dataset_version": "2"}))
    1
    """
    values = _checked(filters)
    pairs: list[str] = []
    for first, second in _PAIRED.values():
        if first in values and second in values:
            pairs.append(_pair((first, second), values.pop(first), values.pop(second)))
    return tuple(sorted([*pairs, *(facet(name, value) for name, value in values.items())]))


def facet(name: str, value: str) -> str:
    """The facet of *name* with *value*."""
    return f"{name}={value}"


def name_of(text: str) -> str:
    r"""The name in a facet; if the facet is that of two filters, the name of the first.

    >>> name_of("status=a=b"), name_of("dataset_name=soil\0dataset_version=2")
    ('status', 'dataset_name')
    """
    return text.partition("=")[0]


def facet_token(text: str) -> str:
    """The word for a facet in the full-text index, which cannot hold arbitrary characters.

    >>> facet_token("status=completed").isalnum(), len(facet_token("status=completed"))
    (True, 25)
    """
    return f"f{node_key('facet', text)[:_TOKEN_DIGITS]}"


def _checked(filters: Mapping[str, object]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in filters.items():
        if name not in FILTERS:
            raise UnknownChoice("filter", name, FILTERS)
        if value is not None:
            values[name] = checked_text(name, value, "spell it as in the records")
    return values


def _pairs(names: tuple[str, str], first: str, second: str | None) -> Iterator[str]:
    yield facet(names[0], first)
    if second is not None:
        yield facet(names[1], second)
        yield _pair(names, first, second)


def _pair(names: tuple[str, str], first: str, second: str) -> str:
    return f"{facet(names[0], first)}{_joint(names[0])}{second}"


def _joint(first: str) -> str:
    """The separator between the values of a pair whose first filter is *first*."""
    return f"\0{_SECOND[first]}="


# The tags that link conversational chunks to their source (memd: Conversation Event Tags).

# Maximum digits of a turn's number: ``int()`` refuses numbers with thousands of digits.
_MOST_DIGITS = 9
# Values of the tag ``entry``.
_CHUNK_ENTRIES = ("factual", "relational", "synthesis")


@dataclass(frozen=True, slots=True)
class ConversationTags:
    """The conversation tags of one chunk; absent or invalid ones are None."""

    event_id: str | None = None
    entry: str | None = None
    speaker: str | None = None
    turn: int | None = None

    @classmethod
    def read(cls, tags: Iterable[str]) -> "ConversationTags":
        """Parse *tags*. Of several tags of one kind, only the first with a value counts; other tags are ignored.

        >>> ConversationTags.read(["event:e1", "entry:factual", "speaker:ana", "turn:3", "urgent"])
        ConversationTags(event_id='e1', entry='factual', speaker='ana', turn=3)
        """
        values: dict[str, str] = {}
        for name, colon, value in (tag.partition(":") for tag in tags):
            if colon and value:
                values.setdefault(name, value)
        entry, turn = values.get("entry"), values.get("turn", "")
        return cls(
            event_id=values.get("event"),
            entry=entry if entry in _CHUNK_ENTRIES else None,
            speaker=values.get("speaker"),
            turn=int(turn) if turn.isascii() and turn.isdigit() and len(turn) <= _MOST_DIGITS else None,
        )

    def written(self) -> tuple[str, ...]:
        """The tags as text, without those that are None.

        >>> ConversationTags(event_id="e1", turn=3).written()
        ('event:e1', 'turn:3')
        """
        tag_values = (("event", self.event_id), ("entry", self.entry), ("speaker", self.speaker), ("turn", self.turn))
        return tuple(f"{name}:{value}" for name, value in tag_values if value is not None)


# Matching a query against the projections of a record.


def best_projection(question: str, parts: Sequence[Projection]) -> Projection:
    """The projection with most terms of the question; the first one if none has any, an empty one if there are none.

    >>> best_projection("valgrind", [Projection("task_summary", "Leak closed"), Projection("worked", "valgrind")]).kind
    'worked'
    """
    question_terms = set(terms(question))
    if not parts:
        return Projection("", "")
    return max(parts, key=lambda part: len(question_terms.intersection(terms(part.text))))
