"""Files followed while they are written: nothing is lost or stored twice, whatever happens to file or watcher."""

import json
import os
import pty
import random
import re
import signal
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

import hmxgraph
from hmxgraph.api.watching import Positions, Watch
from hmxgraph.cli._terminal import json_line
from hmxgraph.cli.watch import _Run
from hmxgraph.errors import GraphError, NotWritten
from tests.integration.ingested import Ingested
from tests.integration.proxies import proxied, until
from tests.unit.ingest.making import document

WAIT = 60
# Appends numbered lines in pieces, sometimes renames or truncates the file, and notes each complete line. Truncated
# content without a copy is lost, so before that it waits until the watch has looked twice.
WRITER = """
import os, random, shutil, sys, time
path, notes, steps, first, seed, template = sys.argv[1:]
def looks():
    return os.path.getsize(steps)
chance, number = random.Random(int(seed)), int(first)
noted = open(notes, "a", buffering=1)
while True:
    line = template.replace("NUMBER", str(number)).encode() + b"\\n"
    with open(path, "ab", buffering=0) as file:
        for start in range(0, len(line), 50):
            file.write(line[start : start + 50])
            time.sleep(0.001)
    noted.write(f"{number}\\n")
    number += 1
    what = chance.random()
    if what < 0.03:
        os.rename(path, path.replace(".jsonl", f".{number}.jsonl"))
    elif what < 0.06:
        shutil.copy(path, path.replace(".jsonl", f".{number}.jsonl"))
        os.truncate(path, 0)
    elif what < 0.08:
        before = looks()
        while looks() < before + 2:
            time.sleep(0.05)
        os.truncate(path, 0)
"""


def line(number, text=None):
    """A line of a transcript."""
    message = {"role": "user", "content": text or f"Request number {number}"}
    return json.dumps(
        {"type": "user", "uuid": f"u{number}", "sessionId": "s1", "version": "2.0", "cwd": "/p",
         "timestamp": f"2026-03-14T03:{number // 60:02}:{number % 60:02}.000Z", "message": message}
    ) + "\n"  # fmt: skip


def plain(number):
    """A line of a log of messages without ids or times."""
    return json.dumps({"role": "user", "content": f"Request number {number}"}) + "\n"


@pytest.fixture
def stored(connection, tenant_id):
    """The stored nodes and relationships of the test's tenant."""
    return Ingested(connection, tenant_id)


@pytest.fixture
def transcript(tmp_path):
    """The path of the followed file."""
    (tmp_path / "projects").mkdir()
    return tmp_path / "projects" / "session.jsonl"


@pytest.fixture
def watch(graph, transcript, tmp_path):
    """Makes a watch of the folder; a second one acts as if restarted."""
    return lambda: Watch(graph, transcript.parent, Positions(tmp_path / "state" / "positions.sqlite"))


def append(path, text):
    """Append *text* to the file."""
    with path.open("a") as file:
        file.write(text)


def texts(stored):
    """The texts of all stored events, in order."""
    rows = stored.rows(
        "MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.content AS content ORDER BY e.session_id, e.sequence"
    )
    return [json.loads(row["content"])["text"] for row in rows]


def test_appended_lines_and_new_files(watch, transcript, stored):
    """Each step stores only what is new, and a restart resumes at the stored position."""
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
    """A file that was truncated and rewritten is read from its beginning."""
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


@pytest.mark.timeout(60)
def test_truncation_between_the_size_and_the_bytes(watch, transcript, stored, monkeypatch):
    """A file that has fewer bytes than its size promised ends the step; its new lines come with the next one."""
    followed, fstat = watch(), os.fstat

    def truncated(descriptor):
        stat = fstat(descriptor)
        os.truncate(transcript, 0)
        return stat

    append(transcript, line(0)[:-1])
    with monkeypatch.context() as patched:
        patched.setattr("hmxgraph.api.watching.os.fstat", truncated)
        assert followed.step() == 0
    append(transcript, line(1))
    assert followed.step() == 1
    assert texts(stored) == ["Request number 1"]


def test_rotation(watch, transcript, stored):
    """Lines appended before a file was renamed are read under its new name."""
    followed = watch()
    append(transcript, line(0))
    followed.step()
    append(transcript, line(1))
    transcript.rename(transcript.with_name("session.jsonl.1"))
    append(transcript, line(2))
    assert followed.step() == 2
    assert texts(stored) == [f"Request number {n}" for n in range(3)]


def test_an_unknown_format_is_tried_again_when_the_file_grows(watch, transcript):
    """Lines of an unrecognised format are read once the file has grown enough to recognise it."""
    followed = watch()
    append(transcript, '{"kind": 1}\n')
    assert (followed.step(), followed.progress.unknown) == (0, {str(transcript)})
    assert followed.step() == 0
    append(transcript, "".join(line(n) for n in range(30)))
    assert followed.step() == 30
    assert followed.progress.unknown == set()


@pytest.mark.parametrize("copied", [False, True])
def test_rotation_to_a_name_that_is_followed_too(watch, transcript, stored, copied):
    """Over several rotations, by rename or by copy and truncate, each line is stored once."""
    followed = watch()
    for number in range(4):
        append(transcript, plain(2 * number))
        followed.step()
        append(transcript, plain(2 * number + 1))
        for age in range(number, 0, -1):
            transcript.with_name(f"session.{age}.jsonl").rename(transcript.with_name(f"session.{age + 1}.jsonl"))
        if copied:
            transcript.with_name("session.1.jsonl").write_bytes(transcript.read_bytes())
            transcript.write_bytes(b"")
        else:
            transcript.rename(transcript.with_name("session.1.jsonl"))
        if number % 2:
            followed.step()
    append(transcript, plain(8))
    watch().step()
    assert sorted(texts(stored)) == [f"Request number {n}" for n in range(9)]


def test_a_copy_beside_its_original_is_a_file_of_its_own(watch, transcript, stored):
    """A file that begins with a copy of another, as a resumed session does, is followed separately."""
    followed = watch()
    append(transcript, line(0))
    followed.step()
    append(transcript.with_name("session-resumed.jsonl"), line(0) + line(1).replace("s1", "s2"))
    append(transcript, line(2))
    assert (followed.step(), followed.progress.duplicates) == (2, 1)
    assert texts(stored) == ["Request number 0", "Request number 2", "Request number 1"]


def test_a_line_behind_a_torn_one(watch, transcript, stored):
    """A line torn by a killed writer is rejected, and the next line is read whole."""
    followed = watch()
    append(transcript, line(0) + line(1)[:70])
    assert (followed.step(), followed.progress.unfinished) == (1, 1)
    append(transcript, line(2) + line(3))
    assert (followed.step(), followed.progress.rejected, followed.progress.unfinished) == (2, 1, 0)
    assert texts(stored) == [f"Request number {n}" for n in (0, 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("template", ["transcript", "messages"])
def test_a_writer_that_rotates_truncates_and_is_killed(watch, transcript, tmp_path, stored, template):
    """Whatever the writer does between or within lines, each complete line is stored once."""
    shape = {"transcript": line(7), "messages": plain(7)}[template].strip().replace("Request number 7", "NUMBER")
    shape = shape.replace("u7", "uNUMBER")
    notes, steps, seed = tmp_path / "notes", tmp_path / "steps", random.randrange(1 << 30)
    steps.touch()
    followed, first = watch(), 0
    for life in range(4):
        arguments = [str(transcript), str(notes), str(steps), str(first), f"{seed + life}", shape]
        writer = subprocess.Popen([sys.executable, "-c", WRITER, *arguments])
        until_killed = monotonic() + 4 + random.random()
        while monotonic() < until_killed:
            followed.step()
            append(steps, ".")
            sleep(0.2)
        writer.kill()
        writer.wait()
        if life == 1:
            followed = watch()
        first = int(notes.read_text().split()[-1]) + 1000
    for _ in range(12):
        followed.step()
    whole, said = {int(number) for number in notes.read_text().split()}, [int(text) for text in texts(stored)]
    # The writer may be killed after completing a line but before noting it.
    assert whole <= set(said) <= whole | {number + 1 for number in whole}, f"seed {seed}"
    assert len(said) == len(set(said)), f"seed {seed}"
    assert followed.progress.rejected <= 3, f"seed {seed}"


@pytest.mark.slow
def test_a_watcher_that_is_killed_loses_and_repeats_nothing(environment, transcript, stored):
    """A command killed while working and started again stores every line once."""
    started = subprocess.Popen(command(transcript), env=environment, stdout=subprocess.DEVNULL)
    for number in range(40):
        append(transcript, line(number))
        sleep(0.02)
    until(lambda: len(texts(stored)) >= 10)
    started.kill()
    started.wait()
    append(transcript, "".join(line(number) for number in range(40, 60)))
    with running(command(transcript), environment) as again:
        until(lambda: len(texts(stored)) == 60)
    assert again.returncode == 0
    assert json.loads(again.last_words.splitlines()[-1])["rejected"] == 0
    assert texts(stored) == [f"Request number {n}" for n in range(60)]
    assert len(stored.links("NEXT")) == 59


@pytest.mark.slow
def test_appended_lines_and_new_files_are_stored_within_two_seconds(environment, transcript, stored):
    """The median time from writing a line to reading it in the graph is under two seconds."""
    append(transcript, line(0))
    seconds = []
    with running(command(transcript), environment):
        until(lambda: len(texts(stored)) == 1)
        for number in range(1, 13):
            path = transcript if number % 3 else transcript.with_name(f"new{number}.jsonl")
            append(path, line(number))
            began = monotonic()
            until(lambda count=number + 1: len(texts(stored)) == count)
            seconds.append(monotonic() - began)
            sleep(random.random())
    print("seconds until stored:", " ".join(f"{each:.2f}" for each in seconds))  # noqa: T201 - a measurement
    assert statistics.median(seconds) < 2


@pytest.mark.slow
def test_the_database_is_lost_for_a_while(address, environment, transcript, stored):
    """While the database is unreachable the status says so; appended lines are stored and compiled once it is back."""
    append(transcript, line(0))
    with proxied(address.uri) as proxy:
        through = environment | {"HMXGRAPH_URI": proxy.uri}
        with running(command(transcript, "--compile"), through) as watching:
            until(lambda: len(texts(stored)) == 1)
            proxy.fault = "refused"
            append(transcript, line(1))
            notes = _statuses(watching)
            assert any("not stored" in status["note"] for status in notes)
            proxy.fault = None
            append(transcript, line(2))
            until(lambda: len(texts(stored)) == 3)
            assert any("compiled 1 session," in status["note"] for status in notes)
    assert watching.returncode == 0


def test_a_file_that_may_not_be_read_keeps_no_other_waiting(watch, transcript, stored, monkeypatch):
    """An unreadable file is reported, does not block others, and is read once readable."""
    append(transcript, line(0))
    closed = transcript.with_name("closed.jsonl")
    append(closed, line(1))
    opens = Path.open

    def refused(path, *arguments, **options):
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opens(path, *arguments, **options)

    followed = watch()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        followed.step()
        assert (len(texts(stored)), followed.progress.unreadable) == (1, {str(closed)})
    followed.step()
    assert (len(texts(stored)), followed.progress.unreadable) == (2, set())


def test_a_file_name_that_is_not_utf8(watch, once, transcript, stored):
    """A file with any name is followed, also after a restart, and the progress can be printed as JSON."""
    odd = transcript.parent / os.fsdecode(b"odd\xff.jsonl")
    append(odd, line(0))
    append(transcript.parent / os.fsdecode(b"unknown\xff.jsonl"), '{"a": 1}\n')
    followed = watch()
    once(followed)
    append(odd, line(1))
    restarted = watch()
    once(restarted)
    assert texts(stored) == ["Request number 0", "Request number 1"]
    assert (restarted.progress.lines, followed.progress.lines) == (1, 1)
    assert json.loads(json_line(followed.progress.document()))["unknown"][0].endswith(r"unknown\xff.jsonl")


def test_a_folder_that_became_a_file_and_a_file_that_became_a_folder(watch, transcript, stored):
    """What replaces a followed file or its folder is followed in its place."""
    followed = watch()
    append(transcript, line(0))
    inner = transcript.parent / "inner.jsonl"
    inner.mkdir()
    append(inner / "log.jsonl", line(1))
    followed.step()
    transcript.unlink()
    transcript.mkdir()
    append(transcript / "log.jsonl", line(2))
    (inner / "log.jsonl").unlink()
    inner.rmdir()
    append(inner, line(3))
    followed.step()
    assert texts(stored) == [f"Request number {number}" for number in range(4)]


def test_positions_that_cannot_be_saved(watch, transcript, stored, tmp_path):
    """While the disk of the positions is full, events are stored; the positions are saved as soon as they can be."""
    followed = watch()
    append(transcript, line(0))
    (tmp_path / "state" / "positions.sqlite-journal").mkdir()  # SQLite cannot begin a transaction
    with pytest.raises(NotWritten, match="reads files again"):
        followed.step()
    append(transcript, line(1))
    with pytest.raises(NotWritten):
        followed.step()
    (tmp_path / "state" / "positions.sqlite-journal").rmdir()
    followed.step()
    restarted = watch()
    restarted.step()
    assert (followed.progress.duplicates, restarted.progress.lines) == (0, 0)
    assert texts(stored) == ["Request number 0", "Request number 1"]


def test_damaged_positions_are_an_error(watch, tmp_path):
    """A damaged file of positions is reported by its name."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "positions.sqlite").write_bytes(b"no database" * 1_000)
    with pytest.raises(NotWritten, match=r"positions\.sqlite"):
        watch()


@pytest.mark.slow
def test_a_single_look_fails_where_nothing_can_be_stored(address, tenant_id, transcript, stored, tmp_path):
    """With ``once`` an unreachable database is an error, so that a script can retry; the retry stores everything."""
    append(transcript, line(0))
    with (
        proxied(address.uri) as proxy,
        hmxgraph.connect(proxy.uri, user=address.user, password=address.password, tenant_id=tenant_id) as graph,
    ):
        watched = Watch(graph, transcript.parent, Positions(tmp_path / "positions.sqlite"))
        run = _Run(graph, watched, Event(), lambda *_: None, compiles=False)
        proxy.fault = "refused"
        with graph.timeout(3), pytest.raises(GraphError):
            run.follow(once=True)
        proxy.fault = None
        run.follow(once=True)
    assert len(texts(stored)) == 1


@pytest.fixture
def once(graph, monkeypatch):
    """Runs the command with ``--once`` on a watch, almost without pauses."""
    monkeypatch.setattr("hmxgraph.cli.watch._PAUSE_SECONDS", 0.0)
    return lambda followed: _Run(graph, followed, Event(), lambda *_: None, compiles=False).follow(once=True)


def test_a_single_look_stores_a_file_that_was_just_written(watch, once, transcript, stored):
    """With ``once``, a file that is read whole is stored, too, even if it changed a moment ago."""
    transcript.with_name("export.json").write_text(f"[{line(0).strip()}]")
    once(watch())
    assert texts(stored) == ["Request number 0"]


def test_rejected_lines_are_shown_once_with_place_and_faults(graph, monkeypatch, watch, transcript):
    """Each rejected line is shown after the step that read it; of many, the first 20, and how many more."""
    monkeypatch.setattr("hmxgraph.cli.watch._PAUSE_SECONDS", 0.0)
    shown = []
    append(transcript, line(0) + "no JSON\n")
    run = _Run(graph, watch(), Event(), lambda _progress, _note, problems: shown.append(problems), compiles=False)
    run.follow(once=True)
    assert [(len(problems), problems[0][:9]) for problems in shown if problems] == [(1, "rejected:")]
    assert f"{transcript}, line 2: $: found" in shown[0][0]
    shown.clear()
    append(transcript, "no JSON\n" * 25)
    run.follow(once=True)
    assert [problems[-1] for problems in shown if problems] == ["rejected: 5 more"]
    assert ", lines 3, 4, 5, 6, 7 and 15 more: " in shown[0][0]


def test_lines_that_name_no_user_get_that_of_the_watch(graph, tmp_path, transcript, stored):
    """What an unnamed user says in followed files holds for the given user."""
    append(transcript, plain(0))
    Watch(graph, transcript, Positions(tmp_path / "positions.sqlite"), user_id="ann").step()
    [row] = stored.rows("MATCH (e:Event {tenant_id: $tenant_id}) RETURN e.metadata AS metadata")
    assert json.loads(row["metadata"])["user_id"] == "ann"


def test_a_file_dated_ahead_of_the_clock_is_stored(watch, once, transcript, stored):
    """A file that is read whole is stored even if its last change lies in the future."""
    export = transcript.with_name("export.json")
    export.write_text(f"[{line(0).strip()}]")
    os.utime(export, (4_000_000_000, 4_000_000_000))
    followed = watch()
    assert followed.step() == 1
    once(followed)
    assert texts(stored) == ["Request number 0"]


def test_a_single_look_stores_a_last_line_without_a_line_end(watch, once, transcript, stored):
    """With ``once``, a last line that is JSON is stored even if its line end is missing; a torn one is left."""
    append(transcript, line(0) + line(1).strip())
    torn = transcript.with_name("torn.jsonl")
    append(torn, line(2).replace("s1", "s2") + line(3)[:40])
    followed = watch()
    once(followed)
    assert texts(stored) == [f"Request number {n}" for n in range(3)]
    assert (followed.progress.unfinished, followed.progress.rejected) == (1, 0)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \n\n"])
def test_lines_after_one_that_was_stored_without_its_line_end_keep_their_numbers(
    watch, once, graph, transcript, tmp_path, line_end
):
    """The line end that arrives later is not counted as a line, and an ingest of the whole file stores nothing new."""
    append(transcript, plain(0) + plain(1).strip())
    once(watch())
    append(transcript, line_end)
    watch().step()
    append(transcript, plain(2) + plain(3))
    assert watch().step() == 2
    report = graph.ingest(transcript, format="messages")
    assert (report.accepted, report.duplicates, report.conflicts) == (0, 4, 0)
    position = Positions(tmp_path / "state" / "positions.sqlite").get(transcript)
    assert position.line == len(transcript.read_bytes().splitlines())


@pytest.mark.slow
def test_the_status_is_one_line_on_a_terminal(environment, transcript, stored):
    """At a terminal the status is updated in place; Ctrl-C compiles, leaves the last status and exits with 0."""
    append(transcript, line(0))
    terminal, child = pty.openpty()
    watching = subprocess.Popen(
        [*command(transcript, "--compile")[:-1]], env=environment | {"TERM": "xterm"}, stdout=child, stderr=child
    )
    os.close(child)
    until(lambda: len(texts(stored)) == 1)
    watching.send_signal(signal.SIGINT)
    shown = _read_all(terminal)
    assert watching.wait(WAIT) == 0
    assert "Traceback" not in shown
    last = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).strip().splitlines()[-1]
    assert last == "1 file, 1 line, 1 event stored; compiled 1 session, 0 new or changed artifacts"


@pytest.fixture
def environment(address, tenant_id, tmp_path):
    """The environment for a command that uses the test database."""
    return {
        **os.environ,
        "HMXGRAPH_URI": address.uri,
        "HMXGRAPH_USER": address.user,
        "HMXGRAPH_PASSWORD": address.password,
        "HMXGRAPH_DATABASE": address.database,
        "HMXGRAPH_TENANT": tenant_id,
        "HMXGRAPH_HOME": str(tmp_path / "home"),
        "COLUMNS": "200",
    }


def command(path, *options):
    """The command that watches the folder of *path*, without compiling unless *options* are given."""
    return [sys.executable, "-m", "hmxgraph", "watch", str(path.parent), *(options or ["--no-compile"]), "--json"]


@contextmanager
def running(arguments, environment):
    """Run the command during the block, then send Ctrl-C; ``last_words`` is its remaining output."""
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
            process.send_signal(signal.SIGINT)
            process.last_words = process.stdout.read()
            process.wait(WAIT)
        finally:
            process.kill()


def _statuses(watching):
    """The status lines that the command prints from now on."""
    for printed in watching.stdout:
        yield json.loads(printed)


def _read_all(terminal):
    """The terminal output of a program until it exits."""
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:  # the program closed its end of the terminal
        os.close(terminal)
    return shown.decode()


@pytest.mark.parametrize(("rehome", "counts"), [(True, (1, 0)), (False, (0, 1))])
def test_events_of_another_tenant_are_stored_only_where_asked(graph, tmp_path, rehome, counts):
    """Events of another tenant are rejected, unless moving them to this one was requested."""
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps(document(tenant_id="somebody-else")) + "\n")
    watched = Watch(graph, path, Positions(tmp_path / "positions.sqlite"), rehome=rehome)
    watched.step()
    assert (watched.progress.accepted, watched.progress.rejected) == counts
