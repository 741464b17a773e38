"""Plans on the real server: statements in sequence, and some sent ahead of the time their rows are needed."""

import asyncio

import pytest

from hmxgraph.graph.connection import AsyncConnection, Connection
from hmxgraph.graph.plan import Ahead, bind, read


def ahead_of(other, *, asked):
    """A plan that sends one statement ahead of *other* and reads its rows only if *asked*."""
    waiting = bind("health/server")
    nothing = yield Ahead(waiting)
    between = yield other
    servers = (yield waiting) if asked else None
    return nothing, servers, between


@pytest.mark.parametrize("asked", [True, False])
def test_rows_of_a_statement_sent_ahead_come_when_asked_for(address, asked):
    """On both faces rows sent ahead arrive when asked for; unread ones do no harm and are not traced."""
    trace_lines = []
    other = bind("health/indexes_not_online")

    async def awaited():
        connection = AsyncConnection(address)
        connection.listen(trace_lines.append)
        results = await connection.perform(read(lambda: ahead_of(other, asked=asked)))
        await connection.close()
        return results

    connection = Connection(address)
    connection.listen(trace_lines.append)
    results = connection.perform(read(lambda: ahead_of(other, asked=asked)))
    connection.close()
    assert asyncio.run(awaited()) == results
    assert (results[0], results[2]) == ([], [])
    assert [list(row) for row in results[1] or []] == ([["version", "edition"]] if asked else [])
    names = ["health/indexes_not_online", *(["health/server"] if asked else [])]
    assert [line.split()[0] for line in trace_lines] == names * 2
