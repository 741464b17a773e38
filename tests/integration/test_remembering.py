"""Options of ``remember`` besides the text: successor, scope, user, pin, aliases, expiry; and many memories at once."""

import pytest

from hmxgraph.errors import AlreadySuperseded, InvalidRequest, NotFound, SupersessionCycle


def shown(pack):
    """The contents of a pack's entries."""
    return [entry.content for entry in pack.entries]


def statements(graph, call):
    """The names of the statements that *call* sent."""
    sent = []
    stop = graph.trace(lambda line: sent.append(line.split()[0]))
    call()
    stop()
    return sent


def test_what_replaces_is_exact(graph):
    """Only the named memory is superseded, and its text is not packed in any form."""
    old = graph.remember("The team lints with TSLint")
    other = graph.remember("The team lints commit messages")
    new = graph.remember("The team lints with Biome", supersedes=old.memory_id)
    views = [graph.memory.get(memory.memory_id) for memory in (old, other, new)]
    assert [view.hidden_reason for view in views] == ["superseded", None, None]
    assert views[0].superseded_by == new.memory_id
    content = shown(graph.pack("What does the team lint with?"))
    assert "The team lints with Biome" in content
    assert not any("TSLint" in text for text in content)


def test_a_named_successor_leaves_other_answers_alone(graph):
    """A named predecessor is superseded instead of the memory the text would otherwise replace."""
    manager = graph.remember("The release manager is Carla")
    plan = graph.remember("Somebody from operations manages releases")
    graph.remember("The release manager is Dan", supersedes=plan.memory_id)
    assert graph.memory.get(manager.memory_id).hidden_reason is None
    assert graph.memory.get(plan.memory_id).hidden_reason == "superseded"


@pytest.mark.parametrize(
    ("text", "error"),
    [("The team lints with ESLint", AlreadySuperseded), ("The team lints with TSLint", SupersessionCycle)],
)
def test_a_wrong_successor_is_refused(graph, text, error):
    """An invalid ``supersedes`` raises an error, and nothing is stored."""
    old = graph.remember("The team lints with TSLint")
    if error is AlreadySuperseded:
        graph.remember("The team lints with Biome", supersedes=old.memory_id)
    before = graph.memories()
    with pytest.raises(error):
        graph.remember(text, supersedes=old.memory_id)
    assert graph.memories() == before


def test_an_unknown_memory_is_not_superseded(graph):
    """An unknown id in ``supersedes`` raises an error that names it."""
    with pytest.raises(NotFound, match="no-such-id"):
        graph.remember("The team lints with Biome", supersedes="no-such-id")
    assert graph.memories() == ((), None)


def test_a_scope_keeps_memories_apart(graph):
    """The same words in two scopes are two memories; a scoped pack holds its scope's and unscoped memories."""
    graph.remember("Redis is the cache of the backend", scope="code")
    graph.remember("Redis is a pianist in Lisbon", scope=["novel", "characters"])
    graph.remember("Redis is spelled with a capital letter")
    assert set(shown(graph.pack("Who or what is Redis?", scope="code"))) == {
        "Redis is the cache of the backend",
        "Redis is spelled with a capital letter",
    }
    assert "Redis is a pianist in Lisbon" in shown(graph.pack("Who is Redis?", scope=["characters"]))
    assert len(shown(graph.pack("Who or what is Redis?"))) == 3
    again = graph.remember("Redis is the cache of the backend", scope="novel")
    assert (again.observation_count, again.scope) == (1, ("novel",))


def test_the_same_question_in_another_scope_has_another_answer(graph):
    """An answer supersedes only the earlier one in its own scope."""
    for scope, name in (("alpha", "Carla"), ("beta", "Dan"), ("alpha", "Eve")):
        graph.remember(f"The release manager is {name}", scope=scope)
    held, _ = graph.memories(status="promoted")
    assert sorted(memory.text[-4:].strip() for memory in held) == ["Dan", "Eve"]


def test_a_pinned_memory_is_in_every_pack(graph):
    """A pinned memory is in every pack until it is remembered without the pin."""
    graph.remember("The data layer is MongoDB, settled", pinned=True)
    graph.remember("The office has a green sofa")
    assert shown(graph.pack("How should I structure my repository?")) == ["The data layer is MongoDB, settled"]
    assert not graph.remember("The data layer is MongoDB, settled").pinned
    assert shown(graph.pack("How should I structure my repository?")) == []


def test_an_alias_leads_to_the_memory(graph):
    """A memory is found by an alias that its text does not contain."""
    made = graph.remember("Services run on EKS with Helm charts", aliases=["k8s", "kube"])
    graph.remember("Lunch is at noon")
    assert made.aliases == ("k8s", "kube")
    assert shown(graph.pack("k8s?")) == ["Services run on EKS with Helm charts"]


def test_what_expires_is_over(graph):
    """An expired memory is no longer packed or found, except as of an earlier time."""
    made = graph.remember(
        "The freeze covers all deployments", at="2026-03-01T00:00:00Z", expires="2026-03-08T00:00:00Z"
    )
    asked = "Which deployments does the freeze cover?"
    assert made.expires == "2026-03-08T00:00:00.000Z"
    assert shown(graph.pack(asked)) == [made.text]
    graph.remember("Lunch is at noon", at="2026-03-09T00:00:00Z")
    assert shown(graph.pack(asked)) == []
    assert shown(graph.pack(asked, as_of="2026-03-07T00:00:00Z")) == [made.text]
    assert graph.memory.get(made.memory_id).hidden_reason == "expired"


def test_many_at_once(graph):
    """``remember_all`` stores all memories in order in one transaction, or none."""
    made = graph.remember_all(
        ["Lunch is at noon", {"text": "Prefers short answers", "kind": "preference", "scope": "chat"}], scope="office"
    )
    assert [(memory.kind, memory.scope) for memory in made] == [("fact", ("office",)), ("preference", ("chat",))]
    before = graph.memories()
    with pytest.raises(NotFound):
        graph.remember_all(["Tea is at four", {"text": "Lunch is at one", "supersedes": "no-such-id"}])
    assert graph.memories() == before


def test_remembering_takes_few_statements(graph):
    """Remembering takes at most eight statements, whatever the options and however many memories."""
    old = graph.remember("The team lints with TSLint")
    sent = statements(graph, lambda: graph.remember("The team lints with Biome", supersedes=old.memory_id, pinned=True))
    assert len(sent) <= 8
    assert len(statements(graph, lambda: graph.remember_all([f"Rule {number} stands" for number in range(20)]))) <= 8


@pytest.mark.parametrize(
    "options", [{"scopes": "x"}, {"scope": [""]}, {"aliases": "kube"}, {"expires": "soon"}, {"scope": 7}]
)
def test_unknown_or_empty_options_are_refused(graph, options):
    """The error names the wrong option or its value."""
    with pytest.raises((InvalidRequest, ValueError), match=next(iter(options)) if "expires" not in options else "soon"):
        graph.remember("Lunch is at noon", **options)


def test_a_withdrawn_rule_is_marked_where_it_was_given(graph):
    """Until others say the same, a rule of one user is also a proposal for all; that does not keep it in force."""
    for session_id, text in (("s1", "Never deploy to the staging cluster on a Friday."), ("s2", "That is clear")):
        graph.append("message", {"role": "user", "text": text}, session_id=session_id, user_id="ana")
    withdrawn = {"role": "user", "text": "You may deploy to the staging cluster on a Friday again."}
    graph.append("message", withdrawn, session_id="s3", user_id="ana")
    graph.compile()
    pack = graph.pack("Please deploy to the staging cluster on Friday", user_id="ana")
    assert "[superseded] user: Never deploy to the staging cluster on a Friday." in pack.text


def test_a_deleted_memory_is_not_retold(graph):
    """The message behind a deleted memory is not packed; one behind a superseded memory is marked."""
    said = [("s1", "Remember: the staging cluster has three nodes"), ("s2", "My favorite color is blue")]
    for session_id, text in said:
        graph.append("message", {"role": "user", "text": text}, session_id=session_id, user_id="ana")
    graph.append("message", {"role": "user", "text": "My favorite color is green"}, session_id="s3", user_id="ana")
    asked = "What is my favorite color, blue or green?"
    pack = graph.pack(asked, user_id="ana")
    assert "[superseded] user: My favorite color is blue" in pack.text
    assert "[superseded] user: My favorite color is green" not in pack.text
    (kept, *_), _ = graph.memories(status="promoted")
    graph.memory.delete(kept.memory_id, reason="it was a joke")
    assert kept.text.split()[-1].strip(".") not in graph.pack(f"{kept.text}?", user_id="ana").text


@pytest.mark.parametrize(
    ("first", "second", "opens"),
    [
        ("The staging cluster has three nodes", "The staging cluster has five nodes", True),
        ("Staging runs 3 replicas", "Staging runs three replicas", False),
        ("The cache is enabled", "The cache is not enabled", True),
        ("The cache is enabled", "The cache is disabled", True),
        ("Ticket 17 is closed", "Ticket 18 is closed", False),
        ("We use Redis", "We no longer use Redis", False),
        ("Ann manages Bob", "Bob manages Ann", False),
    ],
)
def test_plain_contradictions_open_a_conflict(graph, first, second, opens):
    """A different amount or a denial in the same words opens a conflict, and packs mark both sides as disputed."""
    sides = [graph.remember(text).memory_id for text in (first, second)]
    conflicts = graph.conflicts()
    assert [sorted(side.side_id for side in conflict.sides) for conflict in conflicts] == (
        [sorted(sides)] if opens else []
    )
    assert (graph.pack(first).text.count("[disputed]") == 2) is opens


def test_a_change_is_no_contradiction(graph):
    """A text that states a change, or names what it replaces, supersedes instead of opening a conflict."""
    old = graph.remember("We use Redis")
    graph.remember("We no longer use Redis")
    assert graph.memory.get(old.memory_id).hidden_reason == "superseded"
    three = graph.remember("The staging cluster has three nodes")
    graph.remember("The staging cluster has five nodes", supersedes=three.memory_id)
    assert graph.conflicts() == ()
    assert "three nodes" not in graph.pack("How many nodes has the staging cluster?").text
