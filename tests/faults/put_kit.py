"""Put the conformance kit to the hmxgraph of this folder: prints the first case that fails, if any; exit code 1 then.

``python -m tests.faults.put_kit CLAUSE``. Cases without a server come first, then those of the clause, then the rest.
"""

import sys

from hmxgraph.conformance.adapter import documents, store
from hmxgraph.conformance.kit import cases
from hmxgraph.conformance.runner import trials


def failure(clause: str) -> str:
    """The name and the detail of the first case that fails, or ""."""
    with_store = cases(server=True)
    names = sorted(trials(), key=lambda name: (name in with_store, not _is_about(with_store.get(name), clause)))
    adapter = store()
    try:
        for name in names:
            verdict = trials()[name](adapter if name in with_store else documents)
            if verdict.outcome == "failed":
                return f"{name}: {verdict.detail}"
    finally:
        adapter.close()
    return ""


def _is_about(case: dict[str, str] | None, clause: str) -> bool:
    return case is not None and case["clause"].startswith(clause)


if __name__ == "__main__":
    first = failure(sys.argv[1])
    sys.stdout.write(f"{first}\n")
    sys.exit(1 if first else 0)
