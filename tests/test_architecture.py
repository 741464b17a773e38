"""Architecture: imports point one way, pure layers stay pure, and every statement lives in a file of ``cypher/``.

Each test walks one parsed tree of the package and names every fault at once. ``python tests/test_architecture.py``
prints the import graph of the layers.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from hmxgraph.graph.plan import Query, parse, query, query_names

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "hmxgraph"
PURE = ("formats", "ingest", "extraction", "compiler", "recall", "fingerprint", "records")
BELOW_PURE = ("errors", "protocol", "text")
MAY_IMPORT = {
    "errors": set(),
    "engine": {"errors"},
    "demo": set(),
    "protocol": {"errors"},
    "text": {"errors", "protocol"},
    **{layer: set(BELOW_PURE) for layer in PURE},
    "graph": {*BELOW_PURE, *PURE},
    "api": {*BELOW_PURE, *PURE, "graph", "engine"},
    "adapters": {*BELOW_PURE, "formats", "api"},
    "server": {*BELOW_PURE, *PURE, "graph", "engine", "api"},
    "cli": {*BELOW_PURE, *PURE, "graph", "engine", "api", "demo", "adapters", "server"},
    # Outermost, like an adapter: it runs the kit's cases against hmxgraph as against any implementation.
    "conformance": {*BELOW_PURE, "ingest", "graph", "api"},
}
FRONT_DOOR = {"__init__", "__main__"}
IMPURE_MODULES = {"time", "random", "secrets", "os", "socket", "subprocess", "neo4j", "asyncio", "threading"}
CLOCK_CALLS = {"now", "today", "utcnow"}
# Modules of pure layers that may do I/O: sources read files and pipes, streams read from brokers.
READS_THE_OUTSIDE = ("ingest.sources", "ingest.streams")
# Where statements are sent, and where saved queries convert the driver's value types to plain ones.
DRIVER_MODULES = {"graph.connection", "graph.driver", "graph.exploring"}
CYPHER = re.compile(r"\b(MATCH \(|MERGE \(|UNWIND \$|OPTIONAL MATCH|DETACH DELETE|CREATE \(\w*:|RETURN \w+\.\w+)")
# Python before 3.11.5 matches these differently from later releases (CPython issue 106052).
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
# Statements that name no tenant: the schema, the server, and the key that says which tenant a request is for.
EXEMPT_FROM_TENANT = (
    "schema:",
    "schema_version/",
    "schema_upgrades/",
    "health/",
    "databases/",
    "access/find",
    "embeddings/index",
)


@dataclass(frozen=True)
class Module:
    """One Python file: its name inside the package, its source and what is parsed from it."""

    name: str
    source: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree."""
        return list(ast.walk(ast.parse(self.source)))

    @property
    def layer(self) -> str:
        """The top-level package or module that this belongs to."""
        return self.name.split(".", maxsplit=1)[0]

    @property
    def is_pure(self) -> bool:
        """Whether the module must not read a clock, the environment or random numbers, nor do I/O."""
        return self.layer in {"protocol", "text", *PURE} and not self.name.startswith(READS_THE_OUTSIDE)

    @cached_property
    def imports(self) -> set[str]:
        """Dotted names of everything imported, also inside functions."""
        names: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        return names

    @property
    def own_imports(self) -> set[str]:
        """Imports from the package, without its name in front."""
        return {name.removeprefix("hmxgraph.") for name in self.imports if name.startswith("hmxgraph.")}

    @property
    def literals(self) -> list[str]:
        """String literals, docstrings included; byte literals decoded."""
        values = [node.value for node in self.nodes if isinstance(node, ast.Constant)]
        texts = [value for value in values if isinstance(value, str)]
        return texts + [str(value, "latin-1") for value in values if isinstance(value, bytes)]


def modules() -> list[Module]:
    """All modules of the package except ``FRONT_DOOR``."""
    paths = (path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem not in FRONT_DOOR)
    return [Module(module_name(path), path.read_text(encoding="utf-8")) for path in paths]


def module_name(path: Path) -> str:
    """The dotted name of a file inside the package: ``recall.pack`` for ``recall/pack.py``."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def forbidden_imports(module: Module) -> Iterator[str]:
    """Imports of layers that do not stand below the module's own."""
    allowed = MAY_IMPORT[module.layer] | {module.layer}
    for name in sorted(module.own_imports):
        if name.split(".")[0] not in allowed and name != "__version__":
            yield f"{module.name} imports {name}"


def private_imports(module: Module) -> Iterator[str]:
    """Imports of an adapter from private modules: adapters use the public API, as any caller does."""
    if module.layer == "adapters":
        for name in sorted(module.own_imports):
            if any(part.startswith("_") for part in name.split(".")) and not name.startswith("adapters."):
                yield f"{module.name} imports {name}"


def impurities(module: Module) -> Iterator[str]:
    """Imports and calls that a pure layer must not have: clocks, randomness, environment, processes, network."""
    if module.is_pure:
        yield from (
            f"{module.name} imports {name}"
            for name in sorted(module.imports)
            if name.split(".", maxsplit=1)[0] in IMPURE_MODULES
        )
        yield from (f"{module.name} calls {call}()" for call in clock_calls(module))


def clock_calls(module: Module) -> list[str]:
    """Calls that read the clock."""
    calls = [node.func for node in module.nodes if isinstance(node, ast.Call)]
    return [call.attr for call in calls if isinstance(call, ast.Attribute) and call.attr in CLOCK_CALLS]


def driver_imports(module: Module) -> Iterator[str]:
    """Imports of the database driver outside the modules that talk to it."""
    names = sorted(name for name in module.imports if name.split(".", maxsplit=1)[0] == "neo4j")
    if names and module.name not in DRIVER_MODULES:
        yield f"{module.name} imports {names[0]}"


def import_circles(parsed: list[Module]) -> list[str]:
    """A cycle of imports among the package's modules, if there is one."""
    names = {module.name for module in parsed}
    needs = {module.name: set(targets(module, names)) for module in parsed}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        return [" -> ".join(circle.args[1])]
    return []


def targets(module: Module, names: set[str]) -> Iterator[str]:
    """Modules of the package that *module* imports from."""
    for name in module.own_imports:
        target = name if name in names else name.rpartition(".")[0]
        if target in names and target != module.name:
            yield target


def literal_faults(module: Module) -> Iterator[str]:
    """Strings that hold Cypher, or an expression that Python versions match differently."""
    for text in module.literals:
        if CYPHER.search(text):
            yield f"{module.name} holds Cypher: {text[:60]!r}"
        if POSSESSIVE_GROUP.search(text):
            yield f"{module.name} repeats a group possessively: {text[:60]!r}"


def form_faults(packaged: Query) -> Iterator[str]:
    """What is wrong with the form of a packaged statement."""
    if not packaged.description:
        yield f"{packaged.name} has no purpose in its header"
    if packaged.name.startswith(EXEMPT_FROM_TENANT):
        return
    if not packaged.parameters & {"tenant_id", "tenant_key", "scope"}:
        yield f"{packaged.name} does not name its tenant"
    if packaged.mode == "read" and returns_several_rows(packaged) and not ends_in_order(packaged.text):
        yield f"{packaged.name} returns rows without a total order"


def returns_several_rows(packaged: Query) -> bool:
    """Whether a read may return more than one row, by its header."""
    return "one row" not in packaged.description.lower() and packaged.name != "tenants/state"


def ends_in_order(text: str) -> bool:
    """Whether the last clauses of a statement order its rows."""
    return "ORDER BY" in text[text.rfind("RETURN") :]


def faults(check, parsed: list[Module]) -> list[str]:
    """Every fault that *check* finds in the package."""
    return [fault for module in parsed for fault in check(module)]


def room_imports(parsed: list[Module]) -> str:
    """The import graph of the layers, a line each: layer, layers it imports, number of modules that do."""
    pairs = Counter(
        (module.layer, layer)
        for module in parsed
        for layer in {name.split(".")[0] for name in module.own_imports} - {module.layer}
        if layer in MAY_IMPORT
    )
    return "\n".join(
        f"{layer:12} <- " + ", ".join(f"{below} ({n})" for (above, below), n in sorted(pairs.items()) if above == layer)
        for layer in MAY_IMPORT
    )


@pytest.fixture(scope="module", name="parsed")
def parsed_package() -> list[Module]:
    """The whole package, parsed once."""
    return modules()


def test_imports_point_one_way(parsed):
    """A layer imports only layers below it, and no modules import each other in a cycle."""
    assert faults(forbidden_imports, parsed) + import_circles(parsed) == [], room_imports(parsed)


def test_pure_layers_are_pure(parsed):
    """Pure layers see no clock, environment, randomness, process or network."""
    assert faults(impurities, parsed) == []


def test_adapters_use_the_front_door(parsed):
    """No adapter imports a private module."""
    assert faults(private_imports, parsed) == []


def test_the_driver_has_one_place(parsed):
    """Only ``DRIVER_MODULES`` import the database driver."""
    assert faults(driver_imports, parsed) == []


def test_no_cypher_in_python(parsed):
    """No Python file holds a statement, nor an expression that differs between Python versions."""
    assert faults(literal_faults, parsed) == []


def test_statements_have_their_form():
    """Every statement has a purpose, a mode, columns, its tenant, and an order where it returns several rows."""
    assert [fault for name in query_names() for fault in form_faults(query(name))] == []


def test_every_statement_is_used(parsed):
    """Every statement is bound by name somewhere, or is a saved query or part of the schema."""
    bound = {text for module in parsed for text in module.literals}
    unused = [
        name
        for name in query_names()
        if not name.startswith(("explore/", "schema:", "schema_upgrades/")) and name not in bound
    ]
    assert unused == []


def test_the_rules_can_fail():
    """Each rule finds a planted fault."""
    assert [*forbidden_imports(Module("compiler.x", "from hmxgraph.graph.plan import Plan"))]
    assert [*private_imports(Module("adapters.x", "from hmxgraph.api._base import Face"))]
    assert [*impurities(Module("recall.x", "import time"))]
    assert [*impurities(Module("recall.x", "datetime.now(UTC)"))]
    assert [*driver_imports(Module("graph.records", "from neo4j import GraphDatabase"))]
    first, second = Module("text.a", "from hmxgraph.text.b import x"), Module("text.b", "from hmxgraph.text import a")
    assert import_circles([first, second])
    assert [*literal_faults(Module("graph.x", 'QUERY = "MATCH (n) RETURN n"'))]
    assert [*literal_faults(Module("graph.x", 'A = "(?:ab)*+"'))]
    assert [*literal_faults(Module("graph.x", 'A = rb"(?:ab){2,}+c"'))]
    with pytest.raises(ValueError, match="header"):
        parse("x/y", "MATCH (n) RETURN n")
    head = "// Purpose.\n//\n// mode: read\n// row:  a\n"
    assert [*form_faults(parse("x/y", head + "MATCH (n) RETURN n.a AS a ORDER BY a"))]
    assert [*form_faults(parse("x/y", head + "MATCH (n {t: $tenant_id}) RETURN n.a AS a"))]
    assert [
        *form_faults(parse("x/y", "// mode: read\n// row:  a\nMATCH (n {t: $tenant_id}) RETURN n.a AS a ORDER BY a"))
    ]


if __name__ == "__main__":
    print(room_imports(modules()))  # noqa: T201
