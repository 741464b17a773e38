from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from hmxgraph.engine._jars import distribution, distribution_in, load, user_distribution
from hmxgraph.engine.server import silent
from hmxgraph.errors import EngineError, JarDamaged, JarsUnavailable
from tests.unit.engine.conftest import ENTRY_POINT, write_jar


def test_lock_names_each_jar_once():
    """The lock file has 214 different jars, each with SHA-256 and size."""
    jars = load().jars
    assert len({jar.file_name for jar in jars}) == len(jars) == 214
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in jars)


def test_own_folder_is_used_as_it_is(settings, jar_folder):
    """HMXGRAPH_JARS needs neither cache nor network."""
    jars = distribution(replace(settings, jars=jar_folder), silent, load())
    assert jars == (jar_folder, "5.99.0", "org.neo4j.server.CommunityEntryPoint")
    assert not settings.cache.exists()


def test_entry_point_of_newer_releases(tmp_path):
    """The entry point is read from the jar, because it has another name since 2026.x."""
    write_jar(tmp_path / "neo4j-2026.09.0.jar", "org/neo4j/server/Neo4jCommunity.class")
    assert distribution_in(tmp_path).main_class == "org.neo4j.server.Neo4jCommunity"


def test_folder_without_server(tmp_path):
    """A folder without a server is rejected, with the variable to correct."""
    write_jar(tmp_path / "neo4j-5.26.31.jar", "something/Else.class")
    with pytest.raises(JarsUnavailable, match="HMXGRAPH_JARS"):
        distribution_in(tmp_path)


def test_folder_that_does_not_exist(tmp_path):
    """A folder that does not exist is rejected, too."""
    with pytest.raises(JarsUnavailable, match="contains no"):
        user_distribution(tmp_path / "none", load())


def test_cut_archive_in_own_folder(jar_folder):
    """The error names a truncated jar."""
    whole = (jar_folder / "neo4j-5.99.0.jar").read_bytes()
    (jar_folder / "plugin-1.jar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JarDamaged, match=r"plugin-1\.jar is damaged.*HMXGRAPH_JARS"):
        user_distribution(jar_folder, load())


def test_locked_jar_with_other_bytes_in_own_folder(jar_folder):
    """A jar in the lock file must have the locked bytes, even if it is a valid archive."""
    write_jar(jar_folder / load().jars[0].file_name, ENTRY_POINT)
    with pytest.raises(JarDamaged, match="damaged"):
        user_distribution(jar_folder, load())


def test_shared_cache_is_described_from_its_jar(settings, repository, tmp_path):
    """Locked jars appear in the cache folder all at once, and are not downloaded again."""
    write_jar(tmp_path / "x.jar", ENTRY_POINT)
    jar = repository.publish("org.neo4j:neo4j:5.99.1", (tmp_path / "x.jar").read_bytes())
    lock = load()._replace(version="5.99.1", jars=(jar,))
    here = replace(settings, maven_url=repository.url)
    first = distribution(here, silent, lock)
    asked = len(repository.asked)
    assert (
        distribution(here, silent, lock)
        == first
        == (settings.cache / "neo4j-5.99.1", "5.99.1", "org.neo4j.server.CommunityEntryPoint")
    )
    assert len(repository.asked) == asked
    assert sorted(path.name for path in settings.cache.iterdir()) == ["jars.lock", "neo4j-5.99.1"]


def test_two_at_once_fetch_once(settings, repository):
    """Of two callers that need the jars at once, one downloads, the other waits and uses them."""
    write_jar(settings.cache.with_name("x.jar"), ENTRY_POINT)
    jar = repository.publish("org.neo4j:neo4j:5.99.1", settings.cache.with_name("x.jar").read_bytes())
    lock = load()._replace(version="5.99.1", jars=(jar,))
    here = replace(settings, maven_url=repository.url)
    with ThreadPoolExecutor(2) as pool:
        fetched = list(pool.map(lambda _: distribution(here, silent, lock), range(2)))
    assert fetched[0] == fetched[1]
    assert [path for path in repository.asked if path.endswith(".jar")] == ["/org/neo4j/neo4j/5.99.1/neo4j-5.99.1.jar"]


def test_damaged_jar_in_the_cache_is_fetched_again(settings, repository, tmp_path):
    """A damaged jar in the cache is replaced, without touching the others."""
    write_jar(tmp_path / "x.jar", ENTRY_POINT)
    server = repository.publish("org.neo4j:neo4j:5.99.1", (tmp_path / "x.jar").read_bytes())
    other = repository.publish("org.other:other:1", b"other")
    lock = load()._replace(version="5.99.1", jars=(server, other))
    here = replace(settings, maven_url=repository.url)
    folder = distribution(here, silent, lock).folder
    (folder / other.file_name).write_bytes(b"0ther")
    repository.asked.clear()
    distribution(here, silent, lock)
    assert (folder / other.file_name).read_bytes() == b"other"
    assert not [path for path in repository.asked if "neo4j" in path]


def test_a_failed_fetch_leaves_no_folder(settings, repository):
    """If a jar cannot be downloaded, no incomplete folder appears; the next try continues."""
    first = repository.publish("org.first:first:1", b"first")
    missing = repository.publish("org.missing:missing:1", b"missing", *[(503, b"")] * 3)
    lock = load()._replace(version="5.99.1", jars=(first, missing))
    here = replace(settings, maven_url=repository.url)
    with pytest.raises(JarsUnavailable, match=r"org\.missing:missing:1"):
        distribution(here, silent, lock)
    assert not (settings.cache / "neo4j-5.99.1").exists()
    with pytest.raises(JarsUnavailable, match=r"contains no neo4j"):  # complete now, though none of it is a server
        distribution(here, silent, lock)


def test_a_cache_that_is_no_folder(settings):
    """The error for an unusable cache names the variable of the cache, not that of the data home."""
    settings.cache.write_text("in the way")
    with pytest.raises(EngineError, match=r"jars cannot be stored in .*HMXGRAPH_CACHE"):
        distribution(settings, silent, load())
