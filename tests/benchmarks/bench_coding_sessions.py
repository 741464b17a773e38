"""Leave-one-out on coding sessions: how often the next action is predicted, compared with a trigram model."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pytest

from hmxgraph.compiler.compilation import Model, compile_summaries
from hmxgraph.compiler.profile import DEFAULT_PROFILE
from hmxgraph.compiler.reconcile import BuildContext, reconcile
from hmxgraph.compiler.sessions import SessionReader, summarise
from hmxgraph.compiler.suggest import Guide, suggest
from hmxgraph.formats import claude_code
from hmxgraph.formats.conversion import Origin, Record
from hmxgraph.protocol.events import Event
from tests.benchmarks.bench_compiler import Trigram
from tests.shared_data import shared

pytestmark = pytest.mark.bench
AS_OF = 1_780_000_000_000_000


def coding_sessions(tenant_id: str = "coding") -> dict[str, list[Event]]:
    """The sessions of all transcripts, each in order."""
    sessions: defaultdict[str, list[Event]] = defaultdict(list)
    for path in sorted(shared("data", "coding-sessions").rglob("*.jsonl.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        records = (Record(json.loads(line), str(path), number) for number, line in enumerate(lines, 1) if line.strip())
        for outcome in claude_code.convert(records, Origin(time_us=AS_OF)):
            for event in outcome.events:
                sessions[event["session_id"]].append(Event.parse(dict(event) | {"tenant_id": tenant_id}))
    return {name: sorted(events, key=lambda event: event.sequence) for name, events in sorted(sessions.items())}


def learned(train: Sequence[Sequence[Event]]) -> tuple[Model, list[Guide]]:
    """The model compiled from these sessions, and its active artifacts."""
    compiled = compile_summaries(summarise(events) for events in train)
    changes = reconcile([], compiled.drafts, BuildContext("coding", DEFAULT_PROFILE, AS_OF))
    artifacts = [change.artifact for change in changes if change.artifact and change.artifact.status == "active"]
    return Model.of(compiled), [
        Guide(
            str(artifact.artifact_id), artifact.artifact_type, artifact.title, artifact.content,
            artifact.metadata, artifact.confidence, artifact.observed_count or 0,
        )
        for artifact in artifacts
    ]  # fmt: skip


def first_actions(events: Sequence[Event]) -> Iterator[tuple[SessionReader, list[str], list[str]]]:
    """For each event with actions: the reader before it, the earlier actions, and its own actions."""
    reader, before = SessionReader(), list[str]()
    for event in events:
        probe = summarise([event]).actions
        if probe:
            yield reader, before, list(probe)
            before = [*before, *probe]
        reader.add(event)


def test_next_action():
    """The top suggestion beats a trigram model by over 10 points, and the top three beat its top three."""
    sessions = coding_sessions()
    counts: Counter[str] = Counter()
    for held in sessions:
        train = [events for name, events in sessions.items() if name != held]
        model, guides = learned(train)
        trigram = Trigram([summarise(events).actions for events in train])
        for reader, before, actions in first_actions(sessions[held]):
            ranked = [tool.tool for tool in suggest(reader.summary(), model, guides).tools]
            peer = trigram.ranked(before)
            counts["n"] += 1
            counts["1"] += ranked[:1] == actions[:1]
            counts["3"] += actions[0] in ranked[:3]
            counts["peer 1"] += peer[:1] == actions[:1]
            counts["peer 3"] += actions[0] in peer[:3]
    share = {name: 100 * counts[name] / counts["n"] for name in ("1", "3", "peer 1", "peer 3")}
    print(
        f"\nnext action {share['1']:.1f} / {share['3']:.1f}, trigram {share['peer 1']:.1f} / {share['peer 3']:.1f}, "
        f"n={counts['n']}"
    )
    assert share["1"] > share["peer 1"] + 10
    assert share["3"] > share["peer 3"]
