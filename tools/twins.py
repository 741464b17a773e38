"""Write ``hmxgraph/knowledge/awaitable`` from ``hmxgraph/knowledge/plain``: two faces, one text.

Every method of a plain module performs a plan; its asynchronous twin differs by the words ``async`` and ``await``.
``make twins`` writes them, the tests fail when they are out of step. What differs by more is written by hand.
"""

import re
import subprocess
import sys
from pathlib import Path

PLAIN = Path(__file__).parents[1] / "hmxgraph" / "knowledge" / "plain"
AWAITABLE = PLAIN.parent / "awaitable"
BASES = ("Face", "SharedWork")
BY_HAND = frozenset({"__init__.py", "face.py", "recording.py"})


def twin(plain: str, module: str) -> str:
    """The asynchronous text of a plain module's text."""
    text = re.sub(r'\A""".*?"""', f'"""Asynchronous twin of ``knowledge.plain.{module}``."""', plain, flags=re.DOTALL)
    text = text.replace("knowledge.plain.", "knowledge.awaitable.").replace(
        f"twin of ``knowledge.awaitable.{module}``", f"twin of ``knowledge.plain.{module}``"
    )
    text = _methods_that_perform(text)
    text = re.sub(r"self\._(perform|beside)\(", r"await self._\1(", text)
    text = re.sub(rf"\b({'|'.join(BASES)})\b", r"Async\1", text)
    text = re.sub(r"\bConnection\b", "AsyncConnection", text)
    text = text.replace("self._connection = connection", "self._opened: AsyncConnection | None = connection")
    return re.sub(r"^class (?!Async)(\w+\(Async\w+\))", r"class Async\1", text, flags=re.MULTILINE)


def _methods_that_perform(text: str) -> str:
    """Methods become coroutines when their body performs something."""
    parts = re.split(r"(?m)^(?=    def |    @|def |class )", text)
    return "".join(
        part.replace("    def ", "    async def ", 1) if "self._perform(" in part else part for part in parts
    )


def in_step(name: str) -> str:
    """What the awaitable module of this name should hold, formatted as the project is."""
    written = twin((PLAIN / name).read_text(), Path(name).stem)
    ruff = [str(Path(sys.executable).parent / "ruff")]
    named = ["--stdin-filename", str(AWAITABLE / name)]
    sorted_imports = subprocess.run(
        [*ruff, "check", "--quiet", "--fix", "--select", "I", *named, "-"],
        input=written,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return subprocess.run(
        [*ruff, "format", "--quiet", *named, "-"], input=sorted_imports, capture_output=True, text=True, check=True
    ).stdout


def names() -> list[str]:
    """The modules that have a written twin."""
    return sorted(path.name for path in PLAIN.glob("*.py") if path.name not in BY_HAND)


if __name__ == "__main__":
    for each in names():
        (AWAITABLE / each).write_text(in_step(each))
