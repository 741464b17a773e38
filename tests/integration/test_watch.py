"""Files followed while others write them: nothing is lost or stored twice, whatever happens to file or watcher."""

import json
import os
import signal
import subprocess
import sys
from time import monotonic, sleep

import pytest

from hmxgraph.api.watching import Positions, Watch
from tests.integration.ingested import Ingested

WAIT = 60


def line(number, text=None):
    """A line of a transcript."""
    message = {"role": "user", "content": text or f"Request number {number}"}
    return json.dumps(
        {"type": "user", "uuid": f"u{number}", "sessionId": "s1", "version": "2.0", "cwd": "/p",
         "timestamp": f"2026-03-14T03:{number // 60:02}:{number % 60:02}.000Z", "message": message}
    ) + "\n"  # fmt: skip


@pytest.fixture
def stored(connection, tenant_id):
    """What the tenant's graph holds."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def transcript(tmp_path):
    """The file that is followed."""
    (tmp_path / "projects").mkdir()
    return tmp_path / "projects" / "session.jsonl"


@pytest.fixture
def watch(graph, transcript, tmp_path):
    """Makes a watch of the folder; a second one is the same after a restart."""
    return lambda: Watch(graph, transcript.parent, Positions(tmp_path / "state" / "positions.sqlite"))


def append(path, text):
    """Append *text* as a writer does."""
    with path.open("a") as file:
        file.write(text)


def texts(stored):
    """The texts of all stored events, in order."""
    rows = stored.rows("MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.content AS content ORDER BY e.sequence")
    return [json.loads(row["content"])["text"] for row in rows]


def test_appended_lines_and_new_files(watch, transcript, stored):
    """Each step stores what is new, a restart goes on where it was, and nothing is read twice."""
    append(transcript, line(0) + line(1))
    first = watch()
    assert (first.step(), first.step()) == (2, 0)
    append(transcript, line(2) + line(3)[:40])
    assert (first.step(), first.progress.unfinished) == (1, 1)
    append(transcript, line(3)[40:])
    second = watch()
    append(transcript.with_name("other.jsonl"), line(9).replace("s1", "s2"))
    assert second.step() == 2
    assert (second.progress.duplicates, second.progress.rejected) == (0, 0)
    assert texts(stored) == [f"Request number {n}" for n in (0, 1, 2, 3, 9)]


def test_truncation(watch, transcript, stored):
    """A file that was cut and written again is read from its beginning."""
    followed = watch()
    append(transcript, line(0) + line(1) + line(2))
    followed.step()
    transcript.write_text(line(3) + line(4))
    assert followed.step() == 2
    transcript.write_text("")
    followed.step()
    append(transcript, line(5))
    assert followed.step() == 1
    assert texts(stored) == [f"Request number {n}" for n in range(6)]


def test_rotation(watch, transcript, stored):
    """What was appended before a file was renamed is read from its new name."""
    followed = watch()
    append(transcript, line(0))
    followed.step()
    append(transcript, line(1))
    transcript.rename(transcript.with_name("session.jsonl.1"))
    append(transcript, line(2))
    assert followed.step() == 2
    assert texts(stored) == [f"Request number {n}" for n in range(3)]


def test_an_unknown_format_is_tried_again_when_the_file_grows(watch, transcript):
    """Lines that tell nothing yet are not lost."""
    followed = watch()
    append(transcript, '{"kind": 1}\n')
    assert (followed.step(), followed.progress.unknown) == (0, {str(transcript)})
    assert followed.step() == 0
    append(transcript, "".join(line(n) for n in range(30)))
    assert followed.step() == 30
    assert followed.progress.unknown == set()


@pytest.mark.slow
def test_a_watcher_that_is_killed_loses_and_repeats_nothing(address, tenant_id, transcript, tmp_path, stored):
    """The command is killed amid its work, started again, and ended by Ctrl-C."""
    environment = {
        **os.environ,
        "HMXGRAPH_URI": address.uri,
        "HMXGRAPH_USER": address.user,
        "HMXGRAPH_PASSWORD": address.password,
        "HMXGRAPH_DATABASE": address.database,
        "HMXGRAPH_TENANT": tenant_id,
        "HMXGRAPH_HOME": str(tmp_path / "home"),
    }
    command = [sys.executable, "-m", "hmxgraph", "watch", str(transcript.parent), "--no-compile", "--json"]
    started = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    for number in range(40):
        append(transcript, line(number))
        sleep(0.02)
    _until(lambda: len(texts(stored)) >= 10)
    started.kill()
    started.wait()
    append(transcript, "".join(line(number) for number in range(40, 60)))
    again = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    _until(lambda: len(texts(stored)) == 60)
    append(transcript, line(60))
    began = monotonic()
    _until(lambda: len(texts(stored)) == 61)
    latency = monotonic() - began
    again.send_signal(signal.SIGINT)
    output, _ = again.communicate(timeout=WAIT)
    assert again.returncode == 0
    assert json.loads(output.splitlines()[-1])["rejected"] == 0
    assert texts(stored) == [f"Request number {n}" for n in range(61)]
    assert len(stored.links("NEXT")) == 60
    assert latency < WAIT


def _until(condition):
    deadline = monotonic() + WAIT
    while not condition():
        assert monotonic() < deadline, "it did not happen in time"
        sleep(0.1)
