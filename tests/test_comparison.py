"""The comparison in the documentation shows the measured results."""

import json
from pathlib import Path

from benchmarks.report import BEGIN, END, chart, lines

ROOT = Path(__file__).parents[1]
REPORT = json.loads((ROOT / "benchmarks" / "results.json").read_bytes())


def test_tables_are_the_results():
    """The tables on the page are those generated from the results."""
    shown = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert shown.strip("\n") == "\n".join(lines(REPORT))


def test_chart_is_the_results():
    """The chart is generated from the results; a part that failed is marked as such."""
    assert (ROOT / "docs" / "compared.svg").read_text(encoding="utf-8") == chart(REPORT["systems"])
    failed = [row | {"chats": {"failed": "ImportError: x"}} for row in REPORT["systems"]]
    assert "did not run" in chart(failed)
    assert any("did not run, ImportError: x" in line for line in lines(REPORT | {"systems": failed}))
