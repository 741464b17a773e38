"""Packaged statements: found, parsed, bound."""

import pytest

from hmxgraph.errors import StatementMisuse
from hmxgraph.graph.plan import bind, parse, query, query_names

HEAD = "// Purpose.\n// More of it.\n//\n// mode: read\n// row:  a, b\n"


def test_parameters_come_from_code_only():
    """Dollar signs in comments and strings are not parameters."""
    text = (
        HEAD + "// not $this\nMATCH (n {t: $tenant_id}) WHERE n.x = '$nor' AND n.y = \"$or\" RETURN n.`$a` AS a, 1 AS b"
    )
    assert parse("x/y", text).parameters == {"tenant_id"}


def test_header_is_read():
    """Mode, columns and purpose come from the leading comment."""
    packaged = parse("x/y", HEAD + "RETURN $tenant_id AS a, 1 AS b")
    assert (packaged.mode, packaged.row, packaged.description) == ("read", ("a", "b"), "Purpose.\nMore of it.")


@pytest.mark.parametrize(
    "text", ["RETURN 1", "// mode: maybe\n// row: a\nRETURN 1 AS a", "// mode: read\nRETURN 1 AS a"]
)
def test_header_is_required(text):
    """A statement without a valid mode or without columns is refused when it is read."""
    with pytest.raises(ValueError, match="header needs"):
        parse("x/y", text)


def test_text_is_the_file_byte_for_byte():
    """The packaged file is sent byte for byte, including comments."""
    assert bind("tenants/state", tenant_id="t", tenant_key="k").text == query("tenants/state").text
    assert query("tenants/state").text.startswith("// ")


def test_bind_names_missing_and_unexpected_parameters():
    """The error names the statement, the missing and the unexpected parameters."""
    with pytest.raises(StatementMisuse) as caught:
        bind("tenants/state", tenant_id="t", tenant="k")
    assert (caught.value.missing, caught.value.unexpected) == (("tenant_key",), ("tenant",))
    message = "cypher/tenants/state.cypher: missing $tenant_key, unexpected $tenant; give tenant_key=..."
    assert message in str(caught.value)
    with pytest.raises(StatementMisuse, match=r"unexpected \$tenant"):
        bind("tenants/state", tenant_id="t", tenant_key="k", tenant="k")


def test_unknown_statement_is_named():
    """A statement that is not packaged is an error with its name."""
    with pytest.raises(StatementMisuse, match="there is no saved query 'no/such'"):
        query("no/such")


def test_names_are_sorted_and_by_subject():
    """The catalogue lists every statement in order, and one subject on request."""
    files = [name.partition(":")[0] for name in query_names()]
    assert files == sorted(files)
    assert set(query_names("tenants")) < set(query_names())


@pytest.mark.parametrize("name", [name for name in query_names() if "USING INDEX" in query(name).text])
def test_an_index_that_is_named_is_looked_up_in(name):
    """Index hints ask for a seek: otherwise the planner may scan an index from its first entry, through all tenants."""
    text = query(name).text
    assert text.count("USING INDEX") == text.count("USING INDEX SEEK")
