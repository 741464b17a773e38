"""The complete extraction from one event."""

import pytest

from hmxgraph.extraction.entities import names_in
from hmxgraph.extraction.extract import draft, extract
from hmxgraph.extraction.language import speaker_of
from tests.unit.extraction.events import by_person, event, said


def mentioned(extraction, role=None):
    """Return (type, normalised name) of the mentions, optionally of one role."""
    return {(mention.type, mention.normalised) for mention in extraction.mentions if role in {None, mention.role}}


def related(extraction):
    """Return (source, type, target) of the relations, by normalised names."""
    return {
        (relation.source.normalised, relation.relation_type, relation.target.normalised)
        for relation in extraction.relations
    }


def kept(extraction):
    """Return (kind, text) of the memories."""
    return [(memory.kind, memory.text) for memory in extraction.memories]


def test_a_tool_call_names_agent_tool_command_and_files():
    """A call relates its agent to the tool, and the tool to the commands and files in its arguments."""
    content = {"tool_name": "exec", "arguments": {"command": "kubectl apply -f staging.yaml"}, "call_id": "call-1"}
    extraction = extract(event("tool_call", content))
    assert mentioned(extraction) == {
        ("agent", "agent-1"),
        ("tool", "exec"),
        ("command", "kubectl apply"),
        ("file", "staging.yaml"),
    }
    assert related(extraction) == {
        ("agent-1", "uses", "exec"),
        ("exec", "runs", "kubectl apply"),
        ("exec", "touches", "staging.yaml"),
    }


def test_a_result_names_what_it_returned():
    """A result mentions ids, people and addresses; a failed one raises its error type."""
    result = {"order_id": "#W12345", "customer": {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}}
    extraction = extract(event("tool_result", {"tool_name": "get_order", "result": result, "success": True}))
    assert {("order", "w12345"), ("person", "ann lee"), ("email", "ann@example.com")} <= mentioned(extraction)
    failed = {"tool_name": "get_order", "result": {"output": "TimeoutError: no answer"}, "success": False}
    assert related(extract(event("tool_result", failed))) == {("get_order", "raises", "timeouterror")}


def test_an_error_is_raised_by_its_source():
    """The tool in the source of an error event raises it."""
    extraction = extract(event("error", {"error_type": "KubectlError", "message": "x"}, source="tool:kubectl"))
    assert related(extraction) == {("kubectl", "raises", "kubectlerror")}


def test_what_fails_in_a_browser_is_raised_by_the_host():
    """The host of the page raises the error, and the agent touches the page."""
    content = {"action": "click", "url": "https://shop.example/cart", "error": "TimeoutError: no answer"}
    relations = related(extract(event("browser_action", content)))
    assert ("shop.example", "raises", "timeouterror") in relations
    assert ("agent-1", "touches", "https://shop.example/cart") in relations


def test_who_called_an_interface_touched_its_address():
    """An API result contains both call and answer."""
    extraction = extract(
        event("api_result", {"method": "GET", "url": "https://shop.example/orders", "status_code": 200})
    )
    assert ("agent-1", "touches", "https://shop.example/orders") in related(extraction)


def test_a_command_touches_what_it_names_not_where_it_ran():
    """The working folder is common to all commands and not touched."""
    extraction = extract(event("command_exec", {"command": "cat src/app.py", "cwd": "/srv/shop", "exit_code": 0}))
    assert {target for _, verb, target in related(extraction) if verb == "touches"} == {"src/app.py"}


def test_an_edit_that_says_what_it_fixes_fixes_it():
    """A change that names an error after a verb of fixing fixes it."""
    extraction = extract(event("file_edit", {"path": "shop/cart.py", "change": "fix the RoundingError in totals"}))
    assert ("shop/cart.py", "fixes", "roundingerror") in related(extraction)


def test_an_observation_is_about_its_title():
    """A titled passage mentions its title and the title's bare form as titles, and the names in its text."""
    content = {"title": "Lilu (mythology)", "text": "Lilu is a demon. Like Gallu and Alû he haunts Old Babylon."}
    extraction = extract(event("observation", content))
    assert mentioned(extraction, "title") == {("concept", "lilu mythology"), ("concept", "lilu")}
    assert {("concept", "gallu"), ("concept", "alu"), ("concept", "old babylon")} <= mentioned(extraction, "")
    assert ("lilu mythology", "mentions_with", "gallu") in related(extraction)


def test_a_span_meets_the_title_that_it_names():
    """A name in one passage is the same entity as the title of another."""
    about = extract(event("observation", {"title": "Hunt Valley, Maryland", "text": "A place."}))
    names = extract(event("observation", {"title": "Baltimore", "text": "North of it lies Hunt Valley."}))
    assert mentioned(about, "title") & mentioned(names, "")


def test_a_person_speaks_and_is_spoken_of():
    """The speaker is a person, and topics are said by them."""
    extraction = extract(by_person("We went to Boston with Melanie's brother."))
    assert mentioned(extraction, "speaker") == {("person", "caroline")}
    assert {("boston", "said_by", "caroline"), ("melanie", "said_by", "caroline")} == related(extraction)


@pytest.mark.parametrize(
    ("fields", "speaker"),
    [
        ({"source": "Caroline", "agent_id": "Caroline"}, "Caroline"),
        ({"source": "user"}, None),
        ({"source": "claude-agent"}, None),
        ({"source": "Slack"}, None),
        ({"source": "Customer"}, None),
        ({"source": "user", "metadata": {"speaker": "Ann"}}, "Ann"),
        ({"source": "tool:gh"}, None),
    ],
)
def test_a_speaker_is_named_or_not(fields, speaker):
    """Roles, components and channels are not speakers."""
    assert speaker_of(said("hello", **fields)) == speaker


def test_one_name_counts_once_however_often():
    """Several spellings of a name are one mention with a count and aliases."""
    extraction = extract(said("I met New York folks. In new places, New York's best, NEW YORK rules"))
    (city,) = [mention for mention in extraction.mentions if mention.normalised == "new york"]
    assert city.times == 3
    assert set(city.aliases) == {"NEW YORK"}


def test_tags_and_attachments_are_mentioned():
    """Tags and addresses of attachments are mentions."""
    content = {"role": "user", "text": "see", "attachments": [{"type": "log", "url": "https://ci.example.com/log.txt"}]}
    extraction = extract(event("message", content, tags=("deployment",)))
    assert {("tag", "deployment"), ("host", "ci.example.com")} <= mentioned(extraction)
    assert ("https://ci.example.com/log.txt", "hosted_on", "ci.example.com") in related(extraction)


def test_a_user_gives_orders_and_states_facts():
    """Directives, preferences and facts of a user become memories in the words of their sentences."""
    text = "My name is Anna. Always verify the rollout. I prefer short reports. I live in Boston, by the way."
    assert kept(extract(said(text))) == [
        ("fact", "The user's name is Anna."),
        ("policy", "Always verify the rollout."),
        ("preference", "I prefer short reports."),
        ("fact", "Anna lives in Boston."),
    ]


def test_facts_use_the_name_a_user_gives():
    """Facts in the same text, also identifying ones, are about that name; otherwise about "the user"."""
    introduced = extract(said("Sure! My name is Yusuf Rossi, and my zip code is 19122. I live in Philadelphia."))
    assert kept(introduced) == [
        ("fact", "The user's name is Yusuf Rossi."),
        ("fact", "Yusuf Rossi's zip code is 19122."),
        ("fact", "Yusuf Rossi lives in Philadelphia."),
    ]
    assert kept(extract(said("My zip code is 19122. I live in Philadelphia."))) == [
        ("fact", "The user lives in Philadelphia.")
    ]
    two = extract(said("My name is Ann Lee. Or was it: my name is Bob Lee? My name is Bob Lee. I live in Rome."))
    assert ("fact", "The user lives in Rome.") in kept(two)


def test_people_among_each_other_give_no_orders():
    """Talk between people gives facts about them, but no policies for the agent."""
    extraction = extract(by_person("Always follow your dreams. I love painting. I live in Boston."))
    assert kept(extraction) == [
        ("preference", "Caroline: I love painting."),
        ("fact", "Caroline lives in Boston."),
    ]
    assert {memory.said_by for memory in extraction.memories} == {"Caroline"}


def test_an_assistant_says_nothing_to_remember():
    """The agent's own words are not evidence of what its user wants."""
    assert kept(extract(said("Always verify. I prefer tea. I live in Boston.", role="assistant"))) == []


def test_the_first_request_is_the_goal():
    """A request is a goal only at the start of a session."""
    assert kept(extract(said("Deploy the staging environment", sequence=0))) == [
        ("goal", "Deploy the staging environment")
    ]
    assert kept(extract(said("Deploy the staging environment", sequence=5))) == []


def test_a_standing_rule_is_no_goal():
    """The rule holds for all work; the request after it is the goal."""
    rule = "Call me Ada, and always run the tests before you push."
    kinds = [kind for kind, _ in kept(extract(said(f"{rule} Deploy the staging environment.", sequence=0)))]
    assert kinds == ["goal", "policy"]
    assert [kind for kind, _ in kept(extract(said(rule, sequence=0)))] == ["policy"]


def test_feedback_can_direct():
    """A comment of a named user is that user's word; any other comment only proposes."""
    content = {"signal": "correction", "comment": "Right; please open a ticket next time."}
    extraction = extract(event("feedback", content, metadata={"user_id": "U7"}))
    assert kept(extraction) == [("policy", "Please open a ticket next time.")]
    anonymous = extract(event("feedback", content))
    assert kept(anonymous) == []
    assert [draft.text for draft in anonymous.proposals] == ["Please open a ticket next time."]


def test_a_state_change_answers_a_question():
    """The operator's state change is a fact in the slot of subject and field; others only propose."""
    content = {"subject": "staging cluster", "field": "version", "from": "1.29", "to": "1.30"}
    extraction = extract(event("state_change", content, source="operator"))
    (draft,) = extraction.memories
    assert (draft.subject, draft.predicate, draft.object) == ("staging cluster", "version", "1.30")
    assert draft.slot
    assert ("concept", "staging cluster") in mentioned(extraction)
    for source in (None, "ops", "tool:kubectl"):
        unsigned = extract(event("state_change", content, source=source))
        assert (unsigned.memories, len(unsigned.proposals)) == ((), 1)


def test_like_and_dislike_answer_one_question():
    """Liking and disliking the same thing share a slot, as do opposite policies."""
    like, dislike = (
        extract(by_person(text)).memories[0] for text in ("I love spicy food.", "I don't like spicy food.")
    )
    assert (like.slot, like.answer != dislike.answer) == (dislike.slot, True)
    always, never = (
        extract(said(text)).memories[0] for text in ("Always deploy on Fridays.", "Never deploy on Fridays.")
    )
    assert (always.slot, always.answer != never.answer) == (never.slot, True)


@pytest.mark.parametrize(
    ("earlier", "later", "replaces"),
    [
        ("I prefer appointments before 10 am.", "I now prefer afternoons, my shifts changed.", True),
        ("I prefer mornings over evenings.", "These days I prefer evening appointments.", True),
        ("I prefer morning flights.", "I prefer flights after 14:00.", True),
        ("I prefer appointments after 9 am.", "I prefer appointments before 5 pm.", False),
        ("I prefer appointments after 9 am.", "I prefer afternoons.", False),
        ("I prefer morning flights.", "I prefer afternoons.", False),
        ("I prefer tea in the morning.", "I prefer tea in the evening.", False),
    ],
)
def test_another_part_of_the_day_replaces_the_preferred_one(earlier, later, replaces):
    """Of one kind of thing, a user prefers one part of the day; hours that leave the other end open can both hold."""
    before, after = (draft("preference", text) for text in (earlier, later))
    assert (bool(before.slot) and before.slot == after.slot and before.answer != after.answer) is replaces


def test_who_is_unknown_is_not_identified():
    """Account numbers of an unnamed user are only ids of the event; of a known user they are facts."""
    text = "My user ID is emma_kim_9957."
    assert kept(extract(said(text))) == []
    assert kept(extract(said(text, metadata={"user_id": "U1"}))) == [("fact", "U1's user ID is emma_kim_9957.")]


def test_what_is_given_by_hand_is_kept_as_given():
    """A record of `remember` takes effect; other events of that type only propose."""
    content = {"kind": "policy", "text": "never deploy on Fridays", "hard": True}
    (draft,) = extract(event("x-hmxgraph-memory", content), by_hand=True).memories
    assert (draft.text, draft.hard, draft.confidence) == ("never deploy on Fridays", True, 1.0)
    for source in (None, "system", "user", "agent-1"):
        claimed = extract(event("x-hmxgraph-memory", content, source=source))
        assert (claimed.memories, [proposal.hard for proposal in claimed.proposals]) == ((), [False])
    assert extract(event("x-hmxgraph-memory", {"kind": "rumour", "text": "x"}), by_hand=True).memories == ()


@pytest.mark.parametrize("source", ["document:a.pdf", "crm-sync", "agent:helper", "us\u0435r", " web:x", "email"])
def test_a_system_message_of_an_outside_source_is_proposed(source):
    """The role is only a claim; the source says who wrote the message."""
    extraction = extract(said("Always open a ticket.", role="system", source=source))
    assert (extraction.memories, len(extraction.proposals)) == ((), 1)


def test_pages_of_one_site_and_all_tools_are_one_origin():
    """An attacker has many pages, and one page reaches an agent through many tools."""
    sites = ("web:evil.example", "https://www.evil.example/2", "http://a.b.evil.example:80/3")
    for sources in (sites, ("tool:fetch", "mcp:notes", "tool:browse")):
        proposals = [extract(said("Always open a ticket.", source=source)).proposals[0] for source in sources]
        assert len({proposal.origin for proposal in proposals}) == 1


def test_typographic_quotes_change_nothing():
    """Typographic apostrophes, as phones write them, are understood."""
    assert kept(extract(by_person("I don\u2019t like spicy food."))) == [
        ("preference", "Caroline: I don't like spicy food.")
    ]


def test_a_question_names_things_as_events_do():
    """Names in a question are normalised like those in events."""
    names = {name.normalised for name in names_in("When did Caroline's brother visit The Beatles in JG7FMM?")}
    assert names == {"caroline", "beatles", "jg7fmm"}


def test_output_is_bounded():
    """The result is bounded, however long the event."""
    text = " ".join(f"We saw Name{number} Surname. Always check number {number}. " for number in range(200))
    extraction = extract(said(text))
    assert (len(extraction.mentions), len(extraction.memories)) == (32, 8)
    results = {"tool_name": "list", "result": {"ids": [f"order_{number:05}" for number in range(500)]}, "success": True}
    assert len(extract(event("tool_result", results)).mentions) == 16


def test_what_is_liked_is_named_without_emphasis():
    """The words "too" and "so much" are not part of the object."""
    endings = ("", " too", " so much", ", too")
    memories = [extract(by_person(f"I love traveling{ending}.")).memories[0] for ending in endings]
    assert {(memory.object, memory.slot) for memory in memories} == {(memories[0].object, memories[0].slot)}


@pytest.mark.parametrize("text", ["I **love** hiking.", "I **really love** hiking.", "**I love hiking.**"])
def test_emphasis_hides_no_preference(text):
    """Markdown's bold between or around the words of a preference change nothing."""
    (liking,) = extract(said(text)).memories
    assert (liking.kind, liking.object) == ("preference", "hiking")


def test_a_rule_about_oneself_is_stored_under_that_name():
    """It applies to and replaces only that user's rules; other rules carry no name."""
    ann, bob = (
        extract(said(text, source=name)).memories[0]
        for name, text in (("Ann", "Never call me before nine."), ("Bob", "Always call me before nine."))
    )
    assert (ann.text, ann.hard) == ("Ann: Never call me before nine.", True)
    assert (bob.text, ann.slot == bob.slot) == ("Bob: Always call me before nine.", False)
    by_id = extract(said("Never call me before nine. I prefer aisle seats.", metadata={"user_id": "U7"}))
    assert kept(by_id) == [("policy", "U7: Never call me before nine."), ("preference", "U7: I prefer aisle seats.")]
    assert kept(extract(said("Never push to main.", source="Ann"))) == [("policy", "Never push to main.")]
    assert kept(extract(said("Never call me before nine."))) == [("policy", "Never call me before nine.")]


def test_facts_about_relatives_are_about_the_relative():
    """They are about the name if given, else about the relation to the speaker."""
    assert kept(extract(said("My son is allergic to peanuts.", source="Ann"))) == [
        ("fact", "Ann's son is allergic to peanuts.")
    ]
    (draft,) = extract(said("My son is not allergic to peanuts.")).memories
    assert (draft.subject, draft.text) == ("the user's son", "The user's son is not allergic to peanuts.")
    assert draft.about == ()
    named, kin = extract(said("My husband Tom is allergic to nuts.", source="Ann")).memories
    assert {named.text, kin.text} == {"Ann's husband is Tom.", "Tom is allergic to nuts."}


@pytest.mark.parametrize(
    "changed",
    [
        {"content": {"result": {"order_id": "#W99"}}},
        {"content": {"success": False}},
        {"source": "tool:cancel_order"},
        {"tags": ["urgent"]},
    ],
)
def test_only_a_repeated_result_has_the_extraction_of_an_earlier_one(changed):
    """A result that differs in its call id alone says the same; any other difference is read."""
    content = {"tool_name": "get_order", "result": {"order_id": "#W12", "user_id": "ann_7"}, "call_id": "c1"}
    first = extract(event("tool_result", content, source="tool:get_order"))
    again = event("tool_result", {**content, "call_id": "c2"}, source="tool:get_order", agent_id="b", session_id="s2")
    assert extract(again) is first
    other = {"source": "tool:get_order", **changed, "content": {**content, **changed.get("content", {})}}
    assert extract(event("tool_result", **other)) is not first


def test_the_memory_that_another_supersedes_is_no_entity():
    """A remembered text mentions what it names, not the id of the memory that it replaces."""
    content = {"kind": "fact", "text": "Backups run on Neo4j", "supersedes": "69220adc-5f4f-5185-be34-e3461e483027"}
    assert mentioned(extract(event("x-hmxgraph-memory", content), by_hand=True)) == {("concept", "neo4j")}
    assert ("supersede", content["supersedes"]) in mentioned(extract(event("x-other", content)))


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Please remember that GLS picks up at 15:00.", "GLS picks up at 15:00."),
        ("FYI the boxes are in B3", "The boxes are in B3."),
        ("For your information, our accountant works on Mondays.", "Our accountant works on Mondays."),
        ("Please note that parcels go out twice a day.", "Parcels go out twice a day."),
        ("Remember: I park on level 3.", "Ann: I park on level 3."),
    ],
)
def test_what_a_user_asks_to_remember_is_a_fact(text, fact):
    """A statement after "remember that" or "FYI" is a fact in its own words, whatever its form."""
    spoken = said(text, metadata={"user_id": "Ann"})
    learned = [(memory.kind, memory.text, memory.extraction_method) for memory in extract(spoken).memories]
    assert learned == [("fact", fact, "statement")]


@pytest.mark.parametrize(
    "text",
    [
        "Remember that time we went to Rome",
        "Remember that GLS picks up at 15:00?",
        "FYI it is done by now.",
        "FYI: check the logs please",
        "Please note that this is a draft.",
        "Note that a number of bots are hosted abroad.",
        "Remember that staying positive is important.",
    ],
)
def test_talk_is_nothing_to_remember(text):
    """Questions, references to what was said, requests and phrases of texts state no fact."""
    assert [memory.text for memory in extract(said(text)).memories if memory.kind == "fact"] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Use postgres://shop:Gl4ze!Kiln@db.staging.acme.internal/shop",
            {("url", "postgres://shop:***@db.staging.acme.internal/shop"), ("host", "db.staging.acme.internal")},
        ),
        (
            "Use postgres://shop:[password 05e5]@db.acme.internal/shop",  # masked before it was stored
            {("url", "postgres://shop:***@db.acme.internal/shop"), ("host", "db.acme.internal")},
        ),
        ("It failed with password: Gl4zeKiln2026x on OPS-1234", {("id", "ops-1234")}),
        ("Pay with 4111 1111 1111 1111 or ghp_" + "a1B2c3D4e5" * 4, set()),
    ],
)
def test_nothing_is_made_of_a_secret(text, names):
    """No part of what packs mask becomes an entity; what stands around it does."""
    assert mentioned(extract(said(text))) - {("person", "user")} == names
    call = {"tool_name": "exec", "call_id": "c", "arguments": {"note": text}}
    assert mentioned(extract(event("tool_call", call))) == names | {("agent", "agent-1"), ("tool", "exec")}


@pytest.mark.parametrize("before", [0, 100, 1_960, 1_990])
def test_nothing_is_made_of_a_secret_in_a_long_output(before):
    """Long outputs are masked as far as they are read, however much shorter masking makes them."""
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA7 ' * 60}\n-----END RSA PRIVATE KEY-----\n"
    output = f"{'x ' * (before // 2)}\n{key}{'- ' * 700} password=HUNTER2X9 {'y ' * 3_000}"
    content = {"tool_name": "exec", "call_id": "c", "success": True, "result": {"output": output}}
    assert mentioned(extract(event("tool_result", content))) == {("tool", "exec")}


def test_the_value_of_a_secret_field_is_no_entity():
    """The name of the field says that its value is a secret."""
    arguments = {"api_key": "HUNTER2X9", "order_id": "#W12345"}
    extraction = extract(event("tool_call", {"tool_name": "login", "call_id": "c", "arguments": arguments}))
    assert "hunter2x9" not in {mention.normalised for mention in extraction.mentions}
    assert "w12345" in {mention.normalised for mention in extraction.mentions}
