"""Learned states for fingerprints: small ones by hand, large ones by a seeded generator."""

import random

from hmxgraph.fingerprint.behaviour import Behaviour
from hmxgraph.fingerprint.depth import Depth
from hmxgraph.fingerprint.generate import generate
from hmxgraph.fingerprint.groups import select
from hmxgraph.fingerprint.measures import digest_of
from hmxgraph.fingerprint.state import ExportedArtifact, ExportOptions, LearnedState, MemoryCount, ServedPack
from hmxgraph.protocol.canonical import content_hash

NOON = 1_773_457_200_000_000
WORDS = ("deploy", "verify", "rollout", "manifest", "namespace", "staging", "database", "migrate", "cache", "queue")
TOOLS = ("exec", "read_file", "search", "browser")
STATE = {
    "total_parameters": 3,
    "adapted_parameter_count": 2,
    "global_freeze": False,
    "adapted_parameters": [
        {
            "parameter": "min_support",
            "current_value": 3.0,
            "baseline_value": 2.0,
            "delta": 1.0,
            "adaptation_count": 4,
            "frozen": False,
        },
        {
            "parameter": "max_causes",
            "current_value": 50.0,
            "baseline_value": 60.0,
            "delta": -10.0,
            "adaptation_count": 1,
            "frozen": True,
        },
    ],
    "adaptive_schema_version": 1,
}


def policy_content(condition="tables over 1 GB", recommendation="Migrate online", scope=("database",)):
    """A decision policy's content (HMX-A 4.3)."""
    return {
        "condition": condition,
        "recommendation": recommendation,
        "alternatives": [],
        "outcomes": [],
        "scope": list(scope),
    }


def task_content(steps=("Validate", "Apply"), tools=("exec",)):
    """A task schema's content (HMX-A 4.1)."""
    return {
        "steps": [
            {"order": order, "description": step, "tools_used": list(tools), "optional": False}
            for order, step in enumerate(steps, start=1)
        ],
        "preconditions": ["kubeconfig set"],
        "postconditions": ["pods running"],
        "tools_used": list(tools),
        "estimated_complexity": "medium",
    }


def playbook_content(pattern="namespace not found", recovery=("Create the namespace",)):
    """A failure playbook's content (HMX-A 4.2)."""
    return {
        "failure_pattern": pattern,
        "trigger_conditions": ["first deployment"],
        "symptoms": ["exit code 1"],
        "recovery_steps": list(recovery),
        "prevention_strategies": ["Check the namespace first"],
        "severity": "high",
    }


def cause_content(cause="deploy", effect="latency"):
    """A causal pattern's content (HMX-A 4.4)."""
    return {"cause": cause, "effect": effect, "direction": "forward", "strength": 0.5, "conditions": []}


def artifact(number, artifact_type, title, content, **fields):
    """A known artifact and its content."""
    given = {"confidence": 0.9, "observed_count": 10, "success_rate": 0.8, "tags": ("ops",)} | fields
    return ExportedArtifact(f"art-{number:05}", artifact_type, title, content_hash(content), **given), content


def known(artifacts, tier="full", **fields):
    """The learned state that consists of *artifacts*, pairs of artifact and content."""
    selection = select([artifact for artifact, _ in artifacts], ExportOptions(tier=tier).limits)
    given = {
        "tenant_id": "tenant-acme",
        "as_of_us": NOON,
        "digest": digest_of([], [], [], Depth(0, exact=True)),
        "behaviour": Behaviour(),
    } | fields
    return LearnedState(
        selection=selection, contents={artifact.artifact_id: content for artifact, content in artifacts}, **given
    )


def small(tier="full", **fields):
    """Four artifacts, one of each of four types."""
    artifacts = [
        artifact(1, "decision_policy", "Migrations", policy_content(), tags=("database",)),
        artifact(2, "task_schema", "Deploy to staging", task_content(), tags=("deploy", "staging")),
        artifact(3, "failure_playbook", "Missing namespace", playbook_content(), tags=("deploy", "kubectl")),
        artifact(4, "causal_pattern", "Deploys slow things down", cause_content(), tags=("deploy", "staging")),
    ]
    return known(artifacts, tier, **fields)


def envelope(tier="full", **fields):
    """The envelope of the small state."""
    return generate(small(tier, **fields), ExportOptions(tier=tier))


def sentence(rng, most):
    """Some words."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, most))).capitalize()


def drawn_content(rng, artifact_type, long):
    """A content of the type with texts of up to *long* words."""
    texts = [sentence(rng, long) for _ in range(rng.randint(1, 12))]
    match artifact_type:
        case "decision_policy":
            return policy_content(sentence(rng, long), sentence(rng, long), texts[:3])
        case "task_schema":
            return task_content(texts, rng.sample(TOOLS, 2))
        case "failure_playbook":
            return playbook_content(sentence(rng, long), texts)
        case _:
            return cause_content(sentence(rng, long), sentence(rng, long))


def drawn(seed, count, tier="full", long=8):
    """A random state with *count* artifacts and all other fields filled."""
    rng = random.Random(seed)
    types = ("decision_policy", "task_schema", "failure_playbook", "causal_pattern", "x-acme-hint")
    artifacts = []
    for number in range(count):
        artifact_type = rng.choice(types)
        content = drawn_content(rng, artifact_type, long)
        artifacts.append(
            artifact(
                number,
                artifact_type,
                sentence(rng, 6),
                content,
                confidence=round(rng.random(), 4),
                observed_count=rng.randint(0, 200),
                success_rate=round(rng.random(), 4),
                tags=tuple(rng.sample(WORDS, rng.randint(0, 4))),
            )
        )
    return known(artifacts, tier, **other_fields(rng))


def other_fields(rng):
    """Everything but artifacts: behaviour, memories, reports, graph, compiler state."""
    hubs = [{"name": word, "type": rng.choice(("tool", "person")), "connection_count": 5} for word in WORDS[:10]]
    return {
        "digest": digest_of(
            [{"type": "tool", "entity_count": 40, "confidence_millionths": 30_000_000}],
            [{"relation_type": "uses", "relation_count": 90, "weight_millionths": 70_000_000}],
            hubs,
            Depth(6, exact=True),
        ),
        "behaviour": Behaviour(
            sessions=12,
            session_events=400,
            session_us=9_000_000_000,
            tool_calls=300,
            tools={f"tool_{number}": rng.randint(1, 90) for number in range(rng.randint(0, 300))},
            tool_results=290,
            tool_successes=250,
            decisions=9,
            decisions_rated=8,
            decision_confidence_millionths=6_000_000,
            decisions_corrected=2,
            decision_domains={word: rng.randint(1, 9) for word in WORDS},
            errors=20,
            error_types={f"Error{number}": rng.randint(1, 9) for number in range(rng.randint(0, 200))},
            errors_recovered=15,
            recovery_us=45_000_000,
        ),
        "memories": (MemoryCount("promoted", "fact", "statement", 80, 70_000_000, 200),),
        "served": (
            ServedPack("p1", "positive", 2048, {"procedures": 900, "facts": 300}, ("art-00001",), ("deploy",)),
            ServedPack("p2", "negative", 1024, {"episodes": 700}, ("art-00002",), ("cache",)),
        ),
        "compiler_state": STATE,
        "event_count": 4000,
    }
