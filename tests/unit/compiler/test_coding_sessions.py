"""Knowledge from coding sessions, with no customer data: a person could act on it."""

import re

import pytest

from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.sessions import summarise
from hmxgraph.text.artifacts import render_artifact
from tests.coding_sessions import coding_world


@pytest.fixture(scope="module")
def compiled():
    """All drafts."""
    return compile_summaries(summarise(events) for events in coding_world()).drafts


@pytest.fixture(scope="module")
def known(compiled):
    """The validated drafts by type, best supported first."""
    valid = [draft for draft in compiled if draft.validated(DEFAULT_PROFILE)]
    return {
        kind: [draft for draft in valid if draft.artifact_type == kind] for kind in {d.artifact_type for d in valid}
    }


def test_each_kind_of_request_has_its_procedure(known):
    """Fixes, features, upgrades and questions are distinguished, with names that state the request."""
    assert {draft.title for draft in known["task_schema"]} == {
        "Fix the failing unit test",
        "Add something to the page",
        "Upgrade the dependency",
        "Search the code and read the file",
    }


def test_steps_say_what_to_do_with_what(known):
    """A step is an instruction with its inputs and their origins."""
    fix = next(draft for draft in known["task_schema"] if draft.title.startswith("Fix"))
    assert [step["description"] for step in fix.content["steps"]] == [
        "Search the code with search_code, using pattern",
        "Read the file with read_file, using path (from search_code)",
        (
            "Apply the patch with apply_patch, using path (from search_code) and patch; "
            "it has failed with “hunk <n> of <path> does not apply”, in about 50 % of more than 10 sessions"
        ),
        "Run `pytest -q tests/<name>`",
        'Run `git commit -am "Fix"`',
    ]


def test_playbooks_say_what_to_do_first(compiled):
    """The repair comes first; lookups that preceded successful calls are prevention."""
    playbooks = [draft for draft in compiled if draft.artifact_type == "failure_playbook"]
    book = next(draft for draft in playbooks if "apply_patch" in draft.title)
    assert book.content["recovery_steps"][0].startswith("Read the file with read_file, then try apply_patch again")
    assert book.content["prevention_strategies"][0] == "Before apply_patch, read the file with read_file"


def test_names_in_a_failure_are_masked_where_they_differ(compiled):
    """Failures that differ only in the missing module are one failure."""
    assert "pytest fails: “no module named '<name>'”" in [draft.title for draft in compiled]


def test_a_failure_that_nothing_is_known_to_repair_is_no_playbook(known):
    """A playbook needs a way that worked, or one that several sessions tried without success."""
    assert not [draft for draft in known["failure_playbook"] if "no module named" in draft.title]


def test_policies_follow_the_request(known):
    """The policy after a lookup depends on the request."""
    policy = next(draft for draft in known["decision_policy"] if "read_file is done" in draft.title)
    assert "If it mentions dependency or upgrade: uv add." in policy.summary


def test_undecided_questions_make_no_policy(known):
    """If both options went equally well, there is nothing to recommend."""
    assert not [draft for draft in known["decision_policy"] if "test first" in draft.title]


def test_what_ends_the_work_is_no_cause(compiled):
    """A commit follows success, and a failure that ends the session is its outcome; neither is a cause."""
    causes = {draft.content["cause"] for draft in compiled if draft.artifact_type == "causal_pattern"}
    assert "read_file is called" in causes
    assert not [cause for cause in causes if "git commit" in cause or "pytest fails" in cause]


def test_what_careful_sessions_do_is_no_advice(known):
    """A lookup that helps only one agent with one kind of request shows careful sessions, not a cause."""
    assert "causal_pattern" not in known


def test_no_text_is_cut_dumped_or_ungrammatical(known):
    """No text ends in dots, shows JSON, names a single tool in the plural, or repeats a word."""
    for draft in (draft for drafts in known.values() for draft in drafts):
        text = render_artifact(draft.artifact_type, draft.title, draft.summary, draft.content)
        assert not re.search(r"\.\.\.|[{}]|and more|\b(\w+) \1\b|tools? \w+ are available", text), text
