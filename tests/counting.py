"""Counts accesses to the store (PROFILE): the cost of a call, independent of the machine's load."""

from typing import Any

from hmxgraph.graph.connection import Attempts, Connection, ConnectionTerms, run
from hmxgraph.graph.driver import Address
from hmxgraph.graph.plan import Work


class _Profiled:
    """A transaction that profiles its statements."""

    def __init__(self, tx: Any) -> None:
        self._tx, self._results = tx, []

    def run(self, text: str, parameters: dict[str, Any]) -> Any:
        """Run a statement; its result is kept to read the accesses from."""
        self._results.append(self._tx.run(f"PROFILE {text}", parameters))
        return self._results[-1]

    @property
    def hits(self) -> int:
        """The accesses of all statements."""
        return sum(_hits(result.consume().profile) for result in self._results)


def _hits(plan: dict[str, Any]) -> int:
    return plan.get("dbHits", 0) + sum(_hits(child) for child in plan.get("children", ()))


class Counting(Connection):
    """A connection that counts the accesses of everything it performs, with a timeout long enough for profiling."""

    hits = 0

    def __init__(self, address: Address) -> None:
        super().__init__(address, ConnectionTerms(timeout=600))

    def _attempt(self, attempts: Attempts, work: Work[Any]) -> Any:
        def transaction(tx: Any) -> Any:
            profiled = _Profiled(tx)
            value = run(work.factory(), profiled, attempts.watch)  # type: ignore[arg-type]
            return value, profiled.hits

        with self._driver.session(**attempts.session_options(self.address.database, self._bookmarks)) as session:
            value, hits = (session.execute_read if work.mode == "read" else session.execute_write)(transaction)
        self.hits += hits
        return value
