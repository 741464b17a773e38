"""The walk through relations: their order, which are left out, and how they read."""

from dataclasses import replace

import pytest

from hmxgraph.protocol.timestamps import DAY_US
from hmxgraph.recall.question import understood
from hmxgraph.recall.relations import Vicinity, sentences, without_unconfirmed
from tests.recall_makers import NOW, conflict, draft, entity, event, known, packed, related, relation

TYPES = {
    "ann_7": "user",
    "bob_8": "user",
    "#W1": "order",
    "#W2": "order",
    "#W3": "order",
    "item_5": "item",
    "item_6": "item",
    "visa_1": "payment_method",
    "visa_2": "payment_method",
    "ann@x.org": "email",
    "Ann Lee": "person",
}
SHOP = [
    relation(1, "#W1", "ann_7", kind="user"),
    relation(2, "#W1", "item_5", kind="item"),
    relation(3, "#W1", "visa_1", kind="payment_method"),
    relation(4, "#W2", "ann_7", kind="user"),
    relation(5, "#W2", "item_6", kind="item"),
    relation(6, "#W2", "visa_2", kind="payment_method"),
    relation(7, "#W3", "bob_8", kind="user"),
    relation(8, "#W3", "visa_1", kind="payment_method"),
]


def said(query, relations, *, named=(), vicinity=Vicinity(), labels=None):  # noqa: B008 - a frozen value
    """Return the sentences about *query*."""
    what = related(*relations, named=named, types=TYPES, labels=labels)
    return [sentence.text for sentence in sentences(understood(query, NOW), what, vicinity)]


def test_the_path_between_two_named_things_comes_first():
    """The order that contains both the user and the item of the question comes first."""
    first, *following = said("How did ann_7 pay for item_5?", SHOP, named=["ann_7", "item_5"])
    assert first == "order #W1 has item item_5, user ann_7, payment method visa_1"
    assert following[0].startswith("order #W2")


def test_what_is_asked_for_comes_first_in_a_sentence():
    """Relations of the type that the question asks for come before others of the same thing."""
    [sentence, *_] = said("Which payment method does order #W1 have?", SHOP, named=["#W1"])
    assert sentence.startswith("order #W1 has payment method visa_1")


def test_what_a_call_only_asked_for_is_not_recorded():
    """A card that a call tried is left out if a result names another; without any, it is all that is known."""
    tried = replace(relation(9, "#W1", "visa_2", kind="payment_method"), confidence=0.6)
    [sentence, *_] = said("Which payment method does order #W1 have?", [*SHOP, tried], named=["#W1"])
    assert "visa_1" in sentence
    assert "visa_2" not in sentence
    unknown = [each for each in SHOP if each.target != "visa_1"]
    [sentence, *_] = said("Which payment method does order #W1 have?", [*unknown, tried], named=["#W1"])
    assert "visa_2" in sentence


def test_what_only_calls_asked_for_holds_if_one_worked():
    """A relation from the arguments of calls holds only if a call in the pool with both of its ends worked.

    What a record states, and what things are mentioned with, holds whatever calls say.
    """
    tried = [replace(relation(n, "#W1", f"visa_{n}", kind="payment_method"), confidence=0.6) for n in (1, 2, 4)]
    recorded = relation(3, "#W1", "visa_3", kind="payment_method")
    together = replace(relation(5, "#W1", "Berlin", kind="mentions_with"), confidence=0.6)
    events = [
        event(2 * n + at, text, kind=kind)
        for n, outcome in ((1, " failed: no such card"), (2, " -> paid"), (3, " failed: no such card"))
        for at, (kind, text) in enumerate(
            [("tool_call", f"pay(order=#W1, with=visa_{n})"), ("tool_result", f"pay{outcome}")]
        )
    ]
    pool = draft(events, query="How was #W1 paid?").events.pool
    kept = without_unconfirmed(related(*tried, recorded, together, types=TYPES), pool).relations
    assert [each.target for each in kept] == ["visa_2", "visa_3", "Berlin"]


def test_without_results_a_call_is_enough():
    """In a log that has no results, what calls asked for is all that is known."""
    tried = [replace(relation(n, "#W1", f"visa_{n}", kind="payment_method"), confidence=0.6) for n in (1, 2)]
    pool = draft([event(1, "pay(order=#W1, with=visa_1)", kind="tool_call")], query="How was #W1 paid?").events.pool
    assert [each.target for each in without_unconfirmed(related(*tried), pool).relations] == ["visa_1"]


def test_what_merely_shares_a_property_is_far():
    """Another order paid with the same card hardly counts, unless the question asks for others."""
    what = related(*SHOP, named=["#W1"], types=TYPES)

    def relevance(query):
        said_sentences = sentences(understood(query, NOW), what, Vicinity())
        return {sentence.text.split(" has")[0]: sentence.relevance for sentence in said_sentences}

    plain = relevance("Which orders have the payment method of #W1?")["order #W3"]
    asked_for_others = relevance("Which other orders have the payment method of #W1?")["order #W3"]
    assert plain < 0.25 < 2 * plain < asked_for_others


def test_a_thing_is_shown_with_the_name_that_a_record_gave_it():
    """The label follows in parentheses, and its relation is not repeated."""
    name = relation(9, "item_5", "Lamp", kind="name")
    product = relation(10, "item_5", "prod_1", kind="product")
    texts = said("What is in #W1?", [*SHOP, name, product], named=["#W1"], labels={"item_5": "Lamp", "prod_1": "Lamp"})
    assert "item item_5 (Lamp)" in texts[0]
    assert "item item_5 (Lamp) has product prod_1" in texts


def test_what_is_said_twice_is_said_once():
    """Two relations in opposite directions between two things make one sentence."""
    back = relation(9, "ann_7", "#W1", kind="order")
    texts = said("What did ann_7 order?", [SHOP[0], back], named=["ann_7"])
    assert texts == ["user ann_7 has order #W1"]


def test_longer_names_of_the_same_relation_are_left_out():
    """A payment method that is also the refund payment method is named once, unless the refund is asked about."""
    refund = relation(9, "#W1", "visa_1", kind="refund_payment_method")
    assert "refund" not in said("Which payment method did #W1 have?", [SHOP[2], refund], named=["#W1"])[0]
    assert "refund" in said("Which refund payment method has #W1?", [SHOP[2], refund], named=["#W1"])[0]


def test_who_uses_a_tool_is_said_only_if_asked():
    """That an agent uses a tool is shown only for questions about agents and tools."""
    uses = [relation(1, "agent-1", "kubectl", kind="uses"), relation(2, "kubectl", "a.yaml", kind="touches")]
    assert said("Deploy with kubectl", uses, named=["kubectl"]) == ["kubectl touches a.yaml"]
    assert "agent-1 uses kubectl" in said("Which agent uses kubectl?", uses, named=["kubectl"])
    assert "agent-1 uses kubectl" in said("Who used kubectl last week?", uses, named=["kubectl"])
    failed = "kubectl: the certificate cannot be used here. What now?"
    assert "agent-1 uses kubectl" not in said(failed, uses, named=["kubectl"])


def test_the_best_events_lead_where_nothing_is_named():
    """The walk then starts at entities of the best events, weighted by their match."""
    vicinity = Vicinity({"e1": 1.0}, [("e1", "#W1")], assurance=1.0)
    assert said("How was it paid?", SHOP, vicinity=vicinity)[0].startswith("order #W1")
    assert said("How was it paid?", SHOP) == []


def test_a_side_of_a_conflict_is_a_sentence_of_its_own():
    """Relations that contradict each other are not merged into a sentence, so that one can be dropped."""
    what = known(related=related(*SHOP[:3], named=["#W1"], types=TYPES), conflicts=[conflict(1, "r002", "r003")])
    entries = packed((), what, query="What about #W1 with item_5 and visa_1?", sections=["graph_relations"]).entries
    assert {"r002", "r003"} <= {entry.source_id for entry in entries}


def test_counts_are_said_only_if_asked():
    """How often something is mentioned is shown only if the question asks for it."""
    what = known(entities=[replace(entity(1, "staging"), type="host")])
    for query in ("What is staging?", "What did I mention about staging?", "How often may I call staging?"):
        assert not list(draft((), what, query=query).ranking)
    [(_, candidate)] = draft((), what, query="How often was staging mentioned?").ranking
    assert candidate.content == "staging (host), mentioned 3 times"


def test_what_tools_touch_is_said_only_if_asked():
    """A request that contains a tool's name does not ask for a list of its files; a host is part of its address."""
    shown = [relation(1, "Write", "a.py", kind="touches"), relation(2, "http://db:1/x", "db", kind="hosted_on")]
    what = related(*shown, named=["Write"], types={"Write": "tool", "a.py": "file"})

    def texts(query):
        return [sentence.text for sentence in sentences(understood(query, NOW), what, Vicinity())]

    assert texts("Please Write a migration") == []
    assert texts("Which files does the tool Write touch?") == ["Write touches a.py"]


def test_work_needs_no_account_of_what_others_own():
    """A lamp of the asker is not the lamp in other people's orders; a number names one thing."""
    lamps = [relation(n, f"item_{n}", "Lamp", kind="name") for n in (5, 6)]
    assert said("Please cancel the Lamp that I ordered", [*SHOP, *lamps], named=["Lamp"]) == []
    assert said("Please cancel order #W1", [*SHOP, *lamps], named=["#W1"])
    assert said("Which orders have a Lamp?", [*SHOP, *lamps], named=["Lamp"])


def test_a_question_about_my_lamp_is_not_about_the_lamps_of_others():
    """A thing that several users have is shared; a card that paid several orders of one user is not."""
    lamps = [relation(n, f"item_{n}", "Lamp", kind="name") for n in (5, 6)]
    owned = [*SHOP[:7], relation(9, "ann_7", "visa_1", kind="payment_method")]
    assert said("Which order holds my Lamp?", [*SHOP, *lamps], named=["Lamp"]) == []
    assert said("Which order holds the Lamp?", [*SHOP, *lamps], named=["Lamp"])
    assert said("Why was my visa_1 charged?", SHOP, named=["visa_1"]) == []
    assert said("Which orders did my visa_1 pay?", [*owned, SHOP[7]], named=["visa_1"])
    assert said("Which orders did visa_1 pay?", SHOP, named=["visa_1"])


def test_a_user_and_their_address_are_one_person():
    """A name of a user and of the email address of this user is not the name of several."""
    own = [
        relation(9, "ann_7", "Ann Lee", kind="name"),
        relation(10, "ann@x.org", "Ann Lee", kind="name"),
        relation(11, "ann_7", "ann@x.org", kind="email"),
        relation(12, "ann_7", "visa_1", kind="payment_method"),
    ]
    asked = "Please refund Ann Lee, how is it paid?"
    texts = said(asked, own, named=["Ann Lee"])
    assert [text.split(" has")[0] for text in texts] == ["user ann_7"]
    namesake = relation(13, "bob_8", "Ann Lee", kind="name")
    assert said(asked, [*own, namesake], named=["Ann Lee"]) == []


def test_what_others_did_with_a_named_thing_does_not_concern_a_named_person():
    """Of the orders with the item, only that of the person is a subject of the request."""
    both = [
        relation(9, "ann_7", "Ann Lee", kind="name"),
        relation(10, "ann_7", "visa_2", kind="payment_method"),
        relation(11, "#W3", "item_6", kind="item"),
    ]
    shop = [each for each in SHOP if each.source != "#W2"]
    texts = said("Please send Ann Lee the item_6", [*shop, *both], named=["Ann Lee", "item_6"])
    assert [text.split(" has")[0] for text in texts] == ["user ann_7"]
    gift = relation(12, "#W4", "Ann Lee", kind="recipient")
    texts = said("Please refund Ann Lee", [*shop, *both, gift], named=["Ann Lee"])
    assert [text.split(" has")[0] for text in texts] == ["user ann_7"]
    texts = said("Please send the item_6", [*shop, *both], named=["item_6"])
    assert [text.split(" has")[0] for text in texts] == ["order #W3"]


def test_a_name_that_nothing_is_known_of_is_no_subject():
    """A request for work that names only a city gets no relations from the best events."""
    vicinity = Vicinity({"e1": 1.0}, [("e1", "#w1")], 1.0)
    assert said("Please send it to Berlin", SHOP, named=["Berlin"], vicinity=vicinity) == []


def test_what_a_thing_has_is_said_once():
    """Orders of a user found by email are listed once, under the user, who also has the email."""
    pairs = [("ann_7", "ann@x.org"), ("ann_7", "#W1"), ("ann_7", "#W2"), ("ann@x.org", "#W1"), ("ann@x.org", "#W2")]
    shown = [relation(n, *pair, kind="email" if "@" in pair[1] else "order") for n, pair in enumerate(pairs)]
    assert said("Please cancel order #W1", shown, named=["#W1"]) == [
        "user ann_7 has orders #W1 and #W2, email ann@x.org"
    ]
    assert said("Which orders has ann@x.org?", shown, named=["ann@x.org"])[0].startswith("user ann_7 has")


def test_thinking_is_no_question_about_a_tool():
    """A request with "I think we use ..." does not ask who uses a tool named think."""
    uses = [relation(1, "agent-1", "think", kind="uses")]
    assert said("I think I would like to use a gift card, please swap the shirt", uses, named=["think"]) == []
    assert said("Which agents use think?", uses, named=["think"]) == ["agent-1 uses think"]


def test_an_error_message_does_not_ask_who_uses_a_tool():
    """The words of the message may name both an agent and its tool."""
    uses = [relation(1, "tree", "Bash", kind="uses")]
    assert said("Bash failed: unable to resolve dependency tree", uses, named=["Bash", "tree"]) == []
    assert said("Does tree use Bash?", uses, named=["Bash", "tree"]) == ["tree uses Bash"]


def test_what_was_seen_before_and_not_lately_is_told_as_earlier():
    """An exchanged item is shown as an earlier one of the order."""
    gone, come = (
        replace(relation(20 + n, "#W1", f"item_{n}", kind="item"), last_us=NOW - age)
        for n, age in ((8, DAY_US), (9, 0))
    )
    here = replace(SHOP[1], last_us=NOW - 60_000_000)
    (sentence,) = said("What is in #W1?", [here, come, gone], named=["#W1"])
    assert sentence in {
        "order #W1 has items item_5 and item_9, earlier item_8",
        "order #W1 has items item_9 and item_5, earlier item_8",
    }


def test_a_request_for_work_gets_what_it_is_about_and_no_more():
    """It gets the order to cancel, or the order with the item to return, but not the customer's other orders."""
    texts = said("Please cancel #W1", SHOP, named=["#W1"])
    assert [text.split(" has")[0] for text in texts] == ["order #W1"]
    texts = said("Please return item_6", SHOP, named=["item_6"])
    assert [text.split(" has")[0] for text in texts] == ["order #W2"]
    assert len(said("What about #W1?", SHOP, named=["#W1"])) > 1


def test_what_a_tool_raises_is_said_if_asked_for():
    """Whoever quotes an error knows it; "raises" answers a question about errors, or about a named one."""
    raises = [relation(1, "ship", "ShipError", kind="raises")]
    assert said("ship fails with ShipError, what now?", raises, named=["ship"]) == []
    assert said('ship says "ShipError: the carrier is on strike". What now?', raises, named=["ship", "ShipError"]) == []
    assert said("Which errors does ship have?", raises, named=["ship"]) == ["ship raises ShipError"]
    assert said("Where does ShipError come from?", raises, named=["ShipError"]) == ["ship raises ShipError"]


@pytest.mark.parametrize(
    ("question", "named", "answered"),
    [
        ("Where does ann_7 live?", ["ann_7"], False),
        ("Why was order #W1 refused?", ["#W1"], False),
        ("How was #W1 paid?", ["#W1"], True),
        ("Who placed #W1?", ["#W1"], True),
        ("What do you know about ann_7?", ["ann_7"], True),
        ("What about ann_7 and #W1?", ["ann_7", "#W1"], True),
    ],
)
def test_only_relations_that_are_asked_for_answer_a_question(question, named, answered):
    """What is related to somebody does not say where they live; a type, people or two names ask for relations."""
    assert bool(said(question, SHOP, named=named)) is answered


def test_where_nothing_is_named_only_what_is_asked_for_is_said():
    """Who asks about an insurance is not told what an order beside the best event contains."""
    vicinity = Vicinity({"e1": 1.0}, [("e1", "#W1")], assurance=1.0)
    assert said("Who is our contact at the insurance?", SHOP, vicinity=vicinity) == []
