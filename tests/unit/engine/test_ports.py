import socket
from dataclasses import replace

import pytest

from hmxgraph.engine._process import HOST, Ports, choose, is_free
from hmxgraph.errors import PortTaken


@pytest.fixture
def taken():
    """A port on which a program listens."""
    with socket.create_server((HOST, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def free():
    """A port on which nothing listens."""
    with socket.create_server((HOST, 0)) as listener:
        return listener.getsockname()[1]


def test_chosen_ports_are_free_and_distinct(settings):
    """Without configuration, two different free ports are chosen."""
    ports = choose(settings, None)
    assert ports.bolt != ports.http
    assert is_free(ports.bolt)
    assert is_free(ports.http)


def test_ports_of_the_last_start_come_back(settings, free):
    """A server keeps its ports across restarts."""
    assert choose(settings, Ports(free, 1)).bolt == free


def test_a_port_lost_to_others_is_replaced(settings, taken):
    """A port of the last start that another program has taken is replaced by a free one."""
    chosen = choose(settings, Ports(taken, taken))
    assert taken not in chosen


def test_a_wanted_port_that_is_taken(settings, taken):
    """A configured port in use is an error that names the variable."""
    with pytest.raises(PortTaken, match=rf"port {taken} .*HMXGRAPH_BOLT_PORT"):
        choose(replace(settings, bolt_port=taken), None)


def test_wanted_ports_are_used(settings, free):
    """A free configured port is used."""
    assert choose(replace(settings, http_port=free), None).http == free


def test_one_port_wanted_for_both(settings, free):
    """One port for both services is an error that names both variables."""
    with pytest.raises(PortTaken, match=rf"HMXGRAPH_BOLT_PORT and HMXGRAPH_HTTP_PORT are both {free}"):
        choose(replace(settings, bolt_port=free, http_port=free), None)


def test_one_port_of_the_last_start_for_both(settings, free):
    """A stored port that is used twice, or now configured for the other service, is not reused."""
    assert len(set(choose(settings, Ports(free, free)))) == 2
    assert len(set(choose(replace(settings, bolt_port=free), Ports(1, free)))) == 2
    assert len(set(choose(replace(settings, http_port=free), Ports(free, 1)))) == 2
