"""Large and hostile files: read piece by piece in bounded memory, with every line accounted for."""

import gzip
import json
import os
import subprocess
import sys
import zlib

import pytest

import hmxgraph
from hmxgraph.errors import MalformedJson
from tests.unit.ingest.making import document

MB = 1 << 20
# The peak memory of a process includes that of its parent at the time of the fork, which can be hundreds of megabytes
# in a test worker. So a small process runs the measured command and prints the peak memory of its child in kilobytes.
MEASURED = """
import resource, subprocess, sys
with open(sys.argv[1], "wb") as output:
    subprocess.run(sys.argv[2:], stdout=output)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def transcript_line(number, words="x"):
    """One line of a transcript."""
    message = {"role": "user", "content": f"Request number {number}: {words}"}
    return json.dumps(
        {"type": "user", "uuid": f"u{number}", "sessionId": f"s{number % 7}", "version": "2.0", "cwd": "/p",
         "timestamp": f"2026-03-14T03:{number // 60 % 60:02}:{number % 60:02}.000Z", "message": message}
    ).encode() + b"\n"  # fmt: skip


@pytest.fixture
def ingested(address, tenant_id, tmp_path):
    """Runs ``hmxgraph ingest``; returns the report and its peak memory in megabytes."""
    login = {"HMXGRAPH_URI": address.uri, "HMXGRAPH_USER": address.user, "HMXGRAPH_PASSWORD": address.password}

    def run(path, *options):
        command = [sys.executable, "-m", "hmxgraph", "ingest", str(path), "--tenant", tenant_id, "--json", *options]
        printed = tmp_path / "report.json"
        measuring = [sys.executable, "-c", MEASURED, str(printed), *command]
        kilobytes = subprocess.run(measuring, env=os.environ | login, stdout=subprocess.PIPE, check=True).stdout
        return json.loads(printed.read_text()), int(kilobytes) // 1024

    return run


@pytest.mark.slow
def test_a_file_of_200_mb(ingested, tmp_path):
    """Every line is accounted for, in memory bounded by the size of a batch, not of the file."""
    path = tmp_path / "large.jsonl"
    words = " ".join(f"word{n}" for n in range(4_500))
    lines = 200 * MB // len(transcript_line(0, words))
    with path.open("wb") as file:
        # Most lines of a long transcript report the progress of tools.
        for number in range(lines):
            line = transcript_line(number, words)
            file.write(line if number % 10 == 0 else line.replace(b'"user", "uuid"', b'"progress", "uuid"'))
    report, most = ingested(path)
    print(f"memory: {most} MB")  # noqa: T201 - a measurement
    assert (report["lines"], report["rejected"]) == (lines, [])
    assert report["accepted"] == -(-lines // 10)
    assert most < 500


def test_what_a_process_holds_is_its_own(ingested, tmp_path):
    """The measured peak memory does not include the memory of the test process."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript_line(0))
    held = bytearray(os.urandom(1)) * (600 * MB)
    report, most = ingested(path)
    assert (report["accepted"], len(held)) == (1, 600 * MB)
    assert most < 300


def test_a_truncated_last_line(graph, tmp_path):
    """Whole lines are stored and the torn end is one rejection; once it is completed, only that line is added."""
    path = tmp_path / "session.jsonl"
    whole = b"".join(transcript_line(number) for number in range(5))
    path.write_bytes(whole[:-30])
    report = graph.ingest(path)
    assert (report.accepted, [each.line for each in report.rejected]) == (4, [5])
    path.write_bytes(whole)
    again = graph.ingest(path)
    assert (again.accepted, again.duplicates, again.rejected) == (1, 4, ())


def test_noise_beside_a_transcript(graph, tmp_path):
    """Binary files named like event files are one rejection each; the transcript in the same folder is stored."""
    (tmp_path / "good.jsonl").write_bytes(b"".join(transcript_line(number) for number in range(5)))
    (tmp_path / "noise.jsonl").write_bytes(os.urandom(3 * MB))
    (tmp_path / "noise.json").write_bytes(zlib.compress(os.urandom(MB)))
    (tmp_path / "noise.json.gz").write_bytes(os.urandom(MB))
    report = graph.ingest(tmp_path)
    assert report.accepted == 5
    assert [each.source.rpartition("/")[2] for each in report.rejected] == [
        "noise.json",
        "noise.json.gz",
        "noise.jsonl",
    ]


# Unpacked megabytes of a bomb.
UNPACKED = int(os.environ.get("HMXGRAPH_BOMB_MEGABYTES", "1024"))
BOMBS = {
    "one line": (b"", b"x" * MB),
    "one element": (b'[1, "', b"x" * MB),
    "brackets": (b"", b"[" * MB),
    "nested arrays": (b"[1, [", b"[1]," * (MB // 4)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_gzip_bomb(ingested, tmp_path, name):
    """A small file that unpacks to a gigabyte is rejected in less than 300 MB of memory."""
    begin, filler = BOMBS[name]
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(begin)
        for _ in range(UNPACKED):
            file.write(filler)
    report, most = ingested(path)
    print(f"{name}: {path.stat().st_size:,} bytes packed, {UNPACKED} MB unpacked, {most} MB of memory")  # noqa: T201
    assert (report["accepted"], report["rejected_count"] > 0) == (0, True)
    assert most < 300


def test_numbers_of_any_length(graph, tenant_id):
    """A number of ten thousand digits is accepted inside content and rejected elsewhere."""
    digits = "7" * 10_000
    good = json.dumps(document(tenant_id=tenant_id, event_id="good")).replace('"text"', f'"n": {digits}, "text"', 1)
    bad = json.dumps(document(tenant_id=tenant_id, event_id="bad", sequence=3)).replace(
        '"sequence": 3', f'"sequence": {digits}'
    )
    report = graph.ingest(f"{good}\n{bad}\n".encode())
    assert (report.accepted, report.rejected_count) == (1, 1)
    with pytest.raises(MalformedJson, match="number too large"):
        hmxgraph.Event.parse(f'{{"a": {digits}}}')


@pytest.mark.slow
def test_more_rejections_than_a_report_names(graph, tmp_path):
    """Rejections beyond the limit of the report are still counted and written to the rejects file."""
    rejects = tmp_path / "rejects.ndjson"
    report = graph.ingest(b'{"event_id": 1}\n' * 10_050, format="hmx", rejects=rejects)
    assert (report.rejected_count, len(report.rejected), report.lines) == (10_050, 10_000, 10_050)
    assert rejects.read_bytes().count(b"\n") == 10_050
