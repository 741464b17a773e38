"""Sources of any format: recognised, converted, every line counted."""

import gzip
import json

import pytest

from hmxgraph.errors import UnknownChoice
from hmxgraph.formats.conversion import Origin
from hmxgraph.graph.importing import Importing, chosen_format
from hmxgraph.ingest.intake import Intake, dead_letter
from hmxgraph.ingest.sources import Broken, Delivery, deliveries
from hmxgraph.protocol.reports import Rejection, Tally
from tests.unit.ingest.making import document, words

CLAUDE = {"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-03-14T03:00:00Z", "cwd": "/p",
          "version": "2.0", "message": {"role": "user", "content": "Deploy staging"}}  # fmt: skip
SNAPSHOT = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}


def imported(source, **choices):
    """The arrivals of *source* as events, and the report on its lines."""
    tally = Tally("acme")
    arrivals = list(Importing(tally, **choices).events(deliveries(source)))
    intake = Intake(tally, words, rehome=True)
    for arrival in arrivals:
        intake.take(arrival)
    return arrivals, tally.report()


def lines(*values):
    """JSON lines."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def balanced(report):
    """Whether each line of each source is counted once."""
    return all(
        source.lines == source.with_events + source.part_of + sum(source.skipped.values()) + source.rejected
        for source in report.sources
    )


def test_a_transcript_is_recognised_and_converted():
    """The lines of a transcript become events of the tenant, or are skipped with a reason."""
    arrivals, report = imported(lines(SNAPSHOT, CLAUDE))
    (event,) = arrivals
    assert (event.payload["tenant_id"], event.payload["content"]["text"], event.line) == ("acme", "Deploy staging", 2)
    (source,) = report.sources
    assert (source.format, source.lines, source.with_events) == ("Claude Code transcripts", 2, 1)
    assert balanced(report)


def test_events_are_passed_on_as_they_are():
    """HMX-E events are not parsed twice."""
    raw = lines(document(), document(event_id="e2"))
    arrivals, report = imported(raw)
    assert [arrival.payload for arrival in arrivals] == raw.splitlines()
    assert (report.sources[0].format, report.lines, balanced(report)) == ("HMX-E events", 2, True)


def test_a_bad_line_within_a_transcript_is_rejected_alone():
    """The lines around a bad one are converted; the rejection contains its text."""
    arrivals, report = imported(lines(CLAUDE) + b"{broken\n" + lines({**CLAUDE, "uuid": "u2"}))
    broken = [arrival for arrival in arrivals if isinstance(arrival, Broken)]
    assert [(each.line, each.payload) for each in broken] == [(2, b"{broken")]
    assert (len(arrivals), len(report.rejected), report.sources[0].rejected, balanced(report)) == (3, 1, 1, True)


def test_a_record_corrected_in_its_dead_letter_is_converted():
    """A corrected record is converted, kept as a record or as text; one that fails again is not wrapped twice."""
    bad = {**CLAUDE, "timestamp": "noon"}
    arrivals, _ = imported(lines(CLAUDE, bad) + b"{broken\n")
    first, second = (
        json.loads(dead_letter(Rejection("f", each.line, "", (each.fault,)), each.payload))
        for each in arrivals
        if isinstance(each, Broken)
    )
    again = json.loads(dead_letter(Rejection("f", 1, "", ()), json.dumps(first)))
    assert (again["event"], again["dead_letter"]["faults"]) == (bad, [])
    first["event"]["timestamp"] = CLAUDE["timestamp"]
    second["text"] = json.dumps({**CLAUDE, "uuid": "u2"})
    arrivals, report = imported(lines(first, second, {**second, "text": "{still"}))
    assert [each.payload["content"]["text"] for each in arrivals[:2]] == ["Deploy staging"] * 2
    assert (len(report.rejected), report.sources[0].format, balanced(report)) == (1, "Claude Code transcripts", True)


def test_an_unknown_format_names_the_nearest():
    """One rejection for the whole source says what is missing and how to go on; every line is counted."""
    arrivals, report = imported(lines(*({"zeitstempel": n, "wert": n} for n in range(200))))
    (broken,) = arrivals
    assert "nearest" in broken.fault.actual
    assert "--from" in broken.fault.expected
    assert (report.lines, len(report.rejected), balanced(report)) == (200, 1, True)


def test_the_named_format_overrules_recognition():
    """The format that the caller names overrules the recognised one."""
    _, report = imported(lines(CLAUDE), choice=chosen_format("hmx"))
    assert (report.sources[0].format, len(report.rejected)) == ("HMX-E events", 1)
    with pytest.raises(UnknownChoice, match="claude-code"):
        chosen_format("nothing")


def test_noise_is_one_rejection():
    """A file without any JSON is reported once; one or two damaged lines are reported as lines."""
    _, report = imported(bytes(range(256)) * 40)
    assert ([rejection.line for rejection in report.rejected], balanced(report)) == ([0], True)
    assert "no JSON" in report.rejected[0].faults[0].actual
    _, report = imported(b"{broken\n[again\n")
    assert ([rejection.line for rejection in report.rejected], balanced(report)) == ([1, 2], True)


def test_a_folder_of_mixed_formats(tmp_path):
    """Each file is recognised on its own; converted records do not decide the tenant of events in other files."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl").write_bytes(lines(CLAUDE))
    (tmp_path / "deep" / "b.ndjson.gz").write_bytes(gzip.compress(lines(document(tenant_id="elsewhere"))))
    (tmp_path / "deep" / "c.jsonl").write_bytes(lines({"a": 1}))
    _, report = imported(tmp_path)
    assert [source.format for source in report.sources] == ["Claude Code transcripts", "HMX-E events", "unknown"]
    assert ([rejection.line for rejection in report.rejected], report.rehomed, balanced(report)) == ([0], 1, True)


def test_a_source_goes_on_midway():
    """With the memory of the first part, the second is converted as if it had been read at once."""
    call = {**CLAUDE, "uuid": "a1", "type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]}}  # fmt: skip
    result = {**CLAUDE, "uuid": "u2", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}}  # fmt: skip
    whole = [arrival.payload for arrival in imported(lines(CLAUDE, call, result))[0]]
    memory = {"carried": {}, "formats": {}}
    parts = [
        *imported([Delivery(lines(CLAUDE), 1, "f"), Delivery(lines(call), 2, "f")], **memory)[0],
        *imported([Delivery(lines(result), 3, "f")], **memory)[0],
    ]
    assert [part.payload["content"] for part in parts] == [event["content"] for event in whole]


def test_what_the_caller_knows_is_used():
    """Agent and user given by the caller apply to records that name none."""
    arrivals, _ = imported(lines(CLAUDE), origin=Origin(agent_id="builder", user_id="ana"))
    assert arrivals[0].payload["metadata"]["user_id"] == "ana"


def test_a_line_of_two_records_counts_as_two():
    """A torn record is rejected, and the whole record after it on the line is converted."""
    torn = json.dumps(CLAUDE).encode()[:60] + json.dumps({**CLAUDE, "uuid": "u2"}).encode() + b"\n"
    arrivals, report = imported(lines(CLAUDE) + torn)
    assert (len(arrivals), len(report.rejected), report.sources[0].lines, balanced(report)) == (3, 1, 3, True)


def test_a_record_with_a_single_field_of_an_event_is_something_else():
    """A file of another kind is rejected as a whole; events that lack some fields are rejected one by one."""
    (rejected,), _ = imported(lines({"session_id": "s", "run": {"steps": 3}}, {"session_id": "t"}))
    assert rejected.fault.actual.startswith("no known format")
    almost = {"session_id": "s", "event_id": "e1", "event_type": "message"}
    _, report = imported(lines(almost))
    assert (report.sources[0].format, report.sources[0].rejected) == ("HMX-E events", 1)
