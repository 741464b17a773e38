"""What goes into a pack and what is left out although there is room: memories, whole episodes, repeats."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from hmxgraph.recall._asked_actions import remedies, warning
from hmxgraph.recall._episodes import _units_and_dropped
from hmxgraph.recall._packing import Repeats
from hmxgraph.recall._steps import LINE, step_scores
from hmxgraph.recall.candidates import Candidate, Components, Ranked
from hmxgraph.recall.draft import MOST_SESSIONS
from hmxgraph.recall.event_candidates import Episodes
from hmxgraph.recall.knowledge import NO_GUIDANCE, Guidance
from hmxgraph.recall.pack import Pack
from hmxgraph.recall.pool import EventPool, match_words
from hmxgraph.recall.question import understood
from hmxgraph.recall.relevance import Ranking
from hmxgraph.text.terms import counter
from tests.recall_makers import COUNT, NOW, QUERY, artifact, draft, event, evidence, known, memory, packed, record

LINTING = "The team lints with Biome"


def shown(pack, section=None):
    """Return the texts of the entries without labels, of one section if given."""
    return [entry.content.removeprefix("[tool] ") for entry in pack.entries if section in {None, entry.section}]


def reasons(pack):
    """Return the drop reason of each source."""
    return {drop.source_id: drop.drop_reason for drop in pack.dropped_entries}


def test_a_memory_about_something_else_stays_out():
    """One shared word of four is not enough, however much room there is; the drop reason says so."""
    memories = [
        memory(1, "Deploys to staging go through the release environment"),
        memory(2, "The staging fridge is empty"),
    ]
    pack = packed(what=known(memories=memories), query="Which release environment do deploys to staging use?")
    assert shown(pack) == [memories[0].text]
    assert reasons(pack) == {"m002": "low_relevance"}


@pytest.mark.parametrize(
    ("query", "made"),
    [
        ("So, what do we say about k8s when the committee meets next quarter?", {"aliases": ("k8s", "kube")}),
        ("What do the committee and the sponsors think of Kubernetes next quarter?", {}),
    ],
)
def test_a_memory_that_the_question_names_goes_in(query, made):
    """A memory named by an alias or by a name in its text is included, whatever else the question says."""
    text = "Services run on Kubernetes with Helm charts"
    assert shown(packed(what=known(memories=[memory(1, text, **made)]), query=query)) == [text]


def test_a_name_that_is_everywhere_selects_nothing():
    """In a conversation, the speakers' names do not select everything known about them."""
    events = [event(number, f"Ann: tale number {number}", age_days=90) for number in range(20)]
    memories = [memory(1, "Ann plays the piano"), memory(2, "Ann adopted a puppy in spring")]
    pack = packed(events, known(memories=memories), query="When did Ann adopt her puppy?", sections=["facts"])
    assert shown(pack) == ["Ann adopted a puppy in spring"]


def test_a_misspelt_word_is_read_as_the_word_that_is_known():
    """A word with one letter too many or too few, or with two swapped, is corrected to a known one."""
    memories = [memory(1, "Writes TypeScript in strict mode"), memory(2, "Mangoes ripen in May")]
    assert shown(packed(what=known(memories=memories), query="typsecript compilation")) == [memories[0].text]


def test_a_correction_changes_no_known_word():
    """A word that occurs in some event is not corrected."""
    said = [event(1, "The modal dialog closes", age_days=1)]
    pack = packed(said, known(memories=[memory(1, "The model is linear")]), query="modal?", sections=["facts"])
    assert shown(pack) == []
    assert understood("modal?", 0).corrected({}).terms == ("modal",)


def test_a_pinned_memory_needs_no_match():
    """A pinned memory is in every pack, with any strategy."""
    pack = packed(what=known(memories=[memory(1, LINTING, pinned=True), memory(2, "Lunch is at noon")]))
    assert shown(pack) == [LINTING]


def work(session, number, *, ends="It is running"):
    """Return a session that deploys: a request, two calls with their results, and the outcome."""
    turns = [
        (QUERY, {}),
        ("exec(command=kubectl apply -f staging.yaml)", {"kind": "tool_call"}),
        ("exec -> deployment of the staging environment configured", {"kind": "tool_result"}),
        ("exec(command=kubectl rollout status)", {"kind": "tool_call"}),
        ("exec -> rolled out", {"kind": "tool_result"}),
        (ends, {"source": "agent"}),
    ]
    return [event(number + at, text, session=session, age_days=9, **how) for at, (text, how) in enumerate(turns)]


PROCEDURE = artifact(1, steps=[("Apply with kubectl", "kubectl")])


def test_three_past_sessions_are_packed_whole():
    """Instead of the best lines of many sessions, calls come with their results and the request with its outcome."""
    events = [each for number in range(6) for each in work(f"s{number}", 100 * number)]
    pack = packed(events, known(artifacts=[PROCEDURE]))
    sessions = [about["session_id"] for about in pack.metadata["entries"] if "session_id" in about]
    assert sorted(Counter(sessions).values()) == [6, 6, 6]
    assert pack.token_budget.section_budgets["episodes"].used <= pack.token_budget.total_budget // 3
    assert set(reasons(pack)).isdisjoint(entry.source_id for entry in pack.entries)


def test_a_failed_example_gives_way_to_one_that_did_not_fail():
    """If there is no other similar session, the date line says that it failed."""
    events = [each for number in range(4) for each in work(f"s{number}", 100 * number)]
    pack = packed(events, known(artifacts=[PROCEDURE]), outcomes=dict.fromkeys(["s0", "s1"], "negative"))
    sessions = {about["session_id"] for about in pack.metadata["entries"] if "session_id" in about}
    assert sessions == {"s2", "s3"}
    assert "negative" not in pack.text
    pack = packed(events, known(artifacts=[PROCEDURE]), outcomes=dict.fromkeys(["s0", "s1", "s2", "s3"], "negative"))
    assert pack.text.count(" (this session ended with negative feedback)\n") == MOST_SESSIONS
    assert COUNT(pack.text) <= pack.token_budget.total_budget


@pytest.mark.parametrize("outcome", ["positive", "negative"])
@pytest.mark.parametrize("budget", [40, 60, 80, 120, 200])
def test_a_text_with_the_outcome_of_a_session_fits_the_budget(budget, outcome):
    """The line that says how the session ended is counted, and the pack's document renders the same text."""
    events = work("s0", 0)
    pack = packed(events, known(artifacts=[PROCEDURE]), outcomes={"s0": outcome}, budget=budget)
    assert COUNT(pack.text) <= budget
    assert Pack.model_validate_json(pack.to_json()).text == pack.text


def test_a_log_of_many_tasks_does_not_fail_as_a_whole():
    """Its last feedback is about its last task."""
    events = [event(number, f"{QUERY} on host {number}", session="s1") for number in range(0, 400, 3)]
    assert "negative" not in packed(events, outcomes={"s1": "negative"}).text


def returned(number, wish):
    """Return a session in which something is returned as the procedure says, mentioning one of the shop's own rules."""
    turns = [
        (f"Please return {wish}", {}),
        ("return_items(order=W1)", {"kind": "tool_call"}),
        ("return_items -> requested", {"kind": "tool_result"}),
        (f"The return of {wish} needs a photo first", {"source": "agent"}),
        ("Here is the photo for the return", {}),
        ("The return is under way", {"source": "agent"}),
    ]
    return [event(10 * number + at, text, session=f"s{number}", **how) for at, (text, how) in enumerate(turns)]


def test_beside_a_procedure_only_a_similar_case_is_packed():
    """What the request shares with all others, the procedure tells; what is special about it, a past case may.

    A procedure that usually failed does not tell enough: an example stands beside it anyway.
    """
    procedure = artifact(
        1, "Return a recent order", steps=[("Return the order", "return_items")], actions=("return_items",)
    )
    wishes = ["the cracked tablet", *["my recent order"] * 30]
    events = [each for number, wish in enumerate(wishes) for each in returned(number, wish)]
    asked = {"what": known(artifacts=[procedure])}
    alike = shown(packed(events, query="Return a tablet that came cracked", **asked), "episodes")
    assert "The return of the cracked tablet needs a photo first" in alike
    numbers = event(900, "Stock: 377 hoses, 189 pumps", session="s90")
    special = draft([*events, numbers], query="Return my order: tablet, 189 and 377").events.with_special_terms
    assert special[0]
    assert not special[-1]
    assert shown(packed(events, query="Please return my recent order", **asked), "episodes") == []
    doubtful = {"what": known(artifacts=[replace(procedure, success_rate=0.4, observed_count=10)])}
    example = shown(packed(events, query="Please return my recent order", **doubtful), "episodes")
    assert "The return of my recent order needs a photo first" in example


def test_small_talk_is_no_part_of_an_episode():
    """Greetings, thanks and confirmations share no word with the question; messages about the outcome stay."""
    said = [("Hi! How can I help?", "agent"), ("Sure, go on", "user"), ("Thanks, have a great day!", "user")]
    chat = [event(6 + at, text, session="s1", source=by, speaker=by, age_days=9) for at, (text, by) in enumerate(said)]
    end = event(9, "Done", session="s1", speaker="agent", age_days=9)
    lines = shown(packed([*work("s1", 0), *chat, end], known(artifacts=[PROCEDURE])), "episodes")
    assert not [line for line in lines if any(text in line for text, _ in said)]
    assert lines[-1] == "It is running"


@pytest.mark.parametrize(("start", "packed_too"), [(0, False), (40, True)])
def test_a_greeting_is_no_part_of_an_episode(start, packed_too):
    """It is left out although it shares a word with the request; an equally short message later in a session is not."""
    asks = event(start, "Which environment?", session="s1", speaker="assistant", age_days=9)
    lines = shown(packed([asks, *work("s1", start + 1)], known(artifacts=[PROCEDURE])), "episodes")
    assert ("assistant: Which environment?" in lines) is packed_too


ANSWER = "Nobody but the release managers Ann, Bo and Cy may approve exceptions; ask them tomorrow morning"


def test_the_answer_to_a_plea_after_the_end_is_shown():
    """The answer to a late request is shown, unlike the messages after thanks."""

    def lines(plea):
        said = [("The staging environment cannot be deployed", "assistant"), (plea, "user"), (ANSWER, "assistant")]
        ends = [event(6 + n, text, session="s1", speaker=by, age_days=9) for n, (text, by) in enumerate(said)]
        return shown(packed([*work("s1", 0), *ends], known(artifacts=[PROCEDURE])), "episodes")

    assert f"assistant: {ANSWER}" in lines("Please deploy the staging environment all the same")
    assert f"assistant: {ANSWER}" not in lines("Thanks for all you did")


def test_an_episode_keeps_the_answer_to_the_special_question():
    """In a long session, the outcome and messages about the question come before lookups that any session has."""
    lookups = [
        (text.format(n), how)
        for n in range(9)
        for text, how in (
            ("exec(command=kubectl get pods {})", {"kind": "tool_call"}),
            ("exec -> pod {} is up and has been so for a long time", {"kind": "tool_result"}),
        )
    ]
    turns = [
        ("Please deploy the staging environment to two regions at once", {"source": "user", "speaker": "user"}),
        *lookups[:6],
        ("Two regions at once cannot be deployed: the quota is one", {"source": "agent", "speaker": "agent"}),
        *lookups[6:],
        ("One region is up", {"source": "agent", "speaker": "agent"}),
        ("Great, that is all I wanted to hear from you today", {"source": "user", "speaker": "user"}),
        ("You are welcome, and have a pleasant rest of the day", {"source": "agent", "speaker": "agent"}),
    ]
    events = [event(at, text, session="s1", age_days=9, **how) for at, (text, how) in enumerate(turns)]
    query = "Please deploy the staging environment to two regions at once"
    lines = shown(packed(events, known(artifacts=[PROCEDURE]), query=query, budget=512), "episodes")
    assert {"agent: Two regions at once cannot be deployed: the quota is one", "agent: One region is up"} <= {*lines}
    assert not [line for line in lines if "welcome" in line or "Great" in line]


def test_the_running_session_has_no_farewell():
    """Its last messages say where the work stands, whatever the question is."""
    said = [
        ("Deploy the staging environment, then tell the committee of our sponsors", "user"),
        ("I tell them next", "agent"),
    ]
    latest = [event(6 + at, text, session="now", speaker=by, source=by) for at, (text, by) in enumerate(said)]
    wish = event(
        9,
        "Our sponsors want the figures of the last quarter in a printed table with colours and footnotes first",
        session="now",
        speaker="user",
    )
    pack = packed([*work("now", 0), *latest, wish], known(artifacts=[PROCEDURE]), session_id="now")
    assert any("figures of the last quarter" in line for line in shown(pack, "episodes"))


def test_a_case_may_be_told_at_length_where_no_procedure_answers():
    """Past sessions fill at most half of the budget next to a procedure, and more without one."""
    events = [each for number in range(2) for each in work(f"s{number}", 100 * number, ends="It runs. " * 60)]
    alone = packed(events, guidance=Guidance(expected=("exec",)), budget=600)
    beside = packed(events, known(artifacts=[PROCEDURE]), budget=600)
    used = [pack.token_budget.section_budgets["episodes"].used for pack in (alone, beside)]
    assert used[0] > 300 >= used[1]


def test_a_result_never_stands_without_its_call():
    """If a session does not fit, whole units are left out; its beginning and end stay."""
    events = work("s1", 0)
    pack = packed(events, known(artifacts=[PROCEDURE]), budget=95)
    content = set(shown(pack, "episodes"))
    assert {QUERY, "It is running"} < content < {text for _, text in events}
    assert ("exec -> rolled out" in content) == ("exec(command=kubectl rollout status)" in content)


def test_of_equally_good_units_the_later_are_shown():
    """Findings and actions come late in a session."""
    steps = [(f"step_{n}(number={n})", f"step_{n} -> done with number {n}") for n in range(20)]
    texts = [QUERY, *(text for step in steps for text in step), "It is running"]
    kinds = ["message", *("tool_call", "tool_result") * len(steps), "message"]
    events = [event(n, text, kind=kind, age_days=9) for n, (text, kind) in enumerate(zip(texts, kinds, strict=True))]
    changes = {f"step_{n}" for n in range(20)}
    lines = shown(packed(events, known(artifacts=[PROCEDURE]), budget=480, changes=changes), "episodes")
    # The first step is next to the request.
    kept = [place for place, text in enumerate(texts) if text in lines and place > 2]
    assert 2 < len(kept) < len(texts) - 3
    assert kept == list(range(len(texts) - len(kept), len(texts)))


def test_calls_made_at_the_same_time_keep_their_own_results():
    """If three calls precede their results, calls that do not fit are left out together with their results."""
    calls = ("list_pods(in=staging)", f"dump_logs(in=staging, rows={'row ' * 150})", "list_hosts(in=staging)")
    turns = [
        (QUERY, {}),
        *((call, {"kind": "tool_call"}) for call in calls),
        ("list_pods -> 4 staging pods", {"kind": "tool_result"}),
        ("dump_logs -> 9 staging logs", {"kind": "tool_result"}),
        ("list_hosts -> 2 staging hosts", {"kind": "tool_result"}),
        ("The environment is staged", {"source": "agent"}),
    ]
    events = [event(at, text, session="s1", age_days=9, **how) for at, (text, how) in enumerate(turns)]
    content = shown(packed(events, known(artifacts=[PROCEDURE]), budget=300), "episodes")
    assert set(content) == {text for text, _ in turns if "dump_logs" not in text}


@pytest.mark.parametrize(
    ("texts", "unanswered"),
    [
        (["look_up(id=1)", "look_up -> found"], []),
        (["look_up(id=1)", "look_up failed: timeout", "look_up(id=2)"], ["e002"]),
        (["look_up(id=1)", "pay(amount=2)", "pay -> paid"], ["e000"]),
        (["look_up(id=1)", "look_up(id=2)", "look_up -> found", "look_up -> found"], []),
        (["look_up -> found", "I called look_up"], []),
    ],
)
def test_calls_whose_results_are_missing(texts, unanswered):
    """The pool lists its calls without results, so that these can be fetched."""
    rows = [event(at, text)[0] for at, text in enumerate(texts)]
    assert EventPool.of(rows).unanswered == unanswered


def test_the_best_calls():
    """The best calls share words with the question, in themselves or in the events after them."""
    texts = ("look_up(id=lamp)", "look_up -> brass", "look_up(id=vase)", "look_up -> a lamp", "look_up(id=rug)")
    pool = EventPool.of([event(number, text)[0] for number, text in enumerate(texts)])
    ranking = Ranking(understood("Find the lamp", NOW), pool, len(pool))
    assert set(ranking.best_calls(["s1"], 2)) == {"e000", "e002"}
    assert ranking.best_calls(["s2"], 2) == ()


def test_results_belong_to_their_recorded_calls():
    """Results follow the recorded link whatever their order; without a record, they follow the order of the calls."""
    turns = [
        QUERY,
        "exec(command=status of the environment)",
        f"exec(command=logs of the environment, rows={'row ' * 150})",
        "exec -> staging: 9 logs",
        "exec -> staging: 4 pods",
    ]
    kinds = ["message", "tool_call", "tool_call", "tool_result", "tool_result"]
    events = [event(n, text, kind=kind, age_days=9) for n, (text, kind) in enumerate(zip(turns, kinds, strict=True))]
    asked = {"what": known(artifacts=[PROCEDURE]), "budget": 300}
    recorded = {"e003": "e002", "e004": "e001"}
    assert set(shown(packed(events, results=recorded, **asked), "episodes")) == {turns[0], turns[1], turns[4]}
    assert set(shown(packed(events, **asked), "episodes")) == {turns[0], turns[1], turns[3]}


@pytest.mark.parametrize("strategy", ["breadth_first", "depth_first"])
def test_breadth_and_depth_do_not_show_whole_sessions(strategy):
    """They show other lines than the default."""
    events = [
        each for number in range(6) for each in work(f"s{number}", 100 * number, ends=f"It runs on host {number}")
    ]
    what = known(artifacts=[PROCEDURE])
    assert shown(packed(events, what, strategy=strategy)) != shown(packed(events, what))


def test_a_lone_message_is_not_cut_while_there_is_room():
    """A single message stays whole, however long it is."""
    text = "The staging environment needs deploying. " + " ".join(
        f"Step {number} takes a while." for number in range(90)
    )
    pack = packed([event(1, text)], sections=["episodes"], budget=counter()(text) + 60)
    assert shown(pack) == [text]


def test_a_rule_is_not_repeated_by_the_message_that_gave_it():
    """The message is left out, whoever wrote it."""
    rule = "Always deploy the staging environment with Helm"
    pack = packed([event(1, rule, speaker="user")], known(memories=[memory(1, rule, kind="policy")]))
    assert shown(pack) == [rule]
    assert reasons(pack) == {"e001": "duplicate"}


def test_what_no_longer_holds_is_marked_or_left_out():
    """The event of a superseded memory is labelled, and the label counted; that of a deleted memory is left out."""
    events = [event(1, "The staging environment has three nodes"), event(2, "Deploy the staging environment by hand")]
    pack = packed(events, known(superseded=frozenset({"e001"}), deleted=frozenset({"e002"})))
    (entry,) = pack.entries
    line = "[superseded] The staging environment has three nodes\n"
    assert line in pack.text
    assert entry.token_estimate == counter()(line)
    assert reasons(pack) == {"e002": "deprecated"}


@pytest.mark.parametrize("fate", [{"rejected_by": ("bo",)}, {"held": False}])
def test_events_of_rejected_or_retired_records_stay_out(fate):
    """The events are left out even if the record itself is irrelevant to the question."""
    related = record(1, "Something else", reporting_events=frozenset({"e001"}), **fate)
    assert shown(packed([event(1, "Deploy the staging environment by hand")], known(records=[related]))) == []


def talk(*texts, session="s1", start=0):
    """Return Ann's messages as events of one session, some time ago."""
    return [event(start + at, text, session=session, speaker="Ann", age_days=90) for at, text in enumerate(texts)]


RUNNING = "I run to destress after long days at the office"
OTHER = [f"Story number {number} was about gardens" for number in range(12)]
DESTRESS = "What does Ann do to destress?"


def test_who_speaks_is_no_evidence():
    """What the named person says about other things is left out as low_relevance, although there is room."""
    events = [
        *talk(RUNNING),
        *(each for n, text in enumerate(OTHER) for each in talk(text, session=f"t{n}", start=9 + n)),
    ]
    pack = packed(events, query=DESTRESS)
    assert shown(pack) == [f"Ann: {RUNNING}"]
    assert set(reasons(pack).values()) == {"low_relevance"}


def test_a_turn_beside_the_answer_belongs_to_it():
    """Answers follow questions, whatever words they use."""
    events = talk(RUNNING, "It clears my head every single time")
    assert len(shown(packed(events, query=DESTRESS))) == 2


def test_a_turn_near_the_answer_that_says_nothing_of_it_stays_out():
    """A nearby turn is left out unless it replies to the same question; a search for episodes alone also returns it."""
    asked, other = "Which music festival did Ann visit in Lisbon?", "What did you eat?"
    said = ["I went to a music festival in Lisbon", "They played for three hours", other]
    assert f"Ann: {other}" not in shown(packed(talk(*said), query=asked))
    assert f"Ann: {other}" in shown(packed(talk(*said), query=asked, sections=["episodes"]))
    replied = talk("Which music festival in Lisbon did you visit?", "Kalorama")
    assert "Ann: Kalorama" in shown(packed(replied, query=asked))


def test_a_named_day_does_not_call_everything_said_on_it():
    """Turns of that day about something else are left out, unless the question asks for nothing else."""
    apart = (each for n, text in enumerate(OTHER) for each in talk(text, session=f"t{n}", start=9 + n))
    that_day = [*talk("I paddle my canoe on the lake"), *apart]
    asked = "Where did Ann paddle her canoe on 14 December 2025?"
    assert shown(packed(that_day, query=asked)) == ["Ann: I paddle my canoe on the lake"]
    assert len(shown(packed(that_day, query="What happened on 14 December 2025?"))) == len(that_day)


def test_episodes_alone_are_a_search():
    """A request for episodes alone also gets events that are about something else, while they fit."""
    events = [
        *talk(RUNNING),
        *(each for n, text in enumerate(OTHER) for each in talk(text, session=f"t{n}", start=9 + n)),
    ]
    assert len(shown(packed(events, query=DESTRESS, sections=["episodes"]))) > 1


def test_one_score_decides():
    """No included event scores as low as an excluded one."""
    events = [*talk(RUNNING, *OTHER), *talk("A yoga course helps me destress", session="s2", start=50)]
    pack = packed(events, query=DESTRESS)
    low = [drop.relevance_score for drop in pack.dropped_entries if drop.drop_reason == "low_relevance"]
    assert low
    assert max(low) < min(entry.relevance_score for entry in pack.entries)


KINDS = ("tool_call", "tool_result")


def log(*steps, session="log"):
    """Return a session of calls and results that are far apart in a long log."""
    parts = [(number, at, text) for number, step in steps for at, text in enumerate(step)]
    return [event(number + at, text, session=session, kind=KINDS[at], age_days=9) for number, at, text in parts]


def test_only_related_parts_of_a_long_log_are_packed():
    """A log of many tasks is not one episode: a related call comes with its result, and nothing else of the log."""
    related = ("exec(command=deploy staging environment)", "exec -> done, no problems")
    events = log((100, related), (400, ("exec(command=mix format)", "exec -> formatted")))
    assert shown(packed(events, known(artifacts=[PROCEDURE])), "episodes") == list(related)


@pytest.mark.parametrize(("long", "count"), [(("log",), 2), ((), 4)])
def test_only_a_long_session_is_a_log(long, count):
    """Times as sequence numbers, which imported sessions have, do not make a short session a log."""
    related = ("exec(command=deploy staging environment)", "exec -> done, no problems")
    more = ("exec(command=helm status)", "exec -> 3 pods of the release are up")
    events = log((1_770_905_517_667_000, related), (1_770_905_518_667_000, more))
    assert len(shown(packed(events, long_sessions=long), "episodes")) == count


@pytest.mark.parametrize(
    ("procedures", "guidance", "count"),
    [((), NO_GUIDANCE, 4), ((PROCEDURE,), NO_GUIDANCE, 2), ((PROCEDURE,), Guidance(lead="a001", chance=0.3), 4)],
)
def test_steps_of_a_log_get_most_of_a_pack_that_has_no_answer(procedures, guidance, count):
    """They get half of one with a procedure that is no guess: room for one step, not two."""
    steps = [
        (n, (f"exec(command=deploy staging environment of host{n})", f"exec -> host{n} said {'fine ' * 40}"))
        for n in (100, 400)
    ]
    pack = packed(log(*steps), known(artifacts=procedures), budget=200, guidance=guidance)
    assert len(shown(pack, "episodes")) == count
    assert len(shown(pack, "procedures")) == len(procedures)


@pytest.mark.parametrize("result", ["the user said no", "line " * 60])
def test_a_call_shown_by_itself_comes_with_its_short_result(result):
    """The result may share no word with the question, but without it the call reads as if it had worked."""
    called, came = "exec(command=deploy staging environment)", f"exec -> {result}".rstrip()
    between = [event(n, f"thought: remark {n} about the map", age_days=9) for n in range(2, 12)]
    call = event(1, called, kind="tool_call", age_days=9)
    pack = packed(
        [call, *between, event(12, came, kind="tool_result", age_days=9)],
        results={"e012": "e001"},
        strategy="depth_first",
    )
    lines = shown(pack, "episodes")
    assert called in lines
    assert (came in lines) == (len(came) <= LINE)


def test_a_long_result_leaves_room_for_what_followed():
    """A long result that would fill the pack is cut to the passages that match."""
    long = "cargo -> " + "\n".join([f"Compiling crate{n}" for n in range(200)] + ["error: module parser is private"])
    said = "The module parser is private, so I call parse instead"
    events = [
        event(1, "cargo(command=run the parser module)", kind="tool_call"),
        event(2, long, kind="tool_result"),
        event(3, said, source="agent"),
    ]
    lines = shown(packed(events, query="Which module is private?", budget=500), "episodes")
    assert said in lines
    (result,) = (line for line in lines if line.startswith("cargo -> "))
    assert result.rstrip().endswith("error: module parser is private")
    assert COUNT(result) < 200


def test_an_example_makes_the_change_that_is_expected():
    """It is preferred to a session with more words of the request in which something was only looked up."""
    request = "Return the broken lamp and refund me"
    looked = [
        event(1, f"{request}, it came in the wrong colour", session="s1"),
        event(2, "get_order(order=1)", kind="tool_call", session="s1"),
        event(3, "get_order -> delivered last week", kind="tool_result", session="s1"),
    ]
    returned = [
        event(11, "I want to return the broken lamp that I bought from you for my aunt", session="s2"),
        event(12, "return_items(order=2)", kind="tool_call", session="s2"),
        event(13, "return_items -> return requested by post", kind="tool_result", session="s2"),
    ]
    lead = artifact(1, "Return the lamp", actions=("return_items",))
    sure = Guidance("a001", frozenset({"return_items"}), frozenset({"return_items"}), led=frozenset({"return_items"}))
    for changes, session in ((sure.led, "s2"), (frozenset(), "s1")):
        guidance = replace(sure, changes=changes)
        pack = packed([*looked, *returned], known(artifacts=[lead]), query=f"{request} please", guidance=guidance)
        shown_sessions = {about["session_id"] for about in pack.metadata["entries"] if "session_id" in about}
        assert shown_sessions <= {session}, (changes, shown_sessions)


@pytest.mark.parametrize(
    "announced", ["Now deploy the staging environment:", "Staging is behind, so I deploy this environment by hand"]
)
def test_a_log_gives_whole_steps_also_without_procedures(announced):
    """Requests and questions get the best steps with announcement, calls and results; weak steps leave room unused."""
    best = ("exec(command=deploy staging environment)", "exec -> deployed without problems")
    weak = ("read(path=staging.yaml)", "read -> replicas 3")
    announcement = [event(99, announced, session="log", source="agent", age_days=9)]
    events = [*announcement, *log((100, best), *((200 + 10 * n, weak) for n in range(20)))]
    for query in (QUERY, "What was deployed to the staging environment?"):
        assert sorted(shown(packed(events, query=query), "episodes")) == sorted((announced, *best))


def test_the_small_talk_before_a_call_is_left_out_of_a_step():
    """What the call says anyway is not repeated; a finding stays, and so does what follows the last call."""
    best = ("exec(command=deploy staging environment)", "exec -> deployed without problems")
    finding = "The probe of the web pod asks for a port that the new chart has dropped since Monday."
    for said_before, is_shown in (("Great! Let me go on with this:", False), (finding, True)):
        events = [event(99, said_before, session="log", speaker="assistant", age_days=9), *log((100, best))]
        events += log(*((200 + 10 * n, ("read(path=a.yaml)", "read -> replicas 3")) for n in range(20)))
        assert (f"assistant: {said_before}" in shown(packed(events, query=QUERY), "episodes")) == is_shown


def test_a_step_of_a_log_is_judged_by_what_was_said_and_called_more_than_by_results():
    """The whole call counts, such as the text of an edit; a file that a tool read has words of any request."""
    code = "edit(path=lib/app.ex, content=" + " filler" * 40 + " deploy the staging environment)"
    listed = "read -> " + " deploy the staging environment" * 3
    events = log(
        (200, (code, "edit -> the file lib/app.ex was changed")),
        (500, ("read(path=notes.md)", listed)),
        (800, ("exec(command=ls)", "exec -> 9 files")),
    )
    for query in (QUERY, "How did we deploy the staging environment?"):
        lines = shown(packed(events, query=query), "episodes")
        assert sorted(line.partition("(")[0] for line in lines) == ["edit", "edit -> the file lib/app.ex was changed"]


def test_a_result_that_only_acknowledges_its_call_is_not_packed():
    """It repeats the words of the call and adds the same few as many other results."""
    calls = [
        (f"edit(path=staging/environment_{name}.yaml)", name) for name in ("north", "east", "south", "west", "hub")
    ]
    steps = [
        (100 * at, (call, f"edit -> The file staging/environment_{name}.yaml has been updated."))
        for at, (call, name) in enumerate(calls, 1)
    ]
    told = log(
        (
            900,
            (
                "edit(path=staging/environment_north.toml)",
                "edit -> refused: the north environment of staging is locked by ana",
            ),
        )
    )
    lines = shown(packed([*log(*steps), *told], query="Edit the north environment of staging"), "episodes")
    assert "edit -> refused: the north environment of staging is locked by ana" in lines
    assert not any("has been updated" in line for line in lines)


def test_a_result_that_repeats_words_of_its_call_is_packed():
    """The line that a search has found may be all of the answer."""
    steps = [(100 * n, (f"grep(pattern=staging{n}.css, path=deploy)", f"grep -> staging{n}.css")) for n in range(1, 6)]
    lines = shown(packed(log(*steps), query="Is staging3.css one of the files to deploy?"), "episodes")
    assert "grep -> staging3.css" in lines


def test_of_several_reports_of_an_error_those_that_match_the_question_count():
    """The words beside the quoted message tell which of them is meant."""
    refused = "exec failed: validation refused: "
    steps = [(200 * n, ("exec(command=commit)", f"{refused}{what}")) for n, what in enumerate(["format", "lint"] * 3)]
    steps.append((5_000, ("exec(command=commit)", f"{refused}secrets in the staging vault")))
    said = event(5_002, "Ana says to rotate them", session="log", source="agent", age_days=9)
    query = 'Commits do not pass: "validation refused:" and something about secrets in the staging vault. What now?'
    lines = shown(packed([*log(*steps), said], query=query, budget=256), "episodes")
    assert {steps[-1][1][1], "Ana says to rotate them"} <= set(lines)
    assert not any(line.endswith((": format", ": lint")) for line in lines)


def test_why_something_failed_is_answered_by_the_steps_in_which_it_did():
    """Steps that went well are left out; a question about when it failed gets each occurrence."""
    failed = ("exec(command=git push origin)", "exec failed: no upstream branch")
    well = ((300 + 10 * n, ("exec(command=git push origin)", f"exec -> {n} branches pushed")) for n in range(9))
    again = ((700 + 10 * n, (failed[0], f"{failed[1]} for host {n}")) for n in range(3))
    said = "The branch is new, so I set it first"
    remark = event(102, said, session="log", source="agent", age_days=9)
    events = [*log((100, failed), *well), remark, *log(*again, session="other")]
    lines = shown(packed(events, query="Why did git push fail?"), "episodes")
    assert {*failed, said} <= set(lines)
    assert not any("pushed" in line for line in lines)
    times = shown(packed(events, query="When did git push fail?"), "episodes")
    assert sum(" failed: " in line for line in times) == 4


def test_long_results_of_a_past_session_are_cut_to_what_matches():
    """They are about another case, and messages tell how it went. The running session keeps its results whole."""
    long = "exec -> Pods: " + " ".join(f"pod {n} runs." for n in range(90)) + " The staging environment is deployed."
    events = [*work("s1", 0), event(6, "exec(command=list)", session="s1", kind="tool_call", age_days=9)]
    events.append(event(7, long, session="s1", kind="tool_result", age_days=9))
    asked = {"what": known(artifacts=[PROCEDURE]), "budget": 4096}
    (cut,) = (line for line in shown(packed(events, **asked), "episodes") if line.startswith("exec -> Pods"))
    assert len(cut) <= 250
    assert cut.endswith("The staging environment is deployed.")
    assert long in shown(packed(events, session_id="s1", **asked), "episodes")


def test_long_lines_of_a_step_are_cut_to_what_matches():
    """The beginning says what was done; only passages about the request follow."""
    long = "exec -> Compiled. " + " ".join(f"Module {n} is up to date." for n in range(90)) + " Staging is deployed."
    lines = shown(packed(log((100, ("exec(command=deploy staging)", long)), (400, ("exec(command=ls)", "exec -> x")))))
    assert any(line.startswith("exec -> Compiled.") and line.endswith("Staging is deployed.") for line in lines)
    assert all(len(line) <= 490 for line in lines)


def test_talk_answers_a_request_by_line():
    """Without tool calls there are no units to keep together."""
    events = [event(100 * number, f"{QUERY} on host {number}", session=f"s{number}") for number in range(5)]
    assert len(shown(packed(events), "episodes")) == len(events)


def test_a_request_that_leads_to_actions_gets_a_few_whole_sessions():
    """If the model expects actions, the agent works with tools, even if the best lines are messages."""
    events = [event(100 * number, f"{QUERY} on host {number}", session=f"s{number}") for number in range(5)]
    expecting = Guidance(expected=frozenset({"deploy"}), known=frozenset({"deploy", "roll_back"}))
    assert 1 <= len(shown(packed(events, guidance=expecting), "episodes")) <= MOST_SESSIONS


def test_a_question_that_somebody_asked_an_agent_before_gets_a_whole_session():
    """Where tools do the work, the outcome is the answer; a question of few words needs a very similar message."""
    asks = ("Has my parcel with the blue lamp been shipped yet?", "Which parcel with the blue lamp was shipped?")
    told = "Could you tell me whether my blue lamp parcel has been shipped yet?"
    calls = ("find_parcel(number=7)", "find_parcel -> in transit")
    parts = [(told, {"speaker": "user"}), *((text, {"kind": kind}) for text, kind in zip(calls, KINDS, strict=True))]
    parts.append(("It is on its way", {"speaker": "assistant"}))
    events = [event(n, text, session="s1", age_days=9, **how) for n, (text, how) in enumerate(parts)]
    for query in (*asks, "Is the parcel shipped?"):
        assert len(shown(packed(events, query=query), "episodes")) == len(events)
    assert len(shown(packed(events, query="Is the lamp torn?"), "episodes")) < len(events)


def _lookup(number, told, result, *, call="get_branch(branch=Nord)", age_days=9.0, **how):
    """A session in which a user says something, a tool is called, and an assistant answers."""
    turns = [
        (told, {"speaker": "user"}),
        (call, {"kind": "tool_call"}),
        (f"get_branch -> {result}", {"kind": "tool_result"}),
        ("I hope that helps", {"speaker": "assistant"}),
    ]
    return [
        event(10 * number + at, text, session=f"s{number}", age_days=age_days, **kind, **how)
        for at, (text, kind) in enumerate(turns)
    ]


ASKED = "Which address has your Nord branch?"
OLD, NEW = "branch: Nord, address: Harbour Street 4", "branch: Nord, address: Mill Lane 9"


@pytest.mark.parametrize(
    ("query", "newer", "both"),
    [
        ("What is the address of the Nord branch?", {}, True),
        ("What is the address of the Nord branch?", {"call": "get_branch(branch=South)"}, False),
        ("What is the address of the Nord branch?", {"age_days": 30.0}, False),
        ("What was the address of the Nord branch two weeks ago?", {}, False),
        ("Please send the address of the Nord branch", {}, False),
    ],
)
def test_a_result_is_shown_with_the_newest_of_the_same_call(query, newer, both):
    """A past session shows what held then; the newest result of its call shows what holds now."""
    events = [
        *_lookup(1, ASKED, OLD),
        *_lookup(2, "It is dark in here, and nobody came", NEW, **({"age_days": 2.0} | newer)),
    ]
    made = draft(events, query=query)
    assert ("s2" in made.whole_sessions) is both
    assert not both or {f"get_branch -> {OLD}", f"get_branch -> {NEW}"} <= set(shown(packed(events, query=query)))


def test_the_same_result_again_adds_no_session():
    """No further session is added for equal results, nor for results that say little of the question."""
    same = [*_lookup(1, ASKED, OLD), *_lookup(2, "It is dark in here, and nobody came", OLD, age_days=2.0)]
    assert "s2" not in draft(same, query="What is the address of the Nord branch?").whole_sessions
    little = [*_lookup(1, ASKED, "open"), *_lookup(2, "It is dark in here, and nobody came", "closed", age_days=2.0)]
    assert "s2" not in draft(little, query="What is the address of the Nord branch?").whole_sessions


def test_a_question_about_data_is_answered_by_the_data():
    """A session in which a user asked for something similar is longer and says less than the record itself."""
    told = "Which data plan has my phone, and does it work abroad?"
    calls = ("get_plan(id=7)", "get_plan -> Premium Plan, data 5 GB, top-up cost per GB 2, cost per month 40")
    parts = [(told, {"speaker": "user"}), *((text, {"kind": kind}) for text, kind in zip(calls, KINDS, strict=True))]
    parts.append(("It does, and it is free", {"speaker": "assistant"}))
    events = [event(n, text, session="s1", age_days=9, **how) for n, (text, how) in enumerate(parts)]
    about_data = "What does a top-up per GB cost with the Premium data plan of my phone?"
    about_case = "Does the data plan of my phone work abroad?"
    assert draft(events, query=about_case).events.was_raised_before
    assert not draft(events, query=about_data).events.was_raised_before
    assert calls[1] in shown(packed(events, query=about_data), "episodes")


def test_work_that_was_never_done_here_gets_no_past_episodes():
    """Words common to all requests do not make a past one similar; an event with most of the words helps."""
    expecting = Guidance(expected=frozenset({"deploy"}), known=frozenset({"deploy", "roll_back"}))
    events = [*work("s1", 0), *work("s2", 100)]
    asked = {"query": "Book the morning flight from Boston to Lisbon in the environment", "guidance": expecting}
    assert shown(packed(events, **asked), "episodes") == []
    read = "read_file -> " + " ".join(f"line {number}" for number in range(99)) + " morning flight Boston Lisbon booked"
    told = event(200, read, session="s3", kind="tool_result")
    assert len(shown(packed([*events, told], **asked), "episodes")) == 1
    assert len(shown(packed(events, guidance=expecting), "episodes")) > 1


def test_work_of_which_something_was_learned_is_not_new():
    """A request in everyday words shares little with past ones, but a policy for it shows that there were some."""
    expecting = Guidance(expected=frozenset({"deploy"}), known=frozenset({"deploy", "roll_back"}))
    asked = {"query": "Put that thing onto the box in the environment before lunch, will you", "guidance": expecting}
    policy = artifact(1, "Put it on the box in the evening only", kind="decision_policy")
    assert shown(packed(work("s1", 0), **asked), "episodes") == []
    assert shown(packed(work("s1", 0), known(artifacts=[policy]), **asked), "episodes") != []


def test_a_question_about_how_things_are_is_answered_though_the_work_is_new():
    """Who also asks how something is done now is not left without an answer; a polite request asks nothing."""
    expecting = Guidance(expected=frozenset({"deploy"}), known=frozenset({"deploy", "roll_back"}))
    wish = "I want to book the morning flight from Boston to Lisbon for the whole department"
    events = [*work("s1", 0), *work("s2", 100)]
    for question, answered in (("Is staging the environment?", True), ("Can you use the staging environment?", False)):
        lines = shown(packed(events, query=f"{wish}. {question}", guidance=expecting), "episodes")
        assert bool(lines) == answered


def test_work_is_not_new_where_no_past_request_is_known():
    """Tool traces may contain no message at all; their steps alone show what was done."""
    steps = ["grep(pattern=trace)", "grep ->", "grep(pattern=tracing)", "grep -> tracing.py:11:def setup_tracing"]
    events = [event(n, text, session="s1", kind=KINDS[n % 2]) for n, text in enumerate(steps)]
    query = "Find where the tracing helper for exported batches is defined"
    expecting = Guidance(expected=frozenset({"grep"}), known=frozenset({"grep"}))
    assert steps[-1] in shown(packed(events, query=query, guidance=expecting), "episodes")
    asked = event(9, "Add a column for the phone number", session="s2", speaker="user")
    assert shown(packed([*events, asked], query=query, guidance=expecting), "episodes") == []


def test_the_running_session_makes_its_own_request_no_past_one():
    """For new work, the events of the running session are shown, and none from past ones."""
    expecting = Guidance(expected=frozenset({"deploy"}), known=frozenset({"deploy", "roll_back"}))
    query = "Book the morning flight from Boston to Lisbon in the environment"
    events = [*work("s1", 0), event(100, query, session="now"), event(101, "which airline", session="now")]
    texts = shown(packed(events, query=query, guidance=expecting, session_id="now"), "episodes")
    assert sorted(texts) == [query, "which airline"]


@pytest.mark.parametrize(("age_days", "certain"), [(0.0, True), (300.0, False)])
def test_a_named_time_assures_only_of_events_near_it(age_days, certain):
    """A date in the question says nothing about events of another year."""
    question = understood("What did they arrange on 14 March 2026?", NOW)
    pool = EventPool.of([event(1, "a picnic by the lake", age_days=age_days)[0]])
    assert (Ranking(question, pool, 1).assurance > 0) is certain


@pytest.mark.parametrize(
    ("query", "before"),
    [
        ("What dish did Ann bake on 4 March 2026?", False),
        ("What dish did Ann bake as of 4 March 2026?", True),
        ("What dish did Ann bake?", True),
        ("Please bake the dish of Ann for 4 March 2026", True),
    ],
)
def test_a_question_about_a_date_is_answered_from_that_time(query, before):
    """A message from half a year before is left out unless it matches better than all messages of that time."""
    pool = EventPool.of([event(1, "baked a dish", age_days=190)[0], event(2, "baked a dish", age_days=9)[0]])
    ranking = Ranking(understood(query, NOW), pool, 2)
    assert ranking.related(ranking.first, np.array([0.8, 0.9]), 2048).tolist() == [before, True]
    assert ranking.related(ranking.first, np.array([0.9, 0.8]), 2048).tolist() == [True, True]
    plan = event(3, "plan to bake a dish in march", age_days=99)[0]
    planned = Ranking(ranking.question, EventPool.of([plan, event(2, "baked a dish", age_days=9)[0]]), 2)
    assert planned.related(planned.first, np.array([0.8, 0.9]), 2048).tolist() == [True, True]


def test_a_procedure_with_an_action_that_the_question_names_fits():
    """It fits whatever actions the model expects, because the model does not know every way to ask."""
    routine = replace(artifact(1, "Run git commit after make build"), actions=("git commit", "make build"))
    other = replace(artifact(2, "Run git push after make commit notes"), actions=("git push", "make notes"))
    expecting = Guidance(expected=frozenset({"ls"}), known=frozenset({"ls", *routine.actions, *other.actions}))
    pack = packed(what=known(artifacts=[routine, other]), query="How do I commit here?", guidance=expecting)
    assert shown(pack, "procedures") == [routine.text]


def test_an_empty_result_is_not_packed():
    """It only repeats that the tool was called."""
    events = [*work("s1", 0), event(6, "exec ->", session="s1", kind="tool_result", age_days=9)]
    assert "exec ->" not in shown(packed(events, known(artifacts=[PROCEDURE])), "episodes")


@pytest.mark.parametrize(
    ("text", "in_pack"),
    [
        ("positive feedback: task outcome", False),
        ("negative feedback: task outcome", False),
        ("positive feedback: the second pod came up", True),
        ("negative feedback: the second pod crashed", True),
    ],
)
def test_feedback_that_says_only_its_sign_is_not_packed(text, in_pack):
    """A good session is shown because it went well; for a bad one the date line says so."""
    events = [*work("s1", 0), event(6, text, session="s1", kind="feedback", age_days=9)]
    assert (text in shown(packed(events, known(artifacts=[PROCEDURE])), "episodes")) == in_pack


def playbook(number, action, key):
    """Return the playbook of a failure."""
    title = f"{action} fails: {key}, run it again"
    return artifact(number, title, kind="failure_playbook", actions=(action,), failures=(key,))


def observed(number, message, count):
    """Return the playbook of a failed push with this *message*."""
    push = playbook(number, "git push", message)
    return replace(push, observed_count=count, content={"failure_pattern": message, "recovery_steps": ["Push again"]})


def test_a_playbook_shares_more_with_the_question_than_that_something_failed():
    """Words about failing and trying again are common to all playbooks and do not count."""
    push, lint = playbook(1, "git push", "no upstream branch"), playbook(2, "mix test", "assertion on mount")
    pack = packed(what=known(artifacts=[push, lint]), query="Fix the failing test")
    assert shown(pack, "procedures") == [lint.text]


def test_trouble_with_an_action_may_be_any_of_its_failures():
    """A commit refused for unknown reasons gets all known failures of commits, none of pushes."""
    hooks = [playbook(1, "git commit", "dialyzer"), playbook(2, "git commit", "format")]
    pack = packed(
        what=known(artifacts=[*hooks, playbook(3, "git push", "no upstream branch")]),
        query="git commit is refused by some hook on the build server again, can you fix it?",
    )
    assert sorted(shown(pack, "procedures")) == [hook.text for hook in hooks]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("The booking of a front seat in the evening show for my aunt and her neighbour keeps getting rejected", 2),
        ("Book a seat for my aunt", 0),
    ],
)
def test_trouble_in_everyday_words_brings_the_known_failures_of_what_is_done(query, count):
    """People do not say "book_seat fails"; a question about trouble with one action gets no guess at another."""
    known_failures = [playbook(1, "book_seat", "card expired"), playbook(2, "book_seat", "row closed")]
    flight = artifact(4, "Change the flight", actions=("change_flight",))
    what = known(artifacts=[*known_failures, playbook(3, "change_flight", "gate closed"), flight])
    guess = Guidance("a004", frozenset({"change_flight"}), frozenset({"change_flight", "book_seat"}), chance=0.3)
    titles = shown(packed(what=what, query=query, guidance=guess), "procedures")
    assert [each.text in titles for each in known_failures] == [bool(count)] * 2
    assert flight.text not in titles


@pytest.mark.parametrize(("query", "led"), [("I am ill, can I cancel my flight?", False), ("Change my flight", True)])
def test_beside_a_change_that_is_usually_not_made_no_other_is_guessed(query, led):
    """A customer who wants to cancel does not want another flight."""
    content = {"condition": "the user asks to cancel the flight", "recommendation": "first look at it"}
    policy = replace(artifact(2, "Asked to cancel", kind="decision_policy"), content=content)
    flight = artifact(4, "Change the flight", actions=("change_flight",))
    guess = Guidance("a004", frozenset({"change_flight"}), frozenset({"change_flight"}))
    what = known(artifacts=[replace(policy, actions=("get_flight", "cancel_flight")), flight])
    assert bool(shown(packed(what=what, query=query, guidance=guess), "procedures")) is led


@pytest.mark.parametrize(("chance", "titles"), [(0.3, ["Book a seat"]), (0.8, ["Change the flight"])])
def test_a_guess_gives_way_to_what_is_asked_for(chance, titles):
    """A request to "book" means booking even if the model rarely saw it, unless most such customers change a flight."""
    procedures = [
        artifact(4, "Change the flight", actions=("change_flight",)),
        artifact(5, "Book a seat", actions=("get_user", "book_seat")),
    ]
    actions = frozenset({"change_flight"})
    guess = Guidance("a004", actions, actions | {"book_seat"}, led=actions, chance=chance)
    pack = packed(what=known(artifacts=procedures), query="Book something on the flight to Denver", guidance=guess)
    assert shown(pack, "procedures")[:1] == titles


def test_the_check_that_ends_the_work_is_shown_where_it_is_expected():
    """A policy about a single lookup says when the work is done."""
    content = {"condition": "can_send is done", "recommendation": "Go on until it says so"}
    policy = replace(artifact(2, "Done only then", kind="decision_policy"), content=content, actions=("can_send",))
    shown_with = {
        name: bool(
            packed(
                what=known(artifacts=[policy]),
                query="My pictures never leave this phone",
                guidance=Guidance(None, frozenset({name}), frozenset({"can_send", "pay"})),
            ).entries
        )
        for name in ("can_send", "pay")
    }
    assert shown_with == {"can_send": True, "pay": False}


def test_beside_the_playbook_that_answers_stands_no_other():
    """One common word, such as the name of a program, does not add another playbook."""
    push, commit = playbook(1, "git push", "no upstream branch"), playbook(2, "git commit", "not formatted")
    pack = packed(what=known(artifacts=[push, commit]), query="git push failed: no upstream branch")
    assert shown(pack, "procedures") == [push.text]


def test_beside_the_leading_procedure_stands_none_that_it_contains():
    """A procedure whose steps are all in the leading one is left out; one with a further step stays."""
    lead, part, other = (
        replace(artifact(n, title), actions=actions)
        for n, title, actions in (
            (1, "Deploy the staging environment and tell the team", ("deploy", "tell")),
            (2, "Deploy the staging environment", ("deploy",)),
            (3, "Deploy the staging cluster again", ("deploy", "again")),
        )
    )
    guidance = Guidance(lead="a001", expected=frozenset({"deploy", "tell", "again"}))
    pack = packed(what=known(artifacts=[lead, part, other]), query=QUERY, guidance=guidance)
    assert lead.text in shown(pack, "procedures")
    assert reasons(pack)["a002"] == "duplicate" != reasons(pack).get("a003")


@pytest.mark.parametrize(
    ("seen", "asked", "warned"),
    [
        (2, "Please push it", False),
        (3, "Please push it", True),
        (1, "Please push the new branch", False),
        (2, "Please push the new branch", True),
    ],
)
def test_a_failure_seen_twice_is_a_reason_to_warn_only_if_the_request_names_it(seen, asked, warned):
    """A failure seen only twice gives no warning unless the request has another word of it than the action."""
    push = observed(1, "no upstream branch", seen)
    ahead = Guidance(expected=frozenset({"git push"}), known=frozenset({"git push"}))
    assert bool(warning(understood(asked, NOW), [push], ahead)) is warned


def test_the_warning_that_the_request_names_comes_before_a_more_frequent_one():
    """Only one warning is shown."""
    often, named = observed(1, "fetch first", 9), observed(2, "no upstream branch", 2)
    ahead = Guidance(expected=frozenset({"git push"}), known=frozenset({"git push"}))
    assert warning(understood("Push the new branch", NOW), [often, named], ahead) == named.artifact_id
    assert warning(understood("Push the release", NOW), [often, named], ahead) == often.artifact_id


@pytest.mark.parametrize(
    ("guidance", "procedures", "begins"),
    [(NO_GUIDANCE, (), True), (NO_GUIDANCE, (PROCEDURE,), False), (Guidance(done=("git push",)), (), False)],
)
def test_how_work_begins_is_told_where_nothing_else_tells_it(guidance, procedures, begins):
    """A policy about the first step is left out next to a procedure and once the work has begun."""
    first = artifact(2, "Deploy the staging environment first", kind="decision_policy")
    first = replace(first, content={"condition": "the work begins", "recommendation": "deploy"})
    what = known(artifacts=[first, *procedures])
    pack = packed(what=what, query="Please deploy the staging environment", guidance=guidance)
    assert bool(shown(pack, "procedures")) is bool(procedures)
    assert bool(shown(pack, "constraints")) is begins


@pytest.mark.parametrize(
    ("query", "told"), [("Please cancel my reservation", True), ("Please add a bag to my reservation", False)]
)
def test_what_to_do_if_asked_for_a_change_is_told_where_that_is_asked_for(query, told):
    """A request about a reservation does not bring the policy about cancelling it."""
    policy = artifact(2, "Asked to cancel the reservation: usually nothing is changed", kind="decision_policy")
    content = {"condition": "the user asks to cancel the reservation", "recommendation": "first look at it"}
    policy = replace(policy, content=content, actions=("get_reservation", "cancel_reservation"))
    assert bool(shown(packed(what=known(artifacts=[policy]), query=query), "constraints")) is told


def test_the_name_of_who_said_it_does_not_call_a_memory():
    """The speaker's name begins every memory of that person and selects none."""
    memories = [memory(1, "Ann: I love live music"), memory(2, "Ann: I painted a horse last week")]
    assert shown(packed(what=known(memories=memories), query="What did Ann paint of late?")) == [memories[1].text]


def test_nothing_is_said_twice():
    """A rule, the goal made from it and its message are shown once; so is a fact within a longer message."""
    rule = "Always deploy the staging environment with Helm"
    same = [memory(1, f"ada: {rule}", kind="policy"), memory(2, rule, kind="goal")]
    fact = memory(3, "The staging environment has three nodes")
    events = [event(1, rule, speaker="user"), event(2, f"{fact.text}, so deploy it slowly", speaker="ada")]
    pack = packed(events, known(memories=[*same, fact]))
    assert shown(pack) == [f"ada: {rule}", f"ada: {fact.text}, so deploy it slowly"]
    assert reasons(pack) == dict.fromkeys(("m002", "m003", "e001"), "duplicate")
    assert sum(entry.token_estimate for entry in pack.entries) == pack.token_budget.used


def test_whole_episodes_do_not_repeat_a_rule():
    """A rule is not repeated in whole episodes next to procedures either."""
    rule = memory(1, QUERY, kind="policy")
    assert shown(packed(work("s1", 0), known(artifacts=[PROCEDURE], memories=[rule]))).count(QUERY) == 1


def test_a_rejected_record_says_by_whom():
    """The label names the agents and does not mark an outside source."""
    pack = packed(what=known(records=[record(1, section="evidence", agent_id="ana", rejected_by=("bo", "cy"))]))
    assert f"[rejected by bo and cy] task start by ana: {QUERY}" in pack.text
    assert "outside sources" not in pack.text


REFUND = "I'd like a refund for my lamp"
LOOK_UP = ("find_user(name=Ann)", "find_user -> ann_1")
PAID = ("refund(order=W1)", "refund -> 829 are on the card")
SCHEMA = replace(artifact(1, "Refund the lamp", steps=[("Find the user", "find_user")]), actions=("find_user",))


def refund(session, *steps, start=0, ends="You paid 829 for the lamp, refunded to the card"):
    """Return a past session: a request for a refund, calls with their results, and the outcome."""
    parts = [("I'd like a refund for the lamp", {"speaker": "user"})]
    for call, *results in steps:
        parts += [(call, {"kind": "tool_call"}), *((result, {"kind": "tool_result"}) for result in results)]
    parts.append((ends, {"speaker": "agent"}))
    return [event(start + at, text, session=session, age_days=9, **how) for at, (text, how) in enumerate(parts)]


def test_an_episode_leaves_out_what_the_procedure_says():
    """The procedure has the successful steps and what the user must provide; other calls and failures stay."""
    refused = ("find_user(name=Bo)", "find_user failed: no such user")
    events = refund("s1", LOOK_UP, PAID, (*refused, "ToolError: no such user"))
    asks = "Could you tell me your name and zip code first, so that I find you?"
    talk = event(50, asks, session="s1", speaker="agent", age_days=9)
    events = [*events, talk, event(51, "The lamp is refunded", session="s1", speaker="agent", age_days=9)]
    lines = shown(packed(events, known(artifacts=[SCHEMA]), query=REFUND), "episodes")
    answers = ("agent: You paid 829 for the lamp, refunded to the card", "agent: The lamp is refunded")
    assert set(lines) == {"user: I'd like a refund for the lamp", *PAID, *refused, *answers}


def test_an_episode_that_only_repeats_the_request_is_not_packed():
    """Next to a procedure it adds nothing."""
    events = refund("s1", LOOK_UP, ends="Done")
    assert shown(packed(events, known(artifacts=[SCHEMA]), query=REFUND), "episodes") == []


def test_beside_a_procedure_one_past_session_is_enough():
    """The procedure states what several sessions have in common."""
    events = [each for number in range(3) for each in refund(f"s{number}", PAID, start=100 * number)]
    pack = packed(events, known(artifacts=[SCHEMA]), query=REFUND)
    assert len({about["session_id"] for about in pack.metadata["entries"] if "session_id" in about}) == 1


def test_a_procedure_for_more_than_is_asked_stays_out():
    """It is left out next to a procedure for exactly the request; a question about both gets both."""
    refunding, both = artifact(1, "Refund the order"), artifact(2, "Cancel the flight and refund the order")
    what = known(artifacts=[refunding, both])
    assert shown(packed(what=what, query="Refund the order that arrived late"), "procedures") == [refunding.text]
    assert both.text in shown(packed(what=what, query="Cancel the flight and refund the order"), "procedures")


def test_trouble_with_a_named_action_is_answered_by_knowledge_of_that_action():
    """A playbook of another action is left out, however many words it shares with the question."""
    push, tag = playbook(1, "git push", "no upstream branch"), playbook(2, "git tag", "no upstream tag to push")
    pack = packed(what=known(artifacts=[push, tag]), query="Why does git push fail with no upstream tag?")
    assert shown(pack, "procedures") == [push.text]


def test_a_question_about_a_failure_gets_no_steps_that_went_well():
    """Calls without a result, and errors that repeat the result before them, are left out, too."""
    events = [
        event(1, "ship_parcel_abroad(order=1)", kind="tool_call"),
        event(2, "ship_parcel_abroad failed: unknown address", kind="tool_result"),
        event(3, "ShipError: unknown address", kind="error"),
        event(11, "ship_parcel_abroad(order=2)", kind="tool_call", session="s2"),
        event(12, "ship_parcel_abroad -> sent with 0 errors", kind="tool_result", session="s2"),
        event(21, "ship_parcel_abroad(order=3)", kind="tool_call", session="s3"),
    ]
    other = [event(n, f"backup failed: disk {n} is full", kind="tool_result", session=f"s{n}") for n in range(30, 60)]
    pack = packed([*events, *other], query="Why does ship_parcel_abroad fail?")
    assert sorted(shown(pack)) == ["ship_parcel_abroad failed: unknown address", "ship_parcel_abroad(order=1)"]


@pytest.mark.parametrize(
    ("query", "count"), [("Why does restore_backup fail?", 2), ("When did restore_backup fail?", 10)]
)
def test_a_failure_that_recurs_is_shown_once(query, count):
    """Failures that differ only in numbers are the same; a question about when it happened gets each occurrence."""
    steps = (f"restore_backup failed: disk {number} of host {number} is full" for number in range(5))
    calls = (f"restore_backup(host={number})" for number in range(5))
    pairs = zip(calls, steps, strict=True)
    events = [each for number, pair in enumerate(pairs) for each in log((10 * number, pair), session=f"s{number}")]
    assert len(shown(packed(events, query=query), "episodes")) == count


@pytest.mark.parametrize("length", [9, 400])
def test_a_failure_in_a_log_comes_with_what_was_said_of_it(length):
    """Long output is cut so that the message about it fits; successful runs of the same command are left out."""
    command = "exec(command=mix test checkout)"
    output = "exec failed: compilation error in checkout. " + " ".join(
        f"Line {n} of the output." for n in range(length)
    )
    remark = event(102, "The helper needs an import of its own", session="log", source="agent", age_days=9)
    well = ((300 + 10 * n, (command, f"exec -> {n} tests, 0 failures")) for n in range(9))
    pack = packed([*log((100, (command, output)), *well), remark], query="mix test of checkout fails, how do I fix it?")
    lines = shown(pack, "episodes")
    assert {line.split(".")[0] for line in lines} == {
        command,
        "exec failed: compilation error in checkout",
        "The helper needs an import of its own",
    }
    assert pack.token_budget.section_budgets["episodes"].used <= pack.token_budget.total_budget // 4


def test_a_question_about_an_identifier_is_about_events_that_carry_it():
    """It also gets the results of such calls, but not the messages around them."""
    call = event(1, "get_order(order=W2378156)", kind="tool_call", age_days=9)
    result = event(2, "get_order -> pending", kind="tool_result", age_days=9)
    around = [
        event(0, "Sure, go ahead with it", speaker="user"),
        event(3, "Thanks for the quick reply", speaker="user"),
    ]
    pack = packed([call, result, *around], query="What is the status of order W2378156?")
    assert sorted(shown(pack)) == ["get_order -> pending", "get_order(order=W2378156)"]


def test_an_identifier_is_found_though_little_else_matches():
    """Of the events that carry it, none is near the best match; they are shown all the same, and the others not."""
    call = event(1, "put_flash(kind=info)", kind="tool_call", age_days=9)
    result = event(2, "put_flash -> rendered by the template", kind="tool_result", age_days=9)
    other = [
        event(10 + n, f"The flash message appears on page {n}, put it there if it is missing", age_days=n)
        for n in range(4)
    ]
    pack = packed(
        [call, result, *other], query="Why does put_flash show no message? It appears on no page, is it missing?"
    )
    assert sorted(shown(pack)) == ["put_flash -> rendered by the template", "put_flash(kind=info)"]


def test_what_a_request_relates_besides_its_identifier_carries_none():
    """Events with most of the words of a request are related, too, but are not taken for those with the identifier."""
    call = event(1, "put_flash(kind=info)", kind="tool_call", age_days=9)
    asked = "To show the missing message on the page, put_flash there with the flash"
    other = [event(10 + n, f"Show the missing flash message on the page there, {n}", age_days=n) for n in range(4)]
    events = draft([call, *other], query=asked).events
    scores = np.array([0.1, 1.0, 1.0, 1.0, 1.0])
    related = events.related(scores, scores, 1_000)
    assert events._carriers.tolist() == [True, False, False, False, False]
    assert related.tolist() == [True] * 5


def test_evidence_of_an_artifact_is_not_shown():
    """An artifact states how often it was seen; a statement comes with its event."""
    what = known(artifacts=[PROCEDURE], evidence=[evidence("a001", 1)])
    assert "evidence" not in {entry.section for entry in packed(what=what).entries}


def test_a_policy_about_results_is_shown_where_an_expected_action_depends_on_it():
    """The words of the request do not matter; without such an action the policy is irrelevant."""
    content = {"condition": "check_network is done", "recommendation": "Use switch_off only where it says “mode: on”."}
    policy = replace(
        artifact(7),
        artifact_type="decision_policy",
        text="When check_network is done: use switch_off only where it says “mode: on”",
        words="network switch mode",
        content=content,
        actions=("check_network", "switch_off"),
    )
    for expected, shown_texts in (({"switch_off"}, [policy.text]), ({"reboot"}, [])):
        guidance = Guidance(expected=frozenset(expected), known=frozenset({"check_network", "switch_off", "reboot"}))
        pack = packed([], known(artifacts=[policy]), query="Please help, nothing works any more", guidance=guidance)
        assert shown(pack, "constraints") == shown_texts
        quoting = 'I get "no carrier of this name" and nothing works. What now?'
        assert shown(packed([], known(artifacts=[policy]), query=quoting, guidance=guidance), "constraints") == []
    procedure = artifact(8, "Switch the mode off", steps=[("Switch it off", "switch_off")], actions=("switch_off",))
    for condition, both in (("check_network says “mode: on”", False), ("check_network says “signal: none”", True)):
        waiting = replace(procedure, text=f"{procedure.title}\nBefore: {condition}")
        guidance = Guidance(expected=frozenset({"switch_off"}), known=frozenset({"check_network", "switch_off"}))
        asked = {"query": "Please switch the mode off", "guidance": guidance}
        pack = packed([], known(artifacts=[policy, waiting]), **asked)
        assert (shown(pack, "procedures"), shown(pack, "constraints")) == ([waiting.text], [policy.text] * both)
        assert both or reasons(pack)[policy.artifact_id] == "duplicate"


@pytest.mark.parametrize(
    ("query", "expected", "titles"),
    [
        ("Return the lamp and cancel the other order", {"look_up", "return_it", "cancel_it"}, {"Return", "Cancel"}),
        ("Return the lamp and cancel the other order", {"look_up", "return_it"}, {"Return"}),
        ("Return the lamp, it is broken", {"look_up", "return_it", "cancel_it"}, {"Return"}),
    ],
)
def test_a_request_for_two_things_gets_both_procedures(query, expected, titles):
    """The second procedure needs an action that is expected and asked for; a guess by the model alone is not enough."""
    known_actions = frozenset({"look_up", "return_it", "cancel_it"})
    leading = replace(artifact(1, "Return"), actions=("look_up", "return_it"))
    other = replace(artifact(2, "Cancel"), actions=("look_up", "cancel_it"))
    guidance = Guidance(leading.artifact_id, frozenset(expected), known_actions, led=frozenset(leading.actions))
    pack = packed([], known(artifacts=[leading, other]), query=query, guidance=guidance)
    assert {text.partition("\n")[0] for text in shown(pack, "procedures")} == titles


def test_a_rule_about_the_matter_at_hand_applies_to_no_other_work():
    """A rule that one sentence gave about a function needs a word in common with the request."""
    rules = [
        memory(1, "Don't use tabs", kind="policy", confidence=0.6),
        memory(2, "Don't mock send_with_retries", kind="policy", confidence=0.5),
    ]
    other = shown(packed([], known(memories=rules), query="Add a column for the phone number"), "constraints")
    assert other == ["Don't use tabs"]
    same = shown(packed([], known(memories=rules), query="Write a mock for send_with_retries"), "constraints")
    assert "Don't mock send_with_retries" in same


@pytest.mark.parametrize(
    ("goal", "asked", "shows"),
    [
        ("Add a bar graph to the report", "Add tests for the verbose option", False),
        ("Add a test for the repomap", "Add a test for the parser of verbose options", False),
        ("Add a test for the repomap", "Add a test for the repomap with two files", True),
        ("Migrate the zone plum.example", "Migrate the zone fig.example", False),
        ("Migrate the zone plum.example", "Migrate the zone plum.example now", True),
    ],
)
def test_what_another_session_asked_for_is_a_goal_if_it_is_much_the_same(goal, asked, shows):
    """Work on another host is another goal; the capital of the verb at its beginning does not make it a name."""
    what = known(memories=[memory(1, goal, kind="goal", method="first_request", open=True)])
    assert shown(packed((), what, query=asked), "goals") == [goal] * shows


def test_how_a_session_ended_has_room_before_its_middle():
    """Whenever three lines fit, the end is among them, although headings take room that the choice does not count."""
    for budget in range(60, 160):
        lines = shown(packed(work("s1", 0), known(artifacts=[PROCEDURE]), budget=budget), "episodes")
        assert len(lines) < 3 or "It is running" in lines


def announced(number, said, call, result, *, session="log"):
    """Return a step of a log: an announcement, a call, and its result."""
    remark = event(number, said, session=session, source="agent", age_days=9)
    return [remark, *log((number + 1, (call, result)), session=session)]


def test_what_follows_a_report_is_another_step():
    """Nothing was called for the report: what comes next, here about a stale job, does not belong to it."""
    said = "Done: the staging environment is deployed"
    report = event(100, said, session="log", source="agent", speaker="assistant", age_days=9)
    stale = announced(101, "A job is left over", "exec(command=cat job)", "exec -> No such file or directory")
    later = log((900, ("exec(command=helm upgrade --install)", "exec -> 3 pods of the release are up")))
    lines = shown(packed([report, *stale, *later], query="Is the staging environment deployed?"), "episodes")
    assert lines == [f"assistant: {said}"]


def test_a_quoted_failure_comes_with_what_was_done_next():
    """The error is in a result, far from the words of the steps; the remedy follows it."""
    failed = announced(
        100, "Now wait:", "exec(command=mix phx)", "exec -> Error: (BadMapError) expected a map, got list"
    )
    remedy = announced(103, "The format is wrong:", "edit(path=config.exs)", "edit -> the file config.exs was changed")
    other = [announced(200 + 9 * n, "Now the map:", "exec(command=ls map)", f"exec -> {n} tiles") for n in range(9)]
    events = [*failed, *remedy, *chain.from_iterable(other), event(999, "x", session="log", age_days=9)]
    asked = "(BadMapError) expected a map, got list: how do I fix this error?"
    lines = shown(packed(events, query=asked), "episodes")
    assert {"exec(command=mix phx)", "The format is wrong:", "edit(path=config.exs)"} <= set(lines)


def _answers(session, step):
    return "exec -> " + ", ".join(f"host {session}{step}{n} answers" for n in range(12))


def test_the_steps_of_all_logs_compete():
    """Better steps of a second log come before worse steps of the first."""

    def steps_of(session, start, *words):
        return chain.from_iterable(
            announced(start + 400 * n, f"Now {own}:", f"exec(command={own})", _answers(session, n), session=session)
            for n, own in enumerate(words)
        )

    best, good = "deploy staging environment", "deploy staging environment of two hosts"
    fair = "deploy staging environment of seven hosts in two remote zones"
    events = [*steps_of("a", 100, best, fair), *steps_of("b", 200, good, "format")]
    lines = shown(packed(events, budget=250), "episodes")
    assert f"exec(command={good})" in lines
    assert f"exec(command={fair})" not in lines


TREES = [announced(500 + 9 * n, "Now the trees:", f"exec(command=ls trees {n})", f"exec -> {n} oaks") for n in range(9)]


@pytest.mark.parametrize("lonely", [100, 300])
def test_of_two_equal_steps_the_one_within_related_work_comes_first(lonely):
    """A step counts more if those directly before and after it match, too."""
    together = 400 - lonely
    steps = [
        *announced(lonely, "Next:", f"edit(path=lib/{lonely}, text=trace the heatmap)", "edit -> written"),
        *announced(together, "Next:", f"edit(path=lib/{together}, text=trace the heatmap)", "edit -> written"),
        *announced(together + 3, "More of the heatmap:", "exec(command=ls oaks)", "exec -> oaks"),
    ]
    pack = packed([*steps, *chain.from_iterable(TREES)], query="Trace the heatmap of the worker")
    edits = [text for text in shown(pack, "episodes") if text.startswith("edit(")]
    assert edits[0] == f"edit(path=lib/{together}, text=trace the heatmap)"


def test_a_step_with_two_words_of_the_question_comes_before_one_that_repeats_a_word():
    """How often a word occurs matters less than how much of the question a step is about."""
    both = announced(100, "Next:", "edit(path=lib/a, text=span around the worker that fills the tile)", "edit -> ok")
    repeated = announced(300, "Next:", "edit(path=lib/b, text=span, span, span and span)", "edit -> ok")
    pack = packed([*both, *repeated, *chain.from_iterable(TREES)], query="Add a span to the worker", budget=90)
    text = "\n".join(shown(pack, "episodes"))
    assert ("lib/a" in text, "lib/b" in text) == (True, False)


def test_a_step_that_edits_comes_before_one_that_only_looks():
    """The state before a commit names the same files as the work itself, but does not show it."""
    looked = announced(100, "Next the heatmap worker:", "exec(command=git diff)", "exec -> + heatmap")
    edited = announced(
        300, "Next the heatmap worker:", "edit(path=lib/heatmap_job, new_string=span)", "edit -> written"
    )
    pack = packed([*looked, *edited, *chain.from_iterable(TREES)], query="Trace the heatmap worker")
    calls = [text for text in shown(pack, "episodes") if text.startswith(("edit(", "exec("))]
    assert calls[0] == "edit(path=lib/heatmap_job, new_string=span)"


def test_an_edit_is_shown_by_its_new_text():
    """The old text of an edit has the words of the question, too, but the new one is what was done."""
    old = "\n".join(f"the heatmap worker waits for tile {n}" for n in range(30))
    edit = f"edit(path=lib/job, old_string={old}, new_string=the heatmap worker opens a span)"
    edited = announced(100, "Next the heatmap worker:", edit, "edit -> written")
    pack = packed([*edited, *chain.from_iterable(TREES)], query="Trace the heatmap worker")
    (call,) = [text for text in shown(pack, "episodes") if text.startswith("edit(")]
    assert "opens a span" in call
    assert "waits for tile" not in call


def test_an_edit_in_a_log_is_cut_once():
    """A call that was shortened to its line is shown as it is, however full the budget."""
    text = "\n".join(f"trace(heatmap_worker, part {part}, {part}+{part}, 2*{part})" for part in range(6))
    edits = [
        announced(
            100 + 9 * n, f"Next the heatmap worker {n}:", f"edit(path=lib/{n}, content={text})", "edit -> written"
        )
        for n in range(3)
    ]
    pack = packed(
        [*chain.from_iterable(edits), *chain.from_iterable(TREES)], query="Trace the heatmap worker", budget=400
    )
    calls = [shown_text for shown_text in shown(pack, "episodes") if shown_text.startswith("edit(")]
    assert calls
    assert all("part 5" in call for call in calls)


WISH = "I would like to swap the green lamp of my order for a brighter one of brass from the spring catalogue"


def failing(session, number, message, remedy):
    """Return a session in which a change fails and the assistant says what it does about it."""
    turns = [
        (WISH, {}),
        ("swap_items(order=7, items=[lamp])", {"kind": "tool_call"}),
        (f"swap_items failed: Error: {message}", {"kind": "tool_result"}),
        (remedy, {"source": "agent"}),
        ("Your order was changed, the lamp comes on Friday", {"source": "agent"}),
    ]
    return [event(number + at, text, session=session, age_days=9, **how) for at, (text, how) in enumerate(turns)]


def test_a_quoted_error_is_answered_by_what_was_done_about_it_not_about_others():
    """Playbooks for other errors of the action stay out; the failure and what was said next come first."""
    others = [playbook(1, "swap_items", "item number is wrong"), playbook(2, "swap_items", "item sold out today")]
    events = failing("s1", 10, "one new lamp for each old lamp is needed", "I will name one new lamp for each old one")
    events += failing("s2", 20, "the lamp is sold out", "I will ask for another lamp")
    asked = f'{WISH}, but "Error: one new lamp for each old lamp is needed". What now?'
    pack = packed(events, known(artifacts=others), query=asked, budget=400)
    assert shown(pack, "procedures") == []
    lines = shown(pack, "episodes")
    assert {
        "swap_items(order=7, items=[lamp])",
        "swap_items failed: Error: one new lamp for each old lamp is needed",
        "I will name one new lamp for each old one",
    } <= set(lines)
    assert not any("sold out" in line or "another lamp" in line for line in lines)


def test_an_error_that_nobody_has_had_brings_no_session():
    """Sessions with the same action but other errors would mislead."""
    events = [each for n in range(4) for each in failing(f"s{n}", 10 * n, "the lamp is sold out", "I will ask again")]
    asked = 'swap_items gives "Error: warehouse contract terminated yesterday". What now?'
    assert shown(packed(events, query=asked), "episodes") == []
    assert shown(packed(events, query="swap_items fails, the lamp is sold out. What now?"), "episodes") != []


@pytest.mark.parametrize(
    "asked",
    [
        "TypeError: lamp contract terminated yesterday",
        "swap_items failed: lamp contract terminated yesterday",
        'I get "lamp contract terminated yesterday" from swap_items. What should I do?',
    ],
)
def test_an_error_is_unknown_however_many_of_its_words_a_long_text_has(asked):
    """A long output has each word of the message somewhere; a failure with these words together has the error."""
    spread = ["lamp", "contract", "terminated", "yesterday", "TypeError"]
    scattered = " ".join(f"{word} " + "of the shop and the street " * 9 for word in spread)
    long_output = failing("s1", 10, scattered, f"I will read {scattered}")
    assert shown(packed(long_output, query=asked), "episodes") == []
    same = failing("s2", 20, "TypeError, the lamp contract was terminated", "I will call the warehouse")
    assert "I will call the warehouse" in shown(packed([*long_output, *same], query=asked), "episodes")


def test_an_error_may_be_known_from_a_note():
    """A hook or a summary reports it in other ways than a failed call; what programs write before it does not count."""
    note = event(100, "Open: cannot take the lamp out of a sealed box at line 7", session="log", age_days=9)
    remedy = announced(101, "I unseal it before:", "edit(path=box, new_string=unseal)", "edit -> the box was changed")
    others = [announced(200 + 9 * n, "Now the lamp:", f"exec(command=lamp {n})", f"exec -> {n} on") for n in range(9)]
    asked = "Write failed: error: cannot take the lamp out of a sealed box"
    events = [note, *remedy, *chain.from_iterable(others)]
    ranking = draft(events, query=asked).events
    assert [ranking.pool.event_id[at] for at in np.flatnonzero(ranking.error.events)] == ["e100"]
    assert "edit(path=box, new_string=unseal)" in shown(packed(events, query=asked, long_sessions={"log"}), "episodes")


def test_what_a_person_said_is_no_unknown_error():
    """Words in quotation marks that nobody has used are an error only if a program gave them."""
    events = failing("s1", 10, "the lamp is sold out", "I will ask for another lamp")
    for asked, unknown in (
        ('The customer says "please swap the lamp of my sister". It does not work. What now?', False),
        ('The shop returns "please swap the lamp of my sister". It does not work. What now?', True),
    ):
        assert draft(events, query=asked).events.error.is_unknown == unknown


SAID = {"source": "agent", "speaker": "assistant"}


def refused(session, number, order, *, times=1):
    """Return a session of one customer whose return is refused, with the same words each time."""
    refusals = [(f"Only to the card of the lamp ({n})", SAID) for n in range(times)]
    turns = [
        (f"Please return the green lamp of my order {order} to my other card", {"speaker": "user"}),
        *refusals,
        (f"return_items(order={order}, items=[lamp], card=other)", {"kind": "tool_call"}),
        ("return_items -> refused by the shop", {"kind": "tool_result"}),
        ("Goodbye", SAID),
    ]
    return [event(number + at, text, session=session, age_days=9, **how) for at, (text, how) in enumerate(turns)]


def test_of_two_copies_of_a_session_one_is_shown():
    """The customer who asks again in the same words adds nothing; how another customer fared does, or another end."""
    same = [*refused("s1", 10, "W2378156"), *refused("s2", 20, "W2378156")]
    asked = {"query": "Return the lamp of the order to another card", "what": known(artifacts=[])}
    sessions = {about["session_id"] for about in packed(same, **asked).metadata["entries"]}
    assert len(sessions) == 1
    other = [*same, *refused("s3", 30, "W9911870")]
    assert len({about["session_id"] for about in packed(other, **asked).metadata["entries"]}) == 2
    ended_badly = draft(same, outcomes={"s2": "negative"}, **asked)._by_steps
    assert list(ended_badly.without_copies(["s1", "s2"])) == ["s1", "s2"]


def test_an_outline_shows_the_last_result_with_its_call():
    """A session that was cut off ends with a result, which cannot be shown without its call."""
    waiting = "Let me walk to shelf {n} in the far hall, which takes a while, and look there for what you have bought"
    turns = [
        ("Please return the green lamp of my order W2378156 to my other card", {"speaker": "user"}),
        *[(waiting.format(n=n), SAID) for n in range(9)],
        ("find_card(customer=ana)", {"kind": "tool_call"}),
        ("find_card -> no other card", {"kind": "tool_result"}),
    ]
    events = [event(10 + n, text, session="s1", age_days=9, **how) for n, (text, how) in enumerate(turns)]
    pack = packed(events, query="Return the lamp of the order to another card", budget=250)
    assert {"find_card(customer=ana)", "find_card -> no other card"} <= set(shown(pack, "episodes"))
    assert not any(drop.drop_reason == "budget_exceeded" for drop in pack.dropped_entries)


def test_a_result_without_its_call_is_no_matter_of_the_budget():
    """If the call is too far from the question, its result is dropped as such."""
    call, result = (
        Candidate(
            "episodes", "episode", f"e{place}", 5, score, Components(score, 0, 0, 0), place=place, tool=True, **how
        )
        for place, score, how in ((0, 0.1, {}), (1, 0.9, {"label": "tool", "call": 0}))
    )
    kept, dropped = _units_and_dropped([Ranked(2, call), Ranked(1, result)], Repeats())
    assert (kept, [each.reason for each in dropped]) == ([], ["low_relevance"] * 2)


def test_what_an_assistant_says_again_and_again_is_shown_once():
    """In an outline, of messages that share more than half of their words the best one stays."""
    waiting = "Let me walk to shelf {n} in the far hall, which takes a while, and look there for what you have bought"
    events = [event(n, waiting.format(n=n), session="s1", age_days=9, **SAID) for n in range(9)]
    events += refused("s1", 10, "W2378156", times=6)
    lines = shown(packed(events, query="Return the lamp of the order to another card", budget=250), "episodes")
    assert sum("Only to the card" in line for line in lines) == 1


def test_a_quotation_is_an_error_if_a_call_reports_it():
    """The question need not speak of trouble, nor the call have failed: a command that reports failed tests has worked.

    What somebody says, or nothing says, is no error.
    """
    message = "these paths are ignored by the list of the folder"
    asked = f'git add says "{message}". How do I add my page?'
    for result in (f"exec failed: {message}", f"exec -> 9 tests, {message}"):
        error = draft(log((100, ("exec(command=git add site.css)", result))), query=asked).events.error
        assert error.terms
        assert error.events.tolist() == [False, True]
    assert not draft([event(1, message, speaker="ana")], query=asked).events.error.terms
    assert not draft(query=asked).events.error.terms


def test_edits_are_shown_longer_while_there_is_room():
    """The body of a file is what helps; with a small budget it is cut."""
    body = "\n".join(f"create column number{n} of the table" for n in range(20))
    edited = announced(
        100, "Now the migration of the table:", f"write(path=lib/up, content={body})", "write -> written"
    )
    asked = {"query": "Write a migration of the table", "long_sessions": {"log"}}

    def shown_columns(budget):
        return sum(
            f"number{n} " in "\n".join(shown(packed(edited, budget=budget, **asked), "episodes")) for n in range(20)
        )

    assert shown_columns(2048) > 15 > shown_columns(160)


def test_results_are_shown_longer_while_there_is_room():
    """What a lookup returned about the question is the answer."""
    rules = " ".join(f"The hook of the lamp prints line {n} to the output." for n in range(12))
    asked = {"query": "What does the hook of the lamp print to the output?", "long_sessions": {"log"}}
    events = announced(100, "Let me ask about the hook:", "ask(topic=the hook of the lamp)", f"ask -> {rules}")

    def shown_rules(budget):
        return "\n".join(shown(packed(events, budget=budget, **asked), "episodes")).count("prints line")

    assert shown_rules(1024) >= 2 * shown_rules(120) > 0


def test_a_report_is_shown_whole_while_there_is_room():
    """What an assistant sums up is the answer; with a small budget it is cut."""
    summary = " ".join(f"The hall of the museum has a folding wall in room {n} now." for n in range(20))
    edited = announced(100, "Now the hall:", "edit(path=museum/hall, new_string=wall)", "edit -> written")
    told = event(199, summary, session="log", speaker="assistant", age_days=9)
    asked = {"query": "What was done to the hall of the museum?", "long_sessions": {"log"}}

    def shown_rooms(budget):
        return "\n".join(shown(packed([*edited, told], budget=budget, **asked), "episodes")).count("folding wall")

    assert shown_rooms(1024) == 20 > shown_rooms(160) > 0


def test_a_step_in_which_nothing_failed_says_less_about_trouble():
    """Of two steps with the same words, the one with the failure scores higher."""
    good = announced(0, "Deploy the web shop", "exec(command=deploy web)", "exec -> the web shop is up")
    bad = announced(100, "Deploy the web shop", "exec(command=deploy web)", "exec failed: the web shop is up")
    ranking = draft([*good, *bad], query="Why does the deployment of the web shop not work?").events
    scores = step_scores(ranking.match, ranking.pool, troubled=True)
    assert 0 < scores[0] < scores[3] == 1


def test_of_several_attempts_the_last_one_answers_how_it_was_solved():
    """Of ten edits of the same function the last one comes first, if the question asks for the end."""
    tries = [
        announced(20 * n, f"Attempt {n}:", f"edit(path=trace, new_string=trace id {n})", "edit -> ok")
        for n in range(10)
    ]
    told = event(175, "That is the reason: the context is a record", session="log", source="agent", age_days=9)
    asked = {"budget": 120, "long_sessions": {"log"}}
    for query, last in (("How was the trace id fixed in the end?", True), ("Change the trace id", False)):
        lines = "\n".join(shown(packed([*chain.from_iterable(tries), told], query=query, **asked), "episodes"))
        assert ("trace id 9" in lines) == last, query


@pytest.mark.parametrize(
    "asked",
    [
        "What was actually wrong with the hall of the museum?",
        "The hall of the museum: how did we get it through?",
        "The hall of the museum, is anything left open?",
    ],
)
def test_the_last_step_answers_how_work_ended_even_if_it_edits_nothing(asked):
    """Ten steps about the hall match equally well; whoever asks how it ended needs the last one."""
    steps = [
        announced(20 * n, f"Now the hall of the museum, room {n}:", f"exec(command=open room {n})", "exec -> done")
        for n in range(10)
    ]
    lines = shown(packed([*chain.from_iterable(steps)], query=asked, budget=100, long_sessions={"log"}), "episodes")
    assert "exec(command=open room 9)" in lines
    assert "exec(command=open room 0)" not in lines


def test_a_question_about_past_work_is_answered_by_its_summary():
    """The summary at the end comes with no call; a request for work needs the calls."""
    edits = [
        announced(20 * n, f"Room {n}:", f"edit(path=museum/hall.ex, new_string=hall {n})", "edit -> written")
        for n in range(5)
    ]
    summary = "The hall of the museum now has folding walls, and all of its rooms are open."
    told = event(199, summary, session="log", speaker="assistant", age_days=9)
    ranking = draft([*chain.from_iterable(edits), told], query="What was done to the hall of the museum?").events
    scores = {works: step_scores(ranking.match, ranking.pool, works=works) for works in (False, True)}
    assert scores[False][-1] == 0.9
    assert scores[True][-1] == 0.0


def test_what_an_assistant_says_in_every_session_is_no_end():
    """A formula at the end of several sessions says nothing about any of them."""
    formula = "You are now being transferred to a colleague, please hold on for a while and do not hang up your phone"
    sessions = []
    for n in range(3):
        sessions += [*work(f"s{n}", 20 * n)[:-1], event(20 * n + 9, formula, session=f"s{n}", age_days=9, **SAID)]
    for count, shows in ((3, False), (2, True)):
        events = [each for each in sessions if each[0][1] in {f"s{n}" for n in range(count)}]
        lines = [entry.content for entry in packed(events, budget=2048).entries if entry.section == "episodes"]
        assert any(formula in line for line in lines) == shows


def test_an_instruction_for_other_questions_stays_out():
    """What to do when asked about the weather does not matter to a question about lamps."""
    told = "Always answer in Celsius when I ask about the weather"
    texts = ["The lamp in the hall is green", told, "The lamp at the door is green, too", "Noted"]
    events = [event(n, text, session="s1", speaker=("user", "assistant")[n == 3]) for n, text in enumerate(texts)]
    assert told not in " ".join(shown(packed(events, query="Which lamp is green?")))
    assert told in " ".join(shown(packed(events, query="What was the weather at the green lamp?")))


def test_a_failure_with_the_quoted_text_comes_before_one_with_most_of_its_words():
    """Long outputs of the same command share most words; only the one with the message reports this error."""
    said = "RuntimeError) the endpoint needs a secret key for each test"
    right = log((100, ("exec(command=mix test web)", f"exec failed: ({said}")))
    wrong = log(
        (300, ("exec(command=mix test web)", "exec failed: the test of each endpoint needs a key, secret or not"))
    )
    asked = f"({said}. What now?"
    ranking = draft([*right, *wrong], query=asked).events
    assert [ranking.pool.text[at] for at in np.flatnonzero(ranking.error.events)] == [f"exec failed: ({said}"]
    (other,) = np.flatnonzero(draft(wrong, query=asked).events.error.events)
    assert other == 1


def test_logs_of_many_tasks_are_no_copies_of_each_other():
    """Two logs name the same files and branches although they are about different tasks."""
    steps = [(10 * n, (f"edit(path=lib/feature{n}a)", "edit -> ok")) for n in range(3)]
    again = [(100 + number, step) for number, step in steps]
    logs = [*log(*steps, session="one"), *log(*again, session="two")]
    apart = draft(logs, long_sessions={"one", "two"})._by_steps
    assert list(apart.without_copies(["one", "two"])) == ["one", "two"]
    assert list(draft(logs, long_sessions=set())._by_steps.without_copies(["one", "two"])) == ["one"]


@pytest.mark.parametrize(
    ("query", "shows"),
    [
        ("Deploy the staging environment by fax", False),
        ("Deploy the staging environment by fax. What can we do?", True),
    ],
)
def test_whoever_asks_what_to_do_gets_a_past_session_beside_the_procedure(query, shows):
    """A procedure says how work is usually done, not what is possible; a plain request needs no example."""
    turns = [
        (QUERY, {"speaker": "user"}),
        ("exec(command=kubectl apply -f staging.yaml)", {"kind": "tool_call"}),
        ("exec -> deployment of the staging environment configured", {"kind": "tool_result"}),
        (
            "The staging environment takes a deploy only with the key of Ann",
            {"speaker": "assistant", "source": "agent"},
        ),
        ("The key opens the staging environment to a deploy", {"speaker": "user"}),
        ("It is running", {"speaker": "assistant", "source": "agent"}),
    ]
    events = [event(at, text, session="s1", age_days=9, **how) for at, (text, how) in enumerate(turns)]
    pages = (f"exec -> deploy the staging environment, page {n}" for n in range(8))
    events += [event(100 + n, page, session=f"d{n}", kind="tool_result") for n, page in enumerate(pages)]
    procedure = artifact(1, steps=[("Apply with kubectl", "exec")], actions=("exec",))
    lines = shown(packed(events, query=query, what=known(artifacts=[procedure])), "episodes")
    assert any("key of Ann" in line for line in lines) == shows


def test_the_running_session_is_no_example_of_its_own_error():
    """If only the running session had the quoted error, other past sessions may still serve."""
    message = "one new lamp for each old lamp is needed"
    events = [*failing("now", 10, message, "Hm"), *failing("s2", 20, "the lamp is sold out", "I will ask again")]
    asked = f'swap_items gives "Error: {message}". What now?'
    assert draft(events, query=asked, session_id="now")._eligible_sessions == {"s2"}
    assert draft(events, query=asked)._eligible_sessions == {"now"}


def test_the_id_of_a_task_finds_its_session_but_not_a_step():
    """Many steps name the task in their paths; the one with a word that few steps contain is meant."""
    edits = [
        announced(9 * n, "Next:", f"edit(path=4te/lib/4te.ex, new_string=4te {n})", "edit -> written")
        for n in range(1, 70)
    ]
    closed = announced(900, "All is done.", "exec(command=bd close epic)", "exec -> ok")
    pool = EventPool.of([row for row, _ in chain(*edits, closed)])
    match = replace(match_words(("4te", "close"), pool, 1000), weights=np.array([3.0, 2.0]))
    scores = step_scores(match, pool)
    assert scores[-1] == 1.0 > scores[0]


@pytest.mark.parametrize(
    ("asked", "ended"),
    [
        ("Is it finished, committed and pushed?", True),
        ("Has the epic been closed yet?", True),
        ("I'm taking over the branch", True),
        ("Where did we leave off?", True),
        ("What is left to do?", True),
        ("Push the branch", False),
        ("How is the branch pushed here", False),
        ("Did he push the door open when it rained", False),
        ("Why was it closed", False),
    ],
)
def test_questions_about_how_far_work_has_got(asked, ended):
    """They ask whether something is done, where it stopped or what is left; how things are done is another question."""
    assert understood(asked, 0).ended is ended


@pytest.mark.parametrize(
    ("asked", "all_of_them"),
    [
        ("How does he want my answers to be written?", True),
        ("What are her standing instructions?", True),
        ("How should I phrase the reply about lamps?", True),
        ("How should I answer, and in which units?", True),
        ("Which lamp does he want?", False),
        ("How do we answer 'which lamp is green?'", False),
        ("How do I reply if somebody asks for a lamp?", False),
    ],
)
def test_who_asks_how_to_answer_gets_every_instruction_and_preference(asked, all_of_them):
    """Their conditions need not match the question, and other messages stay out."""
    told = ["Always use metric units when I ask about the weather", "I prefer short answers", "Never use slang"]
    texts = [*told, "The lamp in the hall is green, he wants it to be written down", "Noted"]
    events = [event(n, text, session="s1", speaker=("user", "assistant")[n == 4]) for n, text in enumerate(texts)]
    lines = shown(packed(events, query=asked), "episodes")
    assert ({f"user: {text}" for text in told} == set(lines)) == all_of_them


def test_a_retry_is_shown_beside_the_procedure_that_lists_its_action():
    """Without it, the end would follow a failed call, as if that had worked."""
    said = [
        event(1, "Please ship the staging lamp to my friend in the north", session="s1", age_days=9),
        *log((2, ("ship(to=north, pay=5)", "ship failed: Error: it costs 7")), session="s1"),
        event(4, "The price of the staging lamp has changed to 7, shall I pay it?", session="s1", age_days=9, **SAID),
        *log((5, ("ship(to=north, pay=7)", "ship -> on its way")), session="s1"),
        event(7, "The staging lamp is on its way to the north now", session="s1", age_days=9, **SAID),
    ]
    pool = EventPool.of([row for row, _ in said])
    retries = Episodes(pool, np.ones(len(pool)), None)._retries
    assert [pool.text[at] for at in np.flatnonzero(retries)] == ["ship(to=north, pay=7)", "ship -> on its way"]


@pytest.mark.parametrize(("others", "shown_lines"), [(300, 14), (3000, 40)])
def test_a_question_whose_words_are_common_gets_only_the_best_events(others, shown_lines):
    """Forty events match equally; of 340, that is a common word, of 3,040 it is not."""
    told = [event(n, f"Ann: We worked in the garden of number {n}", session=f"w{n}") for n in range(40)]
    rest = [event(100 + n, f"The weather of day {n} was fine", session=f"r{n}") for n in range(others)]
    pack = packed([*told, *rest], query="When did Ann work?", sections=("core", "episodes"))
    lines = [line for line in shown(pack, "episodes") if "worked" in line]
    assert abs(len(lines) - shown_lines) <= 2


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ("What happened between 5 and 8 March?", {"The lift was repaired", "Ann called", "Bob moved to flat 9"}),
        ("Summarise 8 March", {"Bob moved to flat 9"}),
        ("What happened on 2 March?", {"In March the rent rises"}),
    ],
)
def test_who_asks_what_there_was_at_some_time_gets_what_is_from_that_time(query, seen):
    """Not what only has the name of the month; that is all there is if nothing is from the named time."""
    events = [
        event(1, "In March the rent rises", session="a", age_days=20),
        event(2, "The lift was repaired", session="b", age_days=9),
        event(3, "Ann called", session="c", age_days=7),
        event(4, "Bob moved to flat 9", session="d", age_days=6),
        event(5, "The roof leaks", session="e", age_days=1),
    ]
    assert set(shown(packed(events, query=query), "episodes")) == seen


def _repeated_requests(query, *, tool="top_up", **asked):
    """The ids of the requests in four sessions that count as duplicates where lines of many sessions are shown."""
    wishes = (
        "I would like to top up two gigabytes of data, please",
        "I would like to top up two gigabytes of data, thank you",
        "Top up two gigabytes of data for my wife in Lyon, the invoice goes to the office in Bern",
        "Now I would like to top up two gigabytes of data as well",
    )
    kind = "tool_result" if tool else "message"
    events = [
        line
        for number, wish in enumerate(wishes)
        for line in (
            event(10 * number, wish, session=f"s{number}", speaker="user"),
            event(10 * number + 1, f"{tool} -> charge {number}", session=f"s{number}", kind=kind),
        )
    ]
    verdicts = draft(events, query=query, **asked)._lines.verdicts
    return {event_id for event_id, verdict in verdicts.items() if verdict == "duplicate"}


def test_one_request_stands_for_its_repetitions():
    """Of requests of several users that share half of their terms, the best remains; a different one stays."""
    asked = "What does it cost to top up two gigabytes of data?"
    repeated = _repeated_requests(asked)
    assert len(repeated) == 2
    assert repeated < {"e000", "e010", "e030"}
    assert not _repeated_requests(asked, tool="")


@pytest.mark.parametrize(
    ("first", "second", "repeats"),
    [
        ("My budget for the flight is small", "My budget for the flight is small now", True),
        ("My budget for the flight is 300 EUR", "My budget for the flight is 500 EUR", False),
        ("Please move my flight to Monday", "Please don't move my flight to Monday", False),
        ("Please move my flight to Monday", "Please move my flight to Tuesday", False),
        ("The flight budget is wrong", "No, the flight budget is wrong", False),
    ],
)
def test_requests_with_other_particulars_are_no_repetitions(first, second, repeats):
    """Another number, name or a "not" makes it another request."""
    events = [
        line
        for number, wish in enumerate((first, second))
        for line in (
            event(10 * number, wish, session=f"s{number}", speaker="user"),
            event(10 * number + 1, f"look -> charge {number}", session=f"s{number}", kind="tool_result"),
        )
    ]
    verdicts = draft(events, query="What about the budget and moving the flight?")._lines.verdicts
    assert ("duplicate" in verdicts.values()) is repeats


def test_requests_that_are_no_repetitions():
    """A question about times, or the latest, wants every request, and the running session keeps its own."""
    assert not _repeated_requests("When did users top up two gigabytes of data?")
    assert not _repeated_requests("What was the latest request to top up two gigabytes of data?")
    asked = "What does it cost to top up two gigabytes of data?"
    for number in (0, 1, 3):
        assert f"e0{number}0" not in _repeated_requests(asked, session_id=f"s{number}")


def test_an_unknown_error_does_not_silence_the_other_question():
    """Nothing is known about the error, but the second question has an answer."""
    events = [
        event(1, "Why does the deploy of the shop take so long?", speaker="user"),
        event(2, "The deposit for the flat in Bonn is 900 euros", session="s2", speaker="user"),
    ]
    asked = 'Why does the deploy fail with "Error: cannot reach the frobnicator node"?'
    query = f"{asked} What is the deposit for the flat in Bonn?"
    assert "user: The deposit for the flat in Bonn is 900 euros" in shown(packed(events, query=query), "episodes")
    assert not shown(packed(events, query=asked), "episodes")


@pytest.mark.parametrize(
    ("aside", "fact"), [("Hi, how are you?", "Ann says hi every day"), ("Are you sure?", "The user is sure about blue")]
)
def test_small_talk_beside_a_question_finds_no_memories(aside, fact):
    """One common word is no question of its own; one name is."""
    memories = [memory(1, fact), memory(2, "Bob repaired the lift in Halle")]
    asked = "Who repaired the lift in Halle?"
    pack = packed([event(1, "The lift is open")], known(memories=memories), query=f"{aside} {asked}")
    assert shown(pack, "facts") == ["Bob repaired the lift in Halle"]
    pack = packed([event(1, "The lift is open")], known(memories=memories), query=f"Who is Ann? {asked}", names=["Ann"])
    assert ("Ann says hi every day" in shown(pack, "facts")) is fact.startswith("Ann")


def test_talk_about_a_request_does_not_call_for_a_procedure():
    """Nobody ever wrote a report with tools: the procedure for deploying is not the way to do it."""
    said = [
        event(1, "Please write the status report for Ann", speaker="user", session="s1"),
        event(2, "Dear Ann, all is well.", speaker="assistant", session="s1"),
        *(
            line
            for n in (3, 4, 5)
            for line in (
                event(10 * n, f"Deploy build {n} to test", session=f"s{n}", speaker="user"),
                event(10 * n + 1, f"deploy(build={n})", session=f"s{n}", kind="tool_call"),
                event(10 * n + 2, "deploy -> live", session=f"s{n}", kind="tool_result"),
            )
        ),
    ]
    schema = artifact(1, "Deploy build", steps=[("Run deploy", "deploy")])
    leading = Guidance(lead=schema.artifact_id, expected=frozenset({"deploy"}), known=frozenset({"deploy"}))
    for query, shown_titles in (("Please write the status report for Ann", 0), ("Deploy build 5 to test", 1)):
        pack = packed(said, known(artifacts=[schema]), query=query, guidance=leading)
        assert len(shown(pack, "procedures")) == shown_titles


def test_trouble_in_a_running_session_means_its_own_failure():
    """The words "the tests fail" are in the other playbook, but no message is quoted."""
    own, other = playbook(1, "pytest", "connection refused"), playbook(2, "pnpm_test", "test suite failed to run")
    assert remedies(understood("The tests fail, what now?", NOW), [own, other], own.failures[0]) == {own.artifact_id}
    quoted = understood('pnpm test says "Error: test suite failed to run". What now?', NOW)
    assert other.artifact_id in remedies(quoted, [own, other], own.failures[0])
