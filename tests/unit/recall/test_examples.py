"""Past sessions as examples: which are chosen, and what of them is shown."""

from hmxgraph.recall._examples import decisive_weights
from tests.recall_makers import draft, event, known, packed
from tests.unit.recall.test_precision import shown

FILLER = "The desk is quiet today and nobody is in a hurry. " * 9


def case(number, wish, *, age_days, refused="it was booked long ago"):
    """A session in which somebody wishes something: the record is looked up, and the wish refused for a reason."""
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
    """What was asked today in other words helps less than the same request of last year."""
    events = [*case(1, "please cancel my seat reservation in the night train", age_days=300)]
    events += [line for n in range(2, 5) for line in case(n, "please cancel my reservation in the train", age_days=0)]
    pack = packed(events, query="Please cancel my seat reservation in the night train", budget=700)
    assert "Hello, please cancel my seat reservation in the night train" in shown(pack)


def test_an_example_shows_what_decided_it():
    """Of a long answer the reason stays: what the lookup returned, and the agent named."""
    events = [line for n in (1, 2) for line in case(n, "please cancel my seat reservation", age_days=n)]
    lines = shown(packed(events, query="Please cancel my seat reservation", budget=500))
    answers = [line for line in lines if "quiet" in line or "locked, because" in line]
    assert answers
    assert all("The status is locked, because it was booked long ago." in line for line in answers)


def test_words_of_results_that_were_spoken_of_weigh():
    """More the rarer they are in the session; what is in most of its events decides nothing."""
    ranking = draft(case(1, "please cancel B7", age_days=1), query="Please cancel B7").events
    weights = decisive_weights(ranking.pool, ranking.pool.sessions == 0, {"cancel": 2.0})
    assert weights["cancel"] == 2.0
    assert 0.0 < weights["lock"] < 2.0
    assert {"vegan", "gate", "quiet"}.isdisjoint(weights)


def test_a_long_request_is_not_new_for_its_length():
    """No message shares a third of a story, but one of its kind was told before; another kind of work is new."""
    story = (
        "Please cancel my reservation: my uncle from Lisbon fell ill, the dog needs walking, the garden needs water,"
        " and neither my sister nor the neighbours with the red car can look after the old house by the river,"
        " while hail and muddy roads keep buses, trams and ferries from reaching our village"
    )
    past = "please cancel my reservation, my uncle fell ill, the dog needs walking, and the garden has to be watered"
    events = case(1, past, age_days=3)
    assert not draft(events, known(), query=story).events.is_new(None)
    assert draft(events, known(), query="Please bake bread with rye flour and seeds for Saturday").events.is_new(None)


def test_what_carries_a_name_of_the_request_is_known():
    """An order that past work was about is no new kind of work, whatever is asked about it."""
    events = case(1, "please cancel order W2378156", age_days=3)
    query = "Could somebody gift wrap W2378156 with a ribbon and a handwritten card for grandmother?"
    assert not draft(events, known(), query=query).events.is_new(None)
