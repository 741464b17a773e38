"""Neo4j Browser in a headless Chromium: styled at login, with saved queries loaded from one dragged file."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from neo4j import GraphDatabase

import hmxgraph
from hmxgraph import engine
from hmxgraph.cli.browser import find_browser
from hmxgraph.demo import events_file
from tests.integration.chromium import chromium

pytestmark = [pytest.mark.server, pytest.mark.slow]
ENTITY_FILL = "#8fd0b2"
STYLED = f"localStorage.getItem('neo4j.grass')?.includes({json.dumps(ENTITY_FILL)})"
CONTROL = 2
FILLS = "[...document.querySelectorAll('circle')].map(circle => circle.getAttribute('fill'))"


class Site(NamedTuple):
    """The address of Browser, and the login of the server behind it."""

    page: str
    uri: str
    user: str
    password: str


@pytest.fixture(scope="module")
def site(address, tmp_path_factory):
    """The Browser of the test server, or of a local engine if the test server has none styled by hmxgraph."""
    names = "'server.http.advertised_address', 'browser.post_connect_cmd'"
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        records = driver.execute_query(f"SHOW SETTINGS {names} YIELD name, value").records
    settings = {record["name"]: record["value"] for record in records}
    host, _, port = settings["server.http.advertised_address"].rpartition(":")
    page = find_browser(host or "localhost", int(port))
    if page and "style" in settings["browser.post_connect_cmd"]:
        yield Site(page, address.uri, address.user, address.password)
        return
    home = tmp_path_factory.mktemp("browser")
    server = engine.ensure(home)
    yield Site(server.browser_uri, server.uri, server.user, server.password)
    engine.stop(home)


@pytest.fixture
def demo(site, tenant_id):
    """A tenant with the demo's events, compiled."""
    with hmxgraph.connect(site.uri, user=site.user, password=site.password, tenant_id=tenant_id) as graph:
        graph.ingest(events_file(), rehome=True)
        graph.compile()
    return tenant_id


@pytest.fixture
def saved(site, demo, tmp_path):
    """The file that ``hmxgraph browser --save`` writes."""
    command = [sys.executable, "-m", "hmxgraph", "browser", "--save", str(tmp_path), "--tenant", demo, "--json"]
    login = {"HMXGRAPH_URI": site.uri, "HMXGRAPH_USER": site.user, "HMXGRAPH_PASSWORD": site.password}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | login).stdout
    return Path(json.loads(output)["saved"])


@pytest.fixture
def page(site):
    """Browser, logged in and styled. Only local names resolve, so nothing can come from the internet."""
    with chromium() as page:
        page.open(site.page)
        page.wait("document.querySelector('[data-testid=boltaddress]')?.value")
        for field, text in (("username", site.user), ("password", site.password)):
            page.ask(f"document.querySelector('[data-testid={field}]').focus()")
            page.type(text)
        page.click("[data-testid=connect]")
        page.wait(STYLED)
        yield page


def run_favourite(page, title):
    """Click the run button of a favourite."""
    beside = f"document.querySelector('[data-testid^=\"scriptTitle-{title}\"]')"
    button = f"{beside}?.closest('[data-testid=savedScriptListItem]').querySelector('[data-testid$=Run]')"
    page.wait(button)
    page.ask(f"{button}.click()")


def load_favourites(page, file):
    """Drop the saved queries on Browser, open their folder and set their parameters."""
    page.drop(".filedrop", file)
    page.click("[data-testid=navigationFavorites]")
    page.click("[data-testid=expandFolder-hmxgraph]")
    run_favourite(page, "0. Parameters")
    page.wait("document.querySelector('[data-testid=rawParamData]')")


def run(page, command):
    """Type a command into the editor and run it."""
    page.ask("document.querySelector('.monaco-editor textarea').focus()")
    page.type(command)
    page.press("Enter", 13, modifiers=CONTROL)


def captions(page):
    """The captions of all nodes in the picture."""
    return page.ask("[...document.querySelectorAll('g.node')].map(node => node.textContent.trim())")


def wait_for_caption(page, text):
    """Wait until a node's caption contains *text*."""
    page.wait(f"[...document.querySelectorAll('g.node text')].some(t => t.textContent.includes({json.dumps(text)}))")


def test_saved_query_is_a_picture(page, saved):
    """Browser is styled at login; after dragging one file onto it, a saved query shows styled, captioned nodes."""
    load_favourites(page, saved)
    run_favourite(page, "The entity graph")
    page.wait(f"{FILLS}.includes({json.dumps(ENTITY_FILL)})")
    wait_for_caption(page, "kubectl")
    assert page.ask(f"{FILLS}.filter(fill => fill === {json.dumps(ENTITY_FILL)}).length") > 20


def test_a_styled_picture_says_what_helped(page, saved):
    """With the style, a playbook's caption begins with how often it worked."""
    load_favourites(page, saved)
    run_favourite(page, "Failures and what fixed them")
    wait_for_caption(page, "✓ 4 of 4")
    assert any(caption.startswith("✗ 0 of 2") for caption in captions(page))
    keep(page, "browser-styled.png")


def test_nodes_have_captions_without_a_style(page, saved):
    """Without the style, nodes still have readable captions, and a favourite applies the style."""
    run(page, ":style reset")
    page.wait(f"!{STYLED}")
    load_favourites(page, saved)
    run_favourite(page, "Failures and what fixed them")
    wait_for_caption(page, "✗")
    written = captions(page)
    keep(page, "browser-plain.png")
    assert any(caption.startswith("✗") for caption in written), written
    assert any(caption.startswith("exec") for caption in written)
    assert any(caption.startswith("kubectl") for caption in written)
    run_favourite(page, "0. Style")
    page.wait(STYLED)


def keep(page, name):
    """Save a screenshot in the folder that HMXGRAPH_PICTURES names, if it is set."""
    if folder := os.environ.get("HMXGRAPH_PICTURES"):
        page.picture(Path(folder) / name)
