"""Pictures of saved queries: captions and colours of Browser's style sheet, and a still drawing without scripts."""

from xml.etree import ElementTree as ET

import pytest

from hmxgraph.api.drawing import Drawing, caption
from hmxgraph.errors import NotWritten
from hmxgraph.graph.exploring import PictureEdge, PictureNode

SVG = "{http://www.w3.org/2000/svg}"
FAILURE = PictureNode("a", "Event", {"event_type": "error", "text": "<script>alert(1)</script> no such file"})
CALL = PictureNode("b", "Event", {"event_type": "tool_call", "name": "ls", "text": "ls"})
KUBECTL = PictureNode("c", "Entity", {"name": "kubectl"})
EDGES = (PictureEdge("b", "a", "NEXT", {}), PictureEdge("a", "b", "CAUSED_BY", {}))


@pytest.fixture
def drawing():
    """Two events with two relationships between them, and an entity alone."""
    return Drawing("explore/x", (FAILURE, CALL, KUBECTL), EDGES)


def shapes(drawing, kind):
    """The elements of one kind in the still drawing."""
    return list(ET.fromstring(drawing.to_svg()).iter(f"{SVG}{kind}"))  # noqa: S314 - our own text


def test_captions_are_those_of_browser():
    """An event is captioned by its type and name, as in Browser."""
    assert caption(CALL) == "tool_call ls"


def test_still_drawing_shows_every_node_and_relationship(drawing):
    """Three circles apart from each other, and two arrows that do not cover each other."""
    circles = [tuple(float(each.get(name)) for name in ("cx", "cy", "r")) for each in shapes(drawing, "circle")]
    lines = [tuple(each.get(name) for name in ("x1", "y1", "x2", "y2")) for each in shapes(drawing, "line")]
    assert len(circles) == 3
    assert len(set(lines)) == 2
    for place, (x, y, r) in enumerate(circles):
        assert all(((x - a) ** 2 + (y - b) ** 2) ** 0.5 >= r + s for a, b, s in circles[:place])


def test_what_failed_is_red(drawing):
    """A failed event has a different colour."""
    failed = PictureNode("d", "Event", {"event_type": "error", "failed": True})
    colours = [each.get("fill") for each in shapes(Drawing("explore/x", (CALL, failed), ()), "circle")]
    assert colours == ["#dfe6ee", "#f3b5b5"]


def test_still_drawing_is_the_same_every_time(drawing):
    """The same graph gives the same bytes."""
    assert drawing.to_svg() == drawing.to_svg()


def test_hostile_text_stays_text(drawing):
    """Markup in an event is escaped in the drawing and in the page."""
    pytest.importorskip("neo4j_viz")
    assert shapes(drawing, "script") == []
    assert "<script>alert" not in drawing.to_svg() + drawing.html()


def test_page_holds_nodes_relationships_and_legend(drawing):
    """neo4j-viz gets every node with its caption and colour."""
    pytest.importorskip("neo4j_viz")
    drawn = drawing.interactive()
    assert [(node.caption, node.color.as_hex()) for node in drawn.nodes][2] == ("kubectl", "#8fd0b2")
    assert [edge.caption for edge in drawn.relationships] == ["NEXT", "CAUSED_BY"]
    assert drawing._repr_html_().startswith("<iframe")


def test_file_name_says_what_is_written(drawing, tmp_path):
    """A page, or an SVG if the name ends in .svg; a missing folder raises NotWritten."""
    pytest.importorskip("neo4j_viz")
    assert drawing.save(tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "<html" in drawing.save(tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(NotWritten):
        drawing.save(tmp_path / "none" / "a.svg")
    with pytest.raises(NotWritten, match=r"\.html or \.svg"):
        drawing.save(tmp_path / "a.png")


@pytest.mark.parametrize("path", ["a\0b.svg", "\ud800.svg"])
def test_an_invalid_path_is_reported(drawing, path):
    """A path that no file can have raises NotWritten, as a folder that is missing does."""
    with pytest.raises(NotWritten, match="cannot write"):
        drawing.save(path)


def test_nothing_is_drawn_as_nothing():
    """A query without rows gives an empty drawing."""
    assert shapes(Drawing("explore/x", (), ()), "circle") == []
