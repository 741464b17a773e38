import sys
from dataclasses import replace

import pytest

from hmxgraph.engine._jars import fetch, unsound
from hmxgraph.engine.server import Step, silent
from hmxgraph.errors import EngineError, JarDamaged, JarsUnavailable


@pytest.fixture
def folder(tmp_path):
    """The folder for the jars."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


@pytest.fixture
def here(settings, repository):
    """Settings that point to the repository."""
    return replace(settings, maven_url=repository.url + "/")


def test_jars_arrive_whole(here, repository, folder):
    """Every jar has its bytes, and the reported steps add up to the total size."""
    jars = tuple(repository.publish(f"org.a:a{n}:1.{n}", bytes([n]) * 1000 * n) for n in range(1, 20))
    steps: list[Step] = []
    fetch(jars, folder, here, steps.append)
    assert unsound(folder, jars) == ()
    assert (steps[0].done, steps[-1].done) == (0, steps[-1].total)
    assert [step.done for step in steps] == sorted(step.done for step in steps)


def test_too_many_requests(here, repository, folder):
    """A repository that answers 429 is asked again."""
    jar = repository.publish("org.a:a:1", b"late", (429, b""), (429, b""))
    fetch((jar,), folder, here, silent)
    assert (folder / jar.file_name).read_bytes() == b"late"


@pytest.mark.parametrize("wrong", [b"cut", b"other bytes of another jar"])
def test_wrong_bytes_are_asked_for_again(here, repository, folder, wrong):
    """A truncated or wrong answer is discarded and the jar requested again."""
    jar = repository.publish("org.a:a:1", b"cut short no more", (200, wrong))
    fetch((jar,), folder, here, silent)
    assert (folder / jar.file_name).read_bytes() == b"cut short no more"


def test_bytes_that_stay_wrong(here, repository, folder):
    """If the repository keeps sending wrong bytes, the error says so and no jar is stored."""
    jar = repository.publish("org.a:a:1", b"right", *[(200, b"wrong")] * 9)
    with pytest.raises(JarDamaged, match=r"org\.a:a:1 .*SHA-256.*HMXGRAPH_MAVEN_URL"):
        fetch((jar,), folder, here, silent)
    assert list(folder.iterdir()) == []


def test_absent_jar(here, repository, folder):
    """A jar that the repository lacks is an error with every way out."""
    jar = repository.publish("org.a:a:1", b"gone", *[(404, b"")] * 9)
    with pytest.raises(JarsUnavailable, match=r"HMXGRAPH_MAVEN_URL.*HMXGRAPH_JARS.*HMXGRAPH_URI"):
        fetch((jar,), folder, here, silent)


def test_no_network(here, repository, folder):
    """If nothing answers, the error says so without a traceback of the network library."""
    jar = repository.publish("org.a:a:1", b"far away")
    with pytest.raises(JarsUnavailable, match="check the network"):
        fetch((jar,), folder, replace(here, maven_url="http://127.0.0.1:9"), silent)


def test_login_of_a_mirror_is_not_repeated(here, repository, folder):
    """Credentials in a mirror's address do not appear in the error."""
    jar = repository.publish("org.a:a:1", b"secret", *[(404, b"")] * 9)
    with pytest.raises(JarsUnavailable) as caught:
        fetch((jar,), folder, replace(here, maven_url=repository.url.replace("//", "//me:hidden@")), silent)
    assert "hidden" not in str(caught.value)


def test_rest_of_an_interrupted_run_is_not_trusted(here, repository, folder, settings):
    """An incomplete download of an earlier run is discarded."""
    jar = repository.publish("org.a:a:1", b"whole")
    half = settings.cache / "download" / "org" / "a" / "a" / "1" / "a-1.jar"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"wh")
    fetch((jar,), folder, here, silent)
    assert (folder / jar.file_name).read_bytes() == b"whole"


def test_disk_that_cannot_be_written(here, repository, folder, settings):
    """A cache that cannot be written gives another error than a network failure."""
    jar = repository.publish("org.a:a:1", b"nowhere to go")
    settings.cache.mkdir()
    (settings.cache / "download").write_text("in the way")
    with pytest.raises(EngineError, match="HMXGRAPH_CACHE"):
        fetch((jar,), folder, here, silent)


def test_without_jgo(here, folder, monkeypatch):
    """Without the optional packages the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(EngineError, match=r"hmxgraph\[local\]"):
        fetch((), folder, here, silent)
