"""Every form of source gives the same events, and a broken one all readable events."""

import gzip
import io
import json
import os
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.errors import IngestRefused
from hmxgraph.ingest import sources
from hmxgraph.ingest.sources import CHUNK, LONGEST_LINE, Broken, Delivery, deliveries, elements, objects, reads
from tests.unit.ingest.making import document, event

DOCUMENTS = [document(event_id=f"e{number}", sequence=number) for number in range(3)]
NDJSON = "\n".join(json.dumps(document) for document in DOCUMENTS).encode()


def read(source):
    """Payloads as JSON values, with their line numbers."""
    return [(delivery.line, json.loads(delivery.payload)) for delivery in deliveries(source)]


EXPECTED = list(enumerate(DOCUMENTS, start=1))


def test_what_can_be_read_only_once(tmp_path):
    """A pipe by its path, an open file or an iterator; files and lists can be read again."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(NDJSON)
    once = ["-", tmp_path / "pipe", str(tmp_path / "pipe"), io.BytesIO(NDJSON), iter(DOCUMENTS)]
    again = [tmp_path / "file", tmp_path / "missing", "n" * 5_000, DOCUMENTS]
    assert all(map(sources.reads_once, once))
    assert not any(map(sources.reads_once, again))


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_ndjson_file(tmp_path, ending):
    """One event per line; the last line may lack a line feed, and blank lines do not count."""
    path = tmp_path / "events.ndjson"
    path.write_bytes(NDJSON + ending.encode())
    assert read(path) == read(str(path)) == EXPECTED


def test_gz_is_known_by_its_bytes(tmp_path):
    """A packed file needs no particular name and may have several members."""
    path = tmp_path / "events.ndjson"
    first, remaining = NDJSON.split(b"\n", 1)
    path.write_bytes(gzip.compress(first + b"\n") + gzip.compress(remaining))
    assert read(path) == EXPECTED


def test_folder_in_name_order(tmp_path):
    """A folder is its event files, sorted; other files are left alone."""
    for number in (1, 0):
        (tmp_path / f"{number}.ndjson").write_bytes(json.dumps(DOCUMENTS[number]).encode())
    (tmp_path / "2.json.gz").write_bytes(gzip.compress(json.dumps([DOCUMENTS[2]]).encode()))
    (tmp_path / "README.md").write_text("not an event")
    assert [payload["event_id"] for _, payload in read(tmp_path)] == ["e0", "e1", "e2"]


def test_open_files_and_bytes(tmp_path):
    """Open files in either mode, and bytes, are read from their current position."""
    path = tmp_path / "events.ndjson"
    path.write_bytes(NDJSON)
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        assert read(binary) == read(text) == EXPECTED
    assert read(NDJSON) == read(io.BytesIO(NDJSON)) == read(io.StringIO(NDJSON.decode())) == EXPECTED


def test_standard_input(monkeypatch):
    """A dash is standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NDJSON)))
    assert read("-") == EXPECTED


def test_array_is_read_by_element():
    """A JSON array, indented or not, is its elements."""
    assert read(json.dumps(DOCUMENTS, indent=2).encode()) == EXPECTED
    assert read(b"[]") == []


@pytest.mark.parametrize("between", ["\n", "\n\n", " ", "\r\n"])
def test_objects_over_several_lines(between):
    """One or several pretty-printed events are read as well."""
    printed = [
        json.dumps(document, indent=2).replace("\n", "\r\n" if "\r" in between else "\n") for document in DOCUMENTS
    ]
    assert read(between.join(printed).encode()) == EXPECTED
    assert read(printed[0].encode()) == EXPECTED[:1]


@pytest.mark.parametrize(
    "after", ['] {"x":1}, {"y":{"z":1}, "k": 2}', '{"x": 1}, {"y": [2]}', ", [3]", '"a" [3]', "x", "]", '"'], ids=repr
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_text_after_an_array_is_one_element(after, size):
    """Whatever follows the array costs one fault; only another array is read like the first."""
    text = f"[1, 2] {after}".encode()
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert list(elements(pieces[0], iter(pieces[1:]))) == [(1, b"1"), (2, b"2"), (3, after.encode())]
    assert [value for _, value in elements(b"[1]", iter([b"\n[2", b", 3]"]))] == [b"1", b"2", b"3"]


def test_a_document_with_an_element_in_each_line_is_one():
    """A first line that ends inside an object begins a multi-line object; before a whole object it is damaged."""
    document = b'{"messages": [{"role": "user"},\n{"role": "assistant"},\n{"role": "user"}]}\n'
    assert [arrival.payload for arrival in deliveries(document)] == [document.strip()]
    torn = b'{"messages": [{"role": "user"},\n{"role": "assistant"}\n{"role": "user"}\n'
    assert [arrival.payload for arrival in deliveries(torn)][1:] == [b'{"role": "assistant"}', b'{"role": "user"}']


def test_a_broken_object_over_several_lines_costs_itself():
    """A surplus bracket, a stray word and a truncated object are reported with their line; the others are read."""
    first, two, three = (json.dumps(each, indent=2) for each in DOCUMENTS)
    payloads = [each.payload.decode() for each in deliveries(f"{first}}}\n{two}\nhm\n{three}\n{first[:-9]}".encode())]
    assert payloads == [first, "}", two, f"hm\n{three}", first[:-9]]


def test_iterables_and_single_events():
    """Dicts, events, bytes and texts are passed on unchanged."""
    mixed = [DOCUMENTS[0], event(), b"{}", "{}"]
    assert [delivery.payload for delivery in deliveries(mixed)] == mixed
    assert [delivery.payload for delivery in deliveries(iter(mixed))] == mixed
    assert [delivery.payload for delivery in deliveries(DOCUMENTS[0])] == [DOCUMENTS[0]]
    assert [delivery.line for delivery in deliveries(event())] == [1]


def test_byte_order_mark_is_no_data():
    """A byte order mark at the beginning is skipped."""
    assert read(b"\xef\xbb\xbf" + NDJSON) == EXPECTED


def test_truncated_gz_keeps_what_was_good(tmp_path):
    """A truncated gz file yields its readable lines, then the fault."""
    path = tmp_path / "events.ndjson.gz"
    lines = "\n".join(json.dumps(document(event_id=f"e{n}", metadata={"x": n * 7919})) for n in range(2000))
    path.write_bytes(gzip.compress(lines.encode())[:-200])
    *good, partial, broken = deliveries(path)
    assert all(json.loads(delivery.payload) for delivery in good)
    assert len(good) > 100
    assert isinstance(partial, Delivery)
    assert isinstance(broken, Broken)
    assert (broken.fault.clause, broken.line) == ("RFC 1952", partial.line + 1)


@pytest.mark.parametrize("cut", [b"", b",", b",\n ", b'\n, {"event_id'])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_array_without_its_end_is_reported(cut, pack):
    """An unclosed array yields its complete values, the incomplete last one, and the fault."""
    data = json.dumps(DOCUMENTS).encode().removesuffix(b"]")
    *delivered, broken = deliveries(pack(data + cut))
    assert [json.loads(delivery.payload) for delivery in delivered[:3]] == DOCUMENTS
    assert len(delivered) == (4 if b"event_id" in cut else 3)
    assert (type(broken), broken.line) == (Broken, len(delivered) + 1)
    assert str(broken.fault) == "$: found an unclosed array, expected its closing bracket (RFC 8259 5)"


def test_a_truncated_gz_with_an_array_is_reported_once():
    """If an array ends early because its gz file does, only one fault is reported."""
    values = json.dumps([document(event_id=f"e{n}", metadata={"x": n * 7919}) for n in range(2000)])
    delivered = list(deliveries(gzip.compress(values.encode())[:-200]))
    assert [delivery.fault.clause for delivery in delivered if isinstance(delivery, Broken)] == ["RFC 1952"]


def test_damaged_gz_is_reported(tmp_path):
    """Bytes that do not unpack are a broken source, not an exception of zlib."""
    path = tmp_path / "events.gz"
    path.write_bytes(b"\x1f\x8b" + b"\0" * 40)
    assert [type(delivery) for delivery in deliveries(path)] == [Broken]


def test_stream_that_breaks_off():
    """An error while reading ends the source after what was read."""

    class Pipe(io.RawIOBase):
        chunks = iter([NDJSON + b"\n"])

        def read(self, size=-1):
            if size == 0:
                return b""
            if chunk := next(self.chunks, None):
                return chunk
            raise OSError(32, "Broken pipe")

    *good, broken = deliveries(Pipe())
    assert len(good) == 3
    assert "Broken pipe" in broken.fault.actual


def test_line_of_any_length_is_survived():
    """A line longer than any event is named and skipped; the lines around it are read."""
    delivered = list(deliveries(b"1\n" + b"x" * (LONGEST_LINE + CHUNK) + b"\n2\n"))
    assert [type(delivery) for delivery in delivered] == [Delivery, Broken, Delivery]
    assert [delivery.line for delivery in delivered] == [1, 2, 3]


@pytest.mark.parametrize("source", ["no/such/file", 5, object()])
def test_unreadable_sources_are_refused(source):
    """A missing source, or a value that is not a source, is refused at once with the reason."""
    with pytest.raises(IngestRefused):
        deliveries(source)


@pytest.mark.parametrize("text", ["{}", json.dumps(document()), f"[{json.dumps(document())}]"])
def test_events_as_text_are_no_path(text):
    """A string names a file; JSON text, however long, is refused with a hint."""
    with pytest.raises(IngestRefused, match="pass JSON text as bytes") as refused:
        deliveries(text)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("text", ["x" * 5_000, "no\0path"])
def test_what_no_system_can_spell_is_refused(text):
    """A path that is too long, or contains a NUL, is refused like a missing one."""
    with pytest.raises(IngestRefused):
        deliveries(text)


def test_empty_folder_is_refused(tmp_path):
    """A folder without event files is a mistake, not an empty source."""
    with pytest.raises(IngestRefused, match="no event files"):
        deliveries(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(JSON, max_size=5), st.integers(1, 7))
def test_values_whatever_the_chunks(values, size):
    """Arrays and consecutive objects are split the same way, however their bytes arrive."""
    assert parted(elements, json.dumps(values, ensure_ascii=False), size) == values
    printed = "\n".join(json.dumps({"": value}, ensure_ascii=False, indent=1) for value in values)
    assert parted(objects, printed, size) == [{"": value} for value in values]


def parted(split, text, size):
    """The values that *split* yields for a text in chunks."""
    data = text.encode("utf-8", "surrogatepass")
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    return [json.loads(piece) for _, piece in split(next(chunks, b""), chunks)]


def test_a_closed_standard_input_is_reported(monkeypatch):
    """Where a process has no standard input, reading from it is one clear error."""
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(IngestRefused, match="closed"):
        deliveries("-")


VALUES = [rb'{"a": "],}\""}', rb'["\\", "\\\"]"]', b'{"b": [{}, {"c": "{"}]}', b'"\xc3\xa9\\n"', b"12"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_values_are_found_wherever_chunks_end(size):
    """Inside strings and escapes, too."""
    array = b"[" + b", ".join(VALUES) + b"]"
    pieces = [array[start : start + size] for start in range(0, len(array), size)]
    assert [value for _, value in elements(pieces[0], iter(pieces[1:]))] == VALUES
    printed = [value for value in VALUES if value.startswith(b"{")]
    joined = b"\n".join(printed)
    pieces = [joined[start : start + size] for start in range(0, len(joined), size)]
    assert [value for _, value in objects(pieces[0], iter(pieces[1:]))] == printed


@pytest.mark.parametrize(("begin", "end"), [(b'[1, "', b'", 2]'), (b"[1, [", b"1], 2]")])
def test_an_oversized_value_is_skipped(begin, end, monkeypatch):
    """A value that is too long is skipped in linear time without being kept, and the values around it are read."""
    monkeypatch.setattr(sources, "LONGEST_LINE", 4 << 20)
    filler = b"x" * CHUNK if begin.endswith(b'"') else b"[1]," * (CHUNK // 4)
    chunks = [filler] * 18
    began = process_time()
    values = list(elements(begin, iter([*chunks, end])))
    assert values == [(1, b"1"), (2, None), (3, b"2")]
    assert process_time() - began < 20


@pytest.mark.parametrize("filler", [b"[", b"[1],", b'["]\\"[", "a", {"b": 1}], ', b'"a[", [1, "\\\\"], '])
def test_a_huge_nested_value_is_not_scanned_bracket_by_bracket(filler, monkeypatch):
    """A chunk in which no value ends is passed over at once: a small gz file may hold billions of brackets."""
    searches = []

    class Delimiter:
        def search(self, *arguments):
            searches.append(arguments)
            return delimiter.search(*arguments)

    delimiter = sources._DELIMITER
    monkeypatch.setattr(sources, "_DELIMITER", Delimiter())
    size = 4_096 * len(filler)
    list(elements(b"[[", iter([filler * 4_096] * 20)))
    assert len(searches) < 10 + size // 100


@given(
    st.recursive(
        st.text(alphabet='a[]{},"\\\u00e9', max_size=6) | st.integers(0, 9),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('k]"', max_size=3), inner, max_size=3),
        max_leaves=20,
    ),
    st.integers(1, 40),
    st.integers(0, 300),
)
def test_values_are_split_alike_however_they_are_cut(value, size, cut):
    """Chunks of any size give the same values, of a source that breaks off too."""
    text = json.dumps([value, 1, [value]]).encode()[: 300 - cut]
    parts = [text[start : start + size] for start in range(0, len(text), size)] or [b""]
    assert list(elements(parts[0], iter(parts[1:]))) == list(elements(text, iter([])))


def test_blank_lines_are_counted_at_once():
    """Millions of blank lines cost little, and the line after them has its number."""
    lines = list(deliveries(io.BytesIO(b"\n" * 40_000_000 + b"{}\n")))
    assert [delivery.line for delivery in lines] == [40_000_001]


def test_a_list_of_paths_is_read_one_after_the_other(tmp_path):
    """Files and folders, each with its own lines; one that is missing or empty is refused before anything is read."""
    first, folder = tmp_path / "first.ndjson", tmp_path / "runs"
    folder.mkdir()
    for path in (first, folder / "second.ndjson"):
        path.write_bytes(NDJSON)
    assert read([first, folder]) == [*EXPECTED, *EXPECTED]
    assert [arrival.source for arrival in deliveries([first, folder])][::3] == [
        str(first),
        str(folder / "second.ndjson"),
    ]
    assert reads([first, folder], folder / "second.ndjson")
    empty = tmp_path / "empty"
    empty.mkdir()
    for bad in (tmp_path / "missing", empty):
        with pytest.raises(IngestRefused, match=bad.name):
            deliveries([first, bad])
