"""The rooms keep their order, and every statement lives in a file of ``cypher/``."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from hmxgraph.graph.plan import Query, parse, query, query_names

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "hmxgraph"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE})
PURE = ("ingest", "extraction", "compiler", "recall", "fingerprint", "tasks")
MAY_IMPORT = {
    "errors": set(),
    "protocol": {"errors"},
    "text": {"errors", "protocol"},
    **{room: {"errors", "protocol", "text"} for room in PURE},
    "engine": {"errors"},
    "demo": set(),
    "graph": {"errors", "protocol", "text", *PURE},
    "knowledge": {"errors", "protocol", "text", *PURE, "graph", "engine"},
    "cli": {"errors", "protocol", "text", *PURE, "graph", "engine", "knowledge", "demo"},
}
IMPURE = {"time", "random", "secrets", "os", "socket", "subprocess", "neo4j", "asyncio", "threading"}
CLOCK = {"now", "today", "utcnow"}
# Sources read what the caller hands them; streams are the wire to a broker.
IMPURE_BY_DESIGN = {("ingest", "sources"), ("ingest", "streams")}
CYPHER = re.compile(r"\b(MATCH \(|MERGE \(|UNWIND \$|OPTIONAL MATCH|DETACH DELETE|CREATE \(\w*:|RETURN \w+\.\w+)")
# Python before 3.11.5 finds other things by it than later ones do (CPython issue 106052).
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
EXEMPT_FROM_TENANT = ("schema/", "schema_steps/", "health/", "databases/")


def modules() -> list[tuple[str, Path]]:
    """Each module of the package with the room it stands in."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path) for path in paths]


def forbidden_imports(room: str, source: str) -> list[str]:
    """The imports in *source* that a module of *room* may not have."""
    rooms = {name for name in imported(source) if name.startswith("hmxgraph.")}
    wrong = [name for name in rooms if name.split(".")[1] not in MAY_IMPORT[room] | {room}]
    return sorted(wrong + [name for name in imported(source) if impure(room, name)])


def impure(room: str, name: str) -> bool:
    """Whether *room* must not know *name*: pure rooms see no clock, environment, randomness or network."""
    return room in {"protocol", "text", *PURE} and name.split(".", maxsplit=1)[0] in IMPURE


def clocks_read(source: str) -> list[str]:
    """The calls in *source* that ask what time it is."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.attr for call in calls if isinstance(call, ast.Attribute) and call.attr in CLOCK]


def imported(source: str) -> set[str]:
    """The dotted names of the modules that *source* imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {
                f"{node.module}.{alias.name}" if node.module == "hmxgraph" else node.module for alias in node.names
            }
    return names


def literals(source: str) -> list[str]:
    """The string literals in *source*, docstrings included; what is in bytes, as text."""
    values = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    texts = [value for value in values if isinstance(value, str)]
    return texts + [str(value, "latin-1") for value in values if isinstance(value, bytes)]


def cypher_words(source: str) -> list[str]:
    """The string literals in *source* that hold Cypher."""
    return [text for text in literals(source) if CYPHER.search(text)]


def needs(folder: Path) -> dict[str, set[str]]:
    """For each file and folder in *folder* those beside it that it imports from."""
    beside = ".".join(folder.relative_to(ROOT).parts) + "."
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).parts[0].removesuffix(".py")
        names = imported(path.read_text(encoding="utf-8"))
        others = {name.removeprefix(beside).split(".")[0] for name in names if name.startswith(beside)}
        found.setdefault(own, set()).update(others - {own})
    return found


def possessive_groups(source: str) -> list[str]:
    """The string literals in *source* that repeat a group possessively, as regular expressions can."""
    return [text for text in literals(source) if POSSESSIVE_GROUP.search(text)]


def faults(packaged: Query) -> list[str]:
    """What is wrong with the form of a packaged statement."""
    wrong = [] if packaged.description else ["no purpose in the header"]
    if packaged.name.startswith(EXEMPT_FROM_TENANT):
        return wrong
    if not packaged.parameters & {"tenant_id", "tenant_key", "scope"}:
        wrong.append("does not name its tenant")
    if packaged.mode == "read" and several_rows(packaged) and not ends_in_order(packaged.text):
        wrong.append("rows without a total order")
    return wrong


def several_rows(packaged: Query) -> bool:
    """Whether a read can answer with more than one row, by what its header says."""
    return "one row" not in packaged.description.lower() and packaged.name != "tenants/state"


def ends_in_order(text: str) -> bool:
    """Whether the statement's last clauses order its rows."""
    return "ORDER BY" in text[text.rfind("RETURN") :]


@pytest.mark.parametrize(("room", "path"), modules(), ids=lambda value: getattr(value, "name", value))
def test_imports_point_one_way(room, path):
    """A room imports only rooms that stand before it, and pure rooms nothing that changes by itself."""
    if path.parent == PACKAGE and path.stem in {"__init__", "__main__"}:
        return
    if tuple(path.relative_to(PACKAGE).parts[:2]) in {(a, b) for a, b in IMPURE_BY_DESIGN}:
        return
    assert forbidden_imports(room, path.read_text(encoding="utf-8")) == []
    assert room not in {"protocol", "text", *PURE} or clocks_read(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: ".".join(folder.relative_to(PACKAGE).parts))
def test_what_stands_beside_each_other_imports_one_way(folder):
    """No file or folder of a room needs another that needs it."""
    assert list(TopologicalSorter(needs(folder)).static_order())


@pytest.mark.parametrize(("room", "path"), modules(), ids=lambda value: getattr(value, "name", value))
def test_no_cypher_in_python(room, path):
    """No Python file holds a statement."""
    assert cypher_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("room", "path"), modules(), ids=lambda value: getattr(value, "name", value))
def test_expressions_find_the_same_in_every_python(room, path):
    """No regular expression repeats a group possessively."""
    assert possessive_groups(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", query_names())
def test_statement_has_its_form(name):
    """Every statement has a purpose, a mode, columns, its tenant, and an order where it answers with rows."""
    assert faults(query(name)) == []


def test_every_statement_is_used():
    """No statement lies unused: each is bound by name, or is an exploring query or a schema step."""
    python = "\n".join(path.read_text(encoding="utf-8") for _, path in modules())
    unused = [
        name for name in query_names() if not name.startswith(("explore/", "schema/")) and f'"{name}"' not in python
    ]
    assert unused == []


def test_the_rules_can_fail():
    """Found are: a forbidden import, Cypher in Python, a possessive group, a missing header, tenant or order."""
    assert forbidden_imports("compiler", "from hmxgraph.graph.plan import Plan")
    assert forbidden_imports("recall", "import time")
    assert clocks_read("datetime.now(UTC)")
    assert "ranking" in needs(PACKAGE / "recall")["packing"]
    assert cypher_words('QUERY = "MATCH (n) RETURN n"')
    assert possessive_groups('A = "(?:ab)*+"')
    assert possessive_groups('A = rb"(?:ab){2,}+c"')
    with pytest.raises(ValueError, match="header"):
        parse("x/y", "MATCH (n) RETURN n")
    head = "// Purpose.\n//\n// mode: read\n// row:  a\n"
    assert "does not name its tenant" in faults(parse("x/y", head + "MATCH (n) RETURN n.a AS a ORDER BY a"))
    assert "rows without a total order" in faults(parse("x/y", head + "MATCH (n {t: $tenant_id}) RETURN n.a AS a"))
    assert faults(parse("x/y", "// mode: read\n// row:  a\nMATCH (n {t: $tenant_id}) RETURN n.a AS a ORDER BY a"))
