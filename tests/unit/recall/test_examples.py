"""Past sessions as examples: which are chosen, and which of their events are shown."""

from dataclasses import replace

import pytest

from hmxgraph.recall._examples import decisive_weights
from hmxgraph.text.excerpts import GAP
from tests.recall_makers import draft, event, known, packed, related, relation
from tests.unit.recall.test_precision import shown

FILLER = "The desk is quiet today and nobody is in a hurry. " * 9


def case(number, wish, *, age_days, refused="it was booked long ago"):
    """A session in which a customer makes a request: the record is looked up, and the request refused for a reason."""
    turns = [
        (f"Hello, {wish}", {}),
        ("get_booking(id=B7)", {"kind": "tool_call"}),
        ("get_booking -> id: B7, gate: 12, seat: 4C, meal: vegan, status: locked, payer: Ann", {"kind": "tool_result"}),
        (f"{FILLER}The status is locked, because {refused}. {FILLER}", {"source": "agent"}),
        ("I understand, goodbye", {}),
    ]
    return [
        event(10 * number + at, text, session=f"s{number}", age_days=age_days, **how)
        for at, (text, how) in enumerate(turns)
    ]


def test_the_example_is_the_session_most_like_the_request_not_the_latest():
    """A session of today about something else helps less than one about the same request a year ago."""
    events = [*case(1, "please cancel my seat reservation in the night train", age_days=300)]
    events += [line for n in range(2, 5) for line in case(n, "please cancel my reservation in the train", age_days=0)]
    pack = packed(events, query="Please cancel my seat reservation in the night train", budget=700)
    assert "Hello, please cancel my seat reservation in the night train" in shown(pack)


def test_an_example_shows_what_decided_it():
    """A long answer is cut to the reason: what the lookup returned and the agent named."""
    events = [line for n in (1, 2) for line in case(n, "please cancel my seat reservation", age_days=n)]
    lines = shown(packed(events, query="Please cancel my seat reservation", budget=500))
    answers = [line for line in lines if "quiet" in line or "locked, because" in line]
    assert answers
    assert all("The status is locked, because it was booked long ago." in line for line in answers)


def test_the_result_of_a_change_shows_what_changed():
    """It returns the whole record: of that, what the lookup before it did not say, and no field without a value."""
    record = {f"field{n}": f"value {n} of the train booking" for n in range(12)}
    before = {**record, "state": "booked", "reason": "null", "refund": "null"}
    after = {**record, "state": "sent back", "reason": "null", "refund": "40 to the card"}

    def told(fields):
        return ", ".join(f"{name}: {value}" for name, value in fields.items())

    turns = [
        ("Hello, please cancel my seat in the train", {"speaker": "user"}),
        ("get_booking(id=B7)", {"kind": "tool_call"}),
        (f"get_booking -> {told(before)}", {"kind": "tool_result"}),
        ("cancel_booking(id=B7)", {"kind": "tool_call"}),
        (f"cancel_booking -> {told(after)}", {"kind": "tool_result"}),
        ("Your seat in the train is cancelled", {"speaker": "assistant"}),
    ]
    events = [event(at, text, session="s1", age_days=2, **how) for at, (text, how) in enumerate(turns)]
    asked = "Please cancel my seat in the train"
    lines = shown(packed(events, query=asked, budget=900, changes={"cancel_booking"}))
    result = next(line for line in lines if line.startswith("cancel_booking ->"))
    assert "state: sent back" in result
    assert "refund: 40 to the card" in result
    assert not [line for line in lines if "null" in line]


def test_a_system_prompt_is_no_request():
    """It matches many requests: it makes its session no example, and an example is shown without it."""
    prompt = "You are the agent of the night train. Please cancel a seat reservation when a customer asks for it."
    events = []
    for number, wish in enumerate(("please cancel my seat", "please book a bed"), start=1):
        turns = [(prompt, {"speaker": "system"})] * number + [(f"Hello, {wish}", {"speaker": "user"})]
        turns += [(f"get_train(id={number})", {"kind": "tool_call"}), ("get_train -> on time", {"kind": "tool_result"})]
        events += [
            event(10 * number + at, text, session=f"s{number}", age_days=3 - number, **how)
            for at, (text, how) in enumerate(turns)
        ]
    query = "Please cancel a seat reservation of the night train"
    for known_events in (events, events[1:]):
        asked = draft(known_events, query=query)
        assert asked._by_steps.best_sessions(1, {"s1", "s2"}, asked.events.match.share) == ["s1"]
    lines = shown(packed(events, query=query, budget=700))
    assert any("please cancel my seat" in line for line in lines)
    assert not any(prompt[:30] in line for line in lines)


def test_words_of_results_that_were_spoken_of_weigh():
    """Rarer words of the session weigh more; words in most of its events count for nothing."""
    ranking = draft(case(1, "please cancel B7", age_days=1), query="Please cancel B7").events
    weights = decisive_weights(ranking.pool, ranking.pool.sessions == 0, {"cancel": 2.0})
    assert weights["cancel"] == 2.0
    assert 0.0 < weights["lock"] < 2.0
    assert {"vegan", "gate", "quiet"}.isdisjoint(weights)


def test_a_long_request_is_not_new_for_its_length():
    """A long story is known if a similar one was told; another kind of work is new."""
    story = (
        "Please cancel my reservation: my uncle from Lisbon fell ill, the dog needs walking, the garden needs water,"
        " and neither my sister nor the neighbours with the red car can look after the old house by the river,"
        " while hail and muddy roads keep buses, trams and ferries from reaching our village"
    )
    past = "please cancel my reservation, my uncle fell ill, the dog needs walking, and the garden has to be watered"
    events = case(1, past, age_days=3)
    assert not draft(events, known(), query=story).events.is_new(None)
    assert draft(events, known(), query="Please bake bread with rye flour and seeds for Saturday").events.is_new(None)


def test_other_numbers_make_no_new_request():
    """A time of day is a detail of the request: no past one needs to contain it."""
    events = case(1, "please cancel my seat", age_days=3)
    assert not draft(events, known(), query="Please cancel seat 17 between 9:45 and 10:15").events.is_new(None)
    assert not draft(events, known(), query="Please cancel my seat within ten minutes").events.is_new(None)
    assert not draft(events, known(), query="Please cancel my seat promptly").events.is_new(None)


def test_what_carries_a_name_of_the_request_is_known():
    """A request about an order of past work is not new work, whatever it asks."""
    events = case(1, "please cancel order W2378156", age_days=3)
    query = "Could somebody gift wrap W2378156 with a ribbon and a handwritten card for grandmother?"
    assert not draft(events, known(), query=query).events.is_new(None)


def errand(number, caller, wish, *, age_days, change="change_booking"):
    """A session in which a caller gives a name, and something is changed under a number without that name."""
    turns = [
        (f"Hello, {wish}", {"speaker": "user"}),
        (f"Sure, my name is {caller} and my number is 555-01{number}.", {"speaker": "user"}),
        (f"find_booking(name={caller})", {"kind": "tool_call"}),
        (f"find_booking -> id: B{number}, payer: {caller}, seat: 4C", {"kind": "tool_result"}),
        (f"{change}(id=B{number}, seat=9A)", {"kind": "tool_call"}),
        (f"{change} -> seat: 9A", {"kind": "tool_result"}),
        (f"Seat 9A is booked for you, case {number}.", {"source": "agent"}),
    ]
    return [
        event(10 * number + at, text, session=f"s{number}", age_days=age_days, **how)
        for at, (text, how) in enumerate(turns)
    ]


MEI = {"changes": {"change_booking"}, "names": ["Mei Kovacs"]}


def _errands():
    wishes = ["please move me to the window", "I would like to sit at the front", "could I get more legroom?"]
    own = [line for n, wish in enumerate(wishes, start=1) for line in errand(n, "Mei Kovacs", wish, age_days=9 - n)]
    other = [line for n in (4, 5) for line in errand(n, "Ann Lee", "please move me to the aisle", age_days=n)]
    return [*own, *other]


def test_whom_a_question_names_is_known_by_what_was_done_for_them():
    """Requests, changes and outcomes are shown although they rarely repeat the name; greetings and lookups are not."""
    lines = shown(packed(_errands(), query="What do we know about Mei Kovacs?", budget=900, **MEI))
    for number, wish in enumerate(["the window", "the front", "legroom"], start=1):
        assert any(wish in line for line in lines)
        assert any(f"change_booking(id=B{number}" in line for line in lines)
        assert any(f"case {number}." in line for line in lines)
    assert not [line for line in lines if "my name is" in line or "find_booking" in line or "aisle" in line]


def test_what_else_was_asked_about_somebody_comes_first():
    """A small pack shows the case that matches more than the name, not the latest one."""
    query = "What did Mei Kovacs want at the window?"
    lines = shown(packed(_errands(), query=query, budget=60, **MEI))
    assert any("the window" in line for line in lines)
    assert any("case 1." in line for line in lines)
    assert not any("case 3." in line for line in lines)


def test_whom_a_session_names_in_passing_is_known_by_the_lines_with_the_name():
    """The session is about bills; only two of its lines are about the customer in the question."""
    turns = [
        ("Which bills are overdue?", {"speaker": "user"}),
        ("list_bills(status=overdue)", {"kind": "tool_call"}),
        ("list_bills -> bill: 29, payer: Mei Kovacs, bill: 32, payer: Ann Lee", {"kind": "tool_result"}),
        ("Send reminders, but not to Mei Kovacs, her lawyer handles it.", {"speaker": "user"}),
        ("remind(bill=32)", {"kind": "tool_call"}),
        ("remind -> sent", {"kind": "tool_result"}),
        ("I sent one reminder.", {"source": "agent"}),
    ]
    events = [event(10 + at, text, session="s1", **how) for at, (text, how) in enumerate(turns)]
    lines = shown(packed([*events, *errand(4, "Ann Lee", "please", age_days=4)], query="What about Mei Kovacs?", **MEI))
    assert any("her lawyer handles it" in line for line in lines)


def test_a_request_for_work_that_names_somebody_gets_no_list_of_their_cases():
    """The caller's name in a request is not a question about the caller."""
    query = "Hello, my name is Mei Kovacs, please move me to the window"
    assert not draft(_errands(), query=query, **MEI).events.named_cases.any()


def test_what_a_session_only_got_to_see_is_not_what_it_is_about():
    """A number that only a lookup's result lists does not make the session a case of it."""
    events = _errands()
    seen = [
        event(90, "Please cancel my parcel", session="s9", speaker="user"),
        event(91, "list_bookings -> B1, B2, B3, B4, B5", session="s9", kind="tool_result"),
    ]
    ranking = draft([*events, *seen], query="What happened with B1?", names=["B1"]).events
    about = {ranking.pool.session_id[at] for at in ranking.named_cases.nonzero()[0]}
    assert about == {"s1"}


@pytest.mark.parametrize(
    "query", ["The window of the bus to Oslo fails to open, what now?", "Please open the window of the bus"]
)
def test_a_session_that_went_well_is_the_better_example(query):
    """Of two sessions about the same trouble, only the one without negative feedback is shown, though it is older."""
    wish = "the window of the bus to Oslo fails to open"
    events = [line for n, age in ((1, 1), (2, 30)) for line in errand(n, "Mei Kovacs", wish, age_days=age)]
    asked = draft(events, query=query, outcomes={"s1": "negative"})
    shares, failed = asked.events.match.share, {"s1"}
    ranked = asked._by_steps.best_sessions(2, {"s1", "s2"}, shares, failed, if_failed=asked.events.if_failed)
    assert ranked == ["s2"]


def test_advice_given_for_much_is_no_sign_of_a_like_request():
    """The assistant asks everybody about the internet; only last year's caller has the same trouble with it."""
    advice = "To begin with, is the internet on your phone slow, or does it stop?"
    events = []
    for number, (wish, age) in enumerate((("please mend my slow internet", 20), ("please send my pictures", 1)), 1):
        turns = [
            (f"Hello, {wish}", {"speaker": "user"}),
            (advice if number == 2 else "Of course", {"speaker": "assistant"}),
            (f"check_settings(id={number})", {"kind": "tool_call"}),
            ("check_settings -> roaming off", {"kind": "tool_result"}),
            (f"Roaming was off, case {number}.", {"speaker": "assistant"}),
        ]
        events += [
            event(10 * number + at, text, session=f"s{number}", age_days=age, **how)
            for at, (text, how) in enumerate(turns)
        ]
    asked = draft(events, query="Please help, the internet on my phone is slow")
    assert asked._by_steps.best_sessions(1, {"s0", "s1", "s2"}, asked.events.match.share) == ["s1"]


def test_a_log_of_many_tasks_is_no_case_of_what_a_question_names():
    """It is shown by its steps: nearly all of it is about something else."""
    asked = draft(_errands(), query="What do we know about Mei Kovacs?", long_sessions={"s1", "s2", "s3"}, **MEI)
    assert asked.events.named_cases.any()
    assert not asked.cases


def test_a_long_question_names_somebody_as_well_as_a_short_one():
    """Cases contain only a small share of a question of many words, and are cases all the same."""
    query = "What do we know about Mei Kovacs? " + " ".join(f"Topic{n} came up yesterday." for n in range(60))
    asked = draft(_errands(), query=query, **MEI)
    assert asked.events.share_without_names.max() < 0.05
    assert sorted(asked.cases) == ["s1", "s2", "s3"]


def test_a_name_of_few_sessions_counts_more_than_one_of_many():
    """Mei Kovacs travels to New York: the cases are hers, not those of all who travel there."""
    own = errand(1, "Mei Kovacs", "please move me to the window", age_days=9)
    others = [
        line for n in range(2, 7) for line in errand(n, "Ann Lee", "please change my bus to New York", age_days=n)
    ]
    query = "Mei Kovacs has to change buses for New York. What do we know?"
    asked = draft([*own, *others], query=query, changes={"change_booking"}, names=["Mei Kovacs", "New York"])
    assert asked.cases == ("s1",)


def test_of_a_case_without_trouble_of_its_own_the_outline_is_shown():
    """For a question about a failure, all that matched in the only case is a call that went well."""
    turns = [
        ("Hello, could I sit at the front?", {"speaker": "user"}),
        ("change_booking(name=Mei Kovacs, seat=9A)", {"kind": "tool_call"}),
        ("change_booking -> seat: 9A", {"kind": "tool_result"}),
        ("Seat 9A is yours", {"speaker": "assistant"}),
    ]
    own = [event(10 + at, text, session="s1", age_days=9, **how) for at, (text, how) in enumerate(turns)]
    others = [line for n in range(2, 5) for line in errand(n, "Ann Lee", "please move me to the aisle", age_days=n)]
    query = "change_booking fails for Mei Kovacs with “seat taken”, what now?"
    lines = shown(packed([*own, *others], query=query, budget=900, **MEI), "episodes")
    assert "change_booking(name=Mei Kovacs, seat=9A)" in lines


@pytest.mark.parametrize(("outcome", "beside"), [("negative", True), ("positive", False)])
def test_beside_a_session_that_failed_stands_one_in_which_the_same_call_worked(outcome, beside):
    """The error is known from a session that failed; how it is done right is known from another one."""
    failed = [
        ("Hello, please open the gate of the night train", {"speaker": "user"}),
        ("open_gate(gate=4)", {"kind": "tool_call"}),
        ("open_gate failed: Error: the gate must be locked to open", {"kind": "tool_result"}),
        ("The gate of the night train must be open already", {"speaker": "assistant"}),
    ]
    worked = [
        ("Hello, the gate of the night train does not answer, what is wrong?", {"speaker": "user"}),
        ("open_gate(gate=5)", {"kind": "tool_call"}),
        ("open_gate -> opened", {"kind": "tool_result"}),
        ("The gate of the night train must be locked first, now it is open", {"speaker": "assistant"}),
    ]
    wish = "Hello, open_gate of the night train does not answer, what did I do wrong?"
    other = [(wish, {"speaker": "user"}), *((text.replace("open_gate", "open_door"), how) for text, how in worked[1:])]
    events = [
        event(10 * n + at, text, session=f"s{n}", age_days=9 - n, **how)
        for n, turns in enumerate((failed, worked, other), start=1)
        for at, (text, how) in enumerate(turns)
    ]
    query = 'open_gate answers "Error: the gate must be locked to open" for the night train. What did I do wrong?'
    lines = shown(packed(events, query=query, budget=900, outcomes={"s1": outcome}))
    assert "open_gate failed: Error: the gate must be locked to open" in lines
    assert ("open_gate(gate=5)" in lines) is beside
    assert "open_door(gate=5)" not in lines


def test_the_request_decides_which_cases_are_like_the_question():
    """Answers contain the words of many requests; a case whose request is much less like the question is left out."""
    wishes = ["please move me to the window of the bus to Oslo", "please wash my car"]
    events = [line for n, wish in enumerate(wishes, start=1) for line in errand(n, "Mei Kovacs", wish, age_days=9 - n)]
    advice = "Shall I move you to the window of the bus to Oslo, as others want it?"
    events.append(event(29, advice, session="s2", age_days=7, speaker="assistant"))
    query = "Mei Kovacs wants to be moved to the window of the bus to Oslo. How did that go before?"
    asked = draft(events, query=query, names=["Mei Kovacs"])
    assert asked.events.case_sessions(5) == ("s1",)


@pytest.mark.parametrize(
    ("query", "case"),
    [
        ("What did Mei Kovacs want the last time?", 3),
        ("What seat did Mei Kovacs want to move to the last time?", 3),
        ("What did Mei Kovacs pay for the latest ticket at the window?", 1),
    ],
)
def test_the_last_time_is_the_latest_of_the_cases_that_match(query, case):
    """A question about the last time asks for the latest case; one about the latest ticket may not."""
    lines = shown(packed(_errands(), query=query, budget=60, **MEI))
    assert [number for number in (1, 2, 3) if any(f"case {number}." in line for line in lines)] == [case]


def test_of_an_example_the_request_stays_however_short():
    """A short request without any word of the current one is not small talk."""
    turns = [
        ("Can you upgrade me?", {"speaker": "user"}),
        ("get_booking(id=B7)", {"kind": "tool_call"}),
        ("get_booking -> id: B7, seat: 4C by the window of the night train to Rome", {"kind": "tool_result"}),
        ("I want the seat by the window of the night train to Rome", {"speaker": "user"}),
        ("book_seat(id=B7)", {"kind": "tool_call"}),
        ("book_seat -> done", {"kind": "tool_result"}),
        ("The seat by the window is yours", {"speaker": "assistant"}),
    ]
    events = [event(at, text, session="s1", age_days=2, **how) for at, (text, how) in enumerate(turns)]
    lines = shown(packed(events, query="Please book a seat by the window of the night train to Rome", budget=700))
    assert any("Can you upgrade me?" in line for line in lines)


def booking(number, wish, *, answer, ending, age_days, lookups=9):
    """A session with more lookups than fit: a request, an answer, one change and a farewell."""
    turns = [
        ("Good day", {"speaker": "assistant"}),
        (f"Hello, {wish}", {"speaker": "user"}),
        ("Whom am I speaking to?", {"speaker": "assistant"}),
        (f"find_booking(name=Ann Lee {number})", {"kind": "tool_call"}),
        ("find_booking failed: Error: no such booking", {"kind": "tool_result"}),
        (answer, {"speaker": "assistant"}),
    ]
    for at in range(lookups):
        turns += [(f"get_seat(row={at}, of={number})", {"kind": "tool_call"})]
        turns += [(f"get_seat -> row: {at}, free: yes, side: {number}, near: galley", {"kind": "tool_result"})]
    turns += [
        (f"swap_seat(id=B{number})", {"kind": "tool_call"}),
        ("swap_seat -> done", {"kind": "tool_result"}),
        (ending, {"speaker": "assistant"}),
        ("Thank you, goodbye", {"speaker": "user"}),
    ]
    return [
        event(100 * number + at, text, session=f"s{number}", age_days=age_days, **how)
        for at, (text, how) in enumerate(turns)
    ]


SWAP = "Please swap the seats of my brother and me in the night train"


def _bookings():
    answer = "A night swap needs the consent of both travellers."
    wish = "please swap my seat in the night train for that of my brother"
    events = booking(1, wish, answer=answer, ending="You sit in 4C.", age_days=9)
    wish = "please swap the seats of my brother and me for the night train"
    events += booking(2, wish, answer=answer, ending="You sit in 7A.", age_days=8)
    return events


def test_a_long_example_is_shown_by_what_decided_it():
    """Both sessions keep request, answer, change and outcome, but no identification and lookups."""
    lines = shown(packed(_bookings(), query=SWAP, budget=260, changes={"swap_seat"}))
    for part in ("my seat in the night", "of my brother", "needs the consent", "B1", "B2", "4C", "7A"):
        assert any(part in line for line in lines)
    assert not [line for line in lines if "get_seat" in line or "find_booking" in line or "goodbye" in line]


def test_a_short_example_stays_whole():
    """If everything fits, the lookups are shown too, because they tell how the work was done."""
    lines = shown(packed(_bookings(), query=SWAP, budget=8192, changes={"swap_seat"}))
    assert sum("get_seat" in line for line in lines) == 36


def test_an_example_is_nearly_as_good_as_the_best():
    """A session that shares one word with the request is left out if another shares nearly all of them."""
    events = booking(1, SWAP, answer="Of course.", ending="You sit in 4C.", age_days=9)
    events += booking(2, "please wake me in the night", answer="Of course.", ending="Rest well.", age_days=1)
    assert draft(events, query=SWAP, changes={"swap_seat"}).whole_sessions == {"s1"}


def test_only_sessions_that_were_fetched_as_such_are_examples():
    """The request or the outcome of other sessions may be missing."""
    read = replace(draft(_bookings(), query=SWAP), examples=frozenset({"s1"}))
    assert read.whole_sessions == {"s1"}


def _parcels(count):
    """Return the relations of *count* parcels to a lamp and to the callers who ordered them."""
    relations = [relation(n, f"parcel {n}", "lamp", kind="item") for n in range(count)]
    relations += [relation(100 + n, f"parcel {n}", f"Caller Number{n} of the hill", kind="user") for n in range(count)]
    types = {f"parcel {n}": "parcel" for n in range(count)} | {"lamp": "item"}
    return known(related=related(*relations, named=["lamp"], types=types))


def test_relations_leave_room_for_whole_sessions():
    """Every parcel with a lamp has a sentence, but the outcome of the same request comes first."""
    query = "Which lamp parcel was swapped for the seat of a brother in the night train?"
    pack = packed(_bookings(), _parcels(40), query=query, budget=600, changes={"swap_seat"})
    used = pack.token_budget.section_budgets
    assert used["episodes"].used > used["graph_relations"].used > 0
    assert used["graph_relations"].used <= used["graph_relations"].budget


def test_beside_cases_there_is_room_for_all_that_belongs_to_somebody():
    """Relations use the rest of the budget, beyond their own share."""
    what = "What do we know about Mei Kovacs and the lamp parcels?"
    pack = packed(_errands(), _parcels(40), query=what, budget=900, **MEI)
    used = pack.token_budget.section_budgets
    assert used["episodes"].used > 0
    assert used["graph_relations"].used > used["graph_relations"].budget


def test_beside_relations_cases_use_what_is_left():
    """Relations are no answer that episodes only illustrate: a long request stays beside the change made for it."""
    wish = "please move me to the window, because " + " and ".join(f"reason {n} counts" for n in range(30))
    events = errand(1, "Mei Kovacs", wish, age_days=9)
    pack = packed(
        events, _parcels(1), query="What do we know about Mei Kovacs and the lamp parcels?", budget=300, **MEI
    )
    used = pack.token_budget.section_budgets
    assert used["graph_relations"].used > 0
    assert used["episodes"].used > 150


def test_each_example_has_its_own_room_for_long_messages():
    """A session with long messages does not shorten those of another."""
    reason = "The swap needs the consent of both. " + "It is noted in the booking of the brother. " * 9
    events = booking(
        1, "please swap the seats of my brother in the train", answer=reason, ending="4C is yours.", age_days=9
    )
    long = "We swap seats of brothers in the night train. " + "The rest is written in the terms of the line. " * 60
    events += booking(2, "please swap the seats of my brother in the night", answer=long, ending=long, age_days=8)
    lines = shown(packed(events, query=SWAP, budget=420, changes={"swap_seat"}))
    assert any(reason.strip() in line for line in lines)
    assert any(GAP in line for line in lines if "We swap seats" in line)


def incident(number, report, remedy, *, age_days, last="Thanks, that was quick!", query="lag(service=indexer)"):
    """A session about an alert: the report, a lookup, a remedy, the answer, and what the user says at the end."""
    turns = [
        (report, {"speaker": "user"}),
        (query, {"kind": "tool_call"}),
        (f"lag -> {number * 900} seconds", {"kind": "tool_result"}),
        (f"set_memory(limit={remedy})", {"kind": "tool_call"}),
        ("set_memory -> done", {"kind": "tool_result"}),
        (f"The indexer had run out of memory. I raised the limit to {remedy}.", {"speaker": "assistant"}),
        (last, {"speaker": "user"}),
    ]
    return [
        event(10 * number + at, text, session=f"s{number}", age_days=age_days, **how)
        for at, (text, how) in enumerate(turns)
    ]


ALERT = "The lag alert of the search indexer fired"


@pytest.mark.parametrize(
    ("later", "both"),
    [
        ({}, True),
        ({"query": "lag(service=crawler)"}, False),
        ({"report": "It is dark in here, and nobody came"}, False),
        ({"age_days": 90}, False),
    ],
)
def test_an_example_is_shown_with_the_latest_time_that_it_happened_again(later, both):
    """The first incident alone would suggest a remedy that did not last."""
    again = {"report": "The lag alert of the search indexer is back", "remedy": "2Gi", "age_days": 3} | later
    events = [*incident(1, ALERT, "1Gi", age_days=30), *incident(2, **again)]
    assert draft(events, query=ALERT).whole_sessions == ({"s1", "s2"} if both else {"s1"})


@pytest.mark.parametrize(
    ("report", "both"), [("indexer failed again: shard seven is", True), ("indexer is slow", False)]
)
def test_an_error_that_came_back_is_shown_with_the_last_time(report, both):
    """If the question quotes an error, the later session must have had the same."""
    error = "The indexer failed: shard seven is locked"
    events = [*incident(1, error, "1Gi", age_days=30), *incident(2, f"The {report} locked", "2Gi", age_days=3)]
    query = 'The indexer failed, "Error: shard seven is locked". What now?'
    assert draft(events, query=query).whole_sessions == ({"s1", "s2"} if both else {"s1"})


def test_what_a_user_adds_at_the_end_is_shown():
    """Thanks and farewells are left out, a remark about the matter is not."""
    remark = "Good. The long-term fix is ticket 882, replay in batches of 500."
    events = incident(1, ALERT, "1Gi", age_days=3, last=remark)
    assert f"user: {remark}" in shown(packed(events, query=ALERT))
    thanks = "Thank you so much, I really appreciate your help today. Have a great day!"
    assert f"user: {thanks}" not in shown(packed(incident(1, ALERT, "1Gi", age_days=3, last=thanks), query=ALERT))


def test_what_somebody_stated_was_not_asked_before():
    """A decision answers the question alone; the work of its session is no answer."""
    decision = "We decided on batches of 500 for every replay"
    events = incident(1, ALERT, "1Gi", age_days=3, last=decision)
    assert not draft(events, query="Which batches for replay?").events.wants_examples
    asked = incident(1, "Which batches do we take for each replay?", "1Gi", age_days=3)
    assert draft(asked, query="Which batches for replay?").events.wants_examples
    wanted = incident(1, "Replay batches of 500", "1Gi", age_days=3)
    assert draft(wanted, query="Which batches for replay?").events.wants_examples


def test_an_example_is_shown_with_what_withdraws_it():
    """The accountant of the last time has retired: the message of another session says so."""
    past = incident(1, "Send the receipts of May to our accountant Mr Lenz", "1Gi", age_days=60)
    later = [
        event(30, "We have a new accountant, Ms Okafor. Mr Lenz is retired", session="s3", speaker="user", age_days=5),
        event(31, "Noted.", session="s3", speaker="assistant", age_days=5),
    ]
    lines = shown(packed([*past, *later], query="Send the receipts of June to our accountant", budget=900))
    assert "user: Send the receipts of May to our accountant Mr Lenz" in lines
    assert "user: We have a new accountant, Ms Okafor. Mr Lenz is retired" in lines


def job(number, *turns, age_days):
    """A session at a desk that rents houses: "> " begins a call, "< " its result, "= " an answer of the assistant."""
    kinds = {"> ": {"kind": "tool_call"}, "< ": {"kind": "tool_result"}, "= ": {"speaker": "assistant"}}
    return [
        event(10 * number + at, text[2:], session=f"s{number}", age_days=age_days, **kinds[text[:2]])
        if text[:2] in kinds
        else event(10 * number + at, text, session=f"s{number}", age_days=age_days, speaker="user")
        for at, text in enumerate(turns)
    ]


WIFI = job(
    1,
    "A guest complains that the wifi at Villa Rosa does not work.",
    "> restart_router(house=Villa Rosa)",
    "< restart_router failed: router offline",
    "> create_ticket(house=Villa Rosa, issue=router)",
    "< create_ticket -> ticket_id: T-305, status: open",
    age_days=9,
)


def test_an_example_brings_the_session_that_finished_its_work():
    """The ticket that it opened was closed later, by somebody who says what the cause was, in other words."""
    end = (
        "The fuse in the hallway had tripped.",
        "> close_ticket(ticket_id=T-305)",
        "< close_ticket -> status: closed",
    )
    other = ("The lamp in the cellar is broken.", "> close_ticket(ticket_id=T-310)", "< close_ticket -> status: closed")
    events = [*WIFI, *job(2, *end, age_days=8), *job(3, *other, age_days=7)]
    asked = draft(events, query="A guest says the wifi at Villa Rosa is down", changes={"create_ticket"})
    assert asked.whole_sessions == {"s1", "s2"}
    looked_up = draft(events, query="A guest says the wifi at Villa Rosa is down", changes={"restart_router"})
    assert "s2" not in looked_up.whole_sessions


def test_the_newest_statement_stands_beside_the_example():
    """Whoever reads only the older ban would keep to it; a statement from before the example adds nothing."""
    banned = job(
        1,
        "The boiler at Casa Blu is out.",
        "> assign_ticket(vendor=Termo Rossi)",
        "< assign_ticket failed: not available",
        "> assign_ticket(vendor=Idro Bianchi)",
        "< assign_ticket -> status: assigned",
        "Never book Termo Rossi for Casa Blu, they cancelled.",
        age_days=9,
    )
    allowed = "Termo Rossi apologised. You may book them for Casa Blu once more."
    query = "May we book Termo Rossi for Casa Blu?"
    later = draft([*banned, *job(2, allowed, "= Ok.", age_days=3)], query=query)
    assert later.whole_sessions == {"s1", "s2"}
    earlier = draft([*banned, *job(2, allowed, "= Ok.", age_days=20)], query=query)
    assert earlier.whole_sessions == {"s1"}


def test_a_name_of_two_words_does_not_outweigh_the_work():
    """A session about other work at the same place is no example, nor is one with the same number of another thing."""
    green = (
        "The water in the pool at Villa Rosa is green.",
        "> assign_ticket(vendor=Aqua)",
        "< assign_ticket -> status: assigned",
    )
    chairs = ("Order the chairs for Torre Alta.", "> order(item=chairs)", "< order -> status: ordered")
    events = [*job(1, *green, age_days=9), *job(2, *chairs, age_days=2)]
    asked = draft(events, query="The water in the pool at Torre Alta is green", names=("Torre Alta",))
    assert asked.whole_sessions == {"s1"}
    ordered = draft(events, query="Order chairs for booking 2160").events
    of_path = draft(events, query="Order the chairs in houses/torre_alta.csv").events.weights_of_request
    assert len(of_path.keys() & {"hous", "torr", "alta", "csv"}) == 1
    without_number = draft(events, query="Order chairs for booking").events.match.share.max()
    assert ordered.share_of_request.max() == pytest.approx(without_number)


def test_the_name_of_a_new_customer_makes_no_new_work():
    """Only the name is unknown; another kind of work stays new."""
    mail = ("Please write the welcome mail for the Kern family.", "> get_booking(id=B7)", "< get_booking -> house: Blu")
    events = job(1, *mail, age_days=9)
    names = ("Schmidt", "Hamburg", "Altona")
    for query, new in (("Write the welcome mail for", False), ("Bake the birthday cake for", True)):
        asked = draft(events, query=f"{query} the Schmidts, Schmidt of Hamburg, Altona", names=names)
        assert asked.events.is_new(None) is new


def test_a_case_shows_what_was_answered_after_the_lookup():
    """The answer seldom has words of the question, and the calls that follow do not repeat it."""
    dog = job(
        1,
        "Guest Kern wants to know if she can bring her dog to Villa Rosa.",
        "> get_house(name=Villa Rosa)",
        "< get_house -> name: Villa Rosa, pets: false",
        "= No pets are allowed there.",
        "Ok, tell her.",
        "> send_mail(to=Kern)",
        "< send_mail -> status: sent",
        age_days=9,
    )
    other = ("A guest of Villa Rosa is late.", "> get_house(name=Villa Rosa)", "< get_house -> name: Villa Rosa")
    asked = {"query": "Can guests bring a cat to Villa Rosa?", "names": ("Villa Rosa",)}
    pack = packed([*dog, *job(2, *other, age_days=5)], budget=700, changes={"send_mail"}, **asked)
    assert "assistant: No pets are allowed there." in shown(pack)
    assert "user: A guest of Villa Rosa is late." not in shown(pack)


CHECKOUT = job(
    1,
    "Customer Berg: checkout hangs at payment.",
    "> search_logs(query=checkout berg)",
    "< search_logs -> timeout calling stripe after 10s",
    "= I can raise the timeout.",
    "Jonas decided: do not raise it, retry twice instead.",
    "> create_ticket(title=Retry Stripe calls twice)",
    "< create_ticket -> ticket: SHOP-121",
    "Yes, go on.",
    "> notify(team=ops)",
    "< notify -> sent",
    age_days=9,
)
OTHER = job(2, "Deploy the shop.", "> deploy(env=staging)", "< deploy -> done", age_days=5)


def test_a_short_answer_and_a_short_instruction_are_no_small_talk():
    """They say what was found and decided, without a word of the question; mere consent says nothing."""
    lines = shown(packed([*CHECKOUT, *OTHER], query="What was the problem with the checkout of Berg?", names=("Berg",)))
    assert "assistant: I can raise the timeout." in lines
    assert "user: Jonas decided: do not raise it, retry twice instead." in lines
    assert "user: Yes, go on." not in lines


@pytest.mark.parametrize(
    ("query", "raised"),
    [
        ("What was the problem with the checkout of Berg?", True),
        ("What was wrong with Berg's search logs?", True),
        ("What was the colour of the checkout of Berg?", False),
    ],
)
def test_a_question_was_raised_by_a_message_and_its_calls(query, raised):
    """Words for trouble do not count, and what the first message leaves out may be in the calls."""
    assert draft([*CHECKOUT, *OTHER], query=query, names=("Berg",)).events.was_raised_before is raised


CONTACT = job(
    1,
    "The nightly sync from Acme did not run. Our contact at Acme is Sanne Visser.",
    "> run(command=sync acme)",
    "< run -> 1834 items from acme updated",
    "= The sync with Acme ran.",
    age_days=9,
)
NOTE = job(2, "Write that into the ticket please.", "> ticket(action=comment)", "< ticket -> ok: true", age_days=5)


def test_who_somebody_is_people_say():
    """Steps with the same name are left out, and lines of sessions without it; of a date, steps of that day remain."""
    lines = shown(
        packed([*CONTACT, *NOTE], query="Who do we write to about stock at Acme?", names=("Acme",)), "episodes"
    )
    assert any("Sanne Visser" in line for line in lines)
    assert not [line for line in lines if "run(" in line or "1834" in line or "ticket" in line]


def test_of_a_date_only_the_steps_of_that_day_are_shown():
    """The same call failed on other days, too; what people say later about that day may be shown."""
    first = job(1, "> deploy(app=cart)", "< deploy failed: pending change 1", age_days=20)
    second = job(2, "> deploy(app=cart)", "< deploy failed: the lock of the cart is held", age_days=18)
    lines = shown(
        packed([*first, *second], query="Why did the deploy of the cart fail on 22 February 2026?"), "episodes"
    )
    assert [line for line in lines if "failed" in line] == ["deploy failed: pending change 1"]


def test_a_question_gets_no_idle_steps():
    """A request gets all steps of its example; a question only those that say something about it, and failures."""
    turns = (
        "From May on, free shipping starts at 75 euros. Change the config.",
        "> edit(file=shipping.yaml, text=free from 75)",
        "< edit -> saved",
        "> run(command=make test)",
        "< run -> 214 passed",
        "> push(branch=main)",
        "< push failed: no upstream",
        "= Free shipping starts at 75 euros now.",
    )
    asked = "From how many euros on is shipping free, 60 or 75 euros?"
    events = job(1, *turns, age_days=9)
    assert draft(events, query=asked).whole_sessions == {"s1"}
    lines = shown(packed(events, query=asked), "episodes")
    assert any("75 euros" in line for line in lines)
    assert not [line for line in lines if "make test" in line or "214" in line]
    assert any("no upstream" in line for line in lines)


def test_a_changed_value_is_shown_beside_the_old_one():
    """The later message says the same of the same matter; one about another matter with "no longer" does not count."""
    said = "Tell customers who ordered a tent: free shipping starts at 60 euros."
    old = job(1, said, "> note(text=shipping)", "< note -> ok", "= Noted.", age_days=30)
    new = job(
        2, "From May on free shipping starts at 75 euros, no longer at 60.", "> set(a=1)", "< set -> ok", age_days=9
    )
    other = job(3, "The office is no longer at the harbour.", "> note(text=office)", "< note -> ok", age_days=5)
    query = "Tell the customer from when on shipping is free, she ordered a tent"
    lines = shown(packed([*old, *new, *other], query=query), "episodes")
    assert any("60 euros" in line for line in lines)
    assert any("75 euros" in line for line in lines)
    assert not any("harbour" in line for line in lines)


def test_whom_to_ask_a_message_says_without_the_steps_of_its_session():
    """If no message states it, the lookups answer."""
    turns = (
        "Our contact at Acme is Sanne Visser now.",
        "> run(command=sync acme)",
        "< run -> 1834 items from acme updated",
        "= The sync ran.",
    )
    lines = shown(packed(job(1, *turns, age_days=9), query="Who is our contact at Acme?"), "episodes")
    assert [line for line in lines if "acme" in line.lower()] == ["user: Our contact at Acme is Sanne Visser now."]
    asked = ("Who is our contact at Acme?", "> find(company=Acme)", "< find -> contact: Sanne Visser", "= I found it.")
    lines = shown(packed(job(1, *asked, age_days=9), query="Who is our contact at Acme?"), "episodes")
    assert any("Sanne Visser" in line for line in lines)


def test_a_question_about_the_unknown_gets_nothing():
    """One common word of many does not answer it; of fewer unknown words, one of another form may be meant."""
    events = job(1, "Sign with the team of Blu.", "> mail(to=kern)", "< mail -> sent", "= Done.", age_days=9)
    events += [event(100 + at, f"Day {at} was quiet.", session=f"t{at}", age_days=3, speaker="user") for at in range(9)]
    asked = "Which hotel did the team reserve for the offsite?"
    assert shown(packed(events, query=asked), "episodes") == []
    assert shown(packed(events, query="Who is in the team?"), "episodes")


def test_an_end_without_its_beginning_is_no_example():
    """It does not say what has ended. Here the other events are a prompt and small talk."""
    turns = (
        ("You are the agent of the shop.", "system"),
        ("ok thanks", "user"),
        ("That was perfect, sent it.", "user"),
    )
    events = [event(at, text, session="s1", age_days=9, speaker=speaker) for at, (text, speaker) in enumerate(turns)]
    for number, whole in ((3, False), (2, True)):
        others = [event(9, "The lamp form is signed, and the lawyer has it", session="s1", age_days=9)] if whole else []
        asked = draft([*events[:number], *others], query="Send the lamp form")
        episodes = asked._scored_events.with_whole_sessions({"s1"}, asked.events.match.share)
        assert bool(episodes.is_related.any()) is whole


@pytest.mark.parametrize(
    ("query", "values"),
    [("What is the page size for Stripe?", {"100"}), ("What was the page size for Stripe in March?", {"50", "100"})],
)
def test_who_asks_for_a_value_gets_the_one_that_holds(query, values):
    """A later call set it anew; a question about the past gets both."""
    events = [
        line
        for number, value in ((1, "50"), (2, "100"))
        for line in job(
            number,
            "What page size for Stripe is best?",
            f"> set_variable(name=stripe_page_size, value={value})",
            f"< set_variable -> size: {value}",
            f"= The page size for Stripe is {value}.",
            age_days=9 - number,
        )
    ]
    lines = " ".join(shown(packed(events, query=query), "episodes"))
    assert {value for value in ("50", "100") if f"size: {value}" in lines or f"is {value}." in lines} == values


def test_a_system_prompt_answers_no_question():
    """In work with tools it says what the agent is for."""
    prompt = "You are the agent of the warehouse Kestrel, where the goods stay."
    prompts = [event(at, prompt, session=f"s{at}", age_days=9, speaker="system") for at in range(4)]
    turns = ("We stay with the warehouse Kestrel.", "> note(text=x)", "< note -> ok", "= Noted.")
    query = "Which goods stay in the warehouse Kestrel?"
    lines = shown(packed([*prompts, *job(1, *turns, age_days=9)], query=query, strategy="breadth_first"), "episodes")
    assert any("We stay" in line for line in lines)
    assert not any("You are" in line for line in lines)


def test_where_a_value_is_stated_whole_a_shared_word_is_no_answer():
    """A session that has only one word of the question is about something else; what happened is told in full."""
    closing = job(1, "We close the clinic at noon on Wednesdays.", "> note(text=hours)", "< note -> ok", age_days=9)
    task = job(2, "They close the gate on Fridays.", "> end(task=Rex)", "< end -> ok", "= Closed.", age_days=5)
    talk = [event(100 + at, f"Day {at} was quiet.", session=f"t{at}", age_days=3, speaker="user") for at in range(9)]
    lines = shown(packed([*closing, *task, *talk], query="When do we close on Wednesdays?"), "episodes")
    assert any("at noon" in line for line in lines)
    assert not [line for line in lines if "gate" in line or "Rex" in line]


def test_a_call_that_failed_like_another_keeps_its_result():
    """The same error on two days: the second call must not seem to have worked."""
    events = [
        line
        for number, order in ((1, "B77"), (2, "C88"))
        for line in job(
            number,
            f"> refund(order={order}, amount=90)",
            "< refund failed: the amount exceeds the refundable item total",
            f"> refund(order={order}, item=true)",
            f"< refund -> order: {order}, status: refunded",
            age_days=9 - number,
        )
    ]
    talk = [event(100 + at, f"Day {at} was quiet.", session=f"t{at}", age_days=3, speaker="user") for at in range(9)]
    results = {"e011": "e010", "e013": "e012", "e021": "e020", "e023": "e022"}
    pack = packed([*events, *talk], query="Which orders had a refund in March?", results=results)
    lines = shown(pack, "episodes")
    assert sum("exceeds" in line for line in lines) == sum("amount=90" in line for line in lines) == 2
