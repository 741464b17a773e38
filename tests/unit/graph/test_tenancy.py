"""Tenant ids."""

import pytest

from hmxgraph.errors import InvalidTenant
from hmxgraph.graph.plan import Tenancy


@pytest.mark.parametrize("given", [None, 1, b"acme", "", "\ud800", "acme\udcff", "acme\0b"])
def test_what_names_no_tenant_is_refused(given):
    """An invalid tenant id raises one clear error, which is also a ValueError."""
    with pytest.raises(InvalidTenant, match="invalid tenant_id") as refused:
        Tenancy.of(given)
    assert isinstance(refused.value, ValueError)
    str(refused.value).encode()
