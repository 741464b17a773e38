"""Values in a notebook: tables of their documents, without markup injected by texts."""

from hmxgraph.protocol.display import MOST_ROWS, html_table
from hmxgraph.protocol.explanations import Evidence, Explanation
from hmxgraph.protocol.fingerprints import ConnectedEntity
from hmxgraph.protocol.lifecycle import Chain
from hmxgraph.protocol.reports import IngestReport
from tests.artifact_makers import policy


def test_text_is_shown_as_text():
    """HTML in a value is escaped, in names, cells and column headings alike."""
    assert "<b>" not in html_table({"<b>": "<b>", "rows": [{"<b>": "<b>"}]})


def test_long_lists_count_what_is_left_out():
    """The first rows are shown, the others counted."""
    table = html_table({"rows": [{"n": n} for n in range(MOST_ROWS + 3)]})
    assert table.count("<tr>") == MOST_ROWS + 2  # the object itself and the head
    assert "and 3 more" in table


def test_a_list_of_objects_and_others_is_no_table():
    """If not every element is an object, the list is shown without columns."""
    assert html_table([{"n": 1}, 5, "x"]).endswith("</table>, 5, x")


def test_reports_and_documents_are_shown():
    """Results of methods and contents of documents look alike."""
    assert "accepted" in IngestReport("acme")._repr_html_()
    assert "kubectl" in ConnectedEntity(name="kubectl", type="tool", connection_count=3)._repr_html_()


def test_explanation_shows_text_and_events_as_text():
    """A notebook shows a record and its evidence; markup in either stays text."""
    event = Evidence("e1", "s1", "coder", "error", "2026-01-02T03:04:05Z", "<b>no such file</b>", erased=False)
    shown = Explanation("memory", "m1", "Use <i>uv</i>", "active", {}, events=(event,))._repr_html_()
    assert "Use &lt;i&gt;uv&lt;/i&gt;" in shown
    assert "2026-01-02 03:04" in shown
    assert "&lt;b&gt;no such file" in shown


def test_chain_shows_a_row_for_each_version():
    """A notebook shows versions, not the whole documents."""
    first = policy("p1", "Wait")
    second = first.model_copy(update={"artifact_id": "p2", "version": 2, "summary": "Do not wait"})
    shown = Chain("p2", (first, second))._repr_html_()
    assert "2 versions" in shown
    assert "Do not wait" in shown
    assert "content_hash" not in shown
