"""Measure each system on the same data, and write the results as JSON.

    python -m benchmarks --data FOLDER --out benchmarks/results.json --sample

A system that fails is a row with its error, not the end of the run. `python -m benchmarks.report` makes the table.
"""

import argparse
import json
import logging
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

# Before any of the systems is imported: no telemetry, no downloads, and the size of the shared vectors.
os.environ.update(
    MEM0_TELEMETRY="False",
    GRAPHITI_TELEMETRY_ENABLED="false",
    NEO4J_AGENT_MEMORY_TELEMETRY="false",
    EMBEDDING_DIM="384",
    TOKENIZERS_PARALLELISM="false",
    HF_HUB_OFFLINE="1",
    OPENAI_API_KEY="none",
)

from benchmarks import data, measures, neo4j_systems, systems
from benchmarks.systems import Place, System
from benchmarks.vectors import NAME, Vectors
from hmxgraph.text.terms import DEFAULT_ENCODING, counter

SYSTEMS: tuple[type[System], ...] = (
    systems.MostRecent,
    systems.BM25S,
    systems.Tantivy,
    systems.Dense,
    systems.LangGraphStore,
    systems.LlamaIndexFusion,
    systems.Mem0,
    systems.LightRAG,
    neo4j_systems.McpNeo4jMemory,
    neo4j_systems.Neo4jGraphRAG,
    neo4j_systems.Neo4jAgentMemory,
    neo4j_systems.Graphiti,
    neo4j_systems.HmxgraphEpisodes,
    neo4j_systems.Hmxgraph,
)


def main() -> None:
    """Run what the command line asks for."""
    arguments = _arguments()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    parts = _data(arguments.data, sample=arguments.sample)
    vectors = Vectors(arguments.cache)
    vectors.prepare(_texts(parts))
    report: dict[str, Any] = {"conditions": _conditions(parts, vectors, sample=arguments.sample), "systems": []}
    with tempfile.TemporaryDirectory(prefix="benchmarks-", ignore_cleanup_errors=True) as folder:
        place = Place(*_server(), vectors, counter(), Path(folder))
        for kind in _chosen(arguments.systems):
            report["systems"].append(_row(kind, place, parts))
            arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with conversations, assistant-chats, ...")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results.json"), help="where the results go")
    parser.add_argument("--cache", type=Path, default=Path(".benchmarks"), help="where model and vectors are kept")
    parser.add_argument("--systems", default="", help="parts of names, separated by commas; all without it")
    parser.add_argument("--sample", action="store_true", help="a part of the data: about 20 minutes on two cores")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    return arguments


def _data(folder: Path, *, sample: bool) -> dict[str, Any]:
    """All data, or of each kind a part that was chosen by size and position alone."""
    most, every = (3, 3) if sample else (None, 1)
    return {
        "conversations": data.talks(folder / "conversations", most, every),
        "chats": data.talks(folder / "assistant-chats", most, 1),
        "multi-hop": data.passages(folder / "passages", "hotpotqa", 2 if sample else 1),
        "beliefs": data.beliefs(folder / "precision"),
    }


def _texts(parts: dict[str, Any]) -> Iterator[str]:
    """Every text that a system embeds."""
    for corpus in (*parts["conversations"], *parts["chats"], parts["multi-hop"]):
        yield from (item.line for item in corpus.items)
        yield from (question.text for question in corpus.questions)
    yield from (measures.belief_item(each).line for each in parts["beliefs"].beliefs)
    yield from (case["query"] for case in parts["beliefs"].cases)


def _conditions(parts: dict[str, Any], vectors: Vectors, *, sample: bool) -> dict[str, Any]:
    """What has to be known to read the figures."""
    talks = {name: parts[name] for name in ("conversations", "chats")}
    counts = {
        name: f"{len(corpora)} with {sum(len(c.items) for c in corpora)} items and "
        f"{sum(len(c.questions) for c in corpora)} questions"
        for name, corpora in talks.items()
    }
    hops, cases = parts["multi-hop"], parts["beliefs"]
    return {
        "sample": sample,
        **counts,
        "multi-hop": f"{hops.name}: {len(hops.items)} passages, {len(hops.questions)} questions",
        "beliefs": f"{len(cases.beliefs)} beliefs, {len(cases.cases)} cases",
        "vectors": f"{NAME} for every system that embeds, made beforehand{_rate(vectors)}",
        "tokens": DEFAULT_ENCODING,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": [round(each, 1) for each in os.getloadavg()],
        "day": time.strftime("%Y-%m-%d"),
    }


def _rate(vectors: Vectors) -> str:
    """How fast the missing vectors were made; nothing if all were there."""
    return f" ({vectors.rate:.0f} texts/s)" if vectors.rate else ""


def _server() -> tuple[str, str, str]:
    """A Neo4j to write to: ``HMXGRAPH_URI``, else the local server of ``HMXGRAPH_HOME``."""
    if uri := os.environ.get("HMXGRAPH_URI"):
        return uri, os.environ.get("HMXGRAPH_USER", "neo4j"), os.environ["HMXGRAPH_PASSWORD"]
    from hmxgraph import engine

    server = engine.ensure()
    return server.uri, server.user, server.password


def _chosen(names: str) -> Sequence[type[System]]:
    parts = [part.strip().lower() for part in names.split(",") if part.strip()]
    return [kind for kind in SYSTEMS if not parts or any(part in kind.name.lower() for part in parts)]


def _row(kind: type[System], place: Place, parts: dict[str, Any]) -> dict[str, Any]:
    """Everything about one system; what fails is noted with its reason."""
    make, began = partial(kind, place), time.perf_counter()
    row: dict[str, Any] = {"name": kind.name, "package": kind.package, "how": kind.how}
    work = {
        "conversations": lambda: measures.recall(
            make, parts["conversations"], measures.CONVERSATION_BUDGETS, place.tokens
        ),
        "chats": lambda: measures.recall(make, parts["chats"], measures.CHAT_BUDGETS, place.tokens),
        "multi_hop": lambda: measures.best_five(make, parts["multi-hop"]),
        "precision": lambda: measures.precision(make, parts["beliefs"]),
        "isolation": lambda: measures.isolation(make, parts["conversations"]),
    }
    for name, measure in work.items():
        try:
            row["version"] = kind(place).version
            row[name] = measure()
        except Exception as error:  # noqa: BLE001 - a foreign library may raise anything; the table shows it
            row[name] = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(f"{time.perf_counter() - began:6.0f} s  {kind.name}: {name} {row[name]}", file=sys.stderr, flush=True)
    row["seconds"] = round(time.perf_counter() - began)
    return row


if __name__ == "__main__":
    main()
