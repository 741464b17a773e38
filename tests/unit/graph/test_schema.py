"""The schema's versions: the statements for a new, an older, a current and a newer database."""

import pytest

from hmxgraph.errors import NewerStore, OlderStore
from hmxgraph.graph.connection import perform
from hmxgraph.graph.deadlines import Patience
from hmxgraph.graph.plan import parse_script, query
from hmxgraph.graph.schema import Schema, Upgrade, migrate, packaged_names, packaged_schema

HEAD = "// What it does.\n//\n// mode: {mode}\n// row:  -\n"
INDEX = "CREATE INDEX {name} IF NOT EXISTS FOR (n:Event) ON (n.{name});\n"
BASELINE = parse_script("schema", HEAD.format(mode="schema") + INDEX.format(name="a") + INDEX.format(name="b"))
STEPS = (
    Upgrade(3, parse_script("schema_upgrades/003_b", HEAD.format(mode="schema") + INDEX.format(name="b"))),
    Upgrade(4, parse_script("schema_upgrades/004_c", HEAD.format(mode="write") + "MATCH (n:Event) SET n.c = 1;")),
    Upgrade(5, parse_script("schema_upgrades/005_d", HEAD.format(mode="schema"))),
)
SCHEMA = Schema(5, BASELINE, STEPS)


def sent_to(version, schema=SCHEMA, *, used=False):
    """The versions that a database is brought to, and the mode and statements of each transaction on the way."""
    transactions = []

    def transact(work):
        if work.mode == "read":
            plan = work.factory()
            next(plan)
            try:
                plan.send([{"version": version, "release": None if version is None else "9.9", "used": used}])
            except StopIteration as stop:
                return stop.value
        transactions.append((work.mode, [statement.name for statement in work.factory()]))
        return None

    return perform(migrate(schema), transact), transactions


RECORDED = ("schema", ["schema_version/register_names", "schema_version/set"])


def test_a_new_database_gets_the_baseline_in_one_transaction():
    """All constraints and indexes come in one transaction; names and the version in a second."""
    assert sent_to(None) == ((5,), [("schema", ["schema:a", "schema:b"]), RECORDED])


def test_an_older_database_gets_what_it_lacks():
    """Steps after the database's own version are applied in order, and the version is recorded once."""
    assert sent_to(3) == ((4, 5), [("schema", ["schema_upgrades/004_c:1"]), RECORDED])
    assert sent_to(2)[0] == (3, 4, 5)


def test_an_upgrade_has_time_for_a_large_database():
    """Data is rewritten and indexes are awaited within the limit of schema transactions, not that of a batch."""
    modes = [mode for mode, _ in sent_to(2)[1]]
    assert len(modes) == 3
    assert all(Patience(mode, None).seconds == 600 for mode in modes)
    assert "db.awaitIndexes(600)" in query("schema_version/register_names").code


def test_a_current_database_is_asked_once():
    """Nothing is sent to a database that is up to date."""
    assert sent_to(5) == ((), [])


def test_a_newer_database_is_refused():
    """The error names the unknown version and the release that recorded it."""
    with pytest.raises(NewerStore, match=r"hmxgraph 9\.9 .*version 6, this client knows 5"):
        sent_to(6)


@pytest.mark.parametrize(("version", "used"), [(1, False), (None, True)])
def test_a_database_from_before_all_steps_is_refused(version, used):
    """A database older than the first step is refused, also one with data but no version."""
    with pytest.raises(OlderStore, match="upgrades start from version 2"):
        sent_to(version, used=used)


def test_steps_lead_to_the_version_of_the_baseline():
    """A missing step, or one beyond the baseline's version, is found when the schema is put together."""
    for steps in (STEPS[::2], STEPS[:2]):
        with pytest.raises(ValueError, match="schema_upgrades"):
            Schema(5, BASELINE, steps)
    assert packaged_schema().baseline[0].name == "schema:schema_version_name"


def test_scripts_are_split_at_semicolons_of_the_code():
    """A semicolon in a comment or a string does not end a statement; a trailing comment is not a statement."""
    text = HEAD.format(mode="write") + "// a; b\nMATCH (n {x: ';'}) SET n.y = $y;\n// last; words\n"
    (statement,) = parse_script("s", text)
    assert statement.text == text[: text.index(";\n// last")]
    assert (statement.name, statement.mode, statement.parameters) == ("s:1", "write", {"y"})


def test_names_come_from_patterns_and_not_from_parameters():
    """Types and keys of nodes and relationships are registered; fields of parameters and calls are not."""
    names = packaged_names()
    assert {"IN_SESSION", "CAUSED_BY", "SUPERSEDES"} <= set(names.relationship_types)
    assert {"key", "tenant_id", "sequence", "situation_key"} <= set(names.property_keys)
    assert not {"entity_keys", "index", "similarity"} & set(names.property_keys)
