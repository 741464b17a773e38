"""The data of the comparison: items to keep, and questions with the items that answer them."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

ANSWERABLE = (1, 2, 3, 4)  # the fifth category of the conversations has no answer


@dataclass(frozen=True, eq=False)
class Item:
    """One text to keep, and the HMX event that it is."""

    item_id: str
    session_id: str
    speaker: str
    text: str
    at: datetime
    event: dict[str, Any] = field(repr=False)

    @cached_property
    def line(self) -> str:
        """What every system is given, and what a hit costs."""
        return f"[{self.at:%Y-%m-%d}] {self.speaker}: {self.text}"


@dataclass(frozen=True)
class Question:
    """A question and the items that hold its answer."""

    text: str
    gold: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """One memory: its items, and what is asked of it."""

    name: str
    items: list[Item]
    questions: list[Question]


def talks(folder: Path, most: int | None, every: int) -> list[Corpus]:
    """Conversations or chats: the *most* shortest of *folder*, and each *every*-th of their questions."""
    asked = json.loads((folder / "questions.json").read_bytes())
    answerable = [each for each in asked if each.get("category", 1) in ANSWERABLE]
    corpora = [_talk(path, answerable, every) for path in sorted(folder.glob("*.ndjson.gz"))]
    return sorted(corpora, key=lambda corpus: len(corpus.items))[:most]


def _talk(path: Path, asked: Sequence[dict[str, Any]], every: int) -> Corpus:
    items = [_item(json.loads(line)) for line in gzip.decompress(path.read_bytes()).splitlines()]
    name = items[0].event["tenant_id"]
    mine = [each for each in asked if each["tenant_id"] == name and each["evidence"]][::every]
    return Corpus(name, items, [Question(each["question"], frozenset(each["evidence"])) for each in mine])


def _item(event: dict[str, Any]) -> Item:
    at = datetime.fromisoformat(event["timestamp"])
    content = event["content"]
    speaker = event.get("source") or content.get("role") or event["agent_id"]
    return Item(event["event_id"], event["session_id"], speaker, content["text"], at, event)


def passages(folder: Path, name: str, every: int) -> Corpus:
    """The passages of a multi-hop data set (``musique`` or ``hotpotqa``), and each *every*-th question."""
    corpus, asked = (_zipped(folder / f"{name}_train{part}.json.gz") for part in ("_corpus", ""))
    if name == "hotpotqa":
        texts = [(title, "".join(sentences)) for title, sentences in corpus.items()]
        gold = [{(title, "".join(corpus[title])) for title, _ in each["supporting_facts"]} for each in asked]
    else:
        texts = [(each["title"], each["text"]) for each in corpus]
        supporting = [[part for part in each["paragraphs"] if part["is_supporting"]] for each in asked]
        gold = [{(part["title"], part["paragraph_text"]) for part in parts} for parts in supporting]
    places = {text: str(place) for place, text in enumerate(texts)}
    pairs = list(zip(asked, gold, strict=True))[::every]
    questions = [Question(each["question"], frozenset(places[text] for text in texts)) for each, texts in pairs]
    return Corpus(name, list(_observations(texts)), questions)


def _observations(texts: Sequence[tuple[str, str]]) -> Iterator[Item]:
    for place, (title, text) in enumerate(texts):
        event = {
            "hmx_version": "HMX-1.0",
            "event_id": str(place),
            "event_type": "observation",
            "agent_id": "reader",
            "tenant_id": "passages",
            "session_id": f"passage-{place}",
            "timestamp": "2026-03-14T03:00:00.000Z",
            "sequence": 0,
            "content": {"title": title, "text": text},
            "metadata": {},
        }
        at = datetime.fromisoformat(event["timestamp"])
        yield Item(str(place), event["session_id"], title, text, at, event)


@dataclass(frozen=True)
class Beliefs:
    """Beliefs of a person, and cases: a query, its scope, and the beliefs that should come back."""

    beliefs: list[dict[str, Any]]
    cases: list[dict[str, Any]]

    @staticmethod
    def expected(case: dict[str, Any]) -> set[str]:
        """The beliefs that a case asks for."""
        parts = case["expect"].values()
        return {name for part in parts for key in ("mustInclude", "shouldOnlyInclude") for name in part.get(key, ())}


def beliefs(folder: Path) -> Beliefs:
    """The beliefs and cases of PrecisionMemBench."""
    return Beliefs(*(json.loads((folder / f"{name}.json").read_bytes()) for name in ("beliefs", "cases")))


def _zipped(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))
