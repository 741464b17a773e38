"""Exploring the memory: saved queries, explanations, verification, the entity graph, tracing, health."""

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
from rich.table import Table
from rich.text import Text

from hmxgraph.api._base import Face, Moment, as_us
from hmxgraph.api.drawing import Drawing
from hmxgraph.fingerprint.measures import MeasuredDigest
from hmxgraph.graph import checks, explain, exploring
from hmxgraph.graph.connection import Trace
from hmxgraph.graph.plan import query, shown_mask_key
from hmxgraph.protocol.display import truncate_line
from hmxgraph.protocol.explanations import Explanation
from hmxgraph.protocol.reports import VerifyReport
from hmxgraph.text.masking import linked_secrets, masked_fields

# Results of saved queries, as tables and JSON.

# Properties whose value can stand for a node in a table, in order of preference.
_NAMES = (
    "title",
    "goal",
    "text",
    "name",
    "summary",
    "reason",
    "session_id",
    "fingerprint_id",
    "artifact_id",
    "event_id",
    "key",
)
# Maximum number of characters of a name in a table.
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a saved query: column names and rows of plain values.

    >>> len(QueryResult("explore/x", ("a",), ({"a": 1},)))
    1

    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def document(self) -> dict[str, Any]:
        """The result as a JSON-able dict."""
        return {"query": self.name, "columns": list(self.columns), "rows": [dict(row) for row in self.rows]}

    def table(self) -> Table:
        """The result as a table for a terminal."""
        table = Table(*self.columns, title=self.name)
        for row in self.rows:
            table.add_row(*(Text(cell_text(row[column])) for column in self.columns))
        return table

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cells(self, row: Mapping[str, Any]) -> str:
        style = "style='text-align:left;vertical-align:top;white-space:pre-wrap'"
        return "".join(f"<td {style}>{html.escape(cell_text(row[column]))}</td>" for column in self.columns)


def cell_text(value: Any) -> str:
    """*value* as the text of a table cell: a node by its label and name, a relationship by its type, None as "".

    >>> cell_text({"labels": ["Entity"], "key": "273f", "name": "kubectl"})
    'Entity: kubectl'
    >>> cell_text({"type": "RELATES_TO", "relation_type": "runs"})
    'runs'
    >>> cell_text(None), cell_text(["a", "b"]), cell_text(0.25), cell_text(True)
    ('', 'a, b', '0.25', 'true')
    >>> cell_text({"seen": 2})
    '{"seen":2}'

    """
    match value:
        case None:
            return ""
        case {"labels": [label, *_]}:
            display_name = next((str(value[name]) for name in _NAMES if value.get(name)), "")
            return f"{label}: {truncate_line(display_name, _LONGEST_NAME)}"
        case {"type": str(kind), **rest}:
            return str(rest.get("relation_type") or rest.get("relation_kind") or kind)
        case list():
            return ", ".join(map(cell_text, value))
        case bool() | Mapping():
            return orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS).decode()
        case _:
            return str(value)


# The methods of a graph.

if TYPE_CHECKING:
    import networkx as nx


class Exploring(Face):
    """The part of the public API that inspects a tenant's memory."""

    def query(self, name: str, /, **parameters: Any) -> QueryResult:
        """The result of a saved query, such as ``explore/supersession_chains``; the tenant is filled in.

        Raises:
            StatementMisuse: no such query, or missing or unexpected parameters.
            InvalidRequest: the value of a parameter is of the wrong type or form.

        Example::

            graph.append("message", {"role": "user", "text": "Deploy staging"}, session_id="s1")
            result = graph.query("explore/session_story", session_id="s1")
            assert [row["text"] for row in result] == ["Deploy staging"]

        """
        rows = self._perform(exploring.saved_query(self._tenancy, name, parameters), whole=True)
        return QueryResult(name, query(name).row, tuple(rows))

    def draw(self, name: str = "explore/entity_map", /, **parameters: Any) -> Drawing:
        """Draw a saved query that returns nodes and relationships; notebooks show an interactive picture.

        Needs the extra ``draw``. ``hmxgraph query`` lists the queries; ``save`` writes HTML or SVG.

        Raises:
            StatementMisuse: no such query, or missing or unexpected parameters.
            InvalidRequest: the value of a parameter is of the wrong type or form, or the query returns rows, but no
                nodes.

        """
        rows = self._perform(exploring.picture(self._tenancy, name, parameters), whole=True)
        return Drawing(name, rows.nodes, rows.edges)

    def _read(self, name: str, /, **parameters: Any) -> QueryResult:
        """The result of any packaged query that only reads, for adapters, which compute the node keys it may need."""
        rows = self._perform(exploring.packaged_rows(self._tenancy, name, parameters), whole=True)
        return QueryResult(name, query(name).row, tuple(rows))

    def explain(self, record_id: str) -> Explanation:
        """The evidence of an artifact, memory, event, conflict, task record, entity or pack entry, down to event texts.

        Secrets are masked as in packs.

        Raises:
            NotFound: nothing has this id.

        Example::

            memory = graph.remember("The staging cluster is named juniper")
            explanation = graph.explain(memory.memory_id)
            assert (explanation.kind, len(explanation.events)) == ("memory", 1)

        """
        return self._perform(explain.explain(self._tenancy, record_id))

    def masked(self, value: Any) -> Any:
        """*value* (a text, or JSON values that contain texts) with secrets masked as in packs.

        Example::

            masked = graph.masked({"log": "login with password=hunter2"})
            assert masked["log"].startswith("login with password=[password ")

        """
        key = shown_mask_key(self._tenancy)
        return masked_fields(value, partial(linked_secrets, key=key)) if key else value

    def verify(self) -> VerifyReport:
        """Check every hash, chain, transition history, link and counter; repairs nothing."""
        return self._perform(checks.verify(self._tenancy), whole=True)

    def to_networkx(self) -> "nx.MultiDiGraph[str]":
        """The active entities and relations as a graph of networkx.

        Nodes have ``name``, ``type`` and ``confidence``, edges ``type``, ``weight`` and ``confidence``.
        """
        relations = self._perform(exploring.relations(self._tenancy), whole=True)
        return self._in_thread(exploring.entity_graph, relations)

    def digest(self, *, as_of: Moment | None = None) -> MeasuredDigest:
        """The figures of the entity graph: counts, distributions, averages, hubs, depth (HMX-F 5)."""
        return self._perform(exploring.digest(self._tenancy, as_us(as_of)), whole=True)

    def trace(self, listener: Trace) -> Callable[[], None]:
        """Call *listener* with a line for each answered statement: name, number of rows, milliseconds.

        Call the returned function to stop tracing.

        Example::

            lines = []
            stop = graph.trace(lines.append)
            graph.health()
            stop()
            assert lines[0].startswith("health/server ")

        """
        return self._connection.listen(listener)

    def health(self) -> dict[str, Any]:
        """Server version and edition, indexes that are not online, and this tenant's state."""
        return self._perform(exploring.health(self._tenancy))
