"""Filling the budget: guarantee, shares, strategies, truncation."""

from dataclasses import replace

import pytest

from hmxgraph.protocol.packs import MAX_PACK_BYTES, SECTION_PRIORITY
from hmxgraph.recall._packing import LEAST_CUT, SHARES, Box, Packed, fill, section_budgets, truncated_to
from hmxgraph.recall.assemble import assemble
from hmxgraph.recall.candidates import Candidate, Components
from hmxgraph.recall.knowledge import priors_of
from hmxgraph.recall.pack import Costs
from hmxgraph.text.masking import linked_secrets
from tests.recall_makers import COUNT, QUERY, draft, event, known, memory, packed, ranked


def words(text):
    """Count words as tokens."""
    return len(text.split())


def filled(budget, strategy="ranked", **sections):
    """Return the packed source ids for sections given as lists of token counts."""
    candidates = [
        Candidate(name, "memory", f"{name}-{at}", tokens, 1 - at / 100, Components(0, 0, 0, 0), content="x")
        for name, costs in sections.items()
        for at, tokens in enumerate(costs)
    ]
    budgets = section_budgets(budget, [name for name in SECTION_PRIORITY if name in sections or name in SHARES])
    box = Box(budget, {**dict.fromkeys(sections, 0), **budgets}, Costs(lambda _: 0))
    fill(box, ranked(candidates), strategy)
    assert box.used == sum(each.tokens for each in box.packed.values()) <= budget
    return {each.ranked.candidate.source_id: each.tokens for each in box.packed.values()}


def test_shares_in_sixteenths():
    """Shares in sixteenths are core 2, constraints 1, procedures 4, facts 4, episodes 3, relations 2, others 0."""
    assert section_budgets(1600, SECTION_PRIORITY) == {
        "core": 200,
        "constraints": 100,
        "goals": 0,
        "procedures": 400,
        "facts": 400,
        "episodes": 300,
        "graph_relations": 200,
        "workflow": 0,
        "conflicts": 0,
        "evidence": 0,
    }


def test_what_was_cut_short_stands_by_its_length_in_the_pack():
    """Among equal scores, entries are sorted by their length after truncation (HMX-C 3.3)."""
    long, short = ranked([Candidate("facts", "memory", name, 90, 0.5, Components(0, 0, 0, 0)) for name in ("a", "b")])
    entries = [Packed(short, 30), Packed(long, 24, cut=True)]
    assert [entry.ranked.candidate.source_id for entry in sorted(entries, key=lambda entry: entry.order)] == ["a", "b"]
    entries = [Packed(short, 24, cut=True), Packed(long, 30)]
    assert [entry.ranked.candidate.source_id for entry in sorted(entries, key=lambda entry: entry.order)] == ["b", "a"]


def test_sections_without_shares_divide_all():
    """Sections without a share that are requested alone divide the budget equally."""
    assert section_budgets(100, ["goals", "evidence"]) == {"goals": 50, "evidence": 50}


def test_priors_move_shares():
    """A doubled weight takes tokens from the other sections."""
    moved = section_budgets(1600, SHARES, priors_of({"section_weights": {"episodes": 2}}))
    assert moved["episodes"] > 300 > moved["core"] + 100
    assert sum(moved.values()) <= 1600


def test_every_section_gets_an_entry_before_one_is_filled():
    """The best entry of each section is included even if facts alone would fill the budget."""
    assert set(filled(100, facts=[30] * 9, episodes=[30], evidence=[30])) == {"facts-0", "episodes-0", "evidence-0"}


def test_a_long_guarantee_is_cut():
    """An entry longer than the budget is truncated to leave room for later sections."""
    packed_tokens = filled(100, facts=[500], episodes=[30])
    assert packed_tokens["facts-0"] == 100 - LEAST_CUT
    assert packed_tokens["episodes-0"] <= 30


def test_what_is_left_over_is_redistributed():
    """A single section uses the whole budget beyond its own share."""
    assert len(filled(100, facts=[10] * 20)) == 10


def test_breadth_takes_turns():
    """breadth_first takes one entry per section in turn."""
    assert set(filled(60, "breadth_first", facts=[10] * 9, episodes=[10] * 9)) == {
        f"{name}-{at}" for name in ("facts", "episodes") for at in range(3)
    }


def test_depth_stays_where_the_best_is():
    """depth_first completes the section of the best entry after the guarantee."""
    packed_tokens = filled(60, "depth_first", facts=[10] * 9, episodes=[10] * 9)
    assert (
        sum(name.startswith("episodes") for name in packed_tokens) == 1
        or sum(name.startswith("facts") for name in packed_tokens) == 1
    )


def test_nothing_goes_into_no_budget():
    """A budget below the minimum truncated entry stays unused."""
    assert filled(3, facts=[30]) == {}


@pytest.mark.parametrize("limit", range(1, 8))
def test_a_cut_fits_and_says_so(limit):
    """A truncated text ends with the mark and respects any limit that fits the mark."""
    text = truncated_to("one two three four five six", limit, words)
    assert text.endswith(" [truncated]")
    assert words(text) <= limit


def test_what_dates_cost_is_not_taken_from_rules_and_facts():
    """If dates cost more than estimated, events are removed until the text fits the budget."""
    events = [
        event(2 * session + turn, f"vault of staging {session} {turn}", session=f"s{session:02}", age_days=age)
        for session in range(40)
        for turn, age in enumerate((900 - session, 500 - session))
    ]
    rule, fact = memory(1, "Always staging first", kind="policy"), memory(2, "The vault is in staging", confidence=0.5)
    for budget in range(300, 700, 20):
        pack = packed(events, known(memories=[rule, fact]), query="staging vault", budget=budget)
        assert {"constraints", "facts"} <= {entry.section for entry in pack.entries}
        assert [each.artifact_id for each in pack.decision_constraints] == ["m001"]
        assert COUNT(pack.text) <= budget


def test_a_text_that_stands_already_is_a_repeat_however_full_the_pack_is():
    """A pack that contains everything is not marked as truncated."""
    events = [event(number, "deploy the staging environment today", session=f"s{number}") for number in range(30)]
    for budget in (24, 30, 400):
        pack = packed(events, budget=budget, sections=["episodes"])
        assert (len(pack.entries), pack.token_budget.truncated) == (1, False)
        assert {drop.drop_reason for drop in pack.dropped_entries} == {"duplicate"}


def test_huge_priors_are_not_echoed():
    """Priors too large for the pack are left out of it but still guide it, and the entries stay (HMX-C 12)."""
    priors = {"preferred_sections": ["facts"], "note": "x" * 400_000}
    pack = packed([event(1, QUERY)], strategy="fingerprint_guided", priors=priors)
    assert len(pack.entries) == 1
    assert len(pack.to_json()) < MAX_PACK_BYTES
    assert packed([event(1, QUERY)], strategy="fingerprint_guided", priors={"a": 1}).fingerprint_priors == {"a": 1}


def test_a_question_about_the_past_gets_recurrences():
    """The same text on other days is included again; on the same day, or for a work request, only once."""
    days = (0.0, 0.001, 1.0, 2.0, 3.0, 4.0)
    events = [
        event(number, "A migraine again this morning", session=f"s{number}", age_days=age)
        for number, age in enumerate(days)
    ]

    def dates(question, budget=600):
        pack = packed(events, query=question, budget=budget)
        return len({about["timestamp"][:10] for about in pack.metadata["entries"]}), len(pack.entries)

    assert dates("When did I have a migraine?") == (5, 5)
    assert dates("Treat the migraine") == (1, 1)
    assert dates("When did I have a migraine?", budget=30) == (2, 2)


def test_the_same_result_on_another_day_is_no_recurrence():
    """A record that was looked up again says nothing new."""
    plan = "get_plan -> Basic Plan, 5 GB, 40 USD"
    events = [event(n, plan, session=f"s{n}", age_days=n, kind="tool_result") for n in range(5)]
    events += [event(n, f"The lamp of room {n} is on", session=f"t{n}", age_days=n) for n in range(10, 30)]
    pack = packed(events, query="What does the Basic Plan cost?", budget=600)
    assert [entry.content for entry in pack.entries] == [f"[tool] {plan}"]


def test_repeats_that_do_not_answer_are_packed_once():
    """Only events that match the question count as recurrences; small talk does not."""
    events = [event(0, "A migraine again this morning")]
    events += [
        event(number, "Milk and bread for the list", session=f"s{number}", age_days=number, salience=1.0)
        for number in range(1, 9)
    ]
    pack = packed(events, query="When did I have a migraine?", budget=600, sections=["episodes"])
    assert sorted(entry.content for entry in pack.entries) == [
        "A migraine again this morning",
        "Milk and bread for the list",
    ]


def test_a_cut_event_shows_what_is_asked_for():
    """A truncated event keeps the passage that matches the question, wherever it is."""
    log = "pytest\n" + "\n".join(f"case {number} passed" for number in range(60)) + "\nError: unknown ledger account\n"
    pack = packed([event(1, log, kind="tool_result")], query="Which ledger account was unknown?", budget=90)
    (entry,) = pack.entries
    assert entry.content.startswith("[tool] pytest")
    assert "unknown ledger account" in entry.content
    assert entry.content.endswith("[truncated]")
    assert pack.token_budget.used <= 90


@pytest.mark.parametrize("repeats", [1, 300])
def test_secrets_in_short_and_long_texts_are_masked(repeats):
    """Only short texts are cached masked; the mark of a secret depends on the secret and on the key."""
    secret = "x9Qv-73kf-hunter2-zz81-tt46"
    text = f"Deploy staging with password={secret} {'and then wait ' * repeats}"

    def shown(key):
        return assemble(replace(draft([event(1, text)], budget=4096), mask_key=key)).text

    for key in ("k", "other"):
        assert f"password={linked_secrets(f'password={secret}', key).partition('=')[2]} and" in shown(key)
    assert secret in shown("")
