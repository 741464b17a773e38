"""Bad input on the real server: it is reported or raises one clear error, and everything valid is stored once."""

import asyncio
import gzip
import json
import os
import subprocess
import sys

import pytest

from hmxgraph import connect_async
from hmxgraph.cli._signals import PIPE_CLOSED
from hmxgraph.errors import IngestRefused
from hmxgraph.ingest.sources import LONGEST_LINE
from tests.unit.ingest.making import document

GOOD = 6
TWO_MEGABYTES = 2 << 20


@pytest.fixture
def made(tenant_id):
    """Factory for event documents of the test's tenant, each encoded as one line."""

    def make(number, **fields):
        fields = {"tenant_id": tenant_id, "event_id": f"e{number}", "sequence": number, **fields}
        return json.dumps(document(**fields), ensure_ascii=False).encode()

    return make


@pytest.fixture
def lines(made):
    """Valid lines; tests insert a bad one among them."""
    return [made(number) for number in range(GOOD)]


@pytest.fixture
def hmxgraph(address, tenant_id):
    """Runs ``hmxgraph ingest -`` on given bytes; returns exit code, output and errors."""
    login = {"HMXGRAPH_URI": address.uri, "HMXGRAPH_USER": address.user, "HMXGRAPH_PASSWORD": address.password}
    command = [sys.executable, "-m", "hmxgraph", "ingest", "-", "--tenant", tenant_id, "--json"]

    def run(given, **streams):
        with subprocess.Popen(
            command, env=os.environ | login, **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **streams},
            stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            out, err = process.communicate(given)
        return process.returncode, out, err.decode()

    return run


BAD = {
    "not JSON": (b"{broken", "RFC 8259", "at byte"),
    "bad UTF-8": (b'{"event_id": "\xff\xfe"}', "RFC 8259", ""),
    "a repeated key": (b'{"event_id": "a", "event_id": "b"}', "RFC 8259", "repeated key"),
    "no event": (b"[1, 2]", "HMX-E", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_is_no_event(graph, lines, name):
    """It is rejected with its line and clause; the lines around it are stored, and a second run stores nothing."""
    bad, clause, words = BAD[name]
    source = b"\n".join([*lines[:3], bad, *lines[3:]])
    report, again = graph.ingest(source), graph.ingest(source)
    assert (report.accepted, again.accepted, again.duplicates) == (GOOD, 0, GOOD)
    for run_report in (report, again):
        (rejection,) = run_report.rejected
        assert (rejection.line, rejection.faults[0].clause[: len(clause)]) == (4, clause)
        assert words in rejection.faults[0].actual


FIELDS = {
    "a line of 2 MB": ({"content": {"role": "user", "text": "x" * TWO_MEGABYTES}}, "HMX-E 11", "$"),
    "another major version": ({"hmx_version": "HMX-2.0"}, "HMX-E 6.1", "$.hmx_version"),
    "another tenant": ({"tenant_id": "somebody else"}, "HMX-E 2.1", "$.tenant_id"),
    "a time without offset": ({"timestamp": "2026-03-14T03:00:00"}, "HMX-E 6.3", "$.timestamp"),
    "an unknown field": ({"colour": "red"}, "HMX-E 5", "$.colour"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_an_event_against_the_rules(graph, made, lines, name):
    """It is rejected with line, id, field and clause; the lines around it are stored, a second run stores nothing."""
    fields, clause, path = FIELDS[name]
    source = b"\n".join([*lines[:3], made(99, **fields), *lines[3:]])
    report, again = graph.ingest(source), graph.ingest(source)
    assert (report.accepted, again.accepted, again.duplicates) == (GOOD, 0, GOOD)
    for run_report in (report, again):
        (rejection,) = run_report.rejected
        assert (rejection.line, rejection.event_id) == (4, "e99")
        assert {(fault.path, fault.clause) for fault in rejection.faults} >= {(path, clause)}


def test_all_faults_of_a_line_are_reported_at_once(graph, made):
    """A rejection lists every fault of its line."""
    (rejection,) = graph.ingest(made(1, sequence=-1, salience=2, timestamp="yesterday", tags="x")).rejected
    assert {fault.path for fault in rejection.faults} == {"$.sequence", "$.salience", "$.timestamp", "$.tags"}


def test_a_line_of_20_mb(graph, lines):
    """A line of 20 MB that is not an event is rejected with its line number; the lines around it are stored."""
    source = b"\n".join([lines[0], b'"' + b"x" * (20 << 20) + b'"', lines[1]])
    report = graph.ingest(source)
    assert (report.accepted, [rejection.line for rejection in report.rejected], report.lines) == (2, [2], 3)


def test_a_line_longer_than_any_format_is_skipped(graph, lines):
    """A line longer than any format allows is skipped without being held in memory, and reported."""
    source = b"\n".join([lines[0], b'"' + b"x" * (LONGEST_LINE + 1) + b'"', lines[1]])
    report = graph.ingest(source)
    assert (report.accepted, [(rejection.line, rejection.faults[0].clause) for rejection in report.rejected]) == (
        2,
        [(2, "HMX-E 11")],
    )


def test_an_id_reused_with_another_body(graph, made, lines):
    """The report names line, id and both hashes; the stored event stays, however often the file is ingested."""
    other = made(2, metadata={"changed": True})
    source = b"\n".join([*lines, other])
    report, again = graph.ingest(source), graph.ingest(source)
    assert (report.accepted, report.conflicts, again.accepted, again.duplicates) == (GOOD, 1, 0, GOOD)
    assert report.conflicting == again.conflicting
    (conflict,) = report.conflicting
    assert (conflict.line, conflict.event_id, conflict.stored_hash != conflict.given_hash) == (GOOD + 1, "e2", True)


@pytest.mark.parametrize("cut", [1, 60, 400])
def test_a_truncated_gz(graph, made, tmp_path, cut):
    """Everything that unpacks is stored, the cut end is one rejection, and the whole file later adds only the rest."""
    path = tmp_path / "events.ndjson.gz"
    packed = gzip.compress(b"\n".join(made(n, metadata={"salt": os.urandom(40).hex()}) for n in range(40)))
    path.write_bytes(packed[:-cut])
    report = graph.ingest(path)
    assert [rejection.faults[0].clause for rejection in report.rejected][-1] == "RFC 1952"
    path.write_bytes(packed)
    whole = graph.ingest(path)
    assert (report.accepted + whole.accepted, whole.duplicates, whole.rejected) == (40, report.accepted, ())


@pytest.mark.slow
def test_a_pipe_closed_in_the_middle_of_a_line(hmxgraph, lines):
    """Whole lines are stored, the torn line is reported, the exit code is 1; a second run adds only that line."""
    whole = b"\n".join(lines)
    code, out, err = hmxgraph(whole[:-20])
    report = json.loads(out)
    assert (code, err, report["accepted"]) == (1, "", GOOD - 1)
    assert [(rejection["source"], rejection["line"]) for rejection in report["rejected"]] == [("stdin", GOOD)]
    code, out, _ = hmxgraph(whole)
    assert (code, json.loads(out)["accepted"], json.loads(out)["duplicates"]) == (0, 1, GOOD - 1)


@pytest.mark.slow
def test_a_closed_output(hmxgraph, graph, lines):
    """If nobody reads the report, everything is stored anyway, and no traceback is printed."""
    reading, writing = os.pipe()
    os.close(reading)
    code, _, err = hmxgraph(b"\n".join(lines), stdout=writing)
    os.close(writing)
    assert (code, err) == (PIPE_CLOSED, "")
    assert graph.health()["event_count"] == GOOD


def test_a_source_that_is_not_there(graph, tmp_path):
    """A missing source raises one clear error that names it."""
    with pytest.raises(IngestRefused, match=r"none\.ndjson"):
        graph.ingest(tmp_path / "none.ndjson")


@pytest.mark.parametrize("rejects", ["events.ndjson", "../{folder}/events.ndjson", "missing/rejects.ndjson"])
def test_a_place_where_rejects_cannot_go(graph, lines, tmp_path, rejects):
    """A rejects path that is the source itself, or cannot be opened, is refused before the source is touched."""
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(IngestRefused, match="rejected lines"):
        graph.ingest(path, rejects=tmp_path / rejects.format(folder=tmp_path.name))
    with pytest.raises(IngestRefused, match="rejected lines"):
        graph.ingest(tmp_path, rejects=tmp_path / rejects.format(folder=tmp_path.name))
    assert path.read_bytes() == b"\n".join(lines)
    assert graph.ingest(path).accepted == GOOD


def twin(graph):
    """The asynchronous graph of the same tenant."""
    address = graph._connection.address
    login = {"user": address.user, "password": address.password, "database": address.database}
    return connect_async(address.uri, tenant_id=graph.tenant_id, **login)


def test_rejects_into_the_open_source(graph, lines, tmp_path):
    """The source is not overwritten with rejected lines, though it is given as an open file, or linked."""
    path, link = tmp_path / "events.ndjson", tmp_path / "link.ndjson"
    path.write_bytes(b"\n".join(lines))
    link.hardlink_to(path)
    with path.open("rb") as file, pytest.raises(IngestRefused, match="into the source"):
        graph.ingest(file, rejects=path)
    with pytest.raises(IngestRefused, match="into the source"):
        graph.ingest(path, rejects=link)
    assert path.read_bytes() == b"\n".join(lines)


def test_rejects_of_two_ingests_at_once(graph, tmp_path):
    """A rejects file that another ingest is writing is refused, and keeps that ingest's lines."""
    rejects = tmp_path / "rejects.ndjson"

    def source():
        yield b"first"
        with pytest.raises(IngestRefused, match="another ingest"):
            graph.ingest([b"other"], rejects=rejects)
        yield b"second"

    assert graph.ingest(source(), rejects=rejects).rejected_count == 2
    assert [json.loads(line)["text"] for line in rejects.read_bytes().splitlines()] == ["first", "second"]


def test_rejects_of_a_stream_are_kept(graph, tmp_path):
    """What a stream delivered once is not lost when it is followed again after a kill."""
    rejects = tmp_path / "rejects.ndjson"
    rejects.write_bytes(b'{"dead_letter":{},"text":"earlier"}\n{"dead_letter":{},"te')

    async def messages():
        yield b"later"

    async def followed():
        async with twin(graph) as other:
            return await other.ingest(messages(), rejects=rejects)

    assert asyncio.run(followed()).rejected_count == 1
    graph.ingest(iter([b"last"]), rejects=rejects)
    lines = rejects.read_bytes().splitlines()
    assert [b"earlier" in lines[0], b"later" in lines[2], b"last" in lines[3], len(lines)] == [True, True, True, 4]
    graph.ingest([b"anew"], rejects=rejects)
    assert len(rejects.read_bytes().splitlines()) == 1


def test_rejects_that_are_no_unicode(graph, tmp_path):
    """Rejected lines are kept whatever the file is called, and whatever Python values they hold."""
    rejects, path = tmp_path / "rejects", tmp_path / os.fsdecode(b"\xff.ndjson")
    path.write_bytes(b"no event\n")
    assert graph.ingest(path, rejects=rejects, format="hmx").rejected_count == 1
    endless = {}
    endless |= {"a": endless, "b": [endless]}
    events = [{"event_id": "\ud800"}, {"event_id": 10**5_000}, {10**5_000: 1}, endless]
    report = graph.ingest(events, rejects=rejects)
    assert report.rejected_count == len(rejects.read_bytes().splitlines()) == 4
    assert "deeper nesting" in str(report.rejected[3])


def test_an_ingest_that_fails_says_what_it_stored(graph, tenant_id):
    """An ingest that ends at a bad line says how many lines are stored, those of the batch under way included."""
    events = [document(tenant_id=tenant_id, event_id=f"e{n}", session_id="s", sequence=n) for n in range(25)]

    async def awaited():
        async with twin(graph) as other:
            await other.ingest([*events, b"bad"], batch_size=10, on_error="raise")

    for attempt in (
        lambda: graph.ingest([*events, b"bad"], batch_size=10, on_error="raise"),
        lambda: asyncio.run(awaited()),
    ):
        with pytest.raises(IngestRefused, match=r"; (\d+) lines are stored") as refused:
            attempt()
        # The bad line is one of them.
        assert int(refused.value.stored.split()[0]) == graph.health()["event_count"] + 1


def test_a_full_disk_for_rejects_is_named(graph):
    """If rejects cannot be written, the error names the file and the reason."""
    with pytest.raises(IngestRefused, match=r"/dev/full.*No space left"):
        graph.ingest([b"no event"], rejects="/dev/full")


def test_rejects_are_kept_before_anything_is_acknowledged(graph, tenant_id, tmp_path):
    """A bad line is in the rejects file before the next progress report."""
    rejects, kept = tmp_path / "rejects.ndjson", []
    good = document(tenant_id=tenant_id, event_id="good")
    graph.ingest([b"no event", good], rejects=rejects, progress=lambda _: kept.append(rejects.read_bytes()))
    assert b"no event" in kept[0]


UNTELLABLE = ["0000-12-31T23:59:59Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:60Z"]
FAR = ["0001-01-01T00:00:00Z", "1680-01-01T00:00:00Z", "2256-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]


def test_times_outside_the_calendar_are_refused_by_name(graph, tenant_id):
    """Timestamps outside the years 1 to 9999 in UTC are rejected, because no output could express them."""
    untellable = [document(tenant_id=tenant_id, event_id=time, timestamp=time) for time in UNTELLABLE]
    report = graph.ingest([*untellable, document(tenant_id=tenant_id, event_id="good")])
    assert [each.event_id for each in report.rejected] == UNTELLABLE
    assert all("$.timestamp" in str(each.faults[0]) and "1 to 9999" in str(each.faults[0]) for each in report.rejected)
    assert report.accepted == 1


@pytest.mark.parametrize("time", FAR)
def test_far_times_break_nothing(graph, tenant_id, time):
    """The earliest and latest possible timestamps are stored, and every call works with them."""
    graph.ingest([document(tenant_id=tenant_id, event_id="far", timestamp=time, sequence=5)])
    # An event dated in the future is stored but not compiled before its time.
    assert graph.compile().sessions == (0 if time > "2200" else 1)
    assert graph.remember("The far end is green").text == "The far end is green"
    assert "green" in graph.pack("What is green?").text
    assert graph.export_fingerprint()
    assert not graph.verify().findings


@pytest.mark.parametrize("seconds", [10**15, 2**53 - 1])
def test_what_never_expires_in_this_calendar_is_kept(graph, tenant_id, seconds):
    """An event whose time to live ends after the year 9999 is stored and packed."""
    report = graph.ingest([document(tenant_id=tenant_id, event_id="long", ttl_seconds=seconds)])
    assert report.accepted == 1
    assert graph.pack("").entries
