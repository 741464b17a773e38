"""Generated coding sessions: fixes, features, upgrades and questions in a repository, with failures."""

from tests.session_makers import Script

BUGS = (
    ("Fix the failing unit test in the invoice module", "src/invoice.py", "tests/test_invoice.py"),
    (
        "The login page crashes, please fix the failing unit test for sessions",
        "src/session.py",
        "tests/test_session.py",
    ),
    ("Could you fix the failing unit test? CI is red since the rounding change", "src/money.py", "tests/test_money.py"),
    ("fix the failing unit test about time zones", "src/clock.py", "tests/test_clock.py"),
)
FEATURES = (
    ("Add a CSV export to the report page", "src/report.py"),
    ("Add a dark theme switch to the settings page", "src/settings.py"),
    ("Please add a health endpoint to the server", "src/server.py"),
)
UPGRADES = (
    ("Upgrade the pydantic dependency to version 2", "pydantic"),
    ("Upgrade the numpy dependency, the old one has a security hole", "numpy"),
    ("upgrade the requests dependency please", "requests"),
)
QUESTIONS = (
    ("Where is the retry limit configured?", "retry limit"),
    ("Which function parses the date header?", "date header"),
    ("Where do we set the cache size?", "cache size"),
)


def coding_world(tenant="acme", rounds=4):
    """The events of about fifty sessions, session by session."""
    sessions = []
    for turn in range(rounds):
        sessions += [_bug(f"bug-{turn}-{n}", *bug, turn=turn, tenant=tenant) for n, bug in enumerate(BUGS)]
        sessions += [
            _feature(f"add-{turn}-{n}", *feature, turn=turn, tenant=tenant) for n, feature in enumerate(FEATURES)
        ]
        sessions += [
            _upgrade(f"up-{turn}-{n}", *upgrade, turn=turn, tenant=tenant) for n, upgrade in enumerate(UPGRADES)
        ]
        sessions += [_question(f"ask-{turn}-{n}", *question, tenant=tenant) for n, question in enumerate(QUESTIONS)]
    return sessions


def _bug(session, request, source, test, *, turn, tenant):
    """Search, read, patch, test; every other patch does not apply and the file is read again; some give up."""
    script = Script(session, tenant=tenant, agent=f"agent-{turn % 2}").user(request)
    script.call("search_code", {"matches": [source, test]}, pattern=test.removesuffix(".py").rsplit("/", 1)[-1])
    if turn % 4 != 3:
        script.call("read_file", {"text": "def total(): ..."}, path=source)
    if turn % 2:
        script.call(
            "apply_patch", error=f"hunk 1 of {source} does not apply", path=source, patch=f"@@ {turn} @@ {source}"
        )
        if turn % 4 != 3:
            script.call("read_file", {"text": "def total(): ..."}, path=source)
            script.call("apply_patch", {"changed": 1}, path=source, patch=f"@@ {turn + 1} @@ {source}")
    else:
        script.call("apply_patch", {"changed": 1}, path=source, patch=f"@@ {turn} @@ {source}")
    failed = turn % 4 == 3
    script.run(f"pytest -q {test}", error="1 failed, 11 passed" if failed else None)
    if not failed:
        script.run('git commit -am "Fix"')
    return script.feedback("negative" if failed else "positive").events


def _feature(session, request, source, *, turn, tenant):
    """Plan, read, write, test, commit; one round forgets the formatter and fails its check."""
    script = Script(session, tenant=tenant).user(request)
    if turn % 2:
        script.add(
            "decision",
            {
                "question": "Write the test first?",
                "chosen_option": "yes" if turn == 1 else "no",
                "alternatives": ["no" if turn == 1 else "yes"],
                "reasoning": "the interface is not settled",
            },
        )
    script.call("list_files", {"files": [source]}, folder="src").call("read_file", {"text": "..."}, path=source)
    script.call("write_file", {"written": 40}, path=source)
    script.run("pytest -q")
    script.run("ruff check src", error="E501 line too long (121 > 120)" if turn == 3 else None)
    if turn == 3:
        script.run("ruff format src").run("ruff check src")
    return script.run('git commit -am "Add"').feedback("positive").events


def _upgrade(session, request, package, *, turn, tenant):
    """Install, test, commit; without the lock file the build fails afterwards."""
    script = Script(session, tenant=tenant).user(request)
    script.call("read_file", {"text": f"{package}==1.0"}, path="pyproject.toml")
    locked = turn != 2
    script.run(f"uv add {package}")
    if locked:
        script.run("uv lock")
    script.run("pytest -q", error=None if locked else f"ModuleNotFoundError: No module named '{package}'")
    if locked:
        script.run('git commit -am "Upgrade"')
    return script.feedback("positive" if locked else "negative").events


def _question(session, request, words, *, tenant):
    """Search, read, answer; nothing is changed."""
    script = Script(session, tenant=tenant).user(request)
    script.call("search_code", {"matches": ["src/config.py"]}, pattern=words)
    script.call("read_file", {"text": "LIMIT = 3"}, path="src/config.py")
    return script.agent("It is set in src/config.py").feedback("positive").events
