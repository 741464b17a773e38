"""The examples in the docstrings of the public API run on the real server, each in a tenant of its own."""

import ast
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent

import pytest

import hmxgraph.api

API = Path(hmxgraph.api.__file__).parent
DOCUMENTED = ast.ClassDef | ast.FunctionDef
START = "Example::\n"


def examples() -> Iterator[tuple[str, str]]:
    """Yield the name of each class or method with an example, and its code."""
    for path in sorted(API.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, DOCUMENTED) and START in (documentation := cleandoc(ast.get_docstring(node) or "")):
                yield f"{path.stem}.{node.name}", dedent(documentation.partition(START)[2])


EXAMPLES = dict(examples())


def test_examples_are_found():
    """Where a caller begins, there is an example."""
    assert {"packs.pack", "recording.record", "recording.ingest", "sessions.RecordedSession"} <= EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(graph, name):
    """An example of a docstring runs as it stands."""
    exec(compile(EXAMPLES[name], name, "exec"), {"graph": graph})  # noqa: S102 - our own docstrings
