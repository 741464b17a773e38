"""The asynchronous face says what the plain one says."""

import pytest

from tools.twins import AWAITABLE, in_step, names


@pytest.mark.parametrize("name", names())
def test_an_awaitable_module_is_its_plain_twin(name):
    """Each awaitable module is what `make twins` writes from the plain one."""
    assert (AWAITABLE / name).read_text() == in_step(name)
