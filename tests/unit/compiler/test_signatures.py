"""Failures meet under one name, whatever differs from run to run."""

import pytest

from hmxgraph.compiler.failures import failure_groups, failure_key
from hmxgraph.compiler.sessions import summarise
from hmxgraph.compiler.signatures import error_message, error_type, signature
from tests.session_makers import Script


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("total price is 375, but paid 299", "Total price is 1203, but paid 833"),
        ("user ann_lee_1234 not found", "User bob_fox_9876 not found"),
        ("Payment method credit_card_7815826 not found", "payment method not found"),
        ("namespace 'staging' not found", "namespace 'prod' not found"),
        ("Which plan for a table of 1GB?", "Which plan for a table of 3GB?"),
    ],
)
def test_equal_failures_share_a_key(one, other):
    """Ids, numbers, names in quotes and capitals do not make another failure."""
    first, second = (error_message({"message": text}) for text in (one, other))
    assert failure_key(signature("ToolError", first)) == failure_key(signature("", second))


def test_codes_and_types_make_another_failure():
    """HTTP 404 is not HTTP 500, and a telling type is part of the name."""
    assert signature("", "HTTP 404 from service") != signature("", "HTTP 500 from service")
    assert signature("KubectlError", "not found") != signature("ToolError", "not found")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"message": "Error: user not found\nTraceback ..."}, "user not found"),
        ({"result": {"error": {"message": "ValueError: bad date"}}}, "bad date"),
        ({"passed": 3, "failed": 2}, "2 tests failed"),
        ({"result": {"exit_code": 137}}, "exit code 137"),
        ({"message": "token sk-aaaaaaaaaaaaaaaaaaaaaaaa refused"}, "token [api key] refused"),
        ({}, ""),
    ],
)
def test_message_is_the_telling_line(content, message):
    """The first line that tells something is kept, masked and without its prefix."""
    assert error_message(content) == message


def test_values_given_stand_under_their_argument():
    """What was passed to the failing call is named by its argument."""
    assert error_message({"message": "flight HAT030 is full"}, {"hat030": "flight_number"}) == (
        "flight <flight_number> is full"
    )


@pytest.mark.parametrize(
    ("message", "command", "masked"),
    [
        (
            "Lock wait timeout on table carts",
            'mysql -e "ALTER TABLE carts ADD c INT"',
            "Lock wait timeout on table <name>",
        ),
        ("namespace web already exists", "kubectl create namespace web", "namespace <name> already exists"),
        ("notes.txt: No such file", "cat notes.txt", "<name>: No such file"),
        ("nothing to commit", "git commit -m done", "nothing to commit"),
        ("namespace staging not found", "kubectl apply -f staging.yaml", "namespace staging not found"),
        ("the table is full", 'mysql -e "ALTER TABLE carts ADD c INT"', "the table is full"),
    ],
)
def test_what_the_command_names_is_masked(message, command, masked):
    """Names that stand in the failing command line make no other failure; the words that tell their kind stay."""
    assert error_message({"message": message}, command=command) == masked


def test_one_failure_of_a_program_is_one_playbook():
    """The same failure of the same program on another thing is told once."""
    summaries = [
        summarise(Script(f"s{n}").run(f'mysql -e "ALTER TABLE {name}"', error=f"no lock on table {name}").events)
        for n, name in enumerate(("events", "carts"))
    ]
    (group,) = failure_groups(summaries)
    assert (group.says, len(group.occurrences)) == ("no lock on table <name>", 2)


def test_type_is_what_the_error_calls_itself():
    """The type comes from the error, or is unknown."""
    assert (error_type({"error_type": "KubectlError"}), error_type({})) == ("KubectlError", "")
