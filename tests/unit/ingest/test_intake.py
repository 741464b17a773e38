"""Every delivery is an event or a named rejection."""

import json

import pytest

from hmxgraph.errors import Fault, IngestRefused
from hmxgraph.ingest.batch import SIZE, BatchBuilder, OpenBatch, delivery_groups
from hmxgraph.ingest.intake import Intake, corrected_payload, dead_letter
from hmxgraph.ingest.sources import Broken, Delivery, deliveries
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.reports import BatchReceipt, Rejection, Tally
from hmxgraph.protocol.timestamps import microseconds
from tests.unit.ingest.making import document, event, prepared, words


@pytest.fixture
def tally():
    """The count of one call for tenant acme."""
    return Tally("acme")


@pytest.fixture
def intake(tally):
    """An intake that counts blank-separated words."""
    return Intake(tally, words)


def gathered(source, intake, **choices):
    """The batches of *source*."""
    builder = BatchBuilder(intake, **choices)
    return [
        batch
        for group in delivery_groups(deliveries(source), size=choices.get("size", SIZE))
        for batch in builder.take(group)
    ]


def faults(tally):
    """Path and line of each rejection's first fault."""
    return [(rejection.faults[0].path, rejection.line) for rejection in tally.rejected]


def nested(levels):
    """Objects nested *levels* deep."""
    inner = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def test_events_of_the_future_are_reported(tally):
    """An event over a day after the caller's clock is accepted, with one warning that names the first and its time."""
    intake = Intake(tally, words, clock=lambda: microseconds("2026-03-14T00:00:00Z"))
    times = {"yesterday": "2026-03-13", "today": "2026-03-14", "ahead": "2027-03-14", "last": "9999-12-31"}
    source = [document(event_id=name, timestamp=f"{day}T12:00:00Z") for name, day in times.items()]
    assert sum(len(batch.events) for batch in gathered(source, intake)) == 4
    (warning,) = tally.report().warnings
    assert "(first: 'ahead', 2027-03-14T12:00:00Z)" in warning
    assert warning.endswith("(2 times)")


@pytest.mark.parametrize("levels", [80, 3_000])
@pytest.mark.parametrize("place", ["content", "metadata"])
def test_deep_content_is_kept_as_text(intake, tally, levels, place):
    """Values nested deeper than canonical JSON allows become text inside the event, with one warning."""
    deep = document(event_id="deep", **{place: nested(levels)})
    (batch,) = gathered([deep], intake)
    assert "kept as text" in "".join(tally.report().warnings)
    assert tally.rejected == []
    assert len(batch.events) == 1


@pytest.mark.parametrize("levels", [80, 3_000, 100_000])
@pytest.mark.parametrize("place", ["tags", "event"])
def test_nesting_of_any_depth_is_one_rejection(intake, tally, levels, place):
    """A dict too deep to print is rejected like its text, and the other events are accepted."""
    deep = nested(levels) if place == "event" else document(event_id="deep", **{place: nested(levels)})
    refused = []
    intake._refuse = lambda rejection, payload: refused.append(dead_letter(rejection, payload))
    batches = gathered([document(event_id="before"), deep, document(event_id="after")], intake)
    assert sorted(event.event.event_id for batch in batches for event in batch.events) == ["after", "before"]
    assert ([rejection.line for rejection in tally.rejected], len(refused)) == ([2], 1)


@pytest.mark.parametrize(
    ("raw", "fault_text"),
    [(b'{"v": 1, "v": 2}', "repeated key 'v'"), (b"[" * 65 + b"]" * 65, "nested deeper than 64")],
)
def test_an_unknown_position_is_left_out(intake, tally, raw, fault_text):
    """The byte offset is given only where it is known."""
    intake.take(Delivery(raw, 1))
    assert tally.rejected[0].faults[0].actual == fault_text


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        (b"{", "$"),
        (b"\xff\xfe", "$"),
        (b'{"a": 1, "a": 2}', "$"),
        (b"[1]", "$"),
        (5, "$"),
        (None, "$"),
        (document(sequence=-1), "$.sequence"),
        (document(extra=1), "$.extra"),
        (document(hmx_version="HMX-2.0"), "$.hmx_version"),
        (document(content={"text": "x" * 600_000}), "$.content"),
        (json.dumps(document(content={"text": "x" * 2_000_000})).encode(), "$"),
    ],
)
def test_bad_input_is_named(intake, tally, payload, path):
    """Whatever is wrong is a rejection with the path of the fault; nothing is raised."""
    assert intake.take(Delivery(payload, 7)) is None
    assert faults(tally) == [(path, 7)]


def test_all_faults_at_once(intake, tally):
    """A rejection carries every fault of its event, and its id."""
    intake.take(Delivery(document(event_id="bad", sequence=-1, salience=2), 1))
    assert tally.rejected[0].event_id == "bad"
    assert {fault.path for fault in tally.rejected[0].faults} == {"$.sequence", "$.salience"}


def test_strict_calls_stop_at_the_first(tally):
    """With on_error="raise" the first bad line is the error, with source, line and reason."""
    intake = Intake(tally, words, on_error="raise")
    with pytest.raises(IngestRefused, match=r"f\.ndjson:3: .*sequence"):
        intake.take(Delivery(document(sequence=-1), 3, "f.ndjson"))


def test_unknown_types_are_kept_with_a_warning(intake, tally):
    """A type that is neither standard nor namespaced is stored; the warning is counted."""
    for number in range(2):
        assert intake.take(Delivery(document(event_type="gossip", event_id=str(number)), number))
    assert len(tally.report().warnings) == 1
    assert "(2 times)" in tally.report().warnings[0]


def test_another_tenant_is_refused(intake, tally):
    """An event that names another tenant is rejected, and the fault names the way out."""
    assert intake.take(Delivery(document(tenant_id="xy"), 1)) is None
    (fault,) = tally.rejected[0].faults
    assert (fault.path, fault.actual) == ("$.tenant_id", "'xy'")
    assert "rehome=True" in fault.expected
    assert intake.take(Delivery(document(tenant_id="acme"), 2)) is not None


def test_one_foreign_tenant_is_rehomed(tally):
    """All events of the first foreign tenant are stored under the caller's tenant, counted, and reported once."""
    intake = Intake(tally, words, rehome=True)
    named = [(name, number) for name in ("xy", "acme", "zz") for number in (1, 2)]
    took = [intake.take(Delivery(document(tenant_id=name, event_id=f"{name}{n}"), n)) for name, n in named]
    assert [prepared_event.event.tenant_id if prepared_event else None for prepared_event in took] == ["acme"] * 4 + [
        None
    ] * 2
    assert tally.rehomed == 2
    assert faults(tally) == [("$.tenant_id", 1), ("$.tenant_id", 2)]
    assert "'xy'" in tally.report().warnings[0]


def test_rehomed_events_have_their_own_hash(tally):
    """A rehomed event is hashed with the tenant that it is stored under, even if it had a hash before."""
    intake = Intake(tally, words, rehome=True)
    known = event(tenant_id="xy")
    assert known.event_hash
    rehomed, arrived = (intake.take(Delivery(payload, 1)) for payload in (known, document(tenant_id="xy")))
    assert rehomed.event.event_hash == arrived.event.event_hash == event().event_hash
    assert rehomed.key == prepared().key


def test_own_tenant_first_admits_no_other(tally):
    """If the first event names the caller's tenant, another tenant is a fault even with rehome."""
    intake = Intake(tally, words, rehome=True)
    intake.take(Delivery(document(), 1))
    assert intake.take(Delivery(document(tenant_id="xy", event_id="e9"), 2)) is None
    assert faults(tally) == [("$.tenant_id", 2)]


def test_broken_source_is_a_rejection(intake, tally):
    """A source that breaks off is reported like a bad line."""
    assert intake.take(Broken(Fault("$", "RFC 1952", "x", "y"), 9, "f.gz")) is None
    assert (tally.rejected[0].source, tally.rejected[0].line) == ("f.gz", 9)


def test_dead_letters_can_be_fed_in_again(tally):
    """A rejected line is kept with its reasons; corrected inside its dead letter, it is accepted."""
    letters = []
    intake = Intake(tally, words, refuse=lambda rejection, payload: letters.append(dead_letter(rejection, payload)))
    intake.take(Delivery(json.dumps(document(sequence=-1)).encode(), 1))
    intake.take(Delivery(b"{broken \xff", 2))
    first, second = map(json.loads, letters)
    assert first["dead_letter"]["faults"][0]["path"] == "$.sequence"
    assert second["text"] == "{broken \\xff"
    first["event"]["sequence"] = 0
    second["text"] = json.dumps(document(event_id="e1"))
    assert [intake.take(Delivery(json.dumps(letter), 1)).event.event_id for letter in (first, second)] == ["e0", "e1"]


def test_only_dead_letters_are_unwrapped():
    """An event that merely has such a field is not a dead letter."""
    assert corrected_payload(document(dead_letter={})) is None
    assert corrected_payload(b"{") is None
    assert corrected_payload(event()) is None


def test_batches_hold_each_id_once(intake):
    """Repeats of an id within a batch are set aside, to be compared with the stored event."""
    source = [document(), document(), document(metadata={"other": 1})]
    (batch,) = gathered(source, intake)
    assert len(batch.events) == 1
    assert [event.place for event in batch.repeats] == [("", 2), ("", 3)]


def test_batches_are_bounded_and_sorted(intake):
    """Batches hold at most the given number of events, sessions in key order, each session in its total order."""
    source = [document(event_id=str(n), session_id=f"s{n % 3}", sequence=100 - n) for n in range(25)]
    made = gathered(source, intake, size=10)
    assert [len(batch.events) for batch in made] == [10, 10, 5]
    for batch in made:
        places = [(prepared_event.session_key, prepared_event.order) for prepared_event in batch.events]
        assert places == sorted(places)


@pytest.mark.parametrize(("number", "sizes"), [(10, [10]), (14, [14]), (15, [10, 5]), (24, [10, 14]), (0, [])])
def test_the_last_few_go_with_the_batch_before(intake, number, sizes):
    """Fewer than half a batch at the end of a source get no transaction of their own."""
    source = [document(event_id=str(n), sequence=n) for n in range(number)]
    assert [len(batch.events) for batch in gathered(source, intake, size=10)] == sizes


def test_heavy_events_make_small_batches():
    """A batch is written when its content is large, however few its events."""
    open_batch = OpenBatch()
    for number in range(17):
        open_batch.add(prepared(event_id=str(number), content={"text": "x" * 500_000}))
    assert open_batch.full


@pytest.mark.parametrize("wrap", [json.dumps, lambda value: value, Event.parse])
def test_huge_lines_are_read_a_few_at_a_time(wrap):
    """Reading ahead is bounded by characters, whatever the form of the source, and nothing is lost."""
    source = [wrap(document(event_id=str(n), content={"text": "x" * 500_000})) for n in range(20)]
    assert [len(group.deliveries) for group in delivery_groups(deliveries(source))] == [16, 4]


def test_parts_never_share_a_session(intake):
    """All events of one session go to the same part, however many there are."""
    source = [document(event_id=str(n), session_id=f"s{n % 9}", sequence=n) for n in range(90)]
    made = gathered(source, intake, size=10, parts=3)
    homes = {(event.session_key, batch.part) for batch in made for event in batch.events}
    assert len(homes) == 9
    assert sum(len(batch.events) for batch in made) == 90


def test_report_accounts_for_every_line(tally):
    """Accepted, duplicate, conflicting and rejected lines add up to the lines read."""
    tally.add(BatchReceipt(("ab" * 32, "cd" * 32), 5, 1, 2, ()))
    tally.add(BatchReceipt(("ab" * 32,), 3, 0, 0, ()))
    tally.reject(Rejection("f", 1, "", ()))
    report = tally.report(2.0)
    assert (report.lines, report.accepted, report.sessions, report.rate) == (11, 8, 2, 4.0)
    assert report.document()["rejected"] == [{"source": "f", "line": 1, "event_id": "", "faults": []}]


def test_rejections_beyond_ten_thousand_are_counted(tally):
    """The report lists the first ones, and counts all."""
    for line in range(12_345):
        tally.reject(Rejection("f", line, "", ()))
    report = tally.report()
    assert (len(report.rejected), report.rejected_count, report.lines) == (10_000, 12_345, 12_345)
    assert report.document()["rejected_count"] == 12_345
