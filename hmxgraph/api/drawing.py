"""Pictures of saved queries: interactive in a notebook or an HTML page, or static as SVG.

Colours and captions come from the style that Neo4j Browser also uses (``engine/browser_style.json``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmxgraph.engine import browser_style
from hmxgraph.errors import InvalidRequest, NotWritten
from hmxgraph.graph.exploring import PictureEdge, PictureNode
from hmxgraph.protocol.display import truncate_line

if TYPE_CHECKING:
    import neo4j_viz
    import networkx as nx
    import numpy as np

# Maximum number of characters of a caption.
_LONGEST_CAPTION = 60
# Height of the picture in a notebook, in pixels.
_HEIGHT = 560
# File name endings of drawings: an interactive page, or a static picture.
DRAWING_ENDINGS = (".html", ".svg")

# Colours and captions, from the style of Neo4j Browser.

# A placeholder for a property in a caption pattern, such as {name}.
_FIELD = re.compile(r"\{(\w+)\}")


def _style(element: str, name: str) -> dict[str, str]:
    """The style of a ``node`` with the label *name*, or of a ``relationship`` with that type."""
    styles = browser_style()
    return styles[element] | styles.get(f"{element}.{name}", {})


# Neo4j Browser colours nodes by label alone; here, failed nodes get a colour of their own.
_FAILED_STYLE = {"color": "#f3b5b5", "border-color": "#b8324a"}


def _node_style(node: PictureNode) -> dict[str, str]:
    return _style("node", node.label) | (_FAILED_STYLE if node.properties.get("failed") else {})


def _caption_from(pattern: str, properties: Mapping[str, Any], fallback: str) -> str:
    """The caption made from *pattern* by inserting *properties*.

    *fallback*, the label or type, replaces ``<type>`` in the pattern, and is the caption if nothing else is in it.
    """
    text = _FIELD.sub(lambda part: str(properties.get(part[1], "")), pattern.replace("<type>", fallback))
    return truncate_line(text, _LONGEST_CAPTION) or fallback


def caption(node: PictureNode) -> str:
    """The caption of a node.

    >>> caption(PictureNode("1", "Entity", {"name": "kubectl"})), caption(PictureNode("2", "Other", {}))
    ('kubectl', 'Other')

    """
    return _caption_from(_style("node", node.label).get("caption", ""), node.properties, node.label)


def edge_caption(edge: PictureEdge) -> str:
    """The caption of a relationship.

    >>> edge_caption(PictureEdge("1", "2", "RELATES_TO", {"relation_type": "uses"}))
    'uses'

    """
    return _caption_from(_style("relationship", edge.kind).get("caption", "<type>"), edge.properties, edge.kind)


# The picture.


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and relationships of a saved query. A notebook shows them as a picture to zoom, drag and click."""

    name: str
    nodes: tuple[PictureNode, ...] = field(repr=False)
    edges: tuple[PictureEdge, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.nodes)

    def interactive(self) -> "neo4j_viz.VisualizationGraph":
        """The picture as a graph of neo4j-viz, which has more options: ``drawing.interactive().render_widget()``.

        Raises:
            InvalidRequest: the extra ``draw`` is not installed.

        """
        try:
            import neo4j_viz  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise _not_installed(error) from error
        graph = neo4j_viz.VisualizationGraph(
            [neo4j_viz.Node.model_validate(_viz_node(node)) for node in self.nodes],
            [neo4j_viz.Relationship.model_validate(_viz_edge(edge)) for edge in self.edges],
        )
        legend: dict[Any, Any] = {_legend_name(node): _node_style(node)["color"] for node in self.nodes}
        graph.set_legend(nodes=legend)
        return graph

    def html(self) -> str:
        """A complete page with the interactive picture, which needs no network. Its size is always about 4 MB.

        Raises:
            InvalidRequest: the extra ``draw`` is not installed.

        """
        return str(self.interactive().render(width="100%", height="100vh").data)

    def save(self, path: str | Path) -> Path:
        """Write the interactive page, or the static SVG if *path* ends in ``.svg``, to *path* and return the path.

        Raises:
            InvalidRequest: the extra ``draw`` is not installed.
            NotWritten: *path* cannot be written, or its name ends neither in ``.html`` nor in ``.svg``.

        """
        target = Path(path)
        if target.suffix.lower() not in DRAWING_ENDINGS:
            raise NotWritten(str(path), f"the name of a drawing must end in {' or '.join(DRAWING_ENDINGS)}")
        text = self.to_svg() if target.suffix.lower() == ".svg" else self.html()
        try:
            target.write_text(text, encoding="utf-8")
        except OSError as error:
            raise NotWritten(str(path), error.strerror or str(error)) from error
        except ValueError as error:
            # A path that the operating system cannot encode.
            raise NotWritten(repr(path), str(error)) from error
        return target

    def to_svg(self) -> str:
        """A static picture as SVG, for documents that run no scripts; the same drawing always gives the same bytes.

        Raises:
            InvalidRequest: the extra ``draw`` is not installed.

        """
        return _svg(self)

    def _repr_html_(self) -> str:
        # The page is put in a frame, so that its styles do not affect the notebook.
        page = escape(self.html(), quote=True)
        return f"<iframe style='width:100%;height:{_HEIGHT}px;border:0' srcdoc=\"{page}\"></iframe>"


def _legend_name(node: PictureNode) -> str:
    return f"{node.label}, failed" if node.properties.get("failed") else node.label


def _viz_node(node: PictureNode) -> dict[str, Any]:
    return {
        "id": node.node_id,
        "caption": caption(node),
        "color": _node_style(node)["color"],
        "size": _radius(node),
        "properties": {"label": node.label, **node.properties},
    }


def _viz_edge(edge: PictureEdge) -> dict[str, Any]:
    ends = {"source": edge.source_id, "target": edge.target_id}
    return {**ends, "caption": edge_caption(edge), "properties": edge.properties}


def _not_installed(error: ImportError) -> InvalidRequest:
    return InvalidRequest("draw", str(error.name), "an installed package", "pip install 'hmxgraph[draw]'")


def _radius(node: PictureNode) -> float:
    return float(_style("node", node.label)["diameter"].removesuffix("px")) / 2


# The static picture: connected components side by side, each laid out by the distances between its nodes.

# In pixels:
_EDGE_LENGTH = 190.0  # median length of the relationships in a component
_ROW_WIDTH = 1150.0  # width of a row of components
_GAP = 24.0  # between components
_LANE = 16.0  # between parallel relationships of the same two nodes
# In multiples of the font size:
_LETTER_WIDTH = 0.56  # mean width of a letter
_LINE_HEIGHT = 1.15
# In multiples of the radius of the node's circle:
_CAPTION_WIDTH = 1.72  # maximum width of a line
_CAPTION_HEIGHT = 1.5  # maximum height of a caption
_MOST_LINES = 5  # of a caption
# Where a long word may be broken: after a separator, as in deploy/|staging.|yaml.
_BREAKS = re.compile(r"(?<=[/._=(,:-])(?=.)")
_Point = tuple[float, float]


def _svg(drawing: Drawing) -> str:
    points, (width, height) = _layout(drawing)
    radii = {node.node_id: _radius(node) for node in drawing.nodes}
    edges = "".join(_edge_svg(edge, offset, points, radii) for edge, offset in _side_by_side(drawing.edges))
    nodes = "".join(_node_svg(node, points[node.node_id]) for node in drawing.nodes)
    marker = (
        "<marker id='to' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='7' markerHeight='7' orient='auto' "
        "markerUnits='userSpaceOnUse'><path d='M0 0L8 4L0 8z' fill='#66727f'/></marker>"
    )
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}'"
    head += " style='max-width:100%;height:auto'"
    font = "font-family='system-ui,sans-serif' text-anchor='middle'"
    return f"{head} {font}><rect width='100%' height='100%' fill='#fff'/><defs>{marker}</defs>{edges}{nodes}</svg>"


def _node_svg(node: PictureNode, centre: _Point) -> str:
    x, y = centre
    style, radius, text = _node_style(node), _radius(node), caption(node)
    font_size = float(style["font-size"].removesuffix("px"))
    lines = _caption_lines(text, radius, font_size)
    # The caption is centred vertically. A capital letter is about 0.7 font sizes high, so its middle is 0.35 above its
    # base line.
    first_y = y - (len(lines) - 1) * font_size * _LINE_HEIGHT / 2 + font_size * 0.35
    words = "".join(
        f"<tspan x='{x:.1f}' y='{first_y + index * font_size * _LINE_HEIGHT:.1f}'>{escape(line)}</tspan>"
        for index, line in enumerate(lines)
    )
    colours = f"fill='{style['color']}' stroke='{style['border-color']}' stroke-width='2'"
    title = escape(f"{_legend_name(node)}: {text}")
    return (
        f"<g><title>{title}</title><circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:g}' {colours}/>"
        f"<text font-size='{font_size:g}' fill='{style['text-color-internal']}'>{words}</text></g>"
    )


def _caption_lines(text: str, radius: float, font_size: float) -> list[str]:
    """*text* in lines that fit into a circle of *radius*; text that is too long ends in an ellipsis.

    >>> _caption_lines("deploy/staging/checkout.yaml fails", 50, 10)
    ['deploy/staging/', 'checkout.yaml', 'fails']

    """
    room = max(4, int(_CAPTION_WIDTH * radius / (font_size * _LETTER_WIDTH)))
    lines = [""]
    for word in text.split():
        for part in [word] if len(word) <= room else _BREAKS.split(word):
            joined = f"{lines[-1]}{' ' if word.startswith(part) else ''}{part}".strip()
            if len(joined) <= room:
                lines[-1] = joined
            else:
                lines.append(truncate_line(part, room))
    lines = [line for line in lines if line]
    max_lines = min(_MOST_LINES, max(1, int(_CAPTION_HEIGHT * radius / (font_size * _LINE_HEIGHT))))
    return (
        lines if len(lines) <= max_lines else [*lines[: max_lines - 1], truncate_line(f"{lines[max_lines - 1]}…", room)]
    )


def _side_by_side(edges: Sequence[PictureEdge]) -> Iterator[tuple[PictureEdge, float]]:
    """Each relationship between two different nodes, with a sideways offset that keeps parallel ones apart."""
    pairs: dict[tuple[str, ...], list[PictureEdge]] = {}
    for edge in edges:
        pairs.setdefault(tuple(sorted((edge.source_id, edge.target_id))), []).append(edge)
    for (first, second), parallel_edges in pairs.items():
        for index, edge in enumerate(parallel_edges if first != second else ()):
            offset = _LANE * (index - (len(parallel_edges) - 1) / 2)
            yield edge, offset if edge.source_id == first else -offset


def _edge_svg(edge: PictureEdge, offset: float, points: Mapping[str, _Point], radii: Mapping[str, float]) -> str:
    """An arrow between the rims of two nodes, and its caption next to its middle."""
    (x1, y1), (x2, y2) = points[edge.source_id], points[edge.target_id]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
    across, down = (x2 - x1) / length, (y2 - y1) / length
    # The line is moved sideways by the offset, and begins and ends a little outside the two circles.
    x1, y1 = x1 - down * offset, y1 + across * offset
    start, end = radii[edge.source_id] + 1, length - radii[edge.target_id] - 2
    colour = _style("relationship", edge.kind)["color"]
    line = (
        f"<line x1='{x1 + across * start:.1f}' y1='{y1 + down * start:.1f}' x2='{x1 + across * end:.1f}' "
        f"y2='{y1 + down * end:.1f}' stroke='{colour}' stroke-width='1.6' marker-end='url(#to)'/>"
    )
    middle = (start + end) / 2
    at = f"x='{x1 + across * middle:.1f}' y='{y1 + down * middle - 3:.1f}'"
    halo = "paint-order='stroke' stroke='#fff' stroke-width='3'"
    return f"{line}<text {at} font-size='8' fill='#44505c' {halo}>{escape(edge_caption(edge))}</text>"


def _layout(drawing: Drawing) -> tuple[dict[str, _Point], _Point]:
    """The centre of each node, and the size of the picture; components are placed in rows, the largest first."""
    points: dict[str, _Point] = {}
    left = top = row_height = widest = 0.0
    for part in _component_points(drawing):
        right, bottom = (max(point[axis] for point in part.values()) for axis in (0, 1))
        margin = max(_radius(node) for node in drawing.nodes if node.node_id in part) + _GAP / 2
        width, height = right + 2 * margin, bottom + 2 * margin
        if left and left + width > _ROW_WIDTH:
            left, top, row_height = 0.0, top + row_height, 0.0
        points |= {node_id: (left + margin + x, top + margin + y) for node_id, (x, y) in part.items()}
        left, row_height = left + width, max(row_height, height)
        widest = max(widest, left)
    return points, (max(widest, 200.0), max(top + row_height, 60.0))


def _component_points(drawing: Drawing) -> Iterator[dict[str, _Point]]:
    """The positions of the nodes of each connected component, the largest first; no coordinate is negative."""
    import networkx as nx  # noqa: PLC0415 - slow to import

    whole: nx.Graph[str] = nx.Graph()
    whole.add_nodes_from(node.node_id for node in drawing.nodes)
    whole.add_edges_from((edge.source_id, edge.target_id) for edge in drawing.edges)
    rank = {node_id: index for index, node_id in enumerate(whole)}
    components = [sorted(nodes, key=rank.__getitem__) for nodes in nx.connected_components(whole)]
    for node_ids in sorted(components, key=lambda nodes: (-len(nodes), rank[nodes[0]])):
        component: nx.Graph[str] = nx.Graph()
        component.add_nodes_from(node_ids)
        component.add_edges_from(sorted(whole.edges(node_ids)))
        yield dict(zip(node_ids, _component_layout(component), strict=True))


def _component_layout(component: "nx.Graph[str]") -> list[_Point]:
    """The positions of the nodes of a connected graph: distances in the picture correspond to distances in the graph.

    The median length of a relationship is `_EDGE_LENGTH`, nodes that are too near are pushed apart, and the picture is
    at least as wide as high.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import
    import numpy as np  # noqa: PLC0415 - slow to import

    try:
        layout = nx.kamada_kawai_layout(component)
    except ImportError as error:  # networkx needs scipy for this
        raise _not_installed(error) from error
    points = np.array([layout[node] for node in component], dtype=float)
    order = {node: index for index, node in enumerate(component)}
    lengths = [float(np.hypot(*(points[order[a]] - points[order[b]]))) for a, b in component.edges if a != b]
    points = _pushed_apart(points * (_EDGE_LENGTH / (sorted(lengths)[len(lengths) // 2] or 1.0) if lengths else 1.0))
    if np.ptp(points[:, 1]) > np.ptp(points[:, 0]):
        points = points[:, ::-1]
    return [(float(x), float(y)) for x, y in points - points.min(axis=0)]


def _pushed_apart(points: "np.ndarray") -> "np.ndarray":
    """*points* moved, in at most 200 steps, until any two are nearly four fifths of `_EDGE_LENGTH` apart."""
    import numpy as np  # noqa: PLC0415 - slow to import

    min_distance = _EDGE_LENGTH * 0.8
    for _ in range(200):
        away = points[:, None] - points[None]
        distance = np.hypot(away[..., 0], away[..., 1])
        np.fill_diagonal(distance, min_distance)
        short = np.clip(min_distance - distance, 0, None)
        if short.max() < 1:
            break
        # Both points of a pair that is too near move away from each other by a quarter of the missing distance.
        points = points + (away / np.maximum(distance, 1)[..., None] * short[..., None] * 0.25).sum(axis=1)
    return points
