import pytest

from hmxgraph.engine._lifecycle import HeapFull, not_opened, startup_error
from hmxgraph.errors import EngineError, JarDamaged, JavaMissing, NotEnoughMemory, PortTaken, ServerDied, StoreDamaged

PORT = """2026-11-21 07:42:43.943+0000 ERROR Failed to start Neo4j on 127.0.0.1:57291.
java.lang.RuntimeException: Error starting Neo4j database server at /home/data/databases
\tat org.neo4j.server.CommunityEntryPoint.main(CommunityEntryPoint.java:30)
Caused by: org.neo4j.configuration.helpers.PortBindException: An error occurred while trying to bind to the socket
\t... 10 more
Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed with error(-98): Address already in use
2026-11-21 07:42:43.948+0000 INFO  Neo4j Server shutdown initiated by request
"""
MEMORY = (
    "2026-11-21 07:42:45.091+0000 ERROR Invalid memory configuration - exceeds physical memory. Check the configured "
    "values for server.memory.pagecache.size and server.memory.heap.max_size\n"
)
LOCKED = (
    "Caused by: org.neo4j.io.locker.FileLockException: Lock file has been locked by another process: "
    "/home/data/databases/store_lock. Please ensure no other process is using this database\n"
)
NEWER = (
    "Error: LinkageError occurred while loading main class X\n\tjava.lang.UnsupportedClassVersionError: X has been\n"
)
HEAP = "Terminating due to java.lang.OutOfMemoryError: Java heap space\n"
FULL = "java.io.IOException: No space left on device\n"
FULL_AT_FIRST = (  # a first start on a disk with a few free megabytes
    "Caused by: java.lang.IllegalArgumentException: Failed to validate '[system]' for 'server.databases.read_only': "
    "Database name 'system' is invalid, due to the prefix 'system'.\n"
)
TORN = "Error: Could not find or load main class org.neo4j.server.CommunityEntryPoint\n"


@pytest.mark.parametrize(
    ("words", "kind", "advice"),
    [
        (PORT, PortTaken, "starting: bind(..) failed with error(-98): Address already in use; "),
        (MEMORY, NotEnoughMemory, "starting: Invalid memory configuration - exceeds physical memory"),
        (HEAP, HeapFull, "raise HMXGRAPH_HEAP"),
        (FULL, EngineError, "free 300 MB on the disk of the data home"),
        (FULL_AT_FIRST, EngineError, "free 300 MB on the disk of the data home"),
        (LOCKED, EngineError, "starting: Lock file has been locked by another process: /home/data"),
        (NEWER, JavaMissing, "HMXGRAPH_JAVA"),
        (TORN, JarDamaged, "HMXGRAPH_JARS"),
    ],
)
def test_known_causes(words, kind, advice, tmp_path):
    """Known messages of Java and Neo4j become the right error, with the decisive line and the way out."""
    error = startup_error(words, tmp_path / "console.log")
    assert type(error) is kind
    assert advice in str(error)


def test_unknown_cause_carries_the_last_words(tmp_path):
    """An unknown cause gives the last lines without stack frames, and the path of the log."""
    words = "long ago\n" * 50 + "java.lang.IllegalStateException: odd\n\tat a.b.C(C.java:1)\n\t... 3 more\n"
    error = startup_error(words, tmp_path / "console.log")
    assert isinstance(error, ServerDied)
    assert error.log_tail.splitlines()[-1] == "java.lang.IllegalStateException: odd"
    assert len(error.log_tail.splitlines()) == 15
    assert str(tmp_path / "console.log") in str(error)


NOT_OPENED = (
    "2026-11-25 03:26:57.314+0000 ERROR [o.n.d.d.DatabaseLifecycles] Failed to start DatabaseId{60d71926[neo4j]}\n"
)
TORN_LOG = (
    "Caused by: java.lang.RuntimeException: Error reading transaction logs, recovery not possible. To force the start, "
    "you can specify 'internal.dbms.tx_log.fail_on_corrupted_log_files=false'.\n\t... 17 more\n"
)


@pytest.mark.parametrize(
    ("cause", "kind", "way_out"),
    [
        (TORN_LOG, StoreDamaged, "HMXGRAPH_SALVAGE=1 hmxgraph server start"),
        (f"Caused by: {FULL}", EngineError, "free 300 MB on the disk of the data home"),
        ("Caused by: java.lang.IllegalStateException: odd\n", StoreDamaged, "does not open: odd; see "),
        ("", StoreDamaged, "Neo4j does not say why"),
    ],
)
def test_a_database_that_does_not_open(cause, kind, way_out, tmp_path):
    """The log of a server without its database becomes an error with the cause and the way out."""
    error = not_opened(f"INFO Starting...\n{NOT_OPENED}{cause}", tmp_path / "debug.log")
    assert type(error) is kind
    assert way_out in str(error)


def test_a_database_that_opens(tmp_path):
    """A log about another database, or without a failure, is not an error."""
    assert not_opened(TORN_LOG + NOT_OPENED.replace("[neo4j]", "[other]"), tmp_path / "debug.log") is None
