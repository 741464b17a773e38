"""Neo4j Browser in a real (headless) Chromium: style and favourites go in, a saved query comes out as a picture."""

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
FILLS = "[...document.querySelectorAll('circle')].map(circle => circle.getAttribute('fill'))"


class Site(NamedTuple):
    """Where Browser is served, and the login of the server behind it."""

    page: str
    uri: str
    user: str
    password: str


@pytest.fixture(scope="module")
def site(address, tmp_path_factory):
    """The Browser of the tests' server, or of a local engine where that one has none to be reached."""
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        shown = driver.execute_query("SHOW SETTINGS 'server.http.advertised_address' YIELD value").records
    host, _, port = str(shown[0]["value"]).rpartition(":")
    page = find_browser(host or "localhost", int(port))
    if page:
        yield Site(page, address.uri, address.user, address.password)
        return
    home = tmp_path_factory.mktemp("browser")
    server = engine.ensure(home)
    yield Site(server.browser_uri, server.uri, server.user, server.password)
    engine.stop(home)


@pytest.fixture
def demo(site, tenant_id):
    """The demo's events, compiled, under the test's tenant."""
    with hmxgraph.connect(site.uri, user=site.user, password=site.password, tenant_id=tenant_id) as graph:
        graph.ingest(events_file(), rehome=True)
        graph.compile()
    return tenant_id


@pytest.fixture
def saved(site, demo, tmp_path):
    """The two files that ``hmxgraph browser --save`` writes."""
    command = [sys.executable, "-m", "hmxgraph", "browser", "--save", str(tmp_path), "--tenant", demo, "--json"]
    login = {"HMXGRAPH_URI": site.uri, "HMXGRAPH_USER": site.user, "HMXGRAPH_PASSWORD": site.password}
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | login).stdout
    return [Path(name) for name in json.loads(told)["saved"]]


@pytest.fixture
def page(site):
    """Browser's page, logged in. No name but this machine's resolves: nothing comes from the internet."""
    with chromium() as page:
        page.open(site.page)
        page.wait("document.querySelector('[data-testid=boltaddress]')?.value")
        for field, text in (("username", site.user), ("password", site.password)):
            page.ask(f"document.querySelector('[data-testid={field}]').focus()")
            page.type(text)
        page.click("[data-testid=connect]")
        page.wait("document.body.innerText.includes('You are connected as user')")
        yield page


def run_favourite(page, title):
    """Click the triangle beside a favourite."""
    beside = f"document.querySelector('[data-testid^=\"scriptTitle-{title}\"]')"
    button = f"{beside}?.closest('[data-testid=savedScriptListItem]').querySelector('[data-testid$=Run]')"
    page.wait(button)
    page.ask(f"{button}.click()")


def load_favourites(page, file):
    """Drop the saved queries on the Browser, open their folder and set their parameters."""
    page.drop(".filedrop", file)
    page.click("[data-testid=navigationFavorites]")
    page.click("[data-testid=expandFolder-hmxgraph]")
    run_favourite(page, "0. Parameters")
    page.wait("document.querySelector('[data-testid=rawParamData]')")


def test_saved_query_is_a_picture(page, saved):
    """Both files dragged onto the page, a click on the parameters and one on a query: styled, captioned nodes."""
    style, favourites = saved
    page.drop(".filedrop", style)
    page.wait(f"document.body.innerText.includes({json.dumps(ENTITY_FILL)})")
    load_favourites(page, favourites)
    run_favourite(page, "The entity graph")
    page.wait(f"{FILLS}.includes({json.dumps(ENTITY_FILL)})")
    page.wait("[...document.querySelectorAll('g.node text')].some(text => text.textContent.includes('kubectl'))")
    assert page.ask(f"{FILLS}.filter(fill => fill === {json.dumps(ENTITY_FILL)}).length") > 20


def captions(page):
    """What is written on the nodes of the picture, a string for each."""
    return page.ask("[...document.querySelectorAll('g.node')].map(node => node.textContent.trim())")


def test_nodes_have_captions_without_a_style(page, saved):
    """Favourites alone give a picture that can be read: events and playbooks say what they are, failures are marked."""
    load_favourites(page, saved[1])
    run_favourite(page, "Failures and what fixed them")
    page.wait("[...document.querySelectorAll('g.node text')].some(text => text.textContent.includes('✗'))")
    written = captions(page)
    keep(page, "browser-plain.png")
    assert any(caption.startswith("✗") for caption in written), written
    assert any(caption.startswith("exec") for caption in written)
    assert any(caption.startswith("kubectl") for caption in written)


def test_a_styled_picture_says_what_helped(page, saved):
    """With the style, a playbook begins with how often it worked."""
    page.drop(".filedrop", saved[0])
    page.wait(f"document.body.innerText.includes({json.dumps(ENTITY_FILL)})")
    load_favourites(page, saved[1])
    run_favourite(page, "Failures and what fixed them")
    page.wait("[...document.querySelectorAll('g.node text')].some(text => text.textContent.includes('✓ 4 of 4'))")
    assert any(caption.startswith("✗ 0 of 2") for caption in captions(page))
    keep(page, "browser-styled.png")


def keep(page, name):
    """Save what is seen where a person wants to look at it (HMXGRAPH_PICTURES)."""
    if folder := os.environ.get("HMXGRAPH_PICTURES"):
        page.picture(Path(folder) / name)
