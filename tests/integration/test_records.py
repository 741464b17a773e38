"""Searching records on the real server: filters, modes, compact hits, siblings, libraries; and concurrent writes."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from hmxgraph.api.records import Records
from hmxgraph.errors import InvalidRequest, InvalidTenant, NotFound, TaskError, UnknownChoice
from hmxgraph.graph import record_search
from hmxgraph.graph.record_search import search_of
from hmxgraph.protocol.records import FILTERS, MODES
from tests.task_makers import records_of
from tests.task_writer import PATIENCE, STEPS, write_as_process

FULL = {
    "status": "completed",
    "challenge_id": "c1",
    "thread_id": "th",
    "artifact_role": "pilot",
    "tool_name": "blast",
    "project_id": "p1",
    "agent_id": "ana",
    "session_id": "s1",
    "requested_action": "verify",
    "verification_status": "pending",
    "relation_kind": "supports",
}
AT = "2026-03-14T03:00:{:02d}Z"


@pytest.fixture
def task_id(tasks):
    """A started task."""
    return tasks.start("Sequence the soil samples", at=AT.format(0)).task_id


def ids(result):
    """The ids of hits or views."""
    return [hit.artifact_id for hit in result]


@pytest.mark.parametrize("words", ["", "microbes in soil"])
def test_each_exact_filter_finds_exactly_its_records(tasks, records, task_id, words):
    """Each of the eighteen filters finds exactly its records, with and without a query, alone and together."""
    start = records.search("sequence").hits[0].artifact_id
    record_id = records.create(
        "evidence",
        task_id=task_id,
        summary="Many microbes in this soil",
        reply_to_artifact_id=start,
        dataset_refs=[{"name": "soil", "version": "2"}],
        entity_refs=[{"name": "E. coli", "entity_type": "organism"}],
        **FULL,
    ).artifact_id
    records.create(
        "decision", task_id=task_id, summary="No microbes in soil", dataset_refs=[{"name": "x", "version": "2"}]
    )
    values = FULL | {
        "task_id": task_id,
        "artifact_kind": "evidence",
        "reply_to_artifact_id": start,
        "dataset_name": "soil",
        "dataset_version": "2",
        "entity_name": "E. coli",
        "entity_type": "organism",
    }
    assert set(values) == set(FILTERS)
    for name, value in values.items():
        assert record_id in ids(records.search(words, **{name: value})), name
        assert ids(records.search(words, **{name: "another"})) == [], name
    assert ids(records.search(words, **values)) == [record_id]
    assert ids(tasks.search(words, **values)) == [record_id]


def test_unknown_filters_and_modes_are_refused(records):
    """A misspelt filter, an unknown mode or an impossible limit is an error, never ignored."""
    for asked, refusal in (({"taskid": "t"}, InvalidRequest), ({"mode": "find_all"}, UnknownChoice)):
        with pytest.raises(refusal):
            records.search("x", **asked)
    for asked in ({"limit": 0}, {"token_budget": 0}):
        with pytest.raises(InvalidRequest):
            records.search("x", **asked)


def test_limits_are_the_same_everywhere(tasks, records):
    """Every search takes a whole number from 1 to 500 as its limit, and errors name the argument."""
    for limit in (0, -1, 501, "3", 1.5, True, None, 10**5_000):
        for ask in (tasks.search, records.search, records.find_failures, records.find_highlights, records.find_related):
            with pytest.raises(InvalidRequest, match=r"^invalid limit .*: expected a number of hits; give 1 to 500$"):
                ask("leak", limit=limit)
    for budget in (0, -1, "3", 1.5, True):
        with pytest.raises(InvalidRequest, match=r"^invalid token_budget .*: expected a number of tokens; give 1"):
            records.search("leak", token_budget=budget)


def test_a_limit_cuts_what_is_related(tasks, records, task_id):
    """``find_related`` returns at most *limit* records in each part."""
    for place in range(3):
        tasks.add_evidence(task_id, summary=f"Many microbes live in this soil, count {place}", agent_id="ana")
    counts = [len(records.find_related("Many microbes live in this soil", limit=limit).supporting) for limit in (1, 2)]
    assert counts == [1, 2]


@pytest.mark.parametrize("value", [5, None, ["a"], "\ud800"])
def test_words_and_ids_are_text(tasks, records, value):
    """An argument that is not text is refused, and the error names the argument."""
    for name, ask in (
        ("query", tasks.search),
        ("query", records.search),
        ("query", records.find_evidence),
        ("claim", records.find_related),
        ("artifact_id", records.get),
        ("thread_id", records.list_thread),
        ("task_id", tasks.get),
        ("task_id", tasks.resume),
    ):
        with pytest.raises(InvalidRequest, match=f"^invalid {name} .*: expected (text|valid Unicode); "):
            ask(value)
    if value is not None:
        with pytest.raises(InvalidRequest, match=r"^invalid reply_to_artifact_id .*: expected "):
            records.review(value, summary="x")
        for ask in (records.search, records.find_decisions, records.find_related):
            with pytest.raises(InvalidRequest, match=r"^invalid project_id .*: expected "):
                ask("leak", project_id=value)


def test_an_unknown_kind_is_reported_before_a_missing_task(records):
    """If both kind and task are wrong, the error is about the kind."""
    with pytest.raises(UnknownChoice, match="unknown kind 'nope'; choose one of task_start"):
        records.create("nope", summary="x")


def test_one_filter_gives_the_newest_first_each_once(graph, records, tasks, task_id):
    """Each filter returns the newest records first, once each, even if they name a data set or entity twice."""
    start = records.search("sequence").hits[0].artifact_id
    given = FULL | {"reply_to_artifact_id": start}
    named = {
        "dataset_refs": [{"name": "soil", "version": "2"}, {"name": "soil", "version": "2", "description": "again"}],
        "entity_refs": [{"name": name, "entity_type": "organism"} for name in ("E. coli", "e coli", "!!")],
    }
    made = {f"e{place}" for place in range(1, 6)}
    for place in (4, 1, 3, 5, 2):
        fields = {"artifact_id": f"e{place}", "summary": f"n{place}", "at": AT.format(place)} | given | named
        records.create("evidence", task_id=task_id, **fields)
    records.revision("e4", summary="better", supersedes=True, at=AT.format(9))
    values = given | {
        "task_id": task_id,
        "artifact_kind": "evidence",
        "dataset_name": "soil",
        "dataset_version": "2",
        "entity_name": "!!",
        "entity_type": "organism",
    }
    for name, value in values.items():
        newest_first = [record_id for record_id in ids(records.search(**{name: value})) if record_id in made]
        assert newest_first == ["e5", "e3", "e2", "e1"], name
        shown = [
            record_id for record_id in ids(records.search(include_hidden=True, **{name: value})) if record_id in made
        ]
        assert shown == ["e5", "e4", "e3", "e2", "e1"], name
    assert ids(records.search(entity_name="e coli", limit=2)) == ["e5", "e3"]
    assert graph.verify().findings == ()


@pytest.mark.parametrize("name", ["", *FILTERS])
def test_one_filter_reads_no_more_than_it_answers_with(graph, name):
    """Order and limit come from an index without sorting, so cost does not grow with the number of matches."""
    search = search_of("", {name: "x"} if name else {})
    statement = next(record_search.keys_of(graph._tenancy, search))
    explained = graph._connection._driver.execute_query("EXPLAIN " + statement.text, statement.parameters)
    operators = {operator.removesuffix("@neo4j") for operator in planned(explained.summary.plan)}
    assert "PartialTop" in operators
    # In a nearly empty store the planner scans the whole index instead of seeking in it.
    assert any(operator.endswith(("IndexSeek", "IndexScan")) for operator in operators)
    assert not operators & {"Sort", "Top", "PartialSort", "EagerAggregation", "NodeByLabelScan", "AllNodesScan"}


def planned(plan):
    """The operators of a plan."""
    return [plan["operatorType"], *(operator for child in plan.get("children", ()) for operator in planned(child))]


def test_filters_hold_however_many_records_there_are(monkeypatch, records, task_id):
    """All three ways to find the newest matches agree: recent records, full-text index, time index."""
    for place in range(12):
        agent = "ana" if place < 8 else "bo"
        records.create("evidence", task_id=task_id, summary=f"n{place}", agent_id=agent, at=AT.format(place + 1))
    expected = [f"n{place}" for place in range(7, 4, -1)]
    for recent, counted in ((1_000, 2_000), (2, 2_000), (2, 3)):
        monkeypatch.setattr(record_search, "RECENT", recent)
        monkeypatch.setattr(record_search, "MOST_FULLTEXT_HITS", counted)
        for filters in ({"agent_id": "ana"}, {"agent_id": "ana", "artifact_kind": "evidence"}):
            assert [hit.view.record.summary for hit in records.search(limit=3, **filters)] == expected


def test_each_mode_lifts_what_it_is_for(tasks, records, task_id):
    """With equal words, a mode ranks its own kinds first; without a query, it returns only those."""
    words = "assembly of contigs"
    tasks.progress(task_id, summary=words, next_step="go on")
    tasks.add_evidence(task_id, summary=words)
    records.decision(task_id, summary=words)
    run_id = tasks.run_start(task_id, command=words, why_chosen="w", inputs=["i"]).artifact_id
    tasks.run_finish(task_id, run_id=run_id, status="failed", summary=words)
    tasks.finish(task_id, summary=words, what_worked=[words])
    first = {mode: records.search(words, mode=mode).hits[0].view.artifact_kind for mode in MODES if mode != "generic"}
    assert first == {
        "brief_project": first["brief_project"],
        "resume_task": first["resume_task"],
        "find_failures": "run_finish",
        "find_decisions": "decision",
        "find_evidence": "evidence",
        "find_highlights": "task_finish",
    }
    assert first["brief_project"] in {"decision", "task_finish"}
    assert first["resume_task"] in {"task_progress", "run_finish", "task_finish"}
    assert {hit.view.artifact_kind for hit in records.search(mode="find_decisions")} == {"decision"}


def test_a_mode_finds_its_digest(tasks, records, task_id):
    """A search with mode ``find_failures`` includes the failure library."""
    run_id = tasks.run_start(task_id, command="c", why_chosen="w", inputs=["i"]).artifact_id
    tasks.run_finish(task_id, run_id=run_id, status="failed", summary="disk full")
    library = records.find_failures()
    assert library.digest.artifact_id in ids(records.search("disk full", mode="find_failures"))
    assert library.digest.trust_tier == "compiled_digest_hint"
    assert ids(library) == [library.records[0].artifact_id]


def test_compact_answers_keep_ids_and_trust(tasks, records, task_id):
    """Compact hits omit text and record; a token budget keeps the best hits and counts the omitted ones."""
    for place in range(6):
        tasks.add_evidence(task_id, summary=f"microbes {place} " + "of the deep soil " * 40)
    short = records.search("microbes", compact=True)
    for hit in short:
        document = hit.document()
        assert {"artifact_id", "task_id", "trust_tier", "promotion_state", "score"} <= document.keys()
        assert "artifact" not in document
        assert len(document["matched_text"]) <= 160
    budgeted = records.search("microbes", token_budget=500)
    assert 0 < len(budgeted) < 6
    assert budgeted.token_estimate <= 500
    assert budgeted.omitted == 6 - len(budgeted)
    assert ids(budgeted) == ids(short)[: len(budgeted)]


def test_siblings_of_one_event_come_with_the_hit(tasks, records, task_id):
    """Records with the hit's event tag and project are attached to it as siblings; others are not."""
    record_id = tasks.add_evidence(task_id, summary="microbes", tags=["event:e1", "entry:factual"]).artifact_id
    sibling_id = tasks.add_evidence(task_id, summary="rain fell", tags=["event:e1", "entry:relational"]).artifact_id
    tasks.add_evidence(task_id, summary="wind", tags=["event:e2"])
    elsewhere = tasks.start("Other", project_id="p2").task_id
    tasks.add_evidence(elsewhere, summary="hail", tags=["event:e1"])
    (hit,) = records.search("microbes", expand_event_siblings=True).hits
    assert (hit.artifact_id, [each["artifact_id"] for each in hit.expanded_siblings]) == (record_id, [sibling_id])
    assert records.search("microbes").hits[0].expanded_siblings == ()


@pytest.mark.parametrize("project", ["ours", None])
def test_siblings_are_found_among_those_of_other_projects(tasks, records, project):
    """Siblings are the earliest in the hit's project, however many records of other projects carry the tag."""
    own, other = (tasks.start("Goal", project_id=name, at=AT.format(0)).task_id for name in (project, "theirs"))
    for place in range(1, 31):
        tasks.add_evidence(other, summary=f"their rain {place}", tags=["event:e1"], at=AT.format(place))
    for place in range(31, 43):
        tasks.add_evidence(own, summary=f"rain {place}", tags=["event:e1"], at=AT.format(place))
    tasks.add_evidence(own, summary="microbes", tags=["event:e1"], at=AT.format(50))
    (hit,) = records.search("microbes", expand_event_siblings=True).hits
    expected = [f"evidence: rain {place}" for place in range(31, 39)]
    assert [each["text"] for each in hit.expanded_siblings] == expected


def test_a_superseded_record_is_hidden_unless_asked_for(tasks, records, task_id):
    """Only the successor is found; the old record is hidden, gives the reason, and cannot be superseded again."""
    old = tasks.add_evidence(task_id, summary="ten microbes", agent_id="ana").artifact_id
    new = records.revision(old, summary="twelve microbes", supersedes=True, agent_id="ana").artifact_id
    assert ids(records.search("microbes")) == [new]
    views = {hit.artifact_id: hit.view for hit in records.search("microbes", include_hidden=True)}
    assert (views[old].hidden_reason, views[old].superseded_by) == ("superseded", new)
    assert old not in tasks.resume(task_id).sources
    with pytest.raises(TaskError, match=f"already superseded by '{new}'"):
        records.revision(old, summary="thirteen", supersedes=True)


def test_a_forgotten_entity_is_named_again(graph, tasks, records, task_id):
    """An entity that was forgotten and is named again is stored as before, with the later time."""

    def entities():
        asked = "MATCH (e:Entity {tenant_id: $t, normalised: 'quokka'}) RETURN e {.name, .type, .status, .last_us} AS e"
        rows = graph._connection._driver.execute_query(asked, {"t": graph.tenant_id}).records
        return [record["e"] for record in rows]

    def tell(place):
        named = {"entity_refs": [{"name": "Quokka", "entity_type": "organism"}], "session_id": f"s{place}"}
        records.create("evidence", task_id=task_id, summary=f"n{place}", at=AT.format(place), **named)
        return entities()

    (known,) = tell(1)
    (seen,) = tell(2)
    assert seen == known | {"last_us": known["last_us"] + 1_000_000}
    graph.forget(session_id="s1")
    graph.forget(session_id="s2")
    assert entities() == []
    (again,) = tell(9)
    assert again == known | {"last_us": known["last_us"] + 8_000_000}
    assert len(records.search(entity_name="Quokka")) == 1
    assert graph.verify().findings == ()


def test_a_thread_holds_its_replies_in_order(tasks, records, task_id):
    """A thread lists its records oldest first, whether it has a name of its own or is the task's default thread."""
    evidence_id = tasks.add_evidence(task_id, summary="a", thread_id="th", at=AT.format(3)).artifact_id
    later_reply = records.review(evidence_id, summary="b", at=AT.format(5)).artifact_id
    earlier_reply = records.review(evidence_id, summary="c", at=AT.format(4)).artifact_id
    assert ids(records.list_thread("th")) == [evidence_id, earlier_reply, later_reply]
    assert [view.artifact_kind for view in records.list_thread(task_id)] == ["task_start"]


def test_trust_is_not_part_of_what_is_stored(tasks, records, task_id):
    """Self-verification and a stated promotion state do not raise trust; stating "verified" is refused."""
    evidence_id = tasks.add_evidence(task_id, summary="a", agent_id="ana", promotion_state="raw").artifact_id
    records.verification(evidence_id, summary="me again", supports_claim=True, agent_id="ana")
    assert (records.get(evidence_id).trust_tier, records.get(evidence_id).promotion_state) == (
        "canonical_record",
        "raw",
    )
    with pytest.raises(TaskError, match="cannot make its own record verified"):
        tasks.add_evidence(task_id, summary="b", promotion_state="verified")


def test_two_agents_writing_to_one_thread_lose_nothing(graph, tasks, records, task_id):
    """Two concurrent writers store forty records with their events, in a sequence without gaps."""

    def write(agent):
        return [
            tasks.add_evidence(task_id, summary=f"{agent} {place}", agent_id=agent).artifact_id for place in range(20)
        ]

    with ThreadPoolExecutor(2) as pool:
        written = [name for names in pool.map(write, ("ana", "bo")) for name in names]
    assert sorted(ids(records.list_thread(task_id))[1:]) == sorted(written)
    counted = graph._connection._driver.execute_query(
        "MATCH (:TaskRecord {tenant_id: $t})-[:EVIDENCED_BY]->(e:Event) RETURN e.sequence AS at ORDER BY at",
        {"t": graph.tenant_id},
    )
    assert [record["at"] for record in counted.records] == list(range(41))
    assert set(tasks.resume(task_id).sources) >= set(written)


def test_two_processes_writing_to_one_thread_lose_nothing(graph, records, task_id, address):
    """Two processes with their own drivers store every record and event, in a sequence without gaps."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    agents = [
        context.Process(target=write_as_process, args=(address, graph.tenant_id, name, task_id, barrier, results))
        for name in ("ana", "bo")
    ]
    for agent in agents:
        agent.start()
    written = [name for _ in agents for name in results.get(timeout=PATIENCE)]
    for agent in agents:
        agent.join(PATIENCE)
    assert len(set(written)) == 2 * 2 * STEPS
    assert sorted(ids(records.list_thread(task_id))[1:]) == sorted(written)
    counted = graph._connection._driver.execute_query(
        "MATCH (r:TaskRecord {tenant_id: $t})-[:EVIDENCED_BY]->(e:Event) RETURN e.sequence AS at ORDER BY at",
        {"t": graph.tenant_id},
    )
    assert [record["at"] for record in counted.records] == list(range(len(written) + 1))
    assert graph.verify().ok


def test_racing_revisions_leave_one_successor(tasks, records, task_id):
    """If several revisions race to supersede one record, one wins, and the others' errors name the winner."""
    old = tasks.add_evidence(task_id, summary="a").artifact_id

    def revise(place):
        try:
            return records.revision(old, summary=f"b{place}", supersedes=True).artifact_id
        except TaskError as error:
            return error

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(revise, range(4)))
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert records.get(old).superseded_by == winner
    assert all(winner in str(outcome) for outcome in outcomes if not isinstance(outcome, str))


def test_racing_starts_leave_one_task(graph, tasks, records):
    """If several calls race to start one task, one wins, and the others get an error that it exists."""
    for round_ in range(5):
        barrier = Barrier(4)

        def start(place, task_id=f"shared-{round_}", barrier=barrier):
            barrier.wait(PATIENCE)
            try:
                return tasks.start(f"Goal {place}", task_id=task_id).artifact_id
            except TaskError as error:
                return error

        with ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(start, range(4)))
        (winner,) = [outcome for outcome in outcomes if isinstance(outcome, str)]
        assert all("was started before" in str(outcome) for outcome in outcomes if not isinstance(outcome, str))
        assert ids(records.list_thread(f"shared-{round_}")) == [winner]
        assert tasks.get(f"shared-{round_}").properties["goal"] == records.get(winner).record.goal
    assert graph.verify().ok


def test_digests_miss_nothing_written_beside_them(tasks, records, task_id):
    """Records written while a library is being refreshed are in it or leave it stale."""

    def write(place):
        return records.decision(task_id, summary=f"decided {place}").artifact_id

    with ThreadPoolExecutor(3) as pool:
        written = [pool.submit(write, place) for place in range(12)]
        for _ in range(6):
            records.find_decisions()
    names = {each.result() for each in written}
    digest = records.find_decisions(limit=50).digest
    assert names <= set(digest.record.related_artifact_ids)


def test_nothing_is_related_to_nothing(records):
    """An empty claim is refused; a claim that no record mentions is ungrounded."""
    with pytest.raises(NotFound):
        records.find_related(" ")
    assert records.find_related("The moon is made of cheese").grounding_status == "ungrounded"


def test_tenants_do_not_see_each_other(graph, tasks, records, task_id, address):
    """A tenant's records cannot be searched, listed or read from another tenant."""
    import hmxgraph  # noqa: PLC0415

    tasks.add_evidence(task_id, summary="microbes", artifact_id="same")
    login = {"user": address.user, "password": address.password, "database": address.database}
    with hmxgraph.connect(address.uri, tenant_id=f"{graph.tenant_id}-other", **login) as other:
        assert ids(records_of(other).search("microbes")) == []
        assert records_of(other).list_thread(task_id) == ()
        with pytest.raises(NotFound):
            records_of(other).get("same")


@pytest.fixture
def before(graph):
    """The tenant that held the project last year."""
    with graph.for_tenant(f"{graph.tenant_id}-before") as former:
        yield former


def write_about(graph, project, *summaries, first=1):
    """Add evidence to a task of *project*, one second apart; return the ids."""
    task = graph.tasks.start(f"Keep {project} well", project_id=project, at=AT.format(0)).task_id
    return [
        graph.tasks.add_evidence(
            task, summary=summary, project_id=project, agent_id="ana", at=AT.format(second)
        ).artifact_id
        for second, summary in enumerate(summaries, start=first)
    ]


def test_a_search_covers_the_scopes_that_a_project_had_before(graph, before):
    """Aliases add former projects, also of other tenants, to one ranking; each hit names its origin."""
    [today] = write_about(graph, "parser", "The parser leaks a buffer on reload", first=3)
    [renamed] = write_about(graph, "lexer", "A leak of the buffer in the lexer")
    [former] = write_about(before, "parser", "The buffer leaked")
    write_about(before, "billing", "The buffer of invoices leaks")
    aliases = ["lexer", (before.tenant_id, "parser"), "lexer", "nobody"]
    result = graph.records.search("buffer leak", project_id="parser", artifact_kind="evidence", aliases=aliases)
    assert {hit.artifact_id: (hit.origin.tenant_id, hit.origin.project_id) for hit in result} == {
        today: (graph.tenant_id, "parser"),
        renamed: (graph.tenant_id, "lexer"),
        former: (before.tenant_id, "parser"),
    }
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert [each["hits"] for each in result.document()["scope_expansion"]] == [1, 1, 1, 0]
    assert result.document()["hits"][0]["origin"]["project_id"]
    newest = graph.records.search(project_id="parser", artifact_kind="evidence", aliases=aliases, limit=1)
    assert (ids(newest), [count for _, count in newest.scope_expansion]) == ([today], [1, 0, 0, 0])


def test_without_aliases_a_search_stays_in_its_project(graph, before):
    """Without aliases no other scope is read, and the result says nothing about scopes."""
    write_about(before, "parser", "The buffer leaked")
    [today] = write_about(graph, "parser", "The parser leaks a buffer")
    result = graph.records.search("buffer", project_id="parser", artifact_kind="evidence")
    assert ids(result) == [today]
    assert result.hits[0].origin is None
    assert "scope_expansion" not in result.document()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"aliases": ["lexer"]}, "project_id"),
        ({"project_id": "parser", "aliases": "lexer"}, "aliases"),
        ({"project_id": "parser", "aliases": [5]}, "aliases"),
        ({"project_id": "parser", "aliases": [("a", "b", "c")]}, "aliases"),
        ({"project_id": "parser", "aliases": [("", "lexer")]}, "empty"),
        ({"project_id": "parser", "aliases": [f"p{number}" for number in range(17)]}, "at most 16"),
    ],
)
def test_wrong_aliases_are_refused(records, options, says):
    """Bad aliases raise one clear error that names the argument."""
    with pytest.raises((InvalidRequest, InvalidTenant), match=says):
        records.search("buffer", **options)


def test_aliases_do_not_reach_into_another_database(graph):
    """With one database per tenant, aliases to other tenants are refused."""
    records = Records(graph._tenancy, graph._connection, own_database=True)
    with pytest.raises(InvalidRequest, match="connect to that tenant instead"):
        records.search(project_id="parser", aliases=[("acme-2024", "parser")])
    assert not records.search(project_id="parser", aliases=["lexer"]).hits
