"""Backups of a tenant: exact when restored to the same tenant, replayed under another, refused if damaged."""

import asyncio
import gzip
import json
import os
import resource
from concurrent.futures import ThreadPoolExecutor

import pytest

import hmxgraph
from hmxgraph.compiler.reconcile import COMPILER
from hmxgraph.errors import BackupRefused, NotWritten
from hmxgraph.graph import lifecycle
from hmxgraph.graph.plan import ask, bind, read, write
from hmxgraph.protocol.states import State
from tests.artifact_makers import policy, schema
from tests.integration.proxies import proxied
from tests.session_makers import deployment
from tests.task_makers import tasks_of

STATE = State("thread-1", "checkpoint", "", "c1", "", "json", b"\x00\xff{}")


def sessions():
    """The events of six successful deployments."""
    return [event for number in range(6) for event in deployment(f"s{number}")]


@pytest.fixture
def lived(graph):
    """A tenant with sessions, memories, artifacts, a resolved conflict, a task, and an erased session."""
    graph.ingest(sessions(), rehome=True)
    graph.compile()
    old = graph.remember("The owner of staging is Ann")
    graph.remember("The owner of staging is Bo", supersedes=old.memory_id)
    graph.record_artifact(schema("a1", step="Apply"))
    graph.supersede("a1", schema("a2", step="Apply and wait", second=1))
    graph.record_artifact(policy("p1", "Use an online migration"))
    (opened,) = graph.record_artifact(policy("p2", "Lock the table")).conflicts
    graph.resolve(opened, keep="p1", reason="measured")
    graph.memory.delete(graph.remember("The canteen is closed on Fridays").memory_id, reason="not true")
    tasks = tasks_of(graph)
    tasks.start("Deploy staging", task_id="t1", agent_id="ana")
    tasks.finish("t1", status="completed", summary="Deployed", agent_id="ana")
    graph.append("message", {"role": "user", "text": "The number is 4711"}, session_id="gone")
    graph.forget(session_id="gone")
    graph.states.keep([STATE])
    return graph


def picture(graph):
    """Everything that a reader can see of a tenant."""
    return {
        "digest": graph.digest().document(),
        "health": {name: value for name, value in graph.health().items() if name != "seconds"},
        "verify": graph.verify().document(),
        "pack": graph.pack("Deploy staging").document() | {"assembly_metadata": None},
        "memories": [memory.document() for memory in graph.memories(status=None)[0]],
        "artifacts": [artifact.document() for artifact in graph.artifacts(status=None, limit=200).artifacts],
        "conflicts": [conflict.document() for conflict in graph.conflicts(status=None)],
        "chain": graph.chain("a1").document(),
        "task": graph.tasks.get("t1").document(),
    }


def test_a_restored_tenant_equals_the_original(lived, tmp_path, connection):
    """A restored tenant has the same contents, digest and packs, and the same events are not learned again."""
    before = picture(lived)
    seen = []
    report = lived.backup(tmp_path / "all.ndjson.gz", progress=seen.append)
    assert report.nodes == seen[-1] > 50
    with pytest.raises(BackupRefused, match="is not empty"):
        lived.restore(tmp_path / "all.ndjson.gz")
    emptied(connection, lived.tenant_id)
    restored = lived.restore(tmp_path / "all.ndjson.gz")
    assert (restored.ok, restored.same_digest, restored.nodes) == (True, True, report.nodes)
    assert picture(lived) == before
    assert states(lived) == [STATE.body]
    lived.backup(tmp_path / "again.ndjson.gz")
    assert counts(tmp_path / "again.ndjson.gz") == counts(tmp_path / "all.ndjson.gz")
    assert lived.ingest(sessions(), rehome=True).accepted == 0
    assert not lived.compile().created


def test_a_tenant_that_only_keeps_states_is_not_empty(graph, lived, address, tmp_path):
    """States kept by a framework are not mistaken for the remains of an interrupted restore."""
    lived.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-c", **login) as other:
        other.states.keep([STATE])
        with pytest.raises(BackupRefused, match="is not empty"):
            other.restore(tmp_path / "all.ndjson")
        assert states(other) == states(lived) == [STATE.body]


def test_an_interrupted_restore_is_begun_again(lived, tmp_path, connection):
    """What an interrupted restore left behind is not counted, and the restore can be repeated."""
    lived.backup(tmp_path / "all.ndjson")
    emptied(connection, lived.tenant_id)
    with pytest.raises(RuntimeError):
        lived.restore(tmp_path / "all.ndjson", progress=interrupt)
    assert lived.health()["event_count"] in {0, None}
    assert lived.restore(tmp_path / "all.ndjson").ok


@pytest.mark.parametrize("statement", ["begin", "create", "link", "last"])
def test_a_restore_whose_answers_are_lost(lived, address, tmp_path, connection, statement):
    """If the answer to a commit is lost, nothing is restored twice: the restore begins again by itself."""
    lived.backup(tmp_path / "all.ndjson.gz")
    before = picture(lived)
    emptied(connection, lived.tenant_id)
    login = {"user": address.user, "password": address.password, "database": address.database}
    with proxied(address.uri) as proxy, hmxgraph.connect(proxy.uri, tenant_id=lived.tenant_id, **login) as graph:
        cut, sent = iter(["cut_answer"]), []

        def answered(line):
            sent.append(line.split()[0].removeprefix("backups/"))
            # The last step removes the marker, then creates the tenant's own node.
            if sent[-1] == statement or (statement == "last" and sent[-2:] == ["remove", "create"]):
                proxy.fault = next(cut, None)

        graph.trace(answered)
        restored = graph.restore(tmp_path / "all.ndjson.gz")
        assert (restored.ok, restored.same_digest, next(cut, "used")) == (True, True, "used")
    assert picture(lived) == before
    lived.backup(tmp_path / "again.ndjson.gz")
    assert counts(tmp_path / "again.ndjson.gz") == counts(tmp_path / "all.ndjson.gz")


@pytest.mark.parametrize("other_tenant", [False, True])
def test_two_restores_at_once(lived, address, tmp_path, connection, other_tenant):
    """Two restores of one file into one tenant leave it whole; one of them may be refused."""
    lived.backup(tmp_path / "all.ndjson")
    before = lived.digest().document()
    emptied(connection, lived.tenant_id)
    tenant = f"{lived.tenant_id}-two" if other_tenant else lived.tenant_id
    login = {"user": address.user, "password": address.password, "database": address.database}

    def restored(_):
        with hmxgraph.connect(address.uri, tenant_id=tenant, **login) as graph:
            try:
                return graph.restore(tmp_path / "all.ndjson").ok
            except BackupRefused:
                return None

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(restored, range(2)))
    assert True in results
    assert False not in results
    with hmxgraph.connect(address.uri, tenant_id=tenant, **login) as graph:
        assert graph.verify().ok
        assert graph.digest().document() == before


@pytest.mark.parametrize("moment", ["change_status", "_transition"])
def test_a_restore_that_another_overtakes(lived, address, tmp_path, monkeypatch, moment):
    """A change of status that another restore made, before this one looks or while it writes, is no error."""
    lived.record_artifact(policy("p3", "Ask first", condition="a holiday", status="draft"))
    lived.transition("p3", "active")
    lived.backup(tmp_path / "all.ndjson")
    original, overtaken = getattr(lifecycle, moment), []
    login = {"user": address.user, "password": address.password, "database": address.database}
    with hmxgraph.connect(address.uri, tenant_id=f"{lived.tenant_id}-two", **login) as graph:

        def second(tenancy, artifact_id, *change, **options):
            first = original(tenancy, artifact_id, *change, **options)
            done = graph._connection.perform(write(lambda: first) if moment == "_transition" else first)
            overtaken.append(done.status)
            if done.status == "active":
                graph._connection.perform(transition(tenancy, artifact_id, "deprecated"))
            return (yield from original(tenancy, artifact_id, *change, **options))

        transition = lifecycle.transition
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle, moment, second)
            assert graph.restore(tmp_path / "all.ndjson").ok
        assert {"active", "deprecated"} <= set(overtaken)
        assert graph.verify().ok


def test_a_backup_replaces_no_device(lived, tmp_path):
    """A backup is not written over anything but a file, here a pipe: it would replace it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotWritten, match="not a file"):
        lived.backup(tmp_path / "pipe")
    assert not (tmp_path / "pipe").is_file()


def test_another_tenant_replays_a_backup(lived, address, tmp_path):
    """Another tenant stores the events, recorded artifacts and tasks and derives the rest, also asynchronously."""
    lived.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}

    async def replayed():
        async with hmxgraph.connect_async(address.uri, tenant_id=f"{lived.tenant_id}-b", **login) as other:
            return await other.restore(tmp_path / "all.ndjson")

    report = asyncio.run(replayed())
    assert (report.ok, report.same_digest) == (True, None)
    with hmxgraph.connect(address.uri, tenant_id=f"{lived.tenant_id}-b", **login) as other:
        ours, theirs = picture(lived), picture(other)
        assert theirs["digest"] == ours["digest"]
        assert {memory["text"] for memory in theirs["memories"]} == {memory["text"] for memory in ours["memories"]}
        titles = [{(version["title"], version["status"]) for version in seen["artifacts"]} for seen in (ours, theirs)]
        assert titles[0] <= titles[1]
        decided = [{(each["text"], each["status"]) for each in seen["memories"]} for seen in (ours, theirs)]
        assert decided[0] == decided[1]
        assert other.pack("Is the canteen closed on Fridays?").text == ""
        assert [(each["status"], each["kept_id"]) for each in theirs["conflicts"]] == [("resolved", "p1")]
        assert theirs["task"]["status"] == ours["task"]["status"]


def test_a_replay_keeps_the_order_of_arguments_and_results(graph, address, tmp_path):
    """The packs of a replay show calls and results as the original does, with their fields in the order given."""
    call = {"tool_name": "refund", "arguments": {"patient": "P-1003", "amount": 20}, "call_id": "c"}
    graph.append("tool_call", call, session_id="s")
    result = {"tool_name": "refund", "result": {"status": "ok", "balance": 0}, "success": True, "call_id": "c"}
    graph.append("tool_result", result, session_id="s")
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        pack = other.pack("refund of P-1003").text
    assert "refund(patient=P-1003, amount=20)" in pack
    assert pack == graph.pack("refund of P-1003").text


def test_decisions_about_memories_are_replayed(graph, address, tmp_path):
    """What was superseded, deleted or lost a conflict does not hold in a replay either; what was stated again does."""
    old = graph.remember("The owner of staging is Ann")
    graph.remember("The owner of staging is Bo", supersedes=old.memory_id)
    graph.memory.delete(graph.remember("The canteen is closed on Fridays").memory_id, reason="not true")
    graph.memory.delete(graph.remember("Releases need two reviews").memory_id)
    graph.remember("Releases need two reviews")
    three = graph.remember("The staging cluster has three nodes")
    graph.remember("The staging cluster has five nodes")
    (conflict,) = graph.conflicts()
    graph.resolve(conflict.conflict_id, keep=three.memory_id, reason="counted")
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        for question in ("Who owns staging?", "Is the canteen closed?", "Do releases need reviews?", "How many nodes?"):
            assert other.pack(question).text == graph.pack(question).text, question
        (resolved,) = other.conflicts(status="resolved")
        kept = next(side.text for side in resolved.sides if side.side_id == resolved.kept_id)
        assert (kept, resolved.resolution) == ("The staging cluster has three nodes", "counted")


def test_a_replacement_by_hand_that_was_replaced_later_is_replayed(graph, address, tmp_path):
    """An answer that replaced another by its id, or by hand in other words, keeps its place between the answers."""
    paris = graph.remember("Ann lives in Paris", at="2026-01-01T00:00:00Z")
    graph.remember("Ann lives in Rome", supersedes=paris.memory_id, at="2026-02-01T00:00:00Z")
    graph.remember("Ann lives in Berlin", at="2026-03-01T00:00:00Z")
    oslo = graph.remember("Bob lives in Oslo", at="2026-01-01T00:00:00Z")
    graph.memory.supersede(oslo.memory_id, "Bob has no fixed address", at="2026-02-01T00:00:00Z")
    graph.remember("Bob lives in Bern", at="2026-03-01T00:00:00Z")
    before = succession(graph)
    assert ("Ann lives in Rome", "deprecated", "Ann lives in Berlin") in before
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        assert succession(other) == before


def succession(graph):
    """The text and status of each memory, and the text of its successor."""
    memories = graph.memories(status=None)[0]
    texts = {memory.memory_id: memory.text for memory in memories}
    successors = {memory.text: graph.memory.get(memory.memory_id).superseded_by for memory in memories}
    return sorted((memory.text, memory.status, texts.get(successors[memory.text], "")) for memory in memories)


def test_a_memory_with_much_evidence_is_replayed(graph, address, tmp_path):
    """A memory that was observed often and stated again after its deletion holds in a replay, too."""
    text = "Releases need two reviews"
    *_, memory = graph.remember_all([text] * 105)
    graph.memory.delete(memory.memory_id)
    graph.remember(text)
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        assert [(each.text, each.status) for each in other.memories()[0]] == [(text, "promoted")]
        assert other.pack("Do releases need reviews?").text == graph.pack("Do releases need reviews?").text != ""


class _Interruption:
    """A progress callback that fails at its *after*-th call."""

    def __init__(self, after):
        self.left = after

    def __call__(self, _done):
        self.left -= 1
        if not self.left:
            raise RuntimeError


def test_an_interrupted_replay_is_continued(lived, address, tmp_path, monkeypatch):
    """A replay interrupted after some events, or before the artifacts, ends like an undisturbed one."""
    lived.backup(tmp_path / "all.ndjson")
    monkeypatch.setattr("hmxgraph.graph.replays._MOST_ROWS", 7)
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{lived.tenant_id}-d", **login) as other:
        for after in (1, 3, 5):
            with pytest.raises(RuntimeError):
                other.restore(tmp_path / "all.ndjson", progress=_Interruption(after))
        with monkeypatch.context() as patch:
            patch.setattr("hmxgraph.graph.replays.compile_tenant", interrupted_compilation)
            with pytest.raises(RuntimeError):
                other.restore(tmp_path / "all.ndjson")
        assert other.restore(tmp_path / "all.ndjson").ok
        ours, theirs = picture(lived), picture(other)
        assert theirs["digest"] == ours["digest"]
        with pytest.raises(BackupRefused, match="is not empty"):
            other.restore(tmp_path / "all.ndjson")


def test_only_the_same_file_continues_a_replay(lived, address, tmp_path):
    """An interrupted replay can be continued only with the same backup, so that two are never mixed."""
    lived.backup(tmp_path / "all.ndjson")
    lived.remember("The port of staging is 8443")
    lived.backup(tmp_path / "later.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{lived.tenant_id}-e", **login) as other:
        with pytest.raises(RuntimeError):
            other.restore(tmp_path / "all.ndjson", progress=interrupt)
        with pytest.raises(BackupRefused, match="is not empty"):
            other.restore(tmp_path / "later.ndjson")
        assert other.restore(tmp_path / "all.ndjson").ok


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-40], lambda text: text.replace("Ann", "Eve", 1), lambda _: "{}"]
)
def test_a_damaged_backup_is_refused(lived, tmp_path, damage):
    """A backup that is cut off, changed or something else entirely is refused."""
    path = tmp_path / "all.ndjson"
    lived.backup(path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(BackupRefused):
        lived.restore(path)


def test_a_backup_appears_whole_or_not_at_all(lived, tmp_path):
    """A failed backup leaves no partial file and does not touch an older one."""
    path = tmp_path / "all.ndjson"
    lived.backup(path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError):
        lived.backup(path, progress=interrupt)
    assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (before, ["all.ndjson"])
    with pytest.raises(NotWritten):
        lived.backup(tmp_path / "missing" / "all.ndjson")


@pytest.mark.parametrize("ending", ["ndjson", "ndjson.gz"])
def test_a_backup_that_does_not_fit_leaves_nothing(lived, tmp_path, ending):
    """If the disk has no room for the backup, no partial file is left to fill it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        with pytest.raises(NotWritten):
            lived.backup(tmp_path / f"all.{ending}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not [*tmp_path.iterdir()]


def states(graph):
    """The contents of the states that a framework kept."""
    return [state.body for state in graph.states.on_shelf("thread-1", "checkpoint")]


def interrupted_compilation(_tenancy, _options):
    """A compilation that fails at once."""
    raise RuntimeError


def interrupt(_nodes):
    """A progress callback that fails at its first call."""
    raise RuntimeError


def emptied(connection, tenant_id):
    """Remove everything of a tenant from the database."""
    rows = connection.perform(read(lambda: ask(bind("backups/ids", tenant_id=tenant_id))))
    connection.perform(write(lambda: ask(bind("backups/remove", tenant_id=tenant_id, ids=rows[0]["ids"]))))


def counts(path):
    """The last line of a backup without its hash, which depends on the server's ids."""
    last = json.loads(gzip.decompress(path.read_bytes()).splitlines()[-1])
    return {name: value for name, value in last.items() if name != "sha256"}


def replayed_artifacts(graph, address, tmp_path):
    """What artifacts say and became, in a tenant and in the replay of its backup under another one."""
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        return [said(each) for each in (graph, other)]


def said(graph):
    """The artifacts that were not compiled and their predecessors, and how many artifacts there are in force."""
    by_id = {artifact.artifact_id: artifact for artifact in graph.artifacts(status=None, limit=200).artifacts}
    by_hand = [artifact for artifact in by_id.values() if artifact.agent_id != COMPILER]
    before = [by_id[artifact.supersedes] for artifact in by_hand if artifact.supersedes]
    fields = ("artifact_id", "title", "version", "status", "supersedes", "superseded_by", "content")
    rows = sorted(tuple(repr(getattr(each, name)) for name in fields) for each in (*by_hand, *before))
    return rows, len(graph.artifacts(status="active", limit=200).artifacts)


def test_proposed_successors_are_replayed(graph, address, tmp_path):
    """Drafts that are open, rejected or joined the chain are replayed next to the versions that they were made for."""
    graph.record_artifact(schema("a1", step="Apply"))
    for name in ("lost", "rejected", "joined"):
        graph.supersede("a1", schema(name, step=f"Apply, then {name}", second=1, status="draft"))
    graph.transition("rejected", "deprecated", reason="too slow")
    graph.supersede("a1", schema("again", step="Apply, then rejected", second=1, status="draft"))
    graph.transition("joined", "active", reason="measured")
    graph.supersede("joined", schema("open", step="Apply and wait", second=2, status="draft"))
    graph.record_artifact(schema("b1", step="Delete"))
    graph.supersede("b1", schema("b2", step="Delete twice", second=1, status="draft"))
    graph.transition("b1", "archived")
    ours, theirs = replayed_artifacts(graph, address, tmp_path)
    assert theirs == ours
    assert len(ours[0]) > 7


@pytest.mark.parametrize("erased", [False, True], ids=["kept", "erased"])
@pytest.mark.parametrize("status", ["active", "draft"])
def test_successors_of_compiled_artifacts_are_replayed(graph, address, tmp_path, status, erased):
    """A compiled artifact that was continued by hand has its successor or proposal in a replay too, also if erased."""
    graph.ingest(sessions(), rehome=True)
    graph.compile()
    (compiled,) = graph.artifacts(artifact_type="task_schema").artifacts
    graph.supersede(compiled.artifact_id, schema("a2", step="Apply and wait", second=10**6, status=status))
    if erased:
        graph.forget(session_id="s0")
    ours, theirs = replayed_artifacts(graph, address, tmp_path)
    assert theirs[0] == ours[0]
    assert len(ours[0]) == 2
    assert erased == any("[erased]" in each[1] for each in theirs[0])
    assert erased or theirs == ours


def test_artifacts_of_a_tenant_are_valid_for_the_tenant_of_the_replay(graph, address, tmp_path):
    """A validity scope that names the tenant names the other tenant in a replay; further tenants stay."""
    own, other = graph.tenant_id, f"{graph.tenant_id}-b"
    for number, tenants in enumerate(([own], ["else", own], [other, own])):
        step = f"Apply {number}"
        graph.record_artifact(schema(f"a{number}", step=step, validity_scope={"tenant_ids": tenants}))
    graph.supersede("a0", schema("a9", step="Wait", second=1, validity_scope={"tenant_ids": [own]}))
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=other, **login) as replayed:
        assert replayed.restore(tmp_path / "all.ndjson").ok
        scopes = [replayed.artifact(f"a{number}").validity_scope.tenant_ids for number in (0, 1, 2, 9)]
        assert [list(scope) for scope in scopes] == [[other], ["else", other], [other], [other]]


def test_chains_that_exchanged_their_contents_are_replayed(graph, address, tmp_path):
    """A version may have had the content that another chain has now; ended chains and proposals likewise."""
    graph.record_artifact(schema("a1", step="Apply"))
    graph.record_artifact(schema("b1", step="Wait"))
    graph.supersede("a1", schema("a2", step="Ask", second=1))
    graph.supersede("b1", schema("b2", step="Apply", second=1))
    graph.supersede("a2", schema("a3", step="Wait", second=2))
    graph.record_artifact(schema("c1", step="Ask"))
    graph.transition("c1", "archived")
    graph.supersede("b2", schema("b3", step="Ask", second=2, status="draft"))
    graph.transition("b3", "deprecated")
    graph.record_artifact(schema("d1", step="Ask"))
    ours, theirs = replayed_artifacts(graph, address, tmp_path)
    assert theirs == ours
    assert {artifact_id for artifact_id, *_ in ours[0]} == {
        f"{name!r}" for name in ("a1", "a2", "a3", "b1", "b2", "b3", "c1", "d1")
    }


def test_events_dated_ahead_of_the_clock_stay_ahead_in_a_replay(graph, address, tmp_path):
    """An event that was dated too far ahead of the clock does not advance the logical time of a replay either."""
    graph.append("message", {"role": "user", "text": "I live in Rome"}, session_id="s", at="2100-01-01T00:00:00Z")
    graph.append("message", {"role": "user", "text": "I live in Berlin"}, session_id="s")
    graph.backup(tmp_path / "all.ndjson")
    login = {"user": address.user, "password": address.password}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-b", **login) as other:
        assert other.restore(tmp_path / "all.ndjson").ok
        assert other.health()["logical_us"] == graph.health()["logical_us"]
        assert [memory.text for memory in other.memories()[0]] == ["The user lives in Berlin."]
