"""OpenTelemetry: a ``SpanExporter`` that turns model and tool spans into events as they end.

It works for every framework that is traced with the GenAI conventions or OpenInference. ``formats.opentelemetry``
converts the spans to events.
"""

import json
import logging
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from itertools import count
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan  # pyright: ignore[reportMissingImports]
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult  # pyright: ignore[reportMissingImports]

from hmxgraph.api.graph import KnowledgeGraph
from hmxgraph.errors import HmxGraphError
from hmxgraph.formats.conversion import Origin, Record
from hmxgraph.formats.opentelemetry import OPENTELEMETRY

_log = logging.getLogger(__name__)


class HmxSpanExporter(SpanExporter):
    """Stores spans in *graph*: ``provider.add_span_processor(BatchSpanProcessor(HmxSpanExporter(graph)))``.

    Spans of one conversation become one session, named by ``gen_ai.conversation.id`` or ``session.id``, else by
    *session_id*, else by the id of their trace. Only spans of models, agents, tools, retrievals and evaluations become
    events; in other spans, only evaluation results do. A failed export does not raise, because tracing must not stop
    the program: it is logged and reported as ``FAILURE``.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        user_id: str | None = None,
    ) -> None:
        self._graph = graph
        self._origin = Origin(session_id, agent_id, user_id)
        self._carried: dict[str, Any] = {}
        self._lines = count(1)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Store *spans*; messages that earlier spans contained are not stored again."""
        carried = {name: copy(value) for name, value in self._carried.items()}
        records = [Record(json.loads(span.to_json()), line=next(self._lines)) for span in spans]
        origin = replace(self._origin, carried=carried)
        try:
            outcomes = list(OPENTELEMETRY.convert(records, origin))
            events = [{**event, "tenant_id": self._graph.tenant_id} for outcome in outcomes for event in outcome.events]
            with self._graph.untraced():
                report = self._graph.ingest(events)
        except HmxGraphError as error:
            _log.warning("%d spans were not stored: %s", len(spans), error)
            return SpanExportResult.FAILURE
        self._carried = carried
        faults = [*(outcome.fault for outcome in outcomes if outcome.fault), *report.rejected]
        for fault in faults:
            _log.warning("a span is not stored: %s", fault)
        return SpanExportResult.FAILURE if faults else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Do nothing: the graph is closed by the code that opened it."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return True: nothing is buffered, because ``export`` stores the spans before it returns."""
        del timeout_millis
        return True
