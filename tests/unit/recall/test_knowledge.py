"""Knowledge as candidates, hints and constraints."""

from dataclasses import replace

import pytest

from hmxgraph.protocol.timestamps import DAY_US, iso
from hmxgraph.recall._asked_actions import remedies
from hmxgraph.recall.appraised import _next_step
from hmxgraph.recall.candidates import Candidate, Components
from hmxgraph.recall.knowledge import (
    REMEMBERED,
    Guidance,
    Happened,
    RunningSession,
    blockers,
    decision_constraints,
    progress,
    workflow_hints,
)
from hmxgraph.recall.pack import NOTICE
from hmxgraph.recall.question import PackRequest, understood
from hmxgraph.text.terms import search_text
from tests.recall_makers import (
    NOW,
    artifact,
    conflict,
    draft,
    entity,
    event,
    evidence,
    known,
    memory,
    packed,
    related,
    relation,
)  # fmt: skip

CALL, RESULT, ERROR = "tool_call", "tool_result", "error"


def sections(**what):
    """Return the section and source type of each candidate."""
    return {(each.section, each.source_type) for _, each in draft((), known(**what)).ranking}


@pytest.mark.parametrize(
    ("what", "place"),
    [
        ({"memories": [memory(1, kind="policy", hard=True)]}, ("core", "policy")),
        ({"memories": [memory(1, kind="policy")]}, ("constraints", "policy")),
        ({"memories": [memory(1, kind="goal")]}, ("goals", "memory")),
        ({"memories": [memory(1, kind="preference")]}, ("facts", "memory")),
        ({"artifacts": [artifact(1, kind="decision_policy")]}, ("constraints", "artifact")),
        ({"artifacts": [artifact(1, kind="failure_playbook")]}, ("procedures", "artifact")),
        (
            {"related": related(relation(1, "staging", "environment"), named=["staging"])},
            ("graph_relations", "relation"),
        ),
        ({"conflicts": [conflict(1, "a", "b")]}, ("conflicts", "conflict")),
    ],
)
def test_each_kind_has_its_section(what, place):
    """Each kind of knowledge goes into the section that HMX-C 3.1 assigns to it."""
    assert place in sections(**what)


def test_entities_are_packed_only_if_the_question_names_them():
    """Of two entities that share a word with the question, only the one that it names is a candidate."""
    names = ("staging environment", "staging cluster")
    entities = [replace(entity(number, name), type="service") for number, name in enumerate(names, 1)]
    ranking = draft((), known(entities=entities), query="How often was the staging environment mentioned?").ranking
    assert {each.source_id for _, each in ranking} == {"n001"}


def test_memories_that_lost_evidence_or_validity_are_dropped():
    """Memories without evidence are dropped as provenance_failed, invalid ones as deprecated."""
    what = known(memories=[memory(1, sound=False), memory(2, "Deploy staging by hand", held=False)])
    drops = {drop.source_id: drop.drop_reason for drop in packed((), what).dropped_entries}
    assert drops == {"m001": "provenance_failed", "m002": "deprecated"}


def test_a_withdrawn_request_is_no_episode():
    """The event of a withdrawn request to remember is deprecated, too; that of an ended fact is not."""
    events = [event(1, "The staging port is 8080"), event(2, "The staging port is 9090")]
    old = memory(1, "The staging port is 8080", held=False, method="remembered")
    new = memory(2, "The staging port is 9090", method="remembered")
    backing = [evidence("m001", 1, "The staging port is 8080"), evidence("m002", 2, "The staging port is 9090")]
    pack = packed(events, known(memories=[old, new], evidence=backing), query="What is the staging port?")
    assert [entry.source_id for entry in pack.entries] == ["m002"]
    drops = {drop.source_id: drop.drop_reason for drop in pack.dropped_entries}
    assert drops == {"m001": "deprecated", "e001": "deprecated", "e002": "duplicate"}
    said = known(memories=[memory(1, "The staging port is 8080", held=False)], evidence=backing[:1])
    assert "e001" in {entry.source_id for entry in packed(events, said, query="Which port?").entries}


def test_facts_match_the_person_the_question_names():
    """A speaker's name is ignored when matching events and used when matching facts."""
    turns = [event(1, "I moved", speaker="Ann"), event(2, "So did I", speaker="Bob")]
    facts = known(memories=[memory(1, "Bob lives in Oslo"), memory(2, "Ann lives in Madrid, by the river")])
    asked = {"query": "Where does Ann live?", "sections": ["facts"]}
    assert min(packed(turns, facts, **asked).entries, key=lambda entry: entry.rank).source_id == "m002"


def test_memories_keep_the_label_of_tools_and_the_web():
    """A memory takes the label of its latest event; a state change without a known event is labelled data."""
    facts = [memory(1, "staging: owner is Ann", method="state_change"), memory(2, "staging: port is 1", method="x")]
    facts.append(memory(3, "staging: version is 2", method="state_change"))
    backing = [replace(evidence("m001", 1), label="web")]
    pack = packed((), known(memories=facts, evidence=backing), query="staging", sections=["facts"])
    lines = [line for line in pack.text.splitlines() if "staging:" in line]
    said = ["- staging: port is 1", "[data] staging: version is 2", "[web] staging: owner is Ann"]
    assert sorted(lines) == [f"{line} (said 14 March 2026)" for line in said]
    assert pack.text.startswith(NOTICE)


def test_confidence_below_the_least_is_no_candidate():
    """Memories below min_confidence are left out, except hard rules."""
    rules = [memory(1, confidence=0.2), memory(2, "Never on Friday", confidence=0.2, kind="policy", hard=True)]
    ranking = draft((), known(memories=rules), min_confidence=0.5).ranking
    assert {each.source_id for _, each in ranking} == {"m002"}


def test_an_episode_is_not_repeated_as_evidence():
    """Evidence that is a candidate episode is not a second candidate, unless the pack has no episodes."""
    events = [event(1, "Deploy the staging environment now")]
    what = known(memories=[memory(1)], evidence=[evidence("m001", 1), evidence("m001", 2)])
    entries = [(each.section, each.source_id) for _, each in draft(events, what).ranking]
    assert ("evidence", "e002") in entries
    assert ("evidence", "e001") not in entries
    only = draft(events, what, sections=("evidence", "facts")).ranking
    assert ("evidence", "e001") in [(each.section, each.source_id) for _, each in only]


def test_somewhat_more_events_than_fit_are_compared():
    """The events compared for duplicates are the best ones, only as many as the budget can need."""
    made = draft([event(number, f"deploy staging {number} " + "word " * 40) for number in range(200)], budget=400)
    compared = made.compared_ids()
    assert 400 < sum(each.tokens for _, each in made.ranking if each.source_id in compared) < 400 * 3


def test_two_of_many_repeats_are_compared():
    """Of events with the same terms and length, only two are compared."""
    made = draft([event(number, "deploy staging once more", session=f"s{number}") for number in range(30)], budget=400)
    assert len(made.compared_ids()) == 2


def test_progress_is_the_last_step_reached():
    """Steps are reached in order by their tools; the first hint is the step after the current one."""
    tools = artifact(1, steps=(("Look", "look"), ("Apply", "apply"), ("Verify", "verify")))
    assert progress(tools, (), RunningSession()).current == 0
    session = RunningSession(tuple(Happened(CALL, f"{name}(x)", name) for name in ("look", "verify", "look")))
    assert progress(tools, (), session).current == 3
    assert progress(tools, ("apply",), session).current == 2
    hints = workflow_hints(progress(tools, ("look",), RunningSession()), RunningSession())
    assert (hints["current_step"], hints["total_steps"]) == (1, 3)
    assert [step["description"] for step in hints["suggested_next_steps"]] == ["Apply", "Verify"]


@pytest.mark.parametrize(
    "steps",
    [
        [{"description": "Look"}, {"order": "x", "tools_used": "look"}, {"order": None, "tools_used": [7, "look"]}],
        ["Look", {"order": 1, "description": 7, "tools_used": 7}],
        "Look",
    ],
)
def test_steps_that_others_wrote_do_no_harm(steps):
    """A task schema with steps unlike HMX-A 4.1 is accepted; unreadable parts are skipped."""
    odd = replace(artifact(1), artifact_type="task_schema", content={"steps": steps})
    hints = workflow_hints(progress(odd, ("look",), RunningSession()), RunningSession())
    assert hints["total_steps"] == sum(isinstance(step, dict) for step in steps)


def test_a_remedy_comes_before_the_procedure():
    """After a failure the playbook's first step is the next step, with or without a procedure."""
    schema = progress(artifact(1, steps=(("Look", "look"), ("Apply", "apply"))), ("look",), RunningSession())
    playbook = replace(artifact(2, kind="failure_playbook"), content={"recovery_steps": ["Create it", "Ask"]})

    def next_steps(*given):
        return [step["description"] for step in workflow_hints(*given)["suggested_next_steps"]]

    assert next_steps(schema, RunningSession(), playbook) == ["Create it", "Ask", "Apply"]
    assert next_steps(None, RunningSession(), playbook) == ["Create it", "Ask"]
    assert next_steps(schema, RunningSession(), replace(playbook, content={"recovery_steps": "Create it"})) == ["Apply"]


def test_blockers_are_failures_that_nothing_made_good():
    """A later success of the same action clears its failure."""
    applied, looked = Happened(CALL, "sh(apply x)", "apply"), Happened(CALL, "sh(look x)", "look")
    failed = RunningSession(
        (applied, Happened(ERROR, "no namespace", "apply", failed=True), looked, Happened(RESULT, "sh -> ok", "look"))
    )
    assert blockers(failed) == ["no namespace"]
    mended = RunningSession((*failed.events, applied, Happened(RESULT, "sh -> ok", "apply")))
    assert blockers(mended) == []
    assert workflow_hints(None, mended) is None


def test_hard_rules_are_constraints_whatever_is_chosen():
    """Hard rules are always constraints, soft ones only if they are in the pack, invalid ones never."""
    rules = known(
        memories=[
            memory(1, "Never on Friday", kind="policy", hard=True),
            memory(2, "Prefer mornings", kind="policy"),
            memory(3, "Always ask", kind="policy", hard=True, held=False),
            memory(4, "Always pay", kind="policy", hard=True, sound=False),
        ]
    )
    assert [(rule["constraint"], rule["override_allowed"]) for rule in decision_constraints(rules, ())] == [
        ("Never on Friday", False)
    ]
    assert len(decision_constraints(rules, ["m002", "m003"])) == 2


def test_the_state_of_a_pack():
    """The pack id follows from request and state, and the pack carries the logical time."""
    first, same = packed([event(1, "staging")]), packed([event(1, "staging")])
    assert first.pack_id == same.pack_id
    assert packed([event(1, "staging")], budget=99).pack_id != first.pack_id
    assert first.metadata["as_of"] == first.created_at == iso(NOW)
    assert first.metadata["state_version"] == 7


PUSH = {"kind": "failure_playbook", "actions": ("git push",), "confidence": 0.3}
UPSTREAM = artifact(1, "git push fails", failures=("current branch upstream branch",), **PUSH)
REJECTED = artifact(2, "git push fails, rejected", failures=("reject fetch first",), **PUSH)
RELEASE = artifact(3, "Push the current release branch", steps=[("Push", "git push")], confidence=0.95)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("git push failed: The current branch login-page has no upstream branch.", UPSTREAM),
        ("Help! git push: [rejected] fetch first", REJECTED),
        ("git push fails: no upstream for my branch", UPSTREAM),
        ("Push the current release branch", RELEASE),
        ("Which branch is current?", RELEASE),
    ],
)
def test_the_playbook_of_a_reported_failure_comes_first(question, first):
    """It precedes the best-fitting procedure and playbooks for other failures of the same tool."""
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    pack = packed(what=known(artifacts=[UPSTREAM, REJECTED, RELEASE]), query=question, guidance=lead)
    assert [entry.source_id for entry in pack.entries if entry.section == "procedures"][:1] == [first.artifact_id]


@pytest.mark.parametrize(
    ("question", "action", "shown"),
    [
        ("Push the current release of the shop to production on Monday", "git push", True),
        ("Push the current release of the shop to production on Monday", "docker push", False),
        ("Ship the current release of the shop to production on Monday", "git push", False),
    ],
)
def test_a_playbook_for_a_step_ahead_stands_with_the_procedure(question, action, shown):
    """It warns only of an expected step, and only if the question has half the words of its name."""
    playbook = replace(UPSTREAM, actions=(action,), words=search_text(f"{action} fails: upstream"))
    actions = frozenset({"git push", "docker push"})
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), actions)
    pack = packed(what=known(artifacts=[playbook, RELEASE]), query=question, guidance=lead)
    sources = [entry.source_id for entry in pack.entries if entry.section == "procedures"]
    assert sources == [RELEASE.artifact_id, playbook.artifact_id][: 1 + shown]


def test_one_warning_stands_with_the_procedure():
    """The warning is about the failure seen most often."""
    often = replace(REJECTED, observed_count=9)
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    question = "Push the current release of the shop to production on Monday"
    pack = packed(what=known(artifacts=[UPSTREAM, often, RELEASE]), query=question, guidance=lead)
    sources = [entry.source_id for entry in pack.entries if entry.section == "procedures"]
    assert sources == [RELEASE.artifact_id, often.artifact_id]


def test_words_of_an_action_are_no_words_of_a_message():
    """A failure is recognised by the tool's message, not by the tool's name."""
    pending = artifact(1, "fails", kind="failure_playbook", failures=("pend order modifi",))
    own = artifact(2, "fails", kind="failure_playbook", failures=("item differ",), actions=("modify_pending_order",))
    question = understood("modify_pending_order failed: the items differ", NOW)
    assert remedies(question, [pending, own], "") == {own.artifact_id}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The booking fails because the payment does not add up", {"a001"}),
        ("The booking fails because the payment is late", set()),
        ("The booking fails because of the payment", set()),
        ("Does the payment of a booking add up?", set()),
    ],
)
def test_a_question_that_says_nothing_else_about_its_trouble_reports_the_failure(text, found):
    """People describe an error in fewer words than its message; what else they say speaks of another one."""
    sums = ("payment amount does not add up total price but paid",)
    kinds = {"kind": "failure_playbook", "actions": ("book_reservation",)}
    own = artifact(1, "fails", failures=tuple(map(search_text, sums)), **kinds)
    other = artifact(2, "fails", failures=(search_text("payment method not found"),), **kinds)
    assert remedies(understood(text, NOW), [own, other], "") == found


def test_a_question_about_facts_gets_only_procedures_about_its_subject():
    """That booking takes a cabin, passengers and flights does not tell whether a flight can be changed."""
    steps = "1. Book with book_seat, using cabin, passengers and flights"
    book = replace(artifact(1, "Book a seat"), text=f"Book a seat\n{steps}")
    change = replace(artifact(2, "Change the flight"), text=f"Change the flight\n{steps}")
    pack = packed(what=known(artifacts=[book, change]), query="Can passengers of this cabin change flights?")
    assert [entry.source_id for entry in pack.entries] == [change.artifact_id]


def test_the_playbook_of_a_reported_failure_does_not_age():
    """It counts however old the failure and however new the procedure is."""
    old = replace(UPSTREAM, created_us=NOW - 400 * DAY_US, observed_count=2)
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    question = "git push failed: The current branch login-page has no upstream branch."
    pack = packed(what=known(artifacts=[old, RELEASE]), query=question, guidance=lead)
    assert next(entry.source_id for entry in pack.entries if entry.section == "procedures") == old.artifact_id


def test_the_first_step_of_a_playbook_is_shown_once():
    """It is shown separately only if no procedures section shows the playbook."""
    playbook = replace(artifact(2, kind="failure_playbook"), content={"recovery_steps": ["Create it", "Ask"]})
    shown = Candidate("procedures", "artifact", "a002", 9, 0.9, Components(0, 0, 0, 0), content="x")

    def steps(*sections):
        return [step.content for step in _next_step(PackRequest("q", sections=sections), None, playbook, (shown,))]

    assert steps("procedures", "workflow") == []
    assert steps("facts", "workflow") == ["Next: Create it"]


def test_a_request_for_other_work_gets_no_procedure():
    """The model predicts a known procedure for every request; one that resembles no past request gets none."""
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    past = [event(1, "Send the new version to the server"), event(2, "Water the plants")]

    def leading(query):
        pack = packed(past, known(artifacts=[RELEASE]), query=query, guidance=lead)
        return [entry.source_id for entry in pack.entries if entry.section == "procedures"]

    assert leading("Send the new version to the server please") == [RELEASE.artifact_id]
    assert leading("Plan a birthday party with new balloons for my niece") == []


def test_trouble_alone_asks_for_no_procedure():
    """If the question speaks of trouble, the leading procedure must share a word with it, unless work has begun."""
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    running = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}), ("git push",))
    trouble = "The parser crashes, fix it"
    leading = [
        [entry.source_id for entry in packed(what=known(artifacts=[RELEASE]), query=query, guidance=by).entries][:1]
        for query, by in ((trouble, lead), (trouble, running), (f"{trouble} and release it", lead), ("Go on", lead))
    ]
    assert leading == [[], *[[RELEASE.artifact_id]] * 3]


def test_other_trouble_brings_no_playbook_for_an_expected_step():
    """One word of the step's name is enough for its playbook, but not if the question speaks of trouble."""
    lead = Guidance(RELEASE.artifact_id, frozenset({"git push"}), frozenset({"git push"}))
    sources = [
        [
            entry.source_id
            for entry in packed(what=known(artifacts=[UPSTREAM, RELEASE]), query=query, guidance=lead).entries
        ]
        for query in ("Release it with git", "The parser of git logs crashes on merges")
    ]
    assert sources == [[RELEASE.artifact_id, UPSTREAM.artifact_id], []]


@pytest.mark.parametrize(("asked", "count"), [("What did Ann pay for the order?", 0), ("How is an order returned?", 1)])
def test_a_word_in_most_titles_is_no_subject(asked, count):
    """Every procedure of a shop is about orders; a question about the past must share a rarer word of the title."""
    artifacts = [artifact(at, f"{verb} the order, pay") for at, verb in enumerate(("Cancel", "Return", "Ship"))]
    ranked = draft((), known(artifacts=artifacts), query=asked).ranking
    assert sum(each.components.relevance > 0 for _, each in ranked) == count


def _facts_of(query, *texts, events=()):
    """The statements of a pack that has *texts* as facts."""
    memories = [memory(number, text) for number, text in enumerate(texts)]
    return {
        each.content
        for each in packed(events, known(memories=memories), query=query).entries
        if each.section == "facts"
    }


DEPOSIT, PARKING = "The deposit is 20 EUR", "Parking costs 2 EUR"


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ("How much is the deposit and what does parking cost?", {DEPOSIT, PARKING}),
        ("How much is the deposit? And what does parking cost here today?", {DEPOSIT, PARKING}),
        ("How much is the deposit and for whom?", {DEPOSIT}),
    ],
)
def test_each_question_of_a_text_gets_its_fact(query, facts):
    """A fact that answers one of two questions is shown, although it has few terms of the text."""
    assert _facts_of(query, DEPOSIT, PARKING, "Ann likes tea") == facts


def test_a_request_for_work_with_tools_is_matched_as_a_whole():
    """What concerns one clause of such a request is not thereby about the request."""
    done = [event(1, "cancel -> done", kind=RESULT, source="tool:cancel")]
    text = "Please cancel the lease of my flat in Leeds. Can you refund the rent? And is parking dear?"
    free = "free parking ends at noon"
    assert _facts_of(text, free) == {free}
    assert _facts_of(text, free, events=done) == set()


FORFEIT = "Cancellations less than 12 hours before the appointment forfeit the deposit"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("How late can a patient cancel without losing the deposit?", True),
        ("Cancellation rules?", True),
        ("Which policies apply to cancellations?", True),
        ("Which guidelines and limits apply to cancellations?", True),
        ("Which rules are there for parking in front of the house?", False),
        ("Which doctor speaks Dutch?", False),
    ],
)
def test_a_policy_is_found_by_common_terms(query, shown):
    """The terms of a policy are those of the tenant's daily work, and words that ask for policies select none."""
    work = [event(number, f"cancel appointment {number}, refund deposit", session=f"s{number}") for number in range(40)]
    policy = memory(1, FORFEIT, kind="policy", method=REMEMBERED)
    entries = packed(work, known(memories=[policy]), query=query).entries
    assert any(entry.content == FORFEIT for entry in entries) is shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("helm: release labels is in state pending-upgrade", {"a001"}),
        ("Now it says release labels is in state pending-upgrade again", {"a001"}),
        ("release labels is in state deployed", set()),
        ("AssertionError: 3.1 != 3.10 in tests/test_labels.py", {"a002"}),
        ("AssertionError: 'a' != 'b' in tests/test_labels.py", set()),
        ("make deploy\nTOKEN not set", {"a003"}),
        ("Why is TOKEN not set by default?", set()),
        ("order 17-a is shut", {"a004"}),
        ("It says: item 'Desk lamp' of my.order is sold out", {"a005"}),
        ("It says: item the very old green desk lamp of it is sold out", set()),
    ],
)
def test_a_pasted_message_finds_its_playbook_without_a_word_for_trouble(text, found):
    """Only its words in their order count, and a short one must stand where a message may begin."""
    messages = {
        "helm: release <release> is in state pending-upgrade": "helm releas state",
        "FAILED <path> - AssertionError: <n> != <n>": "fail assertionerror",
        "TOKEN not set": "token set",
        "order <order-id> is shut": "shut",
        "item <item_name> of <order.name> is sold out": "item sold out",
    }
    playbooks = [
        replace(artifact(number, "", kind="failure_playbook", failures=(key,)), content={"failure_pattern": message})
        for number, (message, key) in enumerate(messages.items(), start=1)
    ]
    assert remedies(understood(text, NOW), playbooks, "") == found


def test_a_failure_of_a_thousand_words_is_recognised_by_the_first_forty():
    """The comparison takes time for each word of the message, at each place of the question."""
    message = [f"word{number}" for number in range(1_000)]
    playbook = replace(
        artifact(1, "", kind="failure_playbook", failures=("other",)), content={"failure_pattern": " ".join(message)}
    )
    for cut, found in ((40, {"a001"}), (39, set())):
        assert remedies(understood("It says " + " ".join(message[:cut]), NOW), [playbook], "") == found


@pytest.mark.parametrize(
    ("rule", "stands"),
    [
        ("Always ask before you push.", True),
        ("Use tabs, not spaces.", True),
        ("Always tell Ines about refunds.", False),
        ("For invoices, use the new letterhead.", False),
        ("Commit messages should be in English.", False),
        ("When you book trains, take the quiet carriage.", False),
        ("We never deploy on Fridays.", False),
        ("jonas: Production deploys need my approval.", False),
    ],
)
def test_a_rule_for_one_kind_of_thing_does_not_stand_for_other_work(rule, stands):
    """It is shown for work that names the kind."""
    what = known(memories=[memory(1, rule, kind="policy")])
    assert (rule in packed((), what, query="Move the lamp from the cellar to the attic").text) is stands
    assert rule in packed((), what, query=f"Move the lamp. {rule}").text


def test_a_rule_for_one_kind_of_thing_needs_this_kind():
    """That a request also is about guests does not make it one about mails."""
    what = known(memories=[memory(1, "Mails to German guests should be in German.", kind="policy")])
    assert "German" not in packed((), what, query="Move the guest to another house").text
    assert "German" in packed((), what, query="Write the arrival mail").text


def test_a_rule_for_what_the_work_usually_ends_with_stands():
    """A request to fix something does not mention the commit that is likely to follow."""
    what = known(memories=[memory(1, "Commit messages should be in English.", kind="policy")])
    expected = Guidance(expected=frozenset({"git commit"}))
    assert "English" in packed((), what, query="Fix the rounding of the tax", guidance=expected).text
    assert "English" not in packed((), what, query="Fix the rounding of the tax").text


@pytest.mark.parametrize(
    ("query", "shown"),
    [("Plan a dinner for four", True), ("What snacks can I bring?", True), ("Book a train to Hamburg", False)],
)
def test_allergies_are_shown_where_food_is_planned(query, shown):
    """No word of the request is in the memory, and an agent that does not know of it may do harm."""
    what = known(memories=[memory(1, "Bao is allergic to peanuts."), memory(2, "Lin does not eat meat.")])
    text = packed((), what, query=query).text
    assert ("peanuts" in text) is shown
    assert ("meat" in text) is shown
