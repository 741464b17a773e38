"""What Claude Code's hooks give an agent: the fix that an earlier session found, at the same failure.

    pip install hmxgraph[local]
    python examples/claude_code_hooks.py

Two short transcripts stand in for real sessions; ``hmxgraph install claude-code`` connects the hooks to your own.
"""

import json
import tempfile
from pathlib import Path

import hmxgraph
from hmxgraph.adapters.claude_code import Hooks

ERROR = "Exit code 1\nconnect ECONNREFUSED 127.0.0.1:5432: the database does not answer"
STEPS = [
    ("npm test", ERROR, True),
    ("docker compose up -d db", "Container shop-db-1  Started", False),
    ("npm test", "84 passed", False),
]


def transcript(path: Path) -> Path:
    """The transcript of a session that fails and finds the fix, as Claude Code writes it."""
    messages = [("user", "Run the tests of the shop")]
    for number, (command, output, failed) in enumerate(STEPS):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": failed}
        messages += [("assistant", [use]), ("user", [result])]
    lines = [
        {
            "type": role,
            "uuid": f"shop-{second}",
            "sessionId": "shop-monday",
            "timestamp": f"2026-03-02T09:00:{second:02}Z",
            "message": {"role": role, "content": content},
        }
        for second, (role, content) in enumerate(messages)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def main() -> None:
    """Monday's session ends; on Tuesday the same tool fails in the same way."""
    with tempfile.TemporaryDirectory() as folder, hmxgraph.connect(tenant_id="example-claude-code") as graph:
        hooks = Hooks(graph, Path(folder))
        hooks.ingest([transcript(Path(folder) / "shop-monday.jsonl")])
        failed = {"tool_name": "Bash", "tool_input": {"command": "npm test cart"}, "error": ERROR}
        output, _ = hooks.answer({"event": "PostToolUseFailure", "input": failed})
        print(json.loads(output)["hookSpecificOutput"]["additionalContext"])


if __name__ == "__main__":
    main()
