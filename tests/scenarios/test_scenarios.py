"""Small logs with known truth: what is compiled from them, and what is suggested, is what a person would say.

Each file holds scenarios. A session is written line by line:

    user: TEXT, agent: TEXT          a message
    $ LINE                           a shell command that succeeds; "?? OUTPUT" is what it printed
    $ LINE !! OUTPUT                 a shell command that fails with this output
    > TOOL {ARGUMENTS} !! MESSAGE    a tool call that fails; without "!!" it succeeds; "?? VALUE" is its result
    @ VERB SELECTOR !! MESSAGE       a browser action
    % METHOD URL !! STATUS MESSAGE   a web request
    = PATH                           a file edit
    ! QUESTION => CHOICE             a decision
    + or -                           positive or negative feedback; "+ TEXT" says what worked

``times`` repeats a session, ``vary`` repeats it with each value in place of <<name>>.
"""

import json
import tomllib
from pathlib import Path

import pytest

from hmxgraph.compiler._verbs import instruction, line_is_target
from hmxgraph.compiler.compilation import Model, compile_summaries
from hmxgraph.compiler.failures import failure_key
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.reconcile import BuildContext, reconcile
from hmxgraph.compiler.sessions import SessionReader, summarise
from hmxgraph.compiler.suggest import Guide, suggest
from hmxgraph.text.artifacts import render_artifact
from tests.session_makers import START, Script

FILES = sorted(Path(__file__).parent.glob("*.toml"))
SCENARIOS = [scenario for file in FILES for scenario in tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["name"] for scenario in SCENARIOS])
def test_scenario(scenario):
    """What is expected of the scenario holds."""
    world = World(scenario["sessions"])
    for expectation in scenario["expect"]:
        kind = next(name for name in CHECKS if name in expectation)
        CHECKS[kind](world, expectation)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["name"] for scenario in SCENARIOS])
def test_suggestions_and_playbooks_agree(scenario):
    """After a failure the steps are the playbook's, and what it warns of comes after what it recommends."""
    world = World(scenario["sessions"])
    guides = world.guides()
    playbooks = [guide for guide in guides if guide.artifact_type == "failure_playbook"]
    for running in failing(scenario["sessions"]):
        key = failure_key(running.ahead.failure)
        answering = [guide for guide in playbooks if key in guide.metadata["failure_keys"]]
        suggestion = suggest(running, world.model, guides)
        steps = [step for guide in answering for step in guide.content["recovery_steps"]]
        assert list(suggestion.recovery) == steps
        worked = {
            recovery["tool"]: recovery["helped"] for guide in answering for recovery in guide.metadata["recoveries"]
        }
        vain = {tool for tool, helped in worked.items() if not helped}
        if any(worked.values()):
            assert suggestion.tools[0].tool not in vain, (suggestion.tools[0], steps)
        first = next((tool.tool for tool in suggestion.tools if worked.get(tool.tool)), None)
        if first is not None and not steps[0].startswith("Stop"):
            named = (first, instruction(first).split()[0] if line_is_target(first) else first)
            assert any(name in step for step in steps for name in named), (first, steps)


def failing(sessions):
    """The sessions as far as each of their failures."""
    for events in written(sessions):
        reader = SessionReader()
        for event in events:
            reader.add(event)
            if (running := reader.summary()).ahead.failure:
                yield running


def test_names_are_unique_and_enough():
    """There are at least 40 scenarios, each under a name of its own."""
    assert len({scenario["name"] for scenario in SCENARIOS}) == len(SCENARIOS) >= 40


class World:
    """The sessions of a scenario and what they compile to."""

    def __init__(self, sessions):
        self.summaries = [summarise(events) for events in written(sessions)]
        compiled = compile_summaries(self.summaries)
        self.drafts = compiled.drafts
        self.model = Model.of(compiled)

    def of_type(self, artifact_type, *, active=True):
        """The drafts of a type; only those that are validated, unless asked otherwise."""
        drafts = [draft for draft in self.drafts if draft.artifact_type == artifact_type]
        return [draft for draft in drafts if draft.validated(DEFAULT_PROFILE)] if active else drafts

    def guides(self):
        """The active artifacts, as suggestions get them."""
        changes = reconcile([], self.drafts, BuildContext("acme", DEFAULT_PROFILE, START))
        return [
            Guide(
                change.artifact.artifact_id,
                change.artifact_type,
                change.title,
                change.artifact.content,
                change.artifact.metadata,
                change.artifact.confidence,
                change.artifact.observed_count or 0,
            )
            for change in changes
            if change.artifact is not None and change.artifact.status == "active"
        ]


def written(sessions):
    """The events of all sessions."""
    for place, session in enumerate(sessions):
        vary = session.get("vary", {})
        rounds = max((len(values) for values in vary.values()), default=session.get("times", 1))
        for turn in range(rounds):
            lines = list(session["do"])
            for name, values in vary.items():
                lines = [line.replace(f"<<{name}>>", values[turn]) for line in lines]
            yield script(f"session-{place}-{turn:02}", lines, session.get("agent", "agent-1"))


def script(name, lines, agent="agent-1"):
    """The events of one session."""
    writer = Script(name, agent=agent)
    for line in lines:
        write(writer, line)
    return writer.events


def write(writer, line):
    """Write the events of one line of a scenario."""
    work, _, error = line[2:].partition(" !! ")
    match line.split(" ", 1)[0]:
        case "+" | "-":
            writer.feedback("negative" if line == "-" else "positive")
            writer.events[-1].content.update({"what_worked": [work]} if work else {})
        case "!":
            question, _, choice = work.partition(" => ")
            writer.add("decision", {"question": question, "chosen_option": choice, "reasoning": ""})
        case "user:":
            writer.user(line.removeprefix("user: "))
        case "agent:":
            writer.agent(line.removeprefix("agent: "))
        case "$":
            shell(writer, work, error)
        case ">":
            tool, _, arguments = work.partition(" ")
            arguments, _, value = arguments.partition(" ?? ")
            writer.call(tool, {"value": value} if value else None, error=error or None, **json.loads(arguments or "{}"))
        case "@":
            verb, _, selector = work.partition(" ")
            content = {"action": verb, "selector": selector, "success": not error, "error": error or None}
            writer.add("browser_action", content)
        case "%":
            method, _, url = work.partition(" ")
            status, _, message = error.partition(" ")
            content = {"method": method, "url": url, "status_code": int(status or 200), "error": message or None}
            writer.add("api_result", content)
        case "=":
            writer.add("file_edit", {"path": work, "operation": "edit", "success": True})
        case _:
            raise ValueError(line)


def shell(writer, work, error):
    """A command line through a shell tool, with its output."""
    line, _, output = work.partition(" ?? ")
    call_id = f"{writer.session}-{len(writer.events)}"
    writer.add("tool_call", {"tool_name": "Bash", "arguments": {"command": line}, "call_id": call_id})
    result = {"value": error or output or "ok"}
    writer.add("tool_result", {"tool_name": "Bash", "call_id": call_id, "result": result, "success": not error})


def playbooks(world, expectation):
    """The playbooks of an action, or those whose title has a text, that say what is asked."""
    action = expectation.get("playbook") or expectation.get("no_playbook")
    drafts = world.of_type("failure_playbook", active=expectation.get("active", True))
    chosen = [
        draft
        for draft in drafts
        if (action in draft.metadata["actions"] if action else expectation["title"] in draft.title.lower())
    ]
    return [draft for draft in chosen if expectation.get("says", "").lower() in draft.title.lower()]


def check_playbook(world, expectation):
    """A playbook with this fix, from this number of sessions."""
    chosen = playbooks(world, expectation)
    titles = [draft.title for draft in world.drafts]
    assert chosen, f"no such playbook among {titles}"
    assert len(chosen) == expectation.get("count", len(chosen)), titles
    if not {"fix", "fix_not", "sessions", "no_fix", "steps", "prevents"} & expectation.keys():
        return
    (draft,) = chosen
    steps = draft.content["recovery_steps"]
    assert steps == expectation.get("steps", steps)
    assert steps[0].startswith("Stop") == expectation.get("no_fix", False), steps
    for text in expectation.get("fix", ()):
        assert text in steps[0], steps
    for text in expectation.get("fix_not", ()):
        assert not any(text in step for step in steps), steps
    assert draft.seen.sessions == expectation.get("sessions", draft.seen.sessions)
    prevention = draft.content["prevention_strategies"]
    assert prevention == expectation.get("prevents", prevention)


def check_no_playbook(world, expectation):
    """No playbook blames this action."""
    assert not playbooks(world, expectation), [draft.title for draft in world.drafts]


def check_procedure(world, expectation):
    """The procedure of this title has these steps."""
    schemas = world.of_type("task_schema")
    chosen = [draft for draft in schemas if draft.title.startswith(expectation["procedure"])]
    assert chosen, [draft.title for draft in schemas]
    assert len(chosen) == expectation.get("count", len(chosen)), [draft.title for draft in chosen]
    tools = [tool for step in chosen[0].content["steps"] for tool in step["tools_used"]]
    assert set(expectation.get("has", ())) <= set(tools), tools
    assert not set(expectation.get("lacks", ())) & set(tools), tools
    assert tools[-1] == expectation.get("last", tools[-1]), tools
    described = [step["description"] for step in chosen[0].content["steps"]]
    assert set(expectation.get("says", ())) <= set(described), described
    optional = [step["tools_used"][0] for step in chosen[0].content["steps"] if step["optional"]]
    assert optional == expectation.get("optional", optional), optional
    well = [chosen[0].seen.successes, chosen[0].seen.count]
    assert well == expectation.get("went_well", well), well
    told = render_artifact("task_schema", chosen[0].title, chosen[0].summary, chosen[0].content)
    assert not [text for text in expectation.get("lacks_text", ()) if text in told], told
    assert all(text in told for text in expectation.get("has_text", ())), told


def check_suggest(world, expectation):
    """After these lines this tool comes first, and the playbook agrees."""
    running = summarise(script("running", expectation["suggest"]))
    suggestion = suggest(running, world.model, world.guides())
    names = [tool.tool for tool in suggestion.tools]
    assert names[0] == expectation["first"], names
    assert names[0] != expectation.get("not_first"), names
    assert expectation["first"] in " ".join(suggestion.recovery), suggestion.recovery


def check_actions(world, expectation):
    """The first session takes these actions."""
    assert list(world.summaries[0].actions) == expectation["actions"]


def check_no_title(world, expectation):
    """No active procedure or strategy has such a title."""
    for draft in (*world.of_type("task_schema"), *world.of_type("strategy_template")):
        assert not [text for text in expectation["no_title"] if text in draft.title], draft.title


def check_no_active(world, expectation):
    """Nothing of this type is active, or nothing with these words in its title."""
    words = expectation.get("has", "")
    assert not [draft.title for draft in world.of_type(expectation["no_active"]) if words in draft.title]


def check_active_title(world, expectation):
    """An active artifact of this type has these words in its title."""
    titles = [draft.title for draft in world.of_type(expectation["active_title"])]
    assert any(all(text in title for text in expectation["has"]) for title in titles), titles


def check_branches(world, expectation):
    """A policy says each branch in a sentence of its own."""
    policies = [
        render_artifact(draft.artifact_type, draft.title, draft.summary, draft.content)
        for draft in world.of_type("decision_policy")
    ]
    for sentence in expectation["branches"]:
        assert any(sentence in text for text in policies), policies


def check_none(world, _):
    """Nothing is compiled."""
    assert not world.drafts


def check_unique_titles(world, _):
    """Every title is used once."""
    titles = [draft.title for draft in world.drafts]
    assert len(set(titles)) == len(titles)


CHECKS = {
    "no_playbook": check_no_playbook,
    "playbook": check_playbook,
    "procedure": check_procedure,
    "suggest": check_suggest,
    "actions": check_actions,
    "no_title": check_no_title,
    "no_active": check_no_active,
    "active_title": check_active_title,
    "branches": check_branches,
    "none": check_none,
    "unique_titles": check_unique_titles,
    "title": check_playbook,
}
