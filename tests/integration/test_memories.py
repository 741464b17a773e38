"""Memories in the graph: stated, superseded, disputed, added by hand, listed, forgotten."""

from datetime import UTC, datetime
from functools import partial
from itertools import permutations

import pytest

from hmxgraph.errors import InvalidRequest, NotFound, UnknownChoice
from hmxgraph.graph.checks import verify
from hmxgraph.graph.conflicts import conflicts, resolve
from hmxgraph.graph.memories import memories, memory
from hmxgraph.graph.memory_operations import NewMemory, remember
from hmxgraph.graph.plan import Tenancy, read, state
from hmxgraph.graph.retention import forget
from hmxgraph.protocol.reports import ForgetCriteria
from hmxgraph.protocol.timestamps import microseconds
from hmxgraph.records.events import MemoryOperation
from tests.integration.ingested import Ingested
from tests.unit.ingest.making import document

CHAIN = """
MATCH (newer:Memory {tenant_id: $tenant_id})-[:SUPERSEDES]->(older:Memory)
RETURN newer.text AS newer, older.text AS older
ORDER BY newer, older
"""

CHAINED = """
MATCH (memory:Memory {tenant_id: $tenant_id})
WHERE memory.slot_key IS NOT NULL
RETURN memory.memory_id AS memory_id
"""


@pytest.fixture
def graph(personal_graph):
    """The memory of a single person: what they say in one session holds in the next."""
    return personal_graph


@pytest.fixture
def tenancy(tenant_id):
    """The test's tenant."""
    return Tenancy.of(tenant_id)


@pytest.fixture
def say(graph, tenant_id):
    """Ingests what a user says on days in March."""
    count = iter(range(100, 1000))

    def said(*words, speaker=None):
        graph.ingest([message(day, text, speaker) for day, text in words])

    def message(day, text, speaker):
        number = next(count)
        who = {"source": "user"} if speaker is None else {"source": speaker, "agent_id": speaker}
        return document(
            tenant_id=tenant_id,
            event_id=f"e{number}",
            session_id="s",
            sequence=number,
            timestamp=f"2026-03-{day:02}T00:00:00Z",
            content={"role": "user", "text": text},
            **who,
        )

    return said


@pytest.fixture
def listed(connection, tenancy):
    """Lists the texts of the tenant's memories that match the given filters."""

    def texts(**asked):
        stored, _ = connection.perform(memories(tenancy, **asked))
        return [memory.text for memory in stored]

    return texts


@pytest.fixture
def add_memory(connection, tenancy):
    """Adds a memory by hand, dated just after everything known unless the test gives a time."""
    count = iter(range(1000))

    def remembered(text, at_us=None, kind="fact", **how):
        known_us = connection.perform(read(partial(state, tenancy)))["logical_us"]
        after_us = microseconds("2026-01-01T00:00:00Z") if known_us is None else known_us + 1
        operation = MemoryOperation("ana", after_us if at_us is None else at_us, f"told-{next(count)}")
        return connection.perform(remember(tenancy, [(NewMemory(kind, text, **how), operation)]))[0]

    return remembered


def holding(listed):
    """The texts of the memories in force."""
    return sorted(listed(status="promoted") + listed(status="tentative"))


def day(number):
    """Noon of a day in March, in microseconds."""
    return microseconds(f"2026-03-{number:02}T12:00:00Z")


def test_a_later_answer_supersedes(say, listed, connection, tenant_id):
    """The latest answer holds; the chain keeps earlier ones, and as-of queries return what held at the time."""
    say((1, "I live in Boston."))
    say((3, "I live in Boston."), (5, "I live in Rome."))
    say((9, "I live in Boston."))
    assert listed(status="promoted") == ["The user lives in Boston."]
    assert listed(as_of_us=day(4)) == ["The user lives in Boston."]
    assert listed(as_of_us=day(6)) == ["The user lives in Rome."]
    rows = Ingested(connection, tenant_id).rows(CHAIN)
    assert [(row["newer"][-7:], row["older"][-7:]) for row in rows] == [("Boston.", "n Rome."), ("n Rome.", "Boston.")]


def test_a_late_answer_finds_its_place(say, listed, connection, tenant_id):
    """An answer that arrives late takes its place in the past; the chain stays linear."""
    say((1, "I live in Boston."), (9, "I live in Rome."))
    say((5, "I live in Oslo."))
    assert listed(status="promoted") == ["The user lives in Rome."]
    assert listed(as_of_us=day(6)) == ["The user lives in Oslo."]
    rows = Ingested(connection, tenant_id).rows(CHAIN)
    assert [(row["newer"], row["older"]) for row in rows] == [
        ("The user lives in Oslo.", "The user lives in Boston."),
        ("The user lives in Rome.", "The user lives in Oslo."),
    ]


def test_opposite_policies_supersede(say, listed):
    """A user's opposite policy supersedes their earlier one."""
    say((1, "Always deploy on Fridays."), (2, "Never deploy on Fridays."))
    assert listed(status="promoted") == ["Never deploy on Fridays."]


def test_a_rule_taken_back_is_over(say, listed):
    """A permission, or the end of a duty, supersedes the rule; restating the rule supersedes it in turn."""
    never, duty = "Never push to main directly.", "Always run black before you commit."
    say((1, never), (2, duty))
    say((3, "Forget the rule about pushing to main, you may push to main directly now."))
    say((4, "You don't have to run black before you commit any more, we use ruff."))
    lifted = ["You don't have to run black before you commit any more.", "You may push to main directly now."]
    assert holding(listed) == lifted
    assert listed(as_of_us=day(2)) == sorted([never, duty])
    say((5, never))
    assert holding(listed) == sorted([lifted[0], never])


def test_a_rule_remembered_by_hand_is_not_withdrawn_by_a_message(say, add_memory, listed, connection, tenancy):
    """A message against a rule added by hand opens a conflict; both hold until one is chosen."""
    add_memory("Never push to main directly.", kind="policy", hard=True)
    say((28, "You may push to main directly now."))
    assert holding(listed) == ["Never push to main directly.", "You may push to main directly now."]
    (conflict,) = connection.perform(conflicts(tenancy))
    assert sorted(side.text for side in conflict.sides) == holding(listed)


def test_a_matter_that_was_moved_has_its_new_value(say, listed):
    """A moved date or a changed amount replaces the old value, whatever the wording."""
    say((1, "The release date is 12 June. The budget is $500. The maintenance window is Sunday."))
    say((5, "The release date slipped to 20 June. We raised the budget to $1,800."))
    say((6, "The maintenance window moves from Sunday to Saturday."))
    assert holding(listed) == [
        "The budget is $1,800.",
        "The maintenance window is Saturday.",
        "The release date is 20 June.",
    ]


def test_a_hard_rule_is_not_displaced_by_chance_words(say, add_memory, listed, connection, tenancy):
    """Only another hard rule replaces a hard rule; anything else stated against it opens a conflict."""
    never, always = "Never deploy to production on a Friday.", "Always deploy to production on a Friday."
    add_memory(never, kind="policy", hard=True)
    say((28, always))
    assert holding(listed) == [always, never]
    (conflict,) = connection.perform(conflicts(tenancy))
    assert sorted(side.text for side in conflict.sides) == [always, never]
    add_memory(always, kind="policy", hard=True)
    assert holding(listed) == [always]
    assert connection.perform(conflicts(tenancy)) == ()


def test_a_rule_from_messages_can_be_withdrawn_by_a_message(say, add_memory, listed):
    """A message can withdraw a rule from messages, unless the rule was also added by hand."""
    say((1, "Never deploy to production on a Friday."), (2, "Always deploy to production on a Friday."))
    assert holding(listed) == ["Always deploy to production on a Friday."]
    add_memory("Always deploy to production on a Friday.", kind="policy", hard=True)
    say((28, "Never deploy to production on a Friday."))
    assert "Always deploy to production on a Friday." in holding(listed)


def test_a_denied_fact_ends(say, listed):
    """A denied fact ends, and returns when stated again; other facts of its kind stay."""
    say((1, "I'm allergic to nuts and latex."), (5, "I am not allergic to latex after all."))
    assert holding(listed) == ["The user is allergic to nuts.", "The user is not allergic to latex."]
    assert "The user is allergic to latex." in listed(as_of_us=day(2))
    say((9, "I'm allergic to latex again? No. I'm allergic to latex."))
    assert holding(listed) == ["The user is allergic to latex.", "The user is allergic to nuts."]


def test_what_is_said_of_the_same_time_is_a_conflict(say, listed, connection, tenancy):
    """Two answers with the same timestamp both stay, in an open conflict, until one is chosen."""
    say((1, "I live in Boston."), (1, "I live in Rome."))
    (conflict,) = connection.perform(conflicts(tenancy))
    assert conflict.kind == "contradicting_facts"
    assert sorted(side.text for side in conflict.sides) == holding(listed)
    kept = next(side for side in conflict.sides if "Rome" in side.text)
    connection.perform(resolve(tenancy, conflict.conflict_id, keep=kept.side_id, reason="asked"))
    assert holding(listed) == ["The user lives in Rome."]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_order_of_arrival_decides_nothing(say, listed, connection, tenancy, tenant_id, order):
    """Timestamps alone decide what held when; an answer dated within another's interval splits it."""
    statements = [(1, "I live in Boston."), (5, "I live in Oslo."), (9, "I live in Boston."), (12, "I live in Boston.")]
    for at in order:
        say(statements[at])
    assert connection.perform(conflicts(tenancy, status=None)) == ()
    assert [listed(as_of_us=day(number)) for number in (2, 6, 10, 13)] == [
        [f"The user lives in {city}."] for city in ("Boston", "Oslo", "Boston", "Boston")
    ]
    counted = "MATCH (m:Memory {tenant_id: $tenant_id}) RETURN m.observation_count AS seen ORDER BY m.first_us"
    stored = Ingested(connection, tenant_id)
    assert [row["seen"] for row in stored.rows(counted)] == [1, 1, 2]
    assert [(row["newer"][-7:], row["older"][-7:]) for row in stored.rows(CHAIN)] == [
        ("Boston.", "n Oslo."),
        ("n Oslo.", "Boston."),
    ]
    assert connection.perform(verify(tenancy)).findings == ()


def test_one_batch_parts_an_answer_more_than_once(say, listed, connection, tenancy):
    """One batch can split an answer's interval several times; each part keeps its own evidence."""
    say(*((number, "I live in Boston.") for number in (1, 4, 7, 10, 13)))
    say((2, "I live in Oslo."), (3, "I live in Boston."), (8, "I live in Rome."), (11, "I live in Oslo."))
    held = {number: listed(as_of_us=day(number))[0][18:-1] for number in range(1, 14)}
    cities = ["Boston", "Oslo", *["Boston"] * 5, "Rome", "Rome", "Boston", "Oslo", "Oslo", "Boston"]
    assert list(held.values()) == cities
    stored, _ = connection.perform(memories(tenancy))
    assert [memory.observation_count for memory in reversed(stored)] == [1, 1, 3, 1, 1, 1, 1]
    assert connection.perform(verify(tenancy)).findings == ()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_contradiction_about_what_is_over_is_over(say, listed, connection, tenancy, order):
    """A later answer ends both sides of a conflict, even if one of the sides arrives last."""
    statements = [(1, "I live in Boston."), (1, "I live in Oslo."), (5, "I live in Rome.")]
    for at in order:
        say(statements[at])
    assert holding(listed) == ["The user lives in Rome."]
    assert connection.perform(conflicts(tenancy)) == ()
    assert len(connection.perform(conflicts(tenancy, as_of_us=day(3)))) == 1
    assert sorted(listed(as_of_us=day(3))) == ["The user lives in Boston.", "The user lives in Oslo."]
    assert connection.perform(verify(tenancy)).findings == ()


@pytest.mark.parametrize("keep", ["Boston", "Oslo", None])
@pytest.mark.parametrize("later", ["Rome", "Boston", "Oslo"])
def test_what_was_kept_gives_way_to_a_later_answer(say, listed, connection, tenancy, keep, later):
    """The side kept in a resolved conflict holds until a later answer supersedes it."""
    say((1, "I live in Boston."), (1, "I live in Oslo."))
    (conflict,) = connection.perform(conflicts(tenancy))
    sides = {side.text[18:-1]: side.side_id for side in conflict.sides}
    connection.perform(resolve(tenancy, conflict.conflict_id, keep=sides.get(keep), reason="asked", at_us=day(2)))
    kept = [keep] if keep else ["Boston", "Oslo"]
    assert holding(listed) == [f"The user lives in {city}." for city in kept]
    say((9, f"I live in {later}."))
    if later != keep and (keep or later == "Rome"):
        assert holding(listed) == [f"The user lives in {later}."]
    assert [text[18:-1] for text in sorted(listed(as_of_us=day(5)))] == kept
    assert connection.perform(conflicts(tenancy)) == ()
    assert connection.perform(verify(tenancy)).findings == ()


def test_a_contradiction_stated_twice_in_a_batch_is_one_conflict(say, listed, connection, tenancy):
    """Two events of one batch that state the same open one conflict, and both are evidence for it."""
    say((1, "I live in Boston."))
    say((1, "I live in Oslo."), (1, "I live in Oslo."))
    assert len(connection.perform(conflicts(tenancy))) == 1
    stored, _ = connection.perform(memories(tenancy))
    assert {memory.text: memory.observation_count for memory in stored} == {
        "The user lives in Boston.": 1,
        "The user lives in Oslo.": 2,
    }
    assert connection.perform(verify(tenancy)).findings == ()


@pytest.mark.parametrize("first_wins", [True, False])
def test_what_lost_a_conflict_stays_out_when_said_again(say, listed, connection, tenancy, first_wins):
    """Repeating the side that lost does not undo a resolution, whichever side was in the chain."""
    say((1, "I live in Boston."), (1, "I live in Oslo."))
    (conflict,) = connection.perform(conflicts(tenancy))
    (chained,) = Ingested(connection, tenancy.tenant_id).rows(CHAINED)
    kept, lost = sorted(conflict.sides, key=lambda side: (side.side_id == chained["memory_id"]) != first_wins)
    connection.perform(resolve(tenancy, conflict.conflict_id, keep=kept.side_id, reason="asked", at_us=day(2)))
    repeated = lost.text.replace("The user lives", "I live")
    say((1, repeated), (1, repeated))
    assert holding(listed) == [kept.text]
    assert connection.perform(conflicts(tenancy)) == ()
    assert connection.perform(verify(tenancy)).findings == ()


def test_of_three_answers_two_are_left_in_conflict(say, listed, connection, tenancy):
    """If one of three answers loses, the two that remain are in conflict; a later answer ends both."""
    say((1, "I live in Boston."), (1, "I live in Oslo."), (1, "I live in Lima."))
    open_conflicts = connection.perform(conflicts(tenancy))
    assert len(open_conflicts) == 2
    (first,) = {side.side_id for side in open_conflicts[0].sides} & {side.side_id for side in open_conflicts[1].sides}
    kept, other = (next(side for side in conflict.sides if side.side_id != first) for conflict in open_conflicts)
    connection.perform(resolve(tenancy, open_conflicts[0].conflict_id, keep=kept.side_id, reason="asked"))
    (left,) = connection.perform(conflicts(tenancy))
    assert {side.side_id for side in left.sides} == {kept.side_id, other.side_id}
    assert holding(listed) == sorted([kept.text, other.text])
    say((9, "I live in Rome."))
    assert connection.perform(conflicts(tenancy)) == ()
    assert holding(listed) == ["The user lives in Rome."]
    assert connection.perform(verify(tenancy)).findings == ()


def test_people_contradict_each_other(say, listed, connection, tenancy):
    """If two people say different things about a third, neither wins: the statements are in conflict."""
    say((1, "Ivan Smith lives in Boston."), speaker="Caroline")
    say((5, "Ivan Smith lives in Rome."), speaker="Melanie")
    assert len(connection.perform(conflicts(tenancy))) == 1
    assert len(holding(listed)) == 2


def test_a_later_answer_ends_the_conflict(say, listed, connection, tenancy):
    """A later answer supersedes both sides of a conflict and closes it."""
    say((1, "I live in Boston."), (1, "I live in Rome."))
    say((5, "I live in Oslo."))
    assert connection.perform(conflicts(tenancy)) == ()
    assert holding(listed) == ["The user lives in Oslo."]


def test_repetition_makes_sure(say, connection, tenancy):
    """A tentative directive is promoted when it is repeated."""
    say((1, "Do not use global variables."))
    (first,), _ = connection.perform(memories(tenancy))
    assert (first.status, first.observation_count) == ("tentative", 1)
    say((2, "Do not use global variables."))
    again = connection.perform(memory(tenancy, first.memory_id))
    assert (again.status, again.observation_count, again.confidence) == ("promoted", 2, 0.84)
    assert len(again.event_ids) == 2


def test_remembering_by_hand_has_evidence(add_memory, connection, tenancy):
    """A text added by hand twice is one memory, with one event as evidence for each time."""
    add_memory("Always verify the rollout", kind="policy", hard=True)
    again = add_memory("Always verify the rollout", kind="policy")
    assert (again.observation_count, again.hard, again.extraction_method) == (2, True, "remembered")
    assert again.event_ids == ("told-0", "told-1")


@pytest.mark.parametrize(
    ("earlier", "later", "both"),
    [
        ("The release manager is Carla.", "The release manager is now Dan.", False),
        ("Our office is in Berlin.", "Our office is in Madrid.", False),
        ("Anna's manager is Bob.", "Anna's manager is Carl.", False),
        ("The API is versioned.", "The API is public.", True),
    ],
)
def test_who_or_where_is_one_at_a_time(add_memory, listed, earlier, later, both):
    """A new name or place replaces the old one; qualities accumulate."""
    add_memory(earlier)
    add_memory(later)
    assert holding(listed) == sorted([earlier, later] if both else [later])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I prefer tea over coffee.", "I prefer coffee over tea now."),
        ("I like cats.", "I don't like cats any more."),
        ("I enjoy long hikes.", "I no longer enjoy long hikes."),
    ],
)
def test_people_change_their_minds(say, listed, earlier, later):
    """The later of two preferences about the same thing holds."""
    say((1, earlier), (2, later))
    assert [text[:11] for text in holding(listed)] == [later[:11]]


def test_what_is_remembered_is_dated_now(graph):
    """A memory added by hand is dated by the wall clock, not by the latest time in the data."""
    before = datetime.now(UTC)
    made = graph.remember("The office is in Rome")
    assert before <= datetime.fromisoformat(made.first_at) <= datetime.now(UTC)


@pytest.mark.parametrize(("text", "how"), [("x", {"hard": True}), (" ", {"kind": "fact"}), ("", {})])
def test_what_cannot_be_remembered_is_refused(add_memory, text, how):
    """Hard facts and empty texts are invalid requests."""
    with pytest.raises(InvalidRequest):
        add_memory(text, **how)


def test_an_unknown_kind_is_refused(add_memory):
    """The error lists the four known kinds."""
    with pytest.raises(UnknownChoice, match="fact, preference, policy, goal"):
        add_memory("x", kind="rumour")


def test_a_page_of_memories_names_its_evidence(add_memory, connection, tenancy):
    """Each listed memory carries the ids of its evidence, as the result of ``remember`` does."""
    add_memory("Always verify the rollout", kind="policy")
    made = add_memory("Always verify the rollout", kind="policy")
    (listed,), _ = connection.perform(memories(tenancy, kind="policy"))
    assert len(made.event_ids) == 2
    assert (listed.event_ids, listed.document()) == (made.event_ids, made.document())


def test_memories_are_listed_page_by_page(add_memory, connection, tenancy):
    """Pages follow each other without gaps; filters narrow them; unknown kinds, bad limits and ids are refused."""
    for number in range(5):
        add_memory(f"rule number {number} stands", kind="policy")
    add_memory("tea is ready", kind="fact")
    seen, after = [], None
    while True:
        page, after = connection.perform(memories(tenancy, kind="policy", limit=2, after=after))
        seen += [memory.text for memory in page]
        if after is None:
            break
    assert seen == [f"rule number {number} stands" for number in reversed(range(5))]
    with pytest.raises(UnknownChoice):
        connection.perform(memories(tenancy, kind="rumour"))
    for limit in (0, -1):
        with pytest.raises(InvalidRequest, match=f"invalid limit {limit}: expected a page size; give 1 to "):
            connection.perform(memories(tenancy, limit=limit))
    with pytest.raises(NotFound):
        connection.perform(memory(tenancy, "none"))


@pytest.mark.parametrize(("limit", "pages"), [(1, 4), (2, 2), (3, 2), (4, 1), (5, 1)])
def test_the_last_page_of_memories_says_so(add_memory, connection, tenancy, limit, pages):
    """A full page is marked as the last if nothing follows."""
    for number in range(4):
        add_memory(f"rule number {number} stands", kind="policy")
    sizes, after = [], None
    while not sizes or after is not None:
        page, after = connection.perform(memories(tenancy, limit=limit, after=after))
        sizes.append(len(page))
    assert (sum(sizes), len(sizes)) == (4, pages)


def test_forgetting_the_evidence_forgets_the_memory(say, listed, connection, tenancy, tenant_id):
    """A memory without evidence loses its text and leaves its chain; the memory it superseded holds again."""
    say((1, "I live in Boston."), (5, "I live in Rome."))
    (last,), _ = connection.perform(memories(tenancy, status="promoted"))
    (event_id,) = connection.perform(memory(tenancy, last.memory_id)).event_ids
    report = connection.perform(forget(tenancy, ForgetCriteria(event_ids=(event_id,))))
    assert report.memories == (last.memory_id,)
    assert listed(status="promoted") == ["The user lives in Boston."]
    left = Ingested(connection, tenant_id).rows("MATCH (n {tenant_id: $tenant_id}) RETURN properties(n) AS p")
    assert not any("Rome" in str(row["p"]) for row in left)


def test_forgetting_one_of_two_pieces_of_evidence_makes_less_sure(say, connection, tenancy):
    """A memory that loses part of its evidence has its count and confidence reduced, and its status with them."""
    say((1, "Do not use global variables."), (2, "Do not use global variables."))
    (remembered,), _ = connection.perform(memories(tenancy))
    first, _ = connection.perform(memory(tenancy, remembered.memory_id)).event_ids
    connection.perform(forget(tenancy, ForgetCriteria(event_ids=(first,))))
    left = connection.perform(memory(tenancy, remembered.memory_id))
    assert (remembered.status, left.status) == ("promoted", "tentative")
    assert (left.observation_count, left.confidence) == (1, 0.6)
