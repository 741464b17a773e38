import os
from pathlib import Path

import pytest

from hmxgraph.engine._jars import Distribution
from hmxgraph.engine._process import Ports, command, conf_text, ports_in
from hmxgraph.engine._settings import Memory

PORTS, MEMORY = Ports(17687, 17474), Memory(600, 200)


@pytest.mark.parametrize("version", ["5.26.31", "2026.09.0"])
def test_configuration_keeps_to_this_machine(version):
    """The server listens only on the loopback address and sends no reports."""
    lines = conf_text(PORTS, MEMORY, version).splitlines()
    assert "server.default_listen_address=127.0.0.1" in lines
    assert "dbms.usage_report.enabled=false" in lines
    assert "server.memory.heap.max_size=600m" in lines
    assert "dbms.cypher.min_replan_interval=2m" in lines
    assert ("server.fleet_discovery.enabled=false" in lines) == (version > "2" and not version.startswith("5."))


def test_ports_are_read_back():
    """The ports of the last start are read from its configuration."""
    assert ports_in(conf_text(PORTS, MEMORY, "5.26.31")) == PORTS


def test_cut_configuration_names_no_ports():
    """A configuration without both ports gives none."""
    assert ports_in(conf_text(PORTS, MEMORY, "5.26.31")[:200]) is None


def test_command_names_the_home_and_keeps_the_password_out(tmp_path):
    """The command line has home, sizes and entry point, each as one argument even with spaces in paths."""
    home, folder = tmp_path / "a home", tmp_path / "my jars"
    folder.mkdir()
    for name in ("jaxb-runtime-2.jar", "txw2-2.jar", "asm-9.jar", "NOTICE"):
        (folder / name).touch()
    words = command(tmp_path / "java", Distribution(folder, "5.26.31", "a.Main"), home, MEMORY)
    assert f"--home-dir={home}" in words
    jars = words[words.index("-cp") + 1].split(os.pathsep)
    assert [Path(jar).name for jar in jars] == ["asm-9.jar", "txw2-2.jar", "jaxb-runtime-2.jar"]
    assert "-Xmx600m" in words
    assert words.index("a.Main") > words.index("-cp")
