"""Signatures: equal failures have one name, whatever varies between runs."""

import pytest

from hmxgraph.compiler._signatures import error_message, error_type, signature
from hmxgraph.compiler.failures import failure_groups, failure_key
from hmxgraph.compiler.sessions import summarise
from tests.session_makers import Script


@pytest.mark.parametrize(
    ("text", "other_text"),
    [
        ("total price is 375, but paid 299", "Total price is 1203, but paid 833"),
        ("user ann_lee_1234 not found", "User bob_fox_9876 not found"),
        ("Payment method credit_card_7815826 not found", "payment method not found"),
        ("namespace 'staging' not found", "namespace 'prod' not found"),
        ("Which plan for a table of 1GB?", "Which plan for a table of 3GB?"),
    ],
)
def test_equal_failures_share_a_key(text, other_text):
    """Ids, numbers, quoted names and capitals do not distinguish failures."""
    first, second = (error_message({"message": message}) for message in (text, other_text))
    assert failure_key(signature("ToolError", first)) == failure_key(signature("", second))


def test_codes_and_types_make_another_failure():
    """HTTP 404 is not HTTP 500, and an informative type is part of the name."""
    assert signature("", "HTTP 404 from service") != signature("", "HTTP 500 from service")
    assert signature("KubectlError", "not found") != signature("ToolError", "not found")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"message": "Error: user not found\nTraceback ..."}, "user not found"),
        ({"result": {"error": {"message": "ValueError: bad date"}}}, "bad date"),
        ({"passed": 3, "failed": 2}, "2 tests failed"),
        ({"passed": 3, "failures": ["tests/test_a.py::test_b"]}, "1 tests failed"),
        ({"failed": 1, "failures": [{"test": "test_a", "message": "No module named 'x'"}]}, "No module named 'x'"),
        ({"failed": 1, "failures": ["test_a: No module named 'x'"]}, "test_a: No module named 'x'"),
        (
            {"failures": [{"name": "test_round", "error": "AssertionError: 0.1 != 0.11"}]},
            "test_round: <number> != <number>",
        ),
        ({"exitCode": 137}, "exit code 137"),
        ({"response": {"status": 503}}, "HTTP 503"),
        ({"result": {"exit_code": 137}}, "exit code 137"),
        (
            {"result": {"returncode": 1, "stderr": "", "stdout": "03:12:01  column x does not exist"}},
            "column x does not exist",
        ),
        ({"result": {"isError": True, "content": [{"type": "text", "text": "repo gone"}]}}, "repo gone"),
        ({"result": {"status": 422, "body": {"errors": [{"field": "vat", "message": "bad VAT"}]}}}, "bad VAT"),
        ({"result": {"status": 422, "body": '{"errors": [{"message": "bad VAT"}]}'}}, "bad VAT"),
        ({"result": {"errors": {"email": ["has already been taken"]}}}, "email has already been taken"),
        ({"result": {"Error": {"Code": "Denied", "Message": "not yours"}}}, "not yours"),
        ({"result": {"title": "Conflict", "detail": "already shipped"}}, "already shipped"),
        ({"result": {"body": "<html><head><title>Bad Gateway</title></head></html>"}}, "Bad Gateway"),
        ({"result": {"error": True, "code": "RATE_LIMITED"}}, "RATE_LIMITED"),
        ({"result": {"fault": {"faultstring": "period closed"}}}, "period closed"),
        ({"result": {"status_code": 503}}, "HTTP 503"),
        ({"message": "token sk-aaaaaaaaaaaaaaaaaaaaaaaa refused"}, "token [api key] refused"),
        ({}, ""),
    ],
)
def test_message_is_the_telling_line(content, message):
    """The first informative line is kept, masked and without its prefix."""
    assert error_message(content) == message


def test_input_values_in_errors_are_named_by_their_argument():
    """A value that was passed to the failing call is replaced by its argument's name."""
    assert error_message({"message": "flight HAT030 is full"}, {"hat030": "flight_number"}) == (
        "flight <flight_number> is full"
    )


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("Failure in test not_null_fct_orders_channel", "Failure in test not_null_<select>"),
        (
            "Database Error in model fct_orders (models/fct_orders.sql)",
            "Database Error in model <select> (models/<select>.sql)",
        ),
        ('violates unique constraint "fct_orders_pkey"', 'violates unique constraint "<select>"'),
        ("column myfct_orders is unknown", "column myfct_orders is unknown"),
    ],
)
def test_values_given_are_named_inside_paths_and_identifiers(message, masked):
    """Argument values inside paths and identifiers are masked like separate words."""
    assert error_message({"message": message}, {"fct_orders": "select"}) == masked


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
        ("timed out on pods/web-a", "kubectl wait pod/web-a", "timed out on pods/<name>"),
        ("An error occurred when listing", "aws s3 ls", "An error occurred when listing"),
        ("nothing to commit", "git commit -m done", "nothing to commit"),
        ("namespace staging not found", "kubectl apply -f staging.yaml", "namespace staging not found"),
        ("the table is full", 'mysql -e "ALTER TABLE carts ADD c INT"', "the table is full"),
    ],
)
def test_what_the_command_names_is_masked(message, command, masked):
    """Names from the failing command line are masked; the words for their kind stay."""
    assert error_message({"message": message}, command=command) == masked


def test_one_failure_of_a_program_is_one_playbook():
    """The same failure of a program on another object is one playbook."""
    summaries = [
        summarise(Script(f"s{n}").run(f'mysql -e "ALTER TABLE {name}"', error=f"no lock on table {name}").events)
        for n, name in enumerate(("events", "carts"))
    ]
    (group,) = failure_groups(summaries)
    assert (group.message, len(group.occurrences)) == ("no lock on table <name>", 2)


def test_type_is_what_the_error_calls_itself():
    """The type comes from the error, or is unknown."""
    assert (error_type({"error_type": "KubectlError"}), error_type({})) == ("KubectlError", "")


_TRACE = 'Traceback (most recent call last):\n  File "app/rates.py", line 31, in rate\n    return table[name]\n'
_TOLD_BY = {
    "Python": (f"{_TRACE}KeyError: 'rate'", "KeyError: 'rate'"),
    "Python, in words": (f"INFO import begins\n{_TRACE}ValueError: no rate for this day", "no rate for this day"),
    "Python, of several": (
        f"{_TRACE}KeyError: 'rate'\n\nDuring handling:\n\n{_TRACE}app.Gone: page moved",
        "app.Gone: page moved",
    ),
    "Python, of syntax": (
        "  File \"a.py\", line 1\n    f(\n     ^\nSyntaxError: '(' was never closed",
        "'(' was never closed",
    ),
    "Elixir": (
        (
            "  1) test mount handles invalid ids (Shop.PageTest)\n     test/page_test.exs:9\n"
            "     ** (RuntimeError) Live views need lazy_html\n     stacktrace:\n       (app 1.0) lib/a.ex:3: A.b/1"
        ),
        "(RuntimeError) Live views need lazy_html",
    ),
    "Java": (
        (
            'Exception in thread "main" java.lang.RuntimeException: no start\n\tat a.B.c(B.java:3)\n'
            "Caused by: java.net.ConnectException: Connection refused\n\tat d.E.f(E.java:1)\n\t... 9 more"
        ),
        "Connection refused",
    ),
    "Java, no cause": (
        "12:01 starting\njava.lang.IllegalStateException: pool is shut\n\tat a.B(B.java:3)",
        "pool is shut",
    ),
    "Node": (
        "/srv/a.js:3\n  throw new Error('x');\n  ^\n\nTypeError: rates.get is not a function\n    at f (/srv/a.js:3:9)",
        "rates.get is not a function",
    ),
    "Go": (
        "listening\npanic: assignment to nil map\n\ngoroutine 1 [running]:\nmain.f()",
        "panic: assignment to nil map",
    ),
    "Rust": (
        (
            "   Compiling rates v0.1.0\nwarning: unused `x`\nerror: borrow of moved value\n --> src/main.rs:2:5\n"
            "error: aborting due to 1 previous error"
        ),
        "borrow of moved value",
    ),
    "Rust at run time": (
        "thread 'main' panicked at src/main.rs:3:5:\ncalled unwrap on None\nnote: run with X",
        "called unwrap on None",
    ),
    "pytest": (
        (
            "===== test session starts =====\ncollected 2 items\n\n    def test_rate():\n>       assert rate() == 2\n"
            "E       RateError: table is empty\n\na.py:3: RateError\n===== 1 failed, 1 passed in 0.1s ====="
        ),
        "table is empty",
    ),
    "npm": (
        "npm ERR! code E5\nnpm ERR! path /srv\nnpm ERR! lockfile is missing here\nnpm ERR! A complete log",
        "lockfile is missing here",
    ),
    "make": ("cc -c a.c\na.c:3:5: error: unknown type\nmake: *** [all] Error 1", "a.c:3:5: error: unknown type"),
    "boxed": ("╷\n│ Error: Invalid reference to module\n│\n│   on main.tf line 3\n╵", "Invalid reference to module"),
    "a count first": ("3 failed, 10 passed in 2s\nrate was empty", "rate was empty"),
    "a rule first": ("=======\nlinker refused the object", "linker refused the object"),
    "a document": ('{\n  "status": 404,\n  "error": "tenant is gone"\n}', "tenant is gone"),
    "nothing telling": ("5\n----\n7", "5"),
    "a pointer below": (
        "Payment did not go through\nSee https://pay.example/errors for error codes",
        "Payment did not go through",
    ),
}


@pytest.mark.parametrize("told_by", _TOLD_BY)
def test_of_many_lines_the_telling_one_is_kept(told_by):
    """For any program, the message is kept, not the header, separator, count or frames."""
    text, message = _TOLD_BY[told_by]
    assert error_message({"result": {"exit_code": 1, "output": text}}) == message


def test_failures_behind_one_header_are_several():
    """Two tracebacks of one tool are two failures, each with its own recovery."""
    errors = ("KeyError: 'rate'", "KeyError: 'day'", "ModuleNotFoundError: No module named 'toml'")
    summaries = [
        summarise(Script(f"s{n}").add("error", {"error_type": "", "message": _TRACE + error}).events)
        for n, error in enumerate(errors)
    ]
    assert [(group.signature, len(group.occurrences)) for group in failure_groups(summaries)] == [
        ("keyerror: '<name>'", 2),
        ("no module named '<name>'", 1),
    ]


def test_an_error_type_is_named_once():
    """An error type stated both by the event and by the traceback appears once."""
    message = error_message({"message": f"{_TRACE}KeyError: 'rate'"})
    assert signature("KeyError", message) == "keyerror: '<name>'"


def test_long_outputs_are_read_to_their_end():
    """A message at the end of a long log is found."""
    assert (
        error_message({"message": "compiling a unit\n" * 5000 + f"{_TRACE}OSError: no space left"}) == "no space left"
    )


@pytest.mark.parametrize("text", ["cannot open \u017fession.log", "no \u0130stanbul/x here"])
def test_letters_that_only_a_pattern_takes_for_alike(text):
    """A letter that a pattern matches but ``lower()`` keeps distinct is left unchanged."""
    assert error_message({"message": text}, {"session": "name", "istanbul": "city"}) == text


def test_a_line_that_counts_errors_is_followed_by_the_first_of_them():
    """The field and its error are part of the message; the bracketed details are not."""
    message = (
        "Error: 1 validation error for Payment\npayment_id\n  Field required [type=missing, input_value={}]\n    See x"
    )
    assert error_message({"message": message}) == "1 validation error for Payment: payment_id Field required"


def test_line_breaks_that_were_printed_as_signs_are_line_breaks():
    """A report with literal backslash-n line breaks is read line by line."""
    assert error_message({"message": r"hook failed:\n\n[FORMAT] Code is not formatted.\nRun it"}) == (
        "[FORMAT] Code is not formatted."
    )


def test_a_name_with_a_backslash_is_a_name():
    """Argument names may contain backslashes, such as Windows paths."""
    given = {"hello big world": r"files\src\1"}
    assert error_message({"error": "cannot write hello big world"}, given) == r"cannot write <files\src\1>"


@pytest.mark.timeout(30)
def test_a_page_that_breaks_off_takes_no_time():
    """An unclosed title with many blanks is rejected quickly."""
    error_message({"result": "<html><head><title>" + "\n" * 50_000 + "x"})
    assert error_message({"result": "<html><head><title>\n Bad gateway \n</title>"}) == "Bad gateway"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (">       assert tax(1) == 2\nE       assert 1 == 2\nE        +  where 1 = tax(1)", "assert tax(1) == 2"),
        ("> assert name() == 'a'\nE   AssertionError: assert 'b' == 'a'\nE     - a", "assert name() == 'a'"),
        (">   assert tax(1) == 2\nE   AssertionError: tax is wrong\nE   assert 1 == 2", "tax is wrong"),
        ("F\nE   assert 1 == 2\n1 failed", "assert 1 == 2"),
        ("--- FAIL: TestTax (0.00s)\n    tax_test.go:8: got 1, want 2\nFAIL\nexit status 1", "got 1, want 2"),
        (
            "FAIL src/a.test.ts\n  \u25cf Test suite failed to run\n\n    Cannot find name 'x'.\n",
            "Cannot find name 'x'.",
        ),
    ],
)
def test_a_failed_test_is_named_by_what_it_checked(text, message):
    """Compared values and headings of test runners are shared by unrelated failures."""
    assert error_message({"message": text}).endswith(message)
