"""From the last words of a server that died while starting to the error that says the way out."""

import re
from pathlib import Path
from typing import NamedTuple

from hmxgraph.engine import refusals
from hmxgraph.errors import EngineError, JarDamaged, JavaMissing, NotEnoughMemory, PortTaken


class Clue(NamedTuple):
    """Words that tell one cause from all others."""

    pattern: str
    kind: type[EngineError]
    way_out: str


_CLUES = (
    Clue(
        # The second: Neo4j finds no room for its logs, would have the system database read-only, and may not.
        r"no space left on device|for 'server\.databases\.read_only'",
        EngineError,
        "free 300 MB on the disk of the data home and run the same command again, or set HMXGRAPH_HOME to another disk",
    ),
    Clue(
        r"already in use",
        PortTaken,
        "run the same command again with HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT unset: free ports are then chosen",
    ),
    Clue(r"java heap space", NotEnoughMemory, "raise HMXGRAPH_HEAP (256m do), or unset it"),
    Clue(
        r"could not reserve enough space|invalid (initial|maximum) heap|outofmemory|physical memory|insufficient mem",
        NotEnoughMemory,
        "lower HMXGRAPH_HEAP and HMXGRAPH_PAGECACHE, or free memory",
    ),
    Clue(
        r"locked by another process",
        EngineError,
        "another Neo4j works on this data (in a container, or under another path): stop that one",
    ),
    Clue(r"UnsupportedClassVersionError", JavaMissing, "set HMXGRAPH_JAVA to a newer Java, or unset it"),
    Clue(
        r"ClassNotFoundException|NoClassDefFoundError|ZipException|could not find or load main class",
        JarDamaged,
        "run the same command again; if HMXGRAPH_JARS is set, copy its jars again",
    ),
)
_LINES = 15


def explained(words: str, log: Path) -> EngineError:
    """The error that fits *words*: of a known kind with the telling line, else with the last lines.

    >>> print(explained("Caused by: java.net.BindException: Address already in use", Path("console.log")).reason)
    the local server ended while starting: Address already in use

    """
    for clue in _CLUES:
        telling = [line for line in words.splitlines() if re.search(clue.pattern, line, re.IGNORECASE)]
        if telling:
            return clue.kind(f"the local server ended while starting: {_plain(telling[-1])}", clue.way_out)
    return refusals.died(log, without_trace(words))


def _plain(line: str) -> str:
    """A line of Java's without time, level and class."""
    return re.sub(r"^(Caused by: [\w.$]+: |[\d :.+-]+ [A-Z]+ +)", "", line.strip())


def without_trace(words: str) -> str:
    """The last lines of *words*, Java's stack frames left out."""
    told = [line for line in words.splitlines() if not re.match(r"\s+at |\s+\.\.\. \d+ more", line)]
    return "\n".join(told[-_LINES:])
