"""What the report of an import prints of lines that became events."""

from hmxgraph.cli.ingest import _left_out_table
from hmxgraph.protocol.reports import IngestReport, SourceReport


def rows(table):
    """The cells of a table, row by row."""
    return list(zip(*([str(cell) for cell in column.cells] for column in table.columns), strict=True))


def test_what_was_left_out_is_told_by_reason():
    """Reasons are listed by frequency, at most twenty."""
    reasons = {"system prompt": 3, "span of kind CHAIN": 1_200, **{f"span 'step {number}'": 1 for number in range(25)}}
    table = _left_out_table(IngestReport("acme", sources=(SourceReport("trace.json", "traces", left_out=reasons),)))
    told = rows(table)
    assert told[:2] == [("span of kind CHAIN", "1,200"), ("system prompt", "3")]
    assert len(told) == 21
    assert told[-1] == ("7 more reasons; --json shows all", "7")
