"""The public names as a user's code has them: checked by mypy in ``make lint``, never run."""

import asyncio
from collections.abc import Sequence

import hmxgraph


def store(graph: hmxgraph.KnowledgeGraph, events: Sequence[hmxgraph.Event]) -> tuple[hmxgraph.Rejection, ...]:
    report: hmxgraph.IngestReport = graph.ingest(events)
    memory: hmxgraph.Memory = graph.remember("Always verify the rollout", kind="policy")
    compiled: hmxgraph.CompileReport = graph.compile()
    forgotten: hmxgraph.ForgetReport = graph.forget(session_id="s1", dry_run=True)
    print(memory, compiled, forgotten)
    return report.rejected


def record(graph: hmxgraph.KnowledgeGraph) -> tuple[hmxgraph.SourceReport, ...]:
    report: hmxgraph.RecordReport = graph.record([{"role": "user", "content": "Deploy staging"}], session_id="s1")
    receipt: hmxgraph.Receipt = graph.append("message", {"role": "user", "text": "Deploy"}, session_id="s1")
    greeting = {"event_type": "message", "content": {"role": "user", "text": "Hello"}}
    receipts: tuple[hmxgraph.Receipt, ...] = graph.append_all([greeting, greeting], session_id="s1", agent_id="builder")
    session: hmxgraph.RecordedSession
    with graph.session(agent_id="builder") as session:
        receipts += session.append_all([greeting])

        @session.tool
        def double(number: int) -> int:
            return 2 * number

        print(double(4), session.record([{"role": "assistant", "content": "8"}]).receipts)
    print(report.rejected, receipt.status, receipts)
    return graph.ingest("~/.claude/projects", format="claude-code").sources


def ask(graph: hmxgraph.KnowledgeGraph) -> tuple[hmxgraph.Entry, ...]:
    pack: hmxgraph.Pack = graph.pack("Deploy the staging environment", budget=2048)
    document: hmxgraph.ContextPack = pack
    dropped: tuple[hmxgraph.DroppedEntry, ...] | None = document.dropped_entries
    suggestion: hmxgraph.Suggestion = graph.suggest(session_id="s1")
    print(dropped, suggestion)
    return pack.entries


def look(graph: hmxgraph.KnowledgeGraph, artifact: hmxgraph.Artifact) -> None:
    recorded: hmxgraph.ArtifactReceipt = graph.record_artifact(artifact)
    page: hmxgraph.ArtifactPage = graph.artifacts(status="active")
    chain: hmxgraph.Chain = graph.chain(artifact.artifact_id)
    conflicts: tuple[hmxgraph.Conflict, ...] = graph.conflicts()
    explanation: hmxgraph.Explanation = graph.explain(artifact.artifact_id)
    rows: hmxgraph.QueryResult = graph.query("explore/tools")
    digest: hmxgraph.MeasuredDigest = graph.digest()
    verified: hmxgraph.VerifyReport = graph.verify()
    print(recorded, page, chain, conflicts, explanation, rows, digest, verified)


def travel(graph: hmxgraph.KnowledgeGraph) -> hmxgraph.Fingerprint:
    envelope: hmxgraph.Envelope = graph.export_fingerprint(tier="compact")
    imported: hmxgraph.ImportReport = graph.import_fingerprint(envelope)
    print(imported)
    return hmxgraph.Fingerprint.parse(envelope.fingerprint)


def share(graph: hmxgraph.KnowledgeGraph) -> hmxgraph.TaskRecord:
    written: hmxgraph.RecordReceipt = graph.tasks.start(goal="Find the leak")
    checkpoints = [{"summary": "Bisected", "next_step": "Fix it"}, {"summary": "Fixed", "next_step": "Test it"}]
    more: tuple[hmxgraph.RecordReceipt, ...] = graph.tasks.progress_all(checkpoints, task_id=written.task_id)
    more += graph.records.create_all([{"artifact_kind": "evidence", "summary": "It leaks"}], task_id=written.task_id)
    task: hmxgraph.TaskView = graph.tasks.get(written.task_id)
    resume: hmxgraph.Resume = graph.tasks.resume(written.task_id)
    hits: hmxgraph.SearchResult = graph.tasks.search("leak")
    claimed: hmxgraph.RecordReceipt = graph.tasks.claim("leak", agent_id="ana", lease=600)
    board: tuple[hmxgraph.TaskEntry, ...] = graph.tasks.list(assignee="ana")
    related: hmxgraph.Grounding = graph.records.find_related("the cache leaks")
    library: hmxgraph.Library = graph.records.find_failures()
    memories: hmxgraph.MemoryResult = graph.memory.search("leak")
    memory: hmxgraph.MemoryView = graph.memory.get("m1")
    record: hmxgraph.RecordView = graph.records.get(written.artifact_id)
    print(more, task, resume, hits, claimed, board, related, library, memories, memory)
    return record.record


def careful() -> str:
    try:
        trust = hmxgraph.TrustPolicy(untrusted=("partner:",))
        with hmxgraph.connect(tenant_id="acme", trust=trust) as graph:
            return graph.pack("Deploy", user_id="ann").text
    except (hmxgraph.StorageUnavailable, hmxgraph.AccessDenied, hmxgraph.EngineError) as error:
        return f"no memory: {error}"
    except hmxgraph.InvalidDocument as error:
        faults: tuple[hmxgraph.Fault, ...] = error.faults
        return "; ".join(map(str, faults))
    except (hmxgraph.NotFound, hmxgraph.InvalidRequest, hmxgraph.PackError, hmxgraph.TaskError) as error:
        return f"asked wrongly: {error}"
    except (hmxgraph.IngestRefused, hmxgraph.LifecycleError, hmxgraph.FingerprintError) as error:
        return f"refused: {error}"
    except (hmxgraph.GraphError, hmxgraph.HmxGraphError) as error:
        return str(error)


async def asynchronous() -> str:
    graph: hmxgraph.AsyncKnowledgeGraph
    async with hmxgraph.connect_async(tenant_id="acme") as graph:
        pack = await graph.pack("Deploy")
        return pack.text


if __name__ == "__main__":
    asyncio.run(asynchronous())
