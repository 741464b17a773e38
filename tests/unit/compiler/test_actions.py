"""Names of actions, and the instructions derived from them."""

import pytest

from hmxgraph.compiler._shell import command_name, commands
from hmxgraph.compiler._verbs import instruction, kind_of, read_action
from hmxgraph.compiler.actions import actions_of
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script, event


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("kubectl apply -f staging.yaml", "kubectl apply"),
        ("kubectl --context prod -n web rollout undo deploy/web", "kubectl rollout undo"),
        ("cd /srv/app && git commit -m 'fix; again'", "git commit"),
        ("sudo -E docker compose up -d", "docker compose up"),
        ("docker compose -f web.yaml up -d web", "docker compose up"),
        ("docker build -t web .", "docker build"),
        ("docker start web", "docker start"),
        ("docker container rm web", "docker container rm"),
        ("DEBUG=1 npm run build 2>&1 | tee log", "npm run build"),
        ("bash -lc 'terraform plan -out=x'", "terraform plan"),
        ("python3 -m pytest -q", "pytest"),
        ("timeout 30 uv run pytest", "pytest"),
        ("./deploy.sh --env prod", "deploy.sh"),
        ("ssh -i key -p 22 web-1 sudo journalctl --vacuum-size=1G", "journalctl"),
        ("ssh web-1 'cd /srv && systemctl restart web'", "systemctl restart"),
        ("sudo -u postgres psql -c 'select 1'", "psql"),
        ("timeout -s KILL 30 git push", "git push"),
        ("env -u DEBUG npm test", "npm test"),
        ("VERSION=$(git describe --tags)", "git describe"),
        ("timeout 1.5 pytest -q", "pytest"),
        ("timeout 1d pytest -q", "pytest"),
        ("powershell -ExecutionPolicy Bypass -File build.ps1", "powershell"),
        ("pwsh -Command 'git push'", "git push"),
        ("bash --norc -c 'git push'", "git push"),
        ("kubectl exec web -- sh -c 'npm ci && npm test'", "npm ci"),
        ("command -v git", "command"),
        ("ssh web-1", "ssh"),
        ("kubectl exec -n web web-1 -- df -h /data", "df"),
        ("grep -rn main src", "grep"),
        ("it's an open quote", "it"),
        ("   ", ""),
    ],
)
def test_command_line_is_named_by_program_and_subcommand(line, name):
    """A command line is named by its program, without wrappers and redirections."""
    assert command_name(line) == name


@pytest.mark.parametrize(
    ("line", "filtered"),
    [
        ("make test | tail -3", ["make test"]),
        ("bash -c 'make test' | tail -3", ["make test"]),
        ("ssh web-1 make test | tail -3", ["make test"]),
        ("bash -c 'npm ci && npm test' 2>&1 | tail -3", ["npm test"]),
        ("bash -c 'npm test | tail -3; make'", ["npm test"]),
        ("bash -c 'make test'", []),
        ("make all; bash -c 'make test'; ls | wc", ["ls"]),
    ],
)
def test_the_outcome_of_a_piped_command_is_not_its_exit_status(line, filtered):
    """The last command before a pipe is filtered, inside a shell and on another host, too."""
    assert [command.name for command in commands(line) if command.filtered] == filtered


@pytest.mark.parametrize(
    ("event_type", "content", "name", "ok"),
    [
        ("tool_call", {"tool_name": "get_order", "arguments": {"id": 1}}, "get_order", None),
        ("tool_call", {"tool_name": "exec", "arguments": {"command": "kubectl get pods"}}, "kubectl get", None),
        ("tool_call", {"tool_name": "editor", "arguments": {"command": "view"}}, "editor", None),
        ("command_exec", {"command": ["git", "push"], "exit_code": 1}, "git push", False),
        ("command_exec", {"command": "make test", "exit_code": 0}, "make test", True),
        ("test_run", {"passed": 3, "failed": 0}, "test_run", True),
        ("test_run", {"passed": 3, "failed": 1}, "test_run", False),
        ("file_edit", {"path": "a.py"}, "file_edit", None),
        ("api_result", {"status_code": 503}, "api_result", False),
        ("browser_action", {"action": "click", "success": True}, "browser click", True),
        ("browser_action", {"action_type": "input_text"}, "browser input_text", None),
        ("browser_action", {"type": "browser_click"}, "browser click", None),
        ("browser_action", {"action": "//div"}, "browser_action", None),
        (
            "api_result",
            {"request": {"method": "GET", "url": "/orders/7"}, "response": {"status": 404}},
            "GET /orders/<id>",
            False,
        ),
        ("api_result", {"service": "weather", "status": "ok"}, "weather", True),
    ],
)
def test_event_is_an_action(event_type, content, name, ok):
    """Each kind of work is an action, with its result if the event states it."""
    (action,) = actions_of(event("s", 0, event_type, content))
    assert (action.name, action.ok) == (name, ok)


def test_inputs_of_actions_with_an_outcome_are_compared_and_masked():
    """Inputs of a browser action are corrected and masked like those of a tool call."""
    script = Script("s").add("browser_action", {"action": "extract", "selector": "#date", "text": "2026-05-01"})
    script.add("browser_action", {"type": "fill", "selector": "#when", "value": "2026-05-01", "success": False})
    script.add("browser_action", {"action": "click", "selector": "#ok", "error": "no element #ok in the page"})
    script.add("browser_action", {"action": "click", "selector": "#yes", "success": True})
    summary = summarise(script.events)
    assert [step.inputs for step in summary.steps] == [
        (("selector", ""),),
        (("selector", ""), ("value", "browser extract")),
        (("selector", ""),),
        (("selector", ""),),
    ]
    assert [step.changed for step in summary.steps] == [(), (), (), ("selector",)]
    assert [failure.signature for failure in summary.failures] == ["error", "no element <selector> in the page"]


def test_a_request_body_is_compared_field_by_field():
    """The body of a request is parsed: its fields are the inputs."""
    script = Script("s").user("Two rolls of gauze")
    sent = {"method": "POST", "url": "/orders", "request_body": {"item": "gauze", "count": 2}, "status_code": 201}
    (step,) = summarise(script.add("api_result", sent).events).steps
    assert step.inputs == (("count", ""), ("item", "user"))


def test_an_edit_is_named_by_its_file():
    """A step names the file that all sessions edited, with a placeholder where file names differ."""
    edits = [
        Script(str(number)).user("Add a page").add("file_edit", {"path": f"src/{name}.py", "success": True})
        for number, name in enumerate(("orders", "users", "teams"))
    ]
    (schema,) = [
        draft
        for draft in compile_summaries(summarise(edit.run("make").events) for edit in edits).drafts
        if draft.artifact_type == "task_schema"
    ]
    assert [step["description"] for step in schema.content["steps"]] == ["Edit `src/<name>`", "Run `make`"]


def test_names_stay_on_one_line():
    """Line breaks and invisible characters become one blank in a name, and its result is still found."""
    script = Script("s").add("tool_call", {"tool_name": "restart\n\x07server", "arguments": {}})
    script.add("tool_result", {"tool_name": "restart\n\x07server", "result": {}, "success": True})
    (step,) = summarise(script.events).steps
    assert (step.action, step.ok) == ("restart server", True)


def test_telling_events_are_no_actions():
    """Messages, results, errors, decisions and feedback are not actions."""
    for event_type in ("message", "tool_result", "error", "decision", "feedback", "observation", "x-acme-note"):
        assert actions_of(event("s", 0, event_type, {})) == ()


@pytest.mark.parametrize(
    ("action", "sentence", "kind"),
    [
        ("get_order_details", "Look up the order details with get_order_details", "lookup"),
        ("findUserByEmail", "Find the user by email with findUserByEmail", "lookup"),
        ("modify_pending_order", "Modify the pending order with modify_pending_order", "action"),
        ("can_send_mms", "Check whether it can send mms with can_send_mms", "lookup"),
        ("run_speed_test", "Run the speed test with run_speed_test", "lookup"),
        ("think", "Think through the next step", "scratch"),
        ("transfer_to_human_agents", "Hand over to human agents with transfer_to_human_agents", "handover"),
        ("kubectl apply", "Run kubectl apply", "action"),
        ("kubectl get", "Run kubectl get", "lookup"),
        ("git status", "Run git status", "lookup"),
        ("file_edit", "Edit the file", "action"),
        ("browser click", "Click in the browser", "action"),
        ("browser go_to_url", "Go to url in the browser", "lookup"),
        ("browser extract", "Extract in the browser", "lookup"),
        ("upsert_customer", "Upsert the customer with upsert_customer", "action"),
        ("s3", "Call s3", "action"),
        ("billing_api", "Call billing_api", "action"),
        ("order_api", "Call order_api", "action"),
    ],
)
def test_action_reads_like_an_instruction(action, sentence, kind):
    """An action name becomes an instruction, and lookups are distinguished from changes."""
    assert (instruction(action), kind_of(action)) == (sentence, kind)


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("calendar.list_events", "lookup", "List the events with calendar.list_events"),
        ("contacts.search", "lookup", "Search the contacts with contacts.search"),
        ("vacuum.get_status", "lookup", "Look up the status with vacuum.get_status"),
        ("vacuum.start", "action", "Start the vacuum with vacuum.start"),
        ("light.turn_off", "action", "Turn off the light with light.turn_off"),
        ("light.dim", "action", "Call light.dim"),
        ("notify.phone", "action", "Notify the phone with notify.phone"),
        ("mcp__chat__post", "action", "Post to chat with mcp__chat__post"),
        ("airflow_get_dag_run", "lookup", "Look up the dag run with airflow_get_dag_run"),
        ("jira_create_issue", "action", "Create the issue with jira_create_issue"),
        ("order_lookup", "lookup", "Look up the order with order_lookup"),
        ("user_order_history", "action", "Call user_order_history"),
        ("get-weather", "lookup", "Look up the weather with get-weather"),
        ("apt-get install", "action", "Run apt-get install"),
        ("aws rds describe-db-instances", "lookup", "Run aws rds describe-db-instances"),
        ("aws rds modify-db-instance", "action", "Run aws rds modify-db-instance"),
    ],
)
def test_a_service_before_the_verb_hides_neither_verb_nor_kind(name, kind, sentence):
    """A tool is read by its verb, even after the name of a service or object."""
    assert (kind_of(name), instruction(name)) == (kind, sentence)


def test_an_action_of_another_script_is_read():
    """A name without Latin letters still becomes an instruction."""
    assert read_action("browser \u70b9\u51fb").kind == "action"


def test_a_line_nested_too_deep_is_read_by_its_words():
    """A generated line must not end a compilation."""
    assert command_name(" && ".join(["git add ."] * 1_500)) == "git add"
    assert command_name("(" * 3_000 + "ls" + ")" * 3_000)
