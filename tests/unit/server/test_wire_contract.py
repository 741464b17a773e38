"""Results in the contract's form, and the description of all operations."""

import json
import logging
from types import SimpleNamespace

from hmxgraph.protocol.reports import CompileReport, Receipt
from hmxgraph.protocol.usage import UsageHour
from hmxgraph.server import contract, openapi
from hmxgraph.server.app import _store_once
from hmxgraph.server.observing import Exchange, JsonLines, log_defect, log_request
from hmxgraph.server.operations import OPERATIONS
from hmxgraph.server.tenants import UsageTally


def test_receipts_become_results_in_order():
    """Each event has its result; the counts distinguish new, known and rejected events."""
    batch = contract.batch_result(
        [
            Receipt(0, "stored", ("e1", "e2"), warnings=("unknown type",)),
            Receipt(1, "duplicate", ("e3",)),
            Receipt(2, "rejected", ("e4",), "no payload"),
            Receipt(3, "skipped", reason="recalled text"),
        ]
    )
    assert batch["results"] == [
        {"eventId": "e1", "jobId": "e1", "status": "ingested", "reason": "unknown type"},
        {"eventId": "e3", "jobId": "e3", "status": "duplicate"},
        {"eventId": "", "jobId": "", "status": "error", "reason": "no payload"},
        {"eventId": "", "jobId": "", "status": "skipped", "reason": "recalled text"},
    ]
    assert batch["summary"] == {"total": 4, "ingested": 1, "duplicates": 1, "errors": 1}


def test_a_compilation_is_counted_by_type():
    """Artifacts of a type are counted once, whatever their outcome; times are whole milliseconds."""
    counts = {"created": {"task_schema": 2}, "updated": {"task_schema": 1}, "unchanged": {"failure_playbook": 3}}
    report = CompileReport(
        tenant_id="t", profile="p", as_of_us=None, sessions=4, summarised=2, events=9, full=False, dry_run=False,
        **counts, seconds={"read": 0.0124, "store": 0.1},
    )  # fmt: skip
    compile_result = contract.compile_result(report, "r1", ())
    assert compile_result["artifacts"] == {
        "created": 2, "updated": 1, "unchanged": 3, "byType": {"task_schema": 3, "failure_playbook": 3},
    }  # fmt: skip
    assert compile_result["stats"] == {"memoriesProcessed": 9, "patternsFound": 6, "compilationMs": 112}


def test_usage_is_summed_over_the_period():
    """Hours are summed; duplicates and errors are distinguished from stored events."""
    hours = [UsageHour(0, ingested=2, errors=1), UsageHour(3_600_000_000, ingested=3, duplicates=4, compilations=1)]
    usage = contract.usage_view(hours, (0, 7_200_000_000), "hour")
    assert usage["usage"]["events"] == {"total": 10, "ingested": 5, "duplicates": 4, "errors": 1}
    assert usage["usage"]["compilations"] == {"total": 1}
    assert usage["period"]["end"].startswith("1970-01-01T02:00:00")


def test_every_operation_is_described():
    """The description names each operation, its scope, its body and its errors; all references resolve."""
    document = openapi.document()
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {
        (operation.method, openapi.PREFIX + operation.path.replace(":path}", "}")) for operation in OPERATIONS
    }
    text = json.dumps(document)
    names = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= document["components"]["schemas"].keys()
    assert {"401", "413", "422", "429", "500"} <= document["paths"]["/v1/capture"]["post"]["responses"].keys()
    assert all(operation.summary in openapi.page() for operation in OPERATIONS)


def test_logs_hold_no_contents(caplog):
    """A request is logged by its route, an unexpected error by its type and location, both without contents."""
    caplog.set_level(logging.INFO, "hmxgraph.server")
    exchange = Exchange("POST", route="/v1/capture", status=500)
    try:
        int("blue")
    except ValueError as error:
        log_defect(error, request_id=exchange.request_id)
    log_request(exchange)
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [line["message"] for line in lines] == ["unexpected error", "request"]
    assert lines[0]["error"] == "ValueError"
    assert lines[0]["at"][0].startswith("test_wire_contract.py:")
    assert lines[1]["request_id"] == exchange.request_id
    assert "blue" not in str(lines)


def test_usage_is_counted_on_after_an_unexpected_error(caplog):
    """After an unexpected error the counts are kept, and the error is logged without its message."""

    class Tenants:
        def graph(self, tenant_id):
            raise KeyError(f"secret of {tenant_id}")

    tally = UsageTally()
    tally.count("acme", ingested=3)
    _store_once(SimpleNamespace(tally=tally, tenants=Tenants()))
    [record] = caplog.records
    assert (record.fields["error"], "secret" in str(record.fields)) == ("KeyError", False)
    assert [hour.ingested for hours in tally.take_all().values() for hour in hours] == [3]
