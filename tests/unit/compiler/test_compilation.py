"""The five artifact types compiled from small worlds: actionable, supported, distinct and free of secrets."""

import random
import re

import pytest

from hmxgraph.compiler._strategies import strategy_templates
from hmxgraph.compiler.compilation import compile_summaries
from hmxgraph.compiler.goal_classes import GoalClass
from hmxgraph.compiler.profile import DEFAULT_PROFILE, CompilerProfile, adaptations_after, compiler_state
from hmxgraph.compiler.sessions import summarise
from hmxgraph.protocol.document import content_faults
from hmxgraph.text.artifacts import render_artifact
from hmxgraph.text.comparison import trigram_jaccard
from tests.session_makers import DEPLOY, Script, deployment, order_session, repaired_deployment

SECRETS = {
    "key": "sk-abcdefghijklmnopqrstuvwx",
    "token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "card": "4111 1111 1111 1111",
    "mail": "ann.lee@example.com",
    "phone": "+1 415 555 0132",
    "password": "password=hunter2secret",
}


def drafts(sessions, artifact_type=None):
    """The drafts compiled from these sessions."""
    compiled = compile_summaries(summarise(events) for events in sessions).drafts
    return [draft for draft in compiled if artifact_type in {None, draft.artifact_type}]


def world():
    """Deployments, some repaired, and orders changed in two ways; one of each goes wrong."""
    return [
        *(deployment(f"d{number}") for number in range(4)),
        *(repaired_deployment(f"r{number}") for number in range(3)),
        deployment("x1", lines=DEPLOY[1:2], signal="negative"),
        *(order_session(f"c{number}", "cancel") for number in range(4)),
        *(order_session(f"e{number}", "return", lookup="find_user_by_name") for number in range(4)),
        *(order_session(f"f{number}", "cancel", lookup="find_user_by_name", signal="negative") for number in range(4)),
    ]


def test_browser_recoveries_are_keyed_by_their_target():
    """A click on another element is not a retry, and the element clicked last is not blamed."""
    buy = {"action": "click", "selector": "#buy", "url": "https://shop.example"}
    sessions = [
        Script(f"s{number}")
        .user(f"Buy {product}")
        .add("browser_action", {"action": "navigate", "url": f"https://shop.example/{product}"})
        .add("browser_action", buy | {"success": False, "error": "element #buy is covered by .cookies"})
        .add("browser_action", buy | {"selector": ".cookies .accept", "success": True})
        .add("browser_action", buy | {"success": True})
        .add("browser_action", {"action": "fill", "selector": "#count", "value": number, "success": True})
        .feedback("positive")
        .events
        for number, product in enumerate(("paper", "ink", "tape"))
    ]
    (playbook,) = drafts(sessions, "failure_playbook")
    assert playbook.content["recovery_steps"] == [
        "Click `.cookies .accept` in the browser, then try browser click again (worked 3 of 3 times)"
    ]
    assert playbook.content["prevention_strategies"] == []
    (schema,) = drafts(sessions, "task_schema")
    assert [step["description"] for step in schema.content["steps"]] == [
        "Open `https://shop.example/<name>` in the browser",
        (
            "Click in the browser, using selector and url; once for each selector; "
            "it has failed with “element <selector> is covered by .cookies”, in 3 of 3 sessions"
        ),
        "Fill `#count` in the browser, using value",
    ]


def test_an_error_before_any_work_is_answered_by_the_work():
    """The work after an error at the start of a session counts as a reaction to it."""
    sessions = [
        Script(f"s{number}")
        .user("Bring the queue back")
        .add("error", {"error_type": "QueueDown", "message": "the broker does not answer"})
        .run("systemctl restart rabbitmq")
        .run("rabbitmqctl status")
        .feedback("positive")
        .events
        for number in range(3)
    ]
    (playbook,) = drafts(sessions, "failure_playbook")
    assert playbook.content["recovery_steps"] == [
        "Run `systemctl restart rabbitmq`, then go on with rabbitmqctl status (worked 3 of 3 times)"
    ]
    assert "s0/2" in playbook.source_events


def test_all_five_types_come_out():
    """Every type of HMX-A is compiled, with valid content."""
    script = [
        Script(f"q{number}")
        .add("decision", {"question": "Which strategy?", "chosen_option": "online", "alternatives": ["offline"]})
        .feedback("positive")
        .events
        for number in range(2)
    ]
    compiled = drafts([*world(), *script])
    assert {draft.artifact_type for draft in compiled} == {
        "task_schema",
        "failure_playbook",
        "decision_policy",
        "causal_pattern",
        "strategy_template",
    }
    assert [
        fault for draft in compiled for fault in content_faults("artifact", draft.artifact_type, draft.content)
    ] == []


def test_deployments_give_their_procedure():
    """Steps are in order, with the shared command line; repairs of failures are not steps."""
    schema = drafts([*(deployment(f"d{n}") for n in range(3)), repaired_deployment("r1")], "task_schema")[0]
    assert schema.title == "Deploy the staging environment"
    assert [step["description"] for step in schema.content["steps"]] == [
        f"Run `{DEPLOY[0]}`; in 3 of 4 sessions",
        *(f"Run `{line}`" for line in DEPLOY[1:]),
    ]
    assert [step["optional"] for step in schema.content["steps"]] == [True, False, False]


def test_goals_differ_by_the_requested_change():
    """Cancelling and returning are two procedures, each with its own change."""
    sessions = [order_session(f"{change}{n}", change) for change in ("cancel", "return") for n in range(3)]
    tools = [schema.content["tools_used"] for schema in drafts(sessions, "task_schema")]
    assert sorted(tool for used in tools for tool in used if "details" not in tool and "find" not in tool) == [
        "cancel_order",
        "return_order",
    ]


def test_playbook_recommends_what_helped():
    """The recovery that worked comes first, as an instruction."""
    playbook = drafts([repaired_deployment(f"r{number}") for number in range(3)], "failure_playbook")[0]
    assert playbook.content["failure_pattern"] == "namespace staging not found"
    (step,) = playbook.content["recovery_steps"]
    assert step == "Run `kubectl create namespace staging`, then try kubectl apply again (worked 3 of 3 times)"
    assert playbook.content["severity"] == "low"


def recovery_steps(sessions):
    """The recovery steps of the only playbook of these sessions."""
    (playbook,) = drafts(sessions, "failure_playbook")
    return playbook.content["recovery_steps"]


def two_commands(first, error, second):
    """Three sessions in which one command fails, and another goes well after it."""
    return [Script(f"m{n}").user("Do it").run(first, error=error).run(second).events for n in range(3)]


def test_another_command_of_the_same_program_is_no_retry():
    """The success of another command of the same program says nothing about the one that failed."""
    sessions = two_commands(
        'mysql -e "ALTER TABLE carts"', "lock wait timeout exceeded", 'mysql -e "DROP DATABASE shop"'
    )
    assert recovery_steps(sessions) == ["Stop and tell the user what failed"]


def test_a_corrected_command_is_a_retry():
    """The same command line with a corrected spelling is a retry."""
    sessions = two_commands("kubectl apply -f stagin.yaml", "no such file", "kubectl apply -f staging.yaml")
    assert recovery_steps(sessions) == [
        "Run kubectl apply again as `kubectl apply -f staging.yaml` (worked 3 of 3 times)"
    ]


def test_a_trial_run_is_not_what_helped():
    """A call without the option that changes something shows a plan; the next one, with all options, is the retry."""
    sessions = [
        Script(f"d{n}")
        .user("Synchronise the zone")
        .run("octodns-sync --doit", error="too many updates")
        .run("octodns-sync")
        .run("octodns-sync --doit --force")
        .events
        for n in range(3)
    ]
    assert recovery_steps(sessions) == ["Run octodns-sync again as `octodns-sync --doit --force` (worked 3 of 3 times)"]


def test_an_unchanged_retry_is_reported_as_such():
    """No change is advised if the same command line worked the second time."""
    sessions = two_commands("make push", "registry busy", "make push")
    assert recovery_steps(sessions) == ["Run make push again (worked 3 of 3 times)"]


def test_one_procedure_for_things_of_any_name():
    """A step quotes the common form of its command lines, and the check of the result follows the change."""
    sessions = [
        Script(f"n{n}")
        .user("Roll the deployment back")
        .run(f"kubectl get pods -n {space} -l app={app}")
        .run(f"kubectl rollout undo deployment/{app} -n {space}")
        .run(f"kubectl rollout status deployment/{app} -n {space} --timeout=60s")
        .events
        for n, (app, space) in enumerate((("web", "shop"), ("mail", "core"), ("search", "core"), ("pay", "bank")))
    ]
    [schema] = drafts(sessions, "task_schema")
    assert [step["description"] for step in schema.content["steps"]] == [
        "Run `kubectl get pods -n <name> -l app=<name>`",
        "Run `kubectl rollout undo deployment/<name> -n <name>`",
        "Run `kubectl rollout status deployment/<name> -n <name> --timeout=60s`",
    ]
    assert schema.summary.endswith(
        ": consult kubectl get, then carry out kubectl rollout undo, then check with kubectl rollout status."
    )


def test_a_lookup_after_the_repair_prevents_nothing():
    """A lookup after the repair does not count as prevention of the failure."""
    sessions = []
    for n in range(10):
        script = Script(f"p{n}").user("Mend the crashing pod")
        if n % 2:
            script.run("kubectl get pods", error="you must be logged in").run("aws sso login")
        script.run("kubectl get pods").run("kubectl logs web").run("kubectl get pods")
        sessions.append(script.events)
    [playbook] = drafts(sessions, "failure_playbook")
    assert playbook.content["prevention_strategies"] == []


def test_a_recovery_is_judged_by_the_next_attempt():
    """A retry that failed did not help, whatever else made a later one succeed."""
    line, error = "kubectl apply -f staging.yaml", "image not found"
    sessions = [
        Script(f"k{n}")
        .user("Deploy")
        .run(line, error=error)
        .run(line, error=error)
        .run("docker push web")
        .run(line)
        .feedback("positive")
        .events
        for n in range(6)
    ]
    assert recovery_steps(sessions) == ["Run `docker push web`, then try kubectl apply again (worked 6 of 6 times)"]


def titles(sessions):
    """The titles of the procedures."""
    return [draft.title for draft in drafts(sessions, "task_schema")]


def served(name, request, *tools, signal="positive", agent="agent-1"):
    """A session that calls these tools in order, with positive feedback by default."""
    script = Script(name, agent=agent).user(request)
    for tool in tools:
        script.call(tool, {"done": 1}, reference=name)
    return script.feedback(signal).events


def test_a_complaint_names_its_procedure():
    """A procedure is named after the complaint, whichever of several repairs its sessions needed."""
    words = ["I am having trouble sending MMS messages, please help", "There is trouble sending MMS messages again"]
    fixes = ["toggle_roaming", "reset_apn", "grant_permission", "reboot_device"]
    sessions = [served(f"s{n}", words[n % 2], "check_status", fixes[n % 4]) for n in range(8)]
    assert {title.partition(" (")[0] for title in titles(sessions)} == {"Resolve the trouble sending MMS messages"}


def test_what_was_refused_is_no_question():
    """Requests for a change that end with a handover are not called questions; questions are."""
    words = ["Please cancel booking one", "My booking is wrong", "The booking needs care", "About my booking"]
    mixed = [served(f"s{n}", words[n], "get_booking", "transfer_to_human") for n in range(4)]
    assert titles(mixed) == ["Decline or hand over requests about the booking"]
    questions = [served(f"q{n}", "When does my train leave?", "get_booking") for n in range(4)]
    assert titles(questions) == ["Answer a question about the booking"]


def test_changes_are_joined_by_and_only_where_most_sessions_made_them_all():
    """A procedure that makes one of two changes says "or"."""
    both = [served(f"s{n}", f"Task {n}", "get_order", "cancel_order", "refund_card") for n in range(4)]
    assert titles(both) == ["Cancel the order and refund the card"]
    either = [
        served(f"s{n}", "Sort out what I bought", "get_order", ("cancel_order", "refund_card")[n % 2]) for n in range(4)
    ]
    assert titles(either) == ["Cancel the order or refund the card"]


def refused(name, *errors, signal="positive"):
    """A session that retries a booking until it works, with one error after another."""
    script = Script(name).user("Book the flight")
    for number, error in enumerate(errors):
        script.call("book_flight", error=error, payment_id=f"card_{number}")
    return script.feedback(signal).events


def test_an_attempt_that_led_to_another_error_did_not_work():
    """A retry that usually met another error is not recommended, and its success rate is stated."""
    first, second = "card is expired", "not enough balance"
    sessions = [refused("a", first, None), refused("b", first, second), refused("c", first, second)]
    (playbook,) = [draft for draft in drafts(sessions, "failure_playbook") if first in draft.title]
    (step,) = playbook.content["recovery_steps"]
    assert step.startswith("Stop and tell the user what failed; no change of the inputs is known to help")
    assert step.endswith("(worked 1 of 3 times; twice another error followed)")


def test_a_fix_in_sessions_that_failed_nevertheless_says_so():
    """The playbook says so if feedback rejects every session in which the call succeeded."""
    sessions = []
    for name in "ab":
        script = Script(name).user("Book the flight").call("book_flight", error="card is expired", payment_id="card_0")
        script.agent("Which card instead?").user("Take card_7").call("book_flight", payment_id="card_7")
        sessions.append(script.feedback("negative").events)
    (step,) = recovery_steps(sessions)
    assert step.startswith("Ask the user for another payment_id, then call book_flight again")
    assert step.endswith("(worked 2 of 2 times; the sessions failed nevertheless)")


@pytest.mark.parametrize(
    ("refused_body", "accepted_body", "error", "ending"),
    [
        (
            {"country": "Germany"},
            {"country": "DE"},
            "country must be a code such as DE",
            "with country as the error names it",
        ),
        (
            {"limit": 500},
            {"limit": 100},
            "limit must be at most 100",
            "with limit equal to the limit that the error names",
        ),
        ({"sku": "A", "foo": 1}, {"sku": "A"}, "unknown field foo", "without foo"),
        ({"count": "2"}, {"count": 2}, "count is not of type integer", "with count as a number"),
    ],
)
def test_a_corrected_request_says_what_the_interface_accepted(refused_body, accepted_body, error, ending):
    """Bodies of web requests are compared like arguments of tools."""
    sessions = []
    for name in "abc":
        script = Script(name).user("Create the order")
        for body, status in ((refused_body, 422), (accepted_body, 201)):
            request = {"method": "POST", "url": "https://shop.example/orders", "request_body": body}
            script.add("api_result", request | {"status_code": status, "error": error if status == 422 else None})
        sessions.append(script.feedback("positive").events)
    assert recovery_steps(sessions) == [f"Call POST shop.example/orders again {ending} (worked 3 of 3 times)"]


def test_calls_before_the_result_is_known_are_no_reaction():
    """A call made at the same time as the failed one is not a reaction to it."""
    sessions = []
    for session in "st":
        script = Script(session).user("Read the reports")
        for number in range(2):
            given = {"tool_name": "read_file", "arguments": {"path": f"{number}"}, "call_id": f"c{number}"}
            script.add("tool_call", given)
        failed = {"tool_name": "read_file", "call_id": "c0", "result": "file does not exist", "success": False}
        script.add("tool_result", failed)
        script.add("tool_result", {"tool_name": "read_file", "call_id": "c1", "result": "text", "success": True})
        sessions.append(script.events)
    assert recovery_steps(sessions) == ["Stop and tell the user what failed"]


def test_what_was_done_instead_is_no_way_to_try_again():
    """A playbook tells to retry only if the failed action was retried."""
    sessions = [
        Script(f"s{n}")
        .user("Exchange the lamp")
        .call("exchange_items", error="order is not delivered")
        .call("modify_items", {"changed": 1})
        .feedback("positive")
        .events
        for n in range(3)
    ]
    assert recovery_steps(sessions) == ["Modify the items with modify_items instead (worked 3 of 3 times)"]


def test_a_program_is_one_recovery_whatever_its_commands():
    """Another command of the failed program that makes it work is a recovery, not a retry."""
    alter, error = 'psql -c "ALTER TABLE carts"', "no index"
    sessions = [
        Script(f"p{n}")
        .user("Add a column")
        .run(alter, error=error)
        .run(alter, error=error)
        .run('psql -c "CREATE INDEX"')
        .run(alter)
        .feedback("positive")
        .events
        for n in range(2)
    ]
    (playbook,) = drafts(sessions, "failure_playbook")
    assert playbook.content["recovery_steps"] == [
        'Run `psql -c "CREATE INDEX"`, then try psql again (worked 2 of 2 times)'
    ]
    assert playbook.metadata["recoveries"] == [{"tool": "psql", "used": 4, "helped": 2}]


def test_a_single_coincidence_is_no_recovery():
    """A single change after a failure helped only if the failed action then succeeded."""
    script = Script("s").user("Deploy").run("kubectl apply -f a.yaml", error="image not found")
    assert recovery_steps([script.run("docker push web").feedback("positive").events]) == [
        "No repair is known; most sessions went on with docker push"
    ]
    script = Script("s").user("Deploy").run("kubectl apply -f a.yaml", error="image not found").run("docker push web")
    assert recovery_steps([script.run("kubectl apply -f a.yaml").events]) == [
        "Run `docker push web`, then try kubectl apply again (tried once, and it worked)"
    ]


def test_what_happened_on_the_way_to_a_fix_is_no_recovery():
    """Among many changes, none is credited that may be there by chance; the tries count for the first one."""
    checks = ["mix credo", "mix dialyzer", "mix test", "mix docs"]
    script = Script("s").user("Commit the work").run("git commit -m a", error="the hook refuses the change")
    for _ in range(3):
        for line in ["mix format", *checks]:
            script.run(line)
        script.run("git commit -m a", error="the hook refuses the change")
    for line in ["mix compile", *checks]:
        script.run(line)
    (step,) = recovery_steps([script.run("git commit -m a").feedback("positive").events])
    assert step == "Try git commit again after several changes: no single one is known to help (worked 1 of 4 times)"


def test_what_makes_the_difference_is_a_recovery():
    """A change never tried alone is credited if the failure was gone exactly when it was made."""

    def attempt(number, fix, error=None):
        script = (
            Script(f"s{number}").user("Commit the work").run("git commit -m a", error="the hook refuses the change")
        )
        for line in ["mix compile", f"mix task{number}", *fix]:
            script.run(line)
        return script.run("git commit -m a", error=error).events

    failed = [attempt(number, [], "the hook refuses the change") for number in range(3)]
    steps = recovery_steps([*failed, *(attempt(number, ["mix format"]) for number in range(3, 6))])
    assert "Run `mix format`, then try git commit again (worked 3 of 3 times)" in steps


def test_what_was_left_as_it_was_has_not_been_overcome():
    """If the program was run for something else and the failed command was never retried, nothing helped."""
    alter, kill = 'mysql -e "ALTER TABLE carts ADD INDEX (created_at)"', 'mysql -e "KILL QUERY 31002"'
    sessions = [
        Script(f"m{n}").user("Add an index").run(alter, error="lock wait timeout exceeded").run(kill).events
        for n in range(2)
    ]
    (playbook,) = drafts(sessions, "failure_playbook")
    assert playbook.content["recovery_steps"] == ["Stop and tell the user what failed"]
    assert (playbook.seen.count, playbook.seen.successes) == (2, 0)
    assert playbook.content["severity"] == "medium"


def test_playbooks_quote_the_command_line():
    """A recovery quotes the command line that most sessions ran, unless the lines differ in a name."""
    packages = ("requests", "requests", "requests", "numpy")
    sessions = [
        Script(f"p{n}")
        .user("Test it")
        .run("pytest -q", error="no module named requests")
        .run(f"pip install {package}")
        .run("pytest -q")
        .events
        for n, package in enumerate(packages)
    ]
    again = ", then try pytest again (worked 4 of 4 times)"
    assert recovery_steps(sessions) == [f"Run `pip install requests`{again}"]
    assert recovery_steps(sessions[2:]) == [f"Run `pip install <name>`{again.replace('4 of 4', '2 of 2')}"]


def booking(session):
    """A table is booked at the second attempt, with a phone number added."""
    script = Script(session).user("Book a table at Roma")
    script.call("book_table", error="phone number is required", restaurant="Roma")
    return script.call("book_table", restaurant="Roma", phone=f"0{session}55").feedback("positive").events


def test_procedures_name_the_inputs_of_successful_calls():
    """A step names the inputs of successful calls, whatever their origin, even if failed calls lacked them."""
    (schema,) = drafts([booking(f"b{n}") for n in range(3)], "task_schema")
    (step,) = schema.content["steps"]
    assert step["description"] == (
        "Book the table with book_table, using restaurant (from the user) and phone; "
        "it has failed with “phone number is required”, in 3 of 3 sessions"
    )


def test_playbooks_name_the_missing_input():
    """An input that only the successful attempt had is reported as added, not corrected, and prevents the failure."""
    (playbook,) = drafts([booking(f"b{n}") for n in range(3)], "failure_playbook")
    assert playbook.content["recovery_steps"] == ["Call book_table again with phone given (worked 3 of 3 times)"]
    assert playbook.content["prevention_strategies"] == ["Before book_table, make sure that phone is given"]


def test_playbooks_prevent_nothing_without_evidence():
    """Without evidence for a missing input or a helpful lookup, no prevention is advised."""
    failed = [
        Script(f"e{n}")
        .user("Move the replicas")
        .call("reroute", error=message, shard=n)
        .call("restart_node", node=n)
        .events
        for n, message in enumerate(("lock timed out", "connection refused", "quota exceeded", "state is red"))
    ]
    assert [playbook.content["prevention_strategies"] for playbook in drafts(failed, "failure_playbook")] == [[]] * 4


@pytest.mark.parametrize(
    "request_words",
    [
        "The root cause was the nightly report job opening connections",
        "It moved to the 29th, because legal has to check the terms page",
        "Search is slow, shard red",
        "Release slipped by a week",
        "The price list, as of yesterday",
    ],
)
def test_a_title_has_its_verb_where_the_request_has_one(request_words):
    """Neither a noun that could be a verb nor a task of others makes a title."""
    sessions = [
        Script(f"n{n}").user(request_words).call("drain_pool", pool="a").feedback("positive").events for n in range(3)
    ]
    titles = [draft.title.lower() for kind in ("task_schema", "strategy_template") for draft in drafts(sessions, kind)]
    assert not [title for title in titles if re.search(r"^(strategy to )?(report|check|search|release|list)\b", title)]


@pytest.mark.parametrize(
    ("request_words", "expected"),
    [
        ("Hi! Could you please check the terms page?", "Check the terms page"),
        ("I have to report the broken meter", "Report the broken meter"),
        ("Search the archive for red shards, then list the red shards", "Search the archive for red shards"),
    ],
)
def test_a_title_is_what_was_asked_for(request_words, expected):
    """A verb at the start of a sentence, after a polite phrase or after "I have to" makes a title."""
    sessions = [
        Script(f"n{n}").user(request_words).call("drain_pool", pool="a").feedback("positive").events for n in range(3)
    ]
    [schema] = drafts(sessions, "task_schema")
    assert schema.title == expected


def test_a_title_has_an_object():
    """A tool whose name is only a verb does not make a title without an object."""
    sessions = [Script(f"n{n}").user("Bonjour").call("fetch", url="u").feedback("positive").events for n in range(3)]
    [schema] = drafts(sessions, "task_schema")
    assert schema.title == "Use fetch"


def test_a_procedure_has_no_step_that_only_failed():
    """If the first action always fails and another way helps, the procedure is that way."""
    sessions = [
        Script(f"r{n}")
        .user("The search is slow, a shard is red")
        .call("reroute", error="shard is locked", shard=n)
        .call("delete_pod", pod=n)
        .call("check_health", url="u")
        .feedback("positive")
        .events
        for n in range(3)
    ]
    [schema] = drafts(sessions, "task_schema")
    assert [step["tools_used"] for step in schema.content["steps"]] == [["delete_pod"], ["check_health"]]


def test_a_failure_outside_of_any_call_has_no_inputs():
    """An error before the first action compiles, and the calls after it are not blamed."""
    error = {"error_type": "ConfigError", "message": "the key of the file is invalid"}
    alone = [Script(f"e{number}").add("error", error).events for number in range(2)]
    before = [Script(f"b{number}").add("error", error).call("open_file", {"key": "k"}).events for number in range(2)]
    for sessions in (alone, before, [*alone, *before]):
        [playbook] = drafts(sessions, "failure_playbook")
        assert playbook.content["trigger_conditions"] == ["During the session, outside of any call"]
        assert playbook.content["prevention_strategies"] == []


def test_decisions_weigh_outcomes():
    """The option that went well is recommended; the other is listed with its count and rate."""
    made = [("a", "online", "positive"), ("b", "online", "positive"), ("c", "offline", "negative")]
    sessions = [
        Script(name)
        .add("decision", {"question": "Which migration?", "chosen_option": choice, "alternatives": []})
        .feedback(signal)
        .events
        for name, choice, signal in made
    ]
    policy = drafts(sessions, "decision_policy")[0]
    assert policy.content["recommendation"] == "online"
    assert policy.content["alternatives"] == [
        {"description": "offline", "outcome": "tried once, without success", "chosen_count": 1, "success_rate": 0.0}
    ]


def test_an_option_spelt_differently_was_chosen_all_the_same():
    """It is not listed a second time as never chosen."""
    made = [("blue-green", ["Recreate the pods"]), ("Blue-green.", []), ("recreate the pods", ["blue-green"])]
    scripts = [
        Script(f"s{n}")
        .user("Deploy it")
        .add("decision", {"question": "How to deploy?", "chosen_option": chosen, "alternatives": alternatives})
        .feedback("negative" if chosen.startswith("recreate") else "positive")
        for n, (chosen, alternatives) in enumerate(made * 3)
    ]
    (policy,) = drafts([script.events for script in scripts], "decision_policy")
    listed = [policy.content["recommendation"], *(each["description"] for each in policy.content["alternatives"])]
    assert sorted(name.lower().rstrip(".") for name in listed) == ["blue-green", "recreate the pods"]


def test_a_decision_without_outcome_stays_a_draft():
    """A decision whose outcome is unknown is a draft that says so."""
    decision = {"question": "Which way?", "chosen_option": "left", "alternatives": ["right"]}
    policy = drafts([Script("s").user("Go there").add("decision", decision).events], "decision_policy")[0]
    assert policy.summary == "Left: how it went is not known so far."


def identified(session, tool, given, **fixed):
    """A session that begins with one of two lookups of the customer, by the given input."""
    script = Script(session).user("Please cancel my order").agent("Who are you?").user(" ".join(given.values()))
    script.call(tool, {"user_id": "ann_lee_1234"}, **given).call("cancel_order", order_id="#W1234567")
    return script.feedback(fixed.get("signal", "positive")).events


def test_silent_choices_become_policies():
    """If sessions took two options at the same point, the clearly better one is recommended, with counts."""
    policy = drafts(by_name(), "decision_policy")[0]
    assert policy.content["condition"] == "the work begins"
    assert policy.content["recommendation"] == ("find the user by email with find_user_by_email (worked 6 of 6 times)")
    assert policy.summary.endswith("it went well in 6 of 6 sessions, against 6 of 12 with find_user_by_name.")


def test_a_policy_for_one_task_names_it():
    """A choice that holds for one kind of request says so in its title and its sentence."""
    sessions = [identified(f"m{n}", "find_by_email", {"email": f"ann{n}@example.com"}) for n in range(4)]
    sessions += [identified(f"z{n}", "find_by_name", {"name": f"Ann Lee {n}"}) for n in range(4)]
    sessions += [served(f"r{n}", f"Return the lamp {n}", "get_order", "return_lamp") for n in range(30)]
    [policy] = [draft for draft in drafts(sessions, "decision_policy") if "find_by_name" in draft.title]
    assert policy.title == "First step to cancel the order: find_by_email or find_by_name"
    assert policy.summary == (
        "First step to cancel the order: If the user has given email: find_by_email. "
        "If the user has given name: find_by_name."
    )
    assert policy.content["condition"] == "the work begins and the task is to cancel the order"


def test_a_policy_names_the_words_that_select_each_choice():
    """If the user's words determine the choice, the policy states them for each option."""
    sessions = [identified(f"m{n}", "find_by_email", {"email": f"ann{n}@example.com"}) for n in range(4)]
    sessions += [identified(f"z{n}", "find_by_name", {"name": f"Ann Lee {n}", "zip": f"1917{n}"}) for n in range(4)]
    policy = drafts(sessions, "decision_policy")[0]
    assert policy.summary == (
        "First step: If the user has given email: find_by_email. If the user has given name and zip: find_by_name."
    )


def by_name(lucky=0):
    """Cancellations with two lookups, the second of which mostly fails; returns that never fail."""
    return [
        *(order_session(f"c{number}", "cancel") for number in range(6)),
        *(order_session(f"e{number}", "return", lookup="find_user_by_name") for number in range(6)),
        *(
            order_session(
                f"f{number}",
                "cancel",
                lookup="find_user_by_name",
                signal="positive" if number < lucky else "negative",
            )
            for number in range(6)
        ),
    ]


def test_causes_are_measured_against_like_requests():
    """A cause states how often its effect occurs with and without it, among sessions with similar requests."""
    patterns = {draft.content["cause"]: draft for draft in drafts(by_name(), "causal_pattern")}
    pattern = patterns["find_user_by_email is called"]
    assert (pattern.content["effect"], pattern.content["strength"]) == ("the session succeeds", 1.0)
    assert pattern.content["conditions"] == [
        "Among sessions of the same agents with similar requests: 6 of 6 with the cause, 0 of 6 without it",
        "The task is to cancel the order",
    ]
    assert "6 of 6 sessions succeeded; without it, 0 of 6 sessions" in pattern.summary
    assert pattern.content["counterexamples"] == []


def test_causes_name_what_speaks_against_them():
    """Sessions with the cause but without its effect are listed as counterexamples."""
    sessions = [
        *(served(f"a{number}", "cancel the order", "check_stock", "cancel_order") for number in range(5)),
        *(
            served(f"b{number}", "cancel the order", "get_order", "cancel_order", signal="negative")
            for number in range(6)
        ),
        served("unlucky", "cancel the order", "check_stock", "cancel_order", signal="negative"),
    ]
    patterns = {draft.content["cause"]: draft for draft in drafts(sessions, "causal_pattern")}
    assert patterns["check_stock is called"].content["counterexamples"] == ["Session unlucky failed nevertheless"]


@pytest.mark.parametrize(("others", "useful"), [(0, True), (40, False)])
def test_of_many_lookups_one_may_seem_to_help_by_chance(others, useful):
    """A contrast that would convince alone does not if the lookup is the best of many that were compared."""
    sessions = []
    for n in range(24):
        checked, agent = n % 2 == 0, f"agent-{n % 4 // 2}"
        idle = [f"get_part_{place}" for place in range(others) if (n >> (place % 4)) % 2]
        steps = ["get_order", *(["check_stock"] if checked else ["get_user"]), *idle, "cancel_order", "add_note"]
        went_well = checked is (n < 20)
        signal = "positive" if went_well else "negative"
        sessions.append(served(f"s{n:02}", "cancel the order", *steps, signal=signal, agent=agent))
    patterns = {draft.content["cause"]: draft for draft in drafts(sessions, "causal_pattern")}
    assert patterns["check_stock is called"].useful is useful


def test_what_is_tried_last_is_no_cause():
    """A check made only in longer sessions is not compared with sessions that ended earlier."""
    short = [served(f"a{n}", "cancel the order", "get_order", "cancel_order", signal="negative") for n in range(6)]
    steps = ["get_order", "cancel_order", "get_user", "get_bill", "check_stock", "refund_card"]
    long = [served(f"b{n}", "cancel the order", *steps) for n in range(6)]
    causes = {draft.content["cause"] for draft in drafts([*short, *long], "causal_pattern")}
    assert "check_stock is called" not in causes


def test_sessions_of_different_agents_are_no_comparison():
    """If one agent always checks and another never does, the difference may be the agents', not the check's."""
    with_check = [served(f"a{n}", "cancel the order", "check_stock", "cancel_order") for n in range(6)]
    without = [
        served(f"b{n}", "cancel the order", "get_order", "cancel_order", signal="negative", agent="agent-2")
        for n in range(6)
    ]
    assert drafts([*with_check, *without], "causal_pattern") == []


def test_changes_that_the_state_of_things_decides_are_no_cause():
    """A change that only hard cases need is no advice to an agent."""
    sessions = [
        served(f"s{n}", "cancel the order", "get_order", *(["refund_card"] if n < 6 else []), "cancel_order",
               signal="negative" if n < 6 else "positive")
        for n in range(12)
    ]  # fmt: skip
    assert not [draft for draft in drafts(sessions, "causal_pattern") if "refund_card is called" in draft.title]


def test_two_failures_show_no_cause():
    """Two affected sessions may be chance."""
    sessions = []
    for n in range(40):
        script = Script(f"l{n}").user("Measure the plate")
        if n < 9:
            script.call("get_reader_status")
        sessions.append(script.call("move_plate").call("measure").feedback("negative" if n < 2 else "positive").events)
    assert drafts(sessions, "causal_pattern") == []


def test_hard_requests_are_no_cause():
    """If one kind of request fails more often, the actions of this kind alone are not blamed."""
    sessions = [
        order_session(f"c{number}", "cancel", signal="negative" if number % 2 else "positive") for number in range(12)
    ]
    sessions += [order_session(f"e{number}", "return") for number in range(12)]
    assert [draft.content["cause"] for draft in drafts(sessions, "causal_pattern")] == []


def test_a_failure_that_decided_the_outcome_is_no_cause():
    """If a session is judged by its last failure alone, that failure does not explain the outcome."""
    sessions = [
        Script(f"b{n}").user("Run the tests").run("pytest -q", error="two tests failed").events for n in range(6)
    ]
    sessions += [Script(f"g{n}").user("Run the tests").run("pytest -q").events for n in range(6)]
    assert drafts(sessions, "causal_pattern") == []


def test_strategies_have_phases_in_order():
    """A strategy leads from lookups to changes, with a success criterion for each phase."""
    strategy = drafts([order_session(f"c{n}", "cancel") for n in range(3)], "strategy_template")[0]
    assert [phase["order"] for phase in strategy.content["phases"]] == [1, 2, 3]
    assert [phase["tools_used"] for phase in strategy.content["phases"]] == [
        ["find_user_by_email"],
        ["get_order_details"],
        ["cancel_order"],
    ]
    assert all(phase["success_criteria"] for phase in strategy.content["phases"])


def test_one_session_gives_drafts_only():
    """Nothing is validated by a single session."""
    compiled = drafts([repaired_deployment("r1")])
    assert compiled
    assert not any(draft.validated(DEFAULT_PROFILE) for draft in compiled)


@pytest.mark.parametrize("sessions", [[], [Script("s").user("Hello").events], [Script("s").events]])
def test_nothing_to_learn_gives_nothing(sessions):
    """An empty tenant, one message, a session without events: no artifacts, no error."""
    assert drafts(sessions) == []


def test_sessions_without_feedback_compile_too():
    """Without feedback, outcomes are inferred from the work."""
    schema = drafts([deployment(f"d{number}", signal=None) for number in range(3)], "task_schema")[0]
    assert (schema.seen.count, schema.seen.successes) == (3, 3)


def deletion(session):
    """Somebody's account is deleted as asked."""
    script = Script(session).user("Delete user accounts").call("get_user", {"user": "ann_lee_1234"}, name="Ann")
    return script.call("delete_user", user="ann_lee_1234").feedback("positive").events


def poem(session, *, request="Write a poem about cats", tool="write_poem"):
    """An unusual request fails."""
    return Script(session).user(request).call(tool, topic="cats").feedback("negative").events


@pytest.mark.parametrize("tool", ["write_poem", "get_user"])
def test_unlike_requests_are_of_another_kind(tool):
    """A failure of a request that shares no word with a kind of request does not count for that kind."""
    for artifact_type in ("task_schema", "strategy_template"):
        (draft,) = drafts([deletion("d1"), deletion("d2"), poem("p1", tool=tool)], artifact_type)
        assert (draft.seen.count, draft.seen.successes) == (2, 2)


def test_unlike_requests_are_no_comparison():
    """No cause is found by comparing sessions with different requests."""
    sessions = [deletion(f"d{n}") for n in range(6)]
    forms = ("poem", "ode", "haiku", "sonnet", "ballad", "limerick")
    sessions += [poem(f"p{n}", request=form) for n, form in enumerate(forms)]
    assert drafts(sessions, "causal_pattern") == []


def test_other_words_for_the_usual_work_count():
    """A request in unusual words belongs to a kind of request if its session does the usual work."""
    sessions = [
        deployment(f"d{n}", request=text) for n, text in enumerate(("Deploy staging", "Deploy it", "Ship this"))
    ]
    (schema,) = drafts(sessions, "task_schema")
    assert schema.seen.count == 3


def test_silent_lookups_join_no_change():
    """Sessions without a request that only look things up do not join the class of a change."""
    sessions = [Script(f"c{n}").call("cancel_order", order="W1").feedback("positive").events for n in range(2)]
    sessions += [Script("l").call("get_weather", city="Oslo").feedback("negative").events]
    (schema,) = drafts(sessions, "task_schema")
    assert schema.seen.count == 2


def dropped(session, signal=""):
    """A database is dropped, and no result states whether that worked."""
    look = {"tool_name": "list_databases", "arguments": {}, "call_id": "c0"}
    call = {"tool_name": "dropdb", "arguments": {"name": "shop"}, "call_id": "c1"}
    script = Script(session).user("Drop the shop database").add("tool_call", look).add("tool_call", call)
    return (script.feedback(signal) if signal else script).events


@pytest.mark.parametrize("signals", [("", "", "", ""), ("", "", "", "positive"), ("", "", "negative", "negative")])
def test_what_was_never_seen_to_work_is_a_draft(signals):
    """A procedure becomes active only with known outcomes, at least one of them a success."""
    compiled = drafts([dropped(f"s{n}", signal) for n, signal in enumerate(signals)])
    assert {draft.artifact_type for draft in compiled} == {"task_schema", "strategy_template"}
    assert not [draft for draft in compiled if draft.validated(DEFAULT_PROFILE)]


def test_postconditions_need_a_reported_success():
    """Only results that reported success show that the work is done."""
    sessions = [dropped(f"s{n}", "positive") for n in range(2)]
    assert drafts(sessions, "task_schema")[0].content["postconditions"] == []
    (_, phase) = drafts(sessions, "strategy_template")[0].content["phases"]
    assert phase["success_criteria"] == ["A result shows that dropdb worked; none has so far"]


def test_order_of_sessions_does_not_matter():
    """The same sessions in any order give the same drafts, goals and habits."""
    sessions = world()
    mixed = sessions[:]
    random.Random(3).shuffle(mixed)
    in_order, shuffled = (compile_summaries(summarise(events) for events in given) for given in (sessions, mixed))
    assert in_order.drafts == shuffled.drafts
    assert (in_order.goals.document(), in_order.habits.document()) == (
        shuffled.goals.document(),
        shuffled.habits.document(),
    )


def test_titles_are_unique_and_nothing_is_said_twice():
    """No two artifacts share a title, and no two of a type have nearly the same text."""
    compiled = drafts(world())
    assert len({draft.title for draft in compiled}) == len(compiled)
    texts = [
        (draft.artifact_type, render_artifact(draft.artifact_type, draft.title, draft.summary, draft.content))
        for draft in compiled
    ]
    alike = [
        (text, other_text)
        for place, (kind, text) in enumerate(texts)
        for other_kind, other_text in texts[place + 1 :]
        if kind == other_kind and trigram_jaccard(text, other_text) >= DEFAULT_PROFILE.near_duplicate
    ]
    assert alike == []


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_secrets_never_reach_an_artifact(secret):
    """Keys, tokens, card numbers, addresses and passwords are masked in messages, arguments and results."""
    sessions = []
    for number in range(3):
        script = Script(f"s{number}").user(f"Deploy the staging environment with {secret}")
        script.add("decision", {"question": f"Use {secret}?", "chosen_option": f"yes {secret}", "reasoning": secret})
        script.run(f"deploy.sh {secret}", error=f"login with {secret} failed").call(
            "login", {"value": secret}, key=secret
        )
        sessions.append(script.feedback("positive").events)
    summaries = [summarise(events) for events in sessions]
    compiled = compile_summaries(summaries)
    written = "".join(str(draft) for draft in compiled.drafts) + str(compiled.goals.document())
    assert compiled.drafts
    assert secret not in written


def test_profile_parameters_are_adapted_and_reported():
    """Parameters of a fingerprint are adopted, and the state reports the differences."""
    profile = CompilerProfile().adapted({"min_support": 1.0, "lookup_share": 0.7, "unknown": 3.0})
    assert (profile.min_support, profile.lookup_share) == (2, 0.7)
    state = compiler_state(adaptations_after({}, profile, {}))
    assert (state["adapted_parameter_count"], state["adapted_parameters"][0]["parameter"]) == (1, "lookup_share")


def filed(session, request, *, stuck=False):
    """Expenses are filed; a missing part is added if the agent notices it."""
    script = Script(session).user(request).call("files.search", query="receipt").call("expenses.create", items=3)
    if stuck:
        script.call("expenses.submit", error="no cost center").call("expenses.update", center="c")
    return script.call("expenses.submit").feedback("positive").events


def test_one_procedure_has_one_schema():
    """Requests in different words with the same steps are one class, with all their evidence."""
    sessions = [filed(f"t{n}", "Please file what the Lisbon trip came to", stuck=n % 2 == 0) for n in range(6)]
    sessions += [filed(f"r{n}", "Monthly report for May is due", stuck=n == 0) for n in range(4)]
    [schema] = drafts(sessions, "task_schema")
    assert (schema.title, schema.seen.count) == ("Create and submit the expenses", 10)
    [strategy] = drafts(sessions, "strategy_template")
    assert [phase["tools_used"] for phase in strategy.content["phases"]] == [
        ["files.search"],
        ["expenses.create", "expenses.submit"],
    ]


def test_what_every_success_needed_is_a_step_though_another_way_was_tried_first():
    """An action that is usually no repair stays a step, even if one kind of request took it mostly after a failure."""
    sessions = []
    for n in range(8):
        script = Script(f"p{n}").user("The profile page crashes" if n < 4 else f"Undo release {n}")
        script.call("get_pods", app=n)
        if n in {0, 1, 2}:
            script.call("restart_app", app=n).call("check_rollout", error="deadline exceeded", app=n)
        script.call("undo_rollout", app=n).call("check_rollout", app=n)
        sessions.append(script.feedback("positive").events)
    for schema in drafts(sessions, "task_schema"):
        assert "undo_rollout" in schema.content["tools_used"]


@pytest.mark.parametrize(("well_without", "useful"), [(2, True), (5, False)])
def test_a_strategy_must_change_the_outcome_clearly(well_without, useful):
    """Eight successes of ten with all phases are no strategy if five of ten succeed without the second one."""
    classes = []
    for request in ("cancel the order", "stop the order"):
        members = [
            served(f"{request}{n}", request, "get_user", *(["get_order"] if n < 10 else []), "cancel_order",
                   signal="positive" if n < 8 or 10 <= n < 10 + well_without else "negative")
            for n in range(20)
        ]  # fmt: skip
        steps = (("get_user", 1.0), ("get_order", 0.7), ("cancel_order", 1.0))
        classes.append(GoalClass(frozenset({request}), tuple(map(summarise, members)), steps=steps))
    [strategy] = strategy_templates(classes, DEFAULT_PROFILE)
    assert [phase["tools_used"] for phase in strategy.content["phases"]] == [
        ["get_user"],
        ["get_order"],
        ["cancel_order"],
    ]
    assert strategy.useful is useful


def test_strategies_have_more_than_one_phase():
    """A single phase makes no strategy, and actions that only failed are in no phase."""
    plain = [
        Script(f"m{n}").user("Movie night").call("light.dim").call("cover.close").feedback("positive").events
        for n in range(4)
    ]
    assert drafts(plain, "strategy_template") == []
    sessions = [
        Script(f"d{n}")
        .user("The disk is full, clean it up")
        .run("df -h /")
        .run("rm -r /var/log", error="Permission denied")
        .run("sudo journalctl --vacuum-size=1G")
        .run("df -h /")
        .feedback("positive")
        .events
        for n in range(4)
    ]
    [strategy] = drafts(sessions, "strategy_template")
    assert [phase["tools_used"] for phase in strategy.content["phases"]] == [["df"], ["journalctl"], ["df"]]


def test_an_input_with_which_it_went_well_is_not_at_fault():
    """An input that a successful retry left unchanged is not to be checked, even if the message names it."""
    sessions = [
        Script(f"w{n}")
        .user("Count the orders")
        .call("run_sql", error="warehouse etl is suspended", warehouse="etl")
        .call("resume_warehouse", warehouse="etl")
        .call("run_sql", {"rows": 3}, warehouse="etl")
        .events
        for n in range(3)
    ]
    [playbook] = drafts(sessions, "failure_playbook")
    assert playbook.content["prevention_strategies"] == []


def test_a_web_request_is_named_by_method_and_address():
    """Calls of one tool to several addresses are separate actions, named without ids."""
    sessions = []
    for n in range(4):
        order = f"https://api.shop.example/v2/orders/{4711 + n}"
        script = Script(f"w{n}").user("Please change the delivery address")
        script.call("http_request", {"status_code": 200}, method="GET", url=order)
        script.call(
            "http_request", error="order is locked", method="PATCH", url=f"{order}?force=0", body={"city": "Graz"}
        )
        script.call("http_request", {"status_code": 200}, method="POST", url=f"https://wms.shop.example/hold/{n}")
        script.call("http_request", {"status_code": 200}, method="PATCH", url=order, body={"city": "Graz"})
        sessions.append(script.events)
    [schema] = drafts(sessions, "task_schema")
    assert schema.content["tools_used"] == [
        "GET api.shop.example/v2/orders/<id>",
        "PATCH api.shop.example/v2/orders/<id>",
        "POST wms.shop.example/hold/<id>",
    ]
    [playbook] = drafts(sessions, "failure_playbook")
    change = schema.content["tools_used"][1]
    advice = f"Call POST wms.shop.example/hold/<id>, then try {change} again (worked 4 of 4 times)"
    assert playbook.content["recovery_steps"] == [advice]


def test_requests_are_not_named_by_marks_and_names():
    """Masks and parts of names with digits do not name a kind of request."""
    requests = (
        "Patch mc-eu1 for player 4711",
        "patch mc-us2 at 4712",
        "Please patch mc-eu3, 4713 waits",
        "patch mc-eu1 4714",
    )
    sessions = [
        Script(f"g{n}").user(text).call("deploy_it").feedback("positive").events for n, text in enumerate(requests)
    ]
    [schema] = drafts(sessions, "task_schema")
    assert "number" not in f"{schema.title} {schema.tags}"
    assert "mc" not in f"{schema.title} {schema.tags}"


def test_names_from_earlier_calls_make_no_other_failure():
    """Names passed to earlier calls are masked in a failure, so that it equals others."""
    sessions = [
        Script(f"v{n}")
        .user("Book the bill")
        .call("find_vendor", name=vendor)
        .call("post_invoice", error=f"Duplicate bill of {vendor}", number=n)
        .call("find_invoice", number=n)
        .events
        for n, vendor in enumerate(("Acme Tools", "Blue Freight", "Papeterie Leduc"))
    ]
    [playbook] = drafts(sessions, "failure_playbook")
    assert playbook.content["failure_pattern"] == "duplicate bill of <name>"


def test_a_summary_keeps_the_order_of_work():
    """A lookup between two changes is mentioned between them."""
    sessions = [
        Script(f"o{n}")
        .user("Post the invoice")
        .call("extract_fields")
        .call("find_vendor")
        .call("post_invoice")
        .feedback("positive")
        .events
        for n in range(3)
    ]
    [schema] = drafts(sessions, "task_schema")
    assert schema.summary.endswith(": carry out extract_fields, then consult find_vendor, then carry out post_invoice.")


def test_a_step_takes_place_when_it_works():
    """What made a failed step work stands before it in the procedure, not after its first attempt."""
    sessions = [
        Script(f"z{n}")
        .user("Enable the lock of the zone")
        .call("sign_zone", error="no key for the zone")
        .call("create_key")
        .call("sign_zone")
        .feedback("positive")
        .events
        for n in range(3)
    ]
    [schema] = drafts(sessions, "task_schema")
    first, second = (step["description"] for step in schema.content["steps"])
    assert ("create_key" in first, "sign_zone" in second) == (True, True)


def test_what_there_is_no_material_for_is_said():
    """Sessions without work, or without failures, are stated as the reason why nothing was learned."""
    talk = Script("t").user("My sister moved to Oslo").agent("How nice!").events
    work = Script("w").user("List the files").run("ls").events
    failing = Script("f").user("List the files").run("ls", error="no such folder").events

    def no_material(*sessions):
        return compile_summaries(summarise(events) for events in sessions).no_material

    assert no_material(talk) == (
        "No procedures, playbooks or policies: no session has a tool call, a command or other work.",
    )
    assert no_material(talk, work) == ("No playbooks: nothing failed.",)
    assert no_material(talk, failing) == no_material() == ()


def test_a_subject_alone_makes_no_strategy():
    """Classes that share a subject but no change make no strategy."""
    sessions = [
        Script(f"{change}{n}")
        .call("get_order", order_id=f"O{n}")
        .call("list_order_items", order_id=f"O{n}")
        .call(f"{change}_order", order_id=f"O{n}")
        .feedback("positive")
        .events
        for change in ("cancel", "return")
        for n in range(4)
    ]
    assert drafts(sessions, "strategy_template") == []


def test_a_phase_names_what_most_sessions_do():
    """A lookup of a few sessions is not part of the strategy."""
    sessions = [
        served(
            f"s{n}", "return the lamp", "find_user", "get_order", *(["get_product"] if n < 3 else []), "return_items"
        )
        for n in range(9)
    ]
    for draft in drafts(sessions, "strategy_template"):
        assert "get_product" not in str(draft.content)
    assert drafts(sessions, "strategy_template")


def test_nothing_follows_a_handover():
    """A procedure that ends by handing over lists no check after it."""
    sessions = [
        served(f"s{n}", "No service", "get_bill", "reboot_phone", "get_bill", "transfer_to_human") for n in range(4)
    ]
    (schema,) = drafts(sessions, "task_schema")
    assert [step["tools_used"] for step in schema.content["steps"]][-1] == ["transfer_to_human"]


def address_change(number, parts, *, told):
    """A user has an order sent to an address that they state (*told*) or that is in their profile."""
    words = " ".join(parts.values()) if told else "the address in my profile"
    script = Script(f"a{number}").user(f"Send order W{number}77 to {words}")
    script.call("get_profile", parts | {"points": 0})
    return script.call("set_address", order_id=f"W{number}77", **parts).feedback("positive").events


def test_procedures_name_two_sources_that_take_turns():
    """An input that some users give and that a lookup returns for others names both sources, for all parts."""
    sessions = [
        address_change(n, {"city": f"Town{n}ville", "street": f"{n}11 Elm Road"}, told=n % 2 == 0) for n in range(8)
    ]
    (schema,) = drafts(sessions, "task_schema")
    assert schema.content["steps"][-1]["description"] == (
        "Set the address with set_address, using order_id (from the user)"
        " and city and street (from the user or get_profile)"
    )


def flight_booking(number, lookup, *, cabin="premium"):
    """A session that books two flights, which one of several lookups returned."""
    flights = [{"flight_number": f"XY{number}{place}7", "cabin": cabin} for place in (1, 2)]
    script = Script(f"b{number}").user("Please book my trip").call(lookup, {"flights": flights}, trip="home")
    return script.call("book_trip", flights=flights, cabin=cabin).feedback("positive").events


def test_procedures_name_the_sources_of_objects_with_identifiers():
    """Flights come from up to three lookups, also from those that are no steps; the cabin is the user's choice."""
    lookups = ("search_direct", "search_onestop", "get_booking")
    sessions = [flight_booking(n, lookups[n % 3]) for n in range(12)]
    (schema,) = drafts(sessions, "task_schema")
    assert schema.content["steps"][-1]["description"] == (
        "Book the trip with book_trip, using flights (from get_booking, search_direct or search_onestop) and cabin"
    )


def changed_booking(number, *lookups):
    """A session that books flights which are in the results of all these lookups."""
    flights = [{"flight_number": f"XY{number}{place}7", "cabin": "premium"} for place in (1, 2)]
    script = Script(f"c{number}").user("Please book my trip")
    for lookup in lookups:
        script.call(lookup, {"flights": flights}, trip="home")
    return script.call("book_trip", flights=flights, cabin="premium").feedback("positive").events


def test_a_source_that_is_seldom_the_only_one_is_named_if_it_is_frequent():
    """Ten trips are in a direct search, eight of them in the booking, too: still it comes before the rare third."""
    sessions = [changed_booking(n, "get_booking", "search_direct") for n in range(8)]
    sessions += [changed_booking(n, "search_onestop") for n in range(8, 12)]
    sessions += [changed_booking(n, "get_booking") for n in range(12, 16)]
    (schema,) = drafts(sessions, "task_schema")
    assert "flights (from get_booking, search_direct or search_onestop)" in schema.content["steps"][-1]["description"]


def test_of_a_list_of_objects_the_identifiers_say_where_it_comes_from():
    """Most values of a flight are dates from the booking, but its number is in the search made for the change."""
    days = {"date": "2026-05-11", "until": "2026-05-12", "boarding": "2026-05-10"}
    sessions = []
    for number in range(6):
        flights = [{"flight_number": f"XY{number}{place}7", "cabin": "premium"} for place in (1, 2)]
        script = Script(f"d{number}").user("Please move my trip").call("get_booking", days, trip="home")
        script.call("search_flights", {"flights": flights}, to="home")
        sessions.append(script.call("book_trip", flights=[each | days for each in flights]).feedback("positive").events)
    (schema,) = drafts(sessions, "task_schema")
    assert schema.content["steps"][-1]["description"].endswith("using flights (from search_flights)")


@pytest.mark.parametrize(
    ("lookup", "change", "order", "payment"),
    [("get_order", "cancel_order", "order_id", "payment_id"), ("getOrder", "cancelOrder", "orderId", "paymentId")],
)
def test_a_procedure_states_where_identifiers_come_from_in_any_spelling(lookup, change, order, payment):
    """Inputs in camel case identify things as those in snake case do."""
    sessions = []
    for number in range(4):
        script = Script(f"s{number}").user(f"Please cancel my order W100{number}")
        script.call(lookup, {order: f"W100{number}", payment: f"P77{number}1"}, **{order: f"W100{number}"})
        script.call(change, {"ok": True}, **{order: f"W100{number}", payment: f"P77{number}1"})
        sessions.append(script.feedback("positive").events)
    schema = drafts(sessions, "task_schema")[0]
    assert f"{payment} (from {lookup})" in schema.content["steps"][1]["description"]
