"""Every node that a statement looks up is tied to the tenant, and the check fails without any one condition."""

import pytest

from hmxgraph.graph.plan import query, query_names
from tests.tenant_anchors import anchors, untied, without_tenant
from tests.test_architecture import EXEMPT_FROM_TENANT

STATEMENTS = [name for name in query_names() if not name.startswith(EXEMPT_FROM_TENANT)]
ANCHORS = [(name, node) for name in STATEMENTS for node in sorted({node for node, _ in anchors(query(name).text)})]


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_a_statement_looks_for_is_tied_to_the_tenant(name):
    """Lookups by key too are tied to the tenant, because anybody can compute keys from tenant and id."""
    assert untied(query(name).text) == []


@pytest.mark.parametrize(("name", "node"), ANCHORS)
def test_without_its_condition_a_node_is_found_untied(name, node):
    """If the condition on a node is removed, the check reports that node."""
    assert node in untied(without_tenant(query(name).text, node))


def test_there_are_anchors_of_each_kind():
    """The check covers nodes looked up by key, by label and by full text."""
    assert len(ANCHORS) > 150
    assert {("artifacts/get", "artifact"), ("recall/knowledge", "node"), ("explain/identify", "memory")} <= set(ANCHORS)
