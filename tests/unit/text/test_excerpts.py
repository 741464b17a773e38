"""Excerpts of long texts: what is relevant, once."""

from hmxgraph.text.excerpts import Passages

WARNING = "warning: run the formatter to fix this\n"
LOG = "build started\n" + 20 * (WARNING + "  in some file\n") + "Error: the run was stopped\n" + 20 * "cleaned up\n"


def test_a_repeated_line_is_relevant_once():
    """A warning given twenty times leaves room for the error below."""
    excerpt = Passages.of(LOG, {"run": 1.0}).excerpt(140)
    assert excerpt.count("warning") == 1
    assert "Error: the run was stopped" in excerpt


def test_a_repeated_line_is_no_news():
    """Nothing relevant comes after a beginning that has the line already."""
    passages = Passages.of(20 * WARNING, {"run": 1.0})
    assert passages.anything_after(0)
    assert not passages.anything_after(2 * len(WARNING))
