"""Packs as of an earlier time on the real server: later data neither appears in them nor crowds anything out."""

import pytest
from neo4j import GraphDatabase

from hmxgraph.protocol.timestamps import iso
from tests.session_makers import START, Script, event, order_session

CODEWORD = "The rollback codeword for the payments cluster is heron"
ASKED = "What is the rollback codeword for the payments cluster?"
THEN = iso(START + 60_000_000)
LATER = 86_400


@pytest.fixture
def graph(personal_graph):
    """The memory of a single person: what they say in one session holds in the next."""
    return personal_graph


def message(tenant_id, session, second, text, **optional):
    """A user message, this number of seconds after the start."""
    return event(session, second, "message", {"role": "user", "text": text}, tenant=tenant_id, **optional)


def later(tenant_id, count, text):
    """The same text in *count* sessions, a day later."""
    return [message(tenant_id, f"later-{number}", LATER + number, text) for number in range(count)]


def contents(pack):
    """The contents of a pack's entries."""
    return {entry.content for entry in pack.entries}


def test_later_events_do_not_crowd_out_earlier_ones(graph):
    """An event is found as of its time despite better matches later; if there are too many, the pack says so."""
    graph.ingest([message(graph.tenant_id, "old", 1, CODEWORD)])
    graph.ingest(later(graph.tenant_id, 400, "rollback codeword payments cluster"))
    pack = graph.pack(ASKED, as_of=THEN)
    assert f"user: {CODEWORD}" in contents(pack)
    assert not pack.metadata["pool"]["truncated"]
    more = [message(graph.tenant_id, f"more-{n}", 2 * LATER, "rollback codeword payments cluster") for n in range(1200)]
    graph.ingest(more)
    assert graph.pack(ASKED, as_of=THEN).metadata["pool"]["truncated"]


def test_later_knowledge_does_not_crowd_out_earlier_knowledge(graph):
    """A memory is found as of its time, however many better matches were added later."""
    graph.remember("The gadget is stored in the hall of the old museum", kind="fact", at=iso(START))
    for number in range(70):
        graph.remember(f"gadget stored {number}", kind="fact", at=iso(START + LATER * 1_000_000))
    pack = graph.pack("Where is the gadget stored?", as_of=THEN, sections=["facts"])
    assert contents(pack) == {"The gadget is stored in the hall of the old museum"}


def test_what_had_expired_is_marked_although_it_was_replaced_later(graph):
    """A message is marked as superseded once what it states has expired, even if another answer came later."""
    blue = [(1, "My favorite color is blue"), (3, "As I said, my favorite color is blue")]
    graph.ingest([message(graph.tenant_id, f"old-{second}", second, text) for second, text in blue])
    expires = iso(START + 30_000_000)
    graph.remember("My favorite color is blue", kind="fact", at=iso(START + 4_000_000), expires=expires)
    graph.ingest([message(graph.tenant_id, "new", LATER, "My favorite color is green")])
    pack = graph.pack("What is my favorite color?", as_of=THEN)
    assert "[superseded] user: My favorite color is blue" in pack.text


def test_hard_policies_are_always_packed(graph):
    """An as-of pack holds every hard policy known at that time, however many there are, and no later one."""
    for number in range(65):
        graph.remember(f"Never open gate {number}", kind="policy", hard=True, at=iso(START))
    for number in range(5):
        graph.remember(f"Never close door {number}", kind="policy", hard=True, at=iso(START + LATER * 1_000_000))
    now, then = (graph.pack("Plan the lunch", budget=8000, as_of=time) for time in (None, THEN))
    assert len(now.entries) == 70
    assert contents(then) == {f"Never open gate {number}" for number in range(65)}


@pytest.mark.parametrize(
    ("said", "question", "known"),
    [
        ("Alice lives in Boston", "Where does Alice live?", "Alice lives in Boston."),
        ("See src/gadget.py", "How often is src/gadget.py mentioned?", "src/gadget.py (file), mentioned once"),
    ],
)
def test_what_was_seen_later_does_not_count(graph, said, question, known):
    """Later mentions change neither content, provenance nor score of entries in an as-of pack."""

    def known_entries():
        pack = graph.pack(question, as_of=THEN, sections=["facts", "graph_relations"])
        return [(each.content, each.provenance, each.relevance_score) for each in pack.entries if each.content == known]

    graph.ingest([message(graph.tenant_id, "first", 1, said)])
    before = known_entries()
    assert len(before) == 1
    graph.ingest(later(graph.tenant_id, 5, said))
    assert known_entries() == before


def test_a_pack_of_the_past_reports_records_beyond_its_limit(graph, tasks, address):
    """An as-of pack says so if there were more task records at that time than it considers."""
    task_id = tasks.start("Mend it", agent_id="ana", at=iso(START)).task_id
    tasks.add_evidence(task_id, summary="gadget", supports_claim=True, agent_id="ana", at=iso(START + 1_000_000))
    graph.ingest([message(graph.tenant_id, "later", LATER, "Something else")])

    def truncated():
        return graph.pack("gadget", as_of=THEN, sections=["episodes", "evidence"]).metadata["pool"]["truncated"]

    assert not truncated()
    copies = (
        "MATCH (record:TaskRecord {tenant_id: $tenant_id, artifact_kind: 'evidence'}) UNWIND range(1, 40) AS number "
        "CREATE (copy:TaskRecord) "
        "SET copy = record {.*, key: record.key + number, artifact_id: record.artifact_id + number}"
    )
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query(copies, tenant_id=graph.tenant_id, database_=address.database)
    assert truncated()


def test_the_outcome_of_a_session_shows_from_its_feedback_on(graph):
    """An example is marked with negative feedback only from the time it was given until it is corrected."""
    graph.ingest(order_session("s1", "cancel", signal="negative", tenant=graph.tenant_id))
    told = [iso(START + second * 1_000_000) for second in (8, 60)]
    texts = [graph.pack("Please cancel my order", as_of=moment).text for moment in told]
    assert [" (this session ended with negative feedback)\n" in text for text in texts] == [False, True]
    praise = {"signal": "positive", "target_event_id": "s1/2", "comment": ""}
    graph.ingest([event("s1", 90, "feedback", praise, tenant=graph.tenant_id)])
    assert "negative feedback)" not in graph.pack("Please cancel my order").text


def test_a_session_is_a_log_from_its_257th_event_on(graph):
    """In a long session only the matching step is packed; as of a time before that, the whole session is."""
    script = Script("work", tenant=graph.tenant_id).user("Deploy the staging environment")
    script.agent("First the health of the cluster.").run("helm status web --output json")
    script.agent("Now apply the manifests of staging:").run("kubectl apply -f staging.yaml")
    graph.ingest(script.events)
    asked = "Apply the staging manifests with kubectl"
    whole = contents(graph.pack(asked, as_of=THEN))
    graph.ingest(message(graph.tenant_id, "work", LATER + number, f"remark {number}") for number in range(256))
    assert contents(graph.pack(asked, as_of=THEN)) == whole
    step = {"assistant: Now apply the manifests of staging:", "exec(command=kubectl apply -f staging.yaml)"}
    assert step <= contents(graph.pack(asked)) < whole


def test_a_request_is_a_goal_until_its_session_reports_that_it_was_carried_out(graph):
    """No feedback is needed: the last result is no failure, and the assistant reports it."""
    tenant_id, call = graph.tenant_id, {"tool": "bash", "call_id": "c1"}
    graph.ingest(
        [
            message(tenant_id, "depot", 1, "Deploy depot to staging"),
            event("depot", 2, "tool_call", {**call, "arguments": {"command": "make deploy"}}, tenant=tenant_id),
            event("depot", 3, "tool_result", {**call, "result": "deployed depot"}, tenant=tenant_id),
            event("depot", 4, "message", {"role": "assistant", "text": "depot is deployed."}, tenant=tenant_id),
        ]
    )

    def goals(second):
        asked = graph.pack("Deploy depot to staging", as_of=iso(START + second * 1_000_000))
        return [entry.content for entry in asked.entries if entry.section == "goals"]

    assert goals(3) == ["Deploy depot to staging"]
    assert goals(4) == []
    graph.ingest([message(tenant_id, "depot", 5, "No, that's wrong, it is not there")])
    assert (goals(4), goals(5)) == ([], ["Deploy depot to staging"])
