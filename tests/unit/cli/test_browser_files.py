"""What Neo4j Browser imports: the favourites are the saved queries, the style knows the whole graph model."""

import io
import re
import zipfile

from hmxgraph.cli.browser import Access, favourites
from hmxgraph.engine import browser_style, style_command
from hmxgraph.graph.plan import query, query_names

STYLES = browser_style()
VALUES = dict.fromkeys(query("explore/parameters").row, "x")
EVERYTHING = "\n".join(query(name).text for name in query_names())


def luminance(colour):
    """The relative luminance of a colour (WCAG 2)."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_favourites_are_the_saved_queries():
    """Byte for byte, in Browser's own form: one zip, one folder, a title as first line, parameters and style first."""
    with zipfile.ZipFile(io.BytesIO(favourites(VALUES))) as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist()}
    parameters, style = list(held.values())[:2]
    assert '\n:params {"tenant_id":"x",' in parameters
    assert style.endswith(f"\n:{style_command()}")
    saved = {f"hmxgraph/{name.removeprefix('explore/')}.cypher": query(name).text for name in query_names("explore")}
    assert saved.pop("hmxgraph/parameters.cypher")
    assert saved.pop("hmxgraph/similar_events.cypher")  # asks for an embedding
    assert dict(list(held.items())[2:]) == saved
    assert all(text.startswith("// ") for text in held.values())


def test_favourites_are_the_same_bytes_every_time():
    """The same queries and values give the same file."""
    assert favourites(VALUES) == favourites(VALUES)


def test_every_title_is_its_own():
    """Browser lists favourites by their first line, so no two share it."""
    titles = [query(name).text.splitlines()[0] for name in query_names("explore")]
    assert len(set(titles)) == len(titles)


def test_style_knows_every_label():
    """Each label that a statement creates or matches has a colour and a caption."""
    labels = set(re.findall(r"\(\w*:([A-Z]\w+)", EVERYTHING))
    assert {f"node.{label}" for label in labels} <= set(STYLES)


def test_style_knows_only_types_that_are_there():
    """A relationship that has a rule is one of the graph's."""
    types = {kind for group in re.findall(r"\[\w*:([A-Z_|]+)", EVERYTHING) for kind in group.split("|")}
    assert {name.removeprefix("relationship.") for name in STYLES if name.startswith("relationship.")} <= types


def test_the_style_is_one_command():
    """Browser splits a server's commands at semicolons, and reads the style command up to the end of the line."""
    assert re.search("[;\n]", style_command()) is None


def test_captions_can_be_read():
    """Text and background of every node differ in contrast by at least 4.5 to 1."""
    for name, style in STYLES.items():
        if name.startswith("node."):
            colours = STYLES["node"] | style
            light, dark = sorted((luminance(colours["color"]), luminance(colours["text-color-internal"])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, name


def test_login_page_has_address_and_user_filled_in():
    """The page that is opened asks for the password alone."""
    access = Access("http://127.0.0.1:7474/browser/", "bolt://127.0.0.1:7687", "neo4j", None)
    assert access.login_uri.endswith("/browser/?dbms=bolt%3A%2F%2Fneo4j%40127.0.0.1%3A7687")
