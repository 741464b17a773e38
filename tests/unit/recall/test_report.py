"""The HTML report of a pack: self-contained and safe for any event content."""

import re

import pytest

from hmxgraph.conformance.kit import example
from hmxgraph.protocol.packs import ContextPack
from hmxgraph.recall._report import pack_html

EVENT = {"timestamp": "2026-03-14T03:00:00Z", "session_id": "s", "event_type": "message", "text": "<script>x</script>"}


@pytest.fixture
def document():
    """Return the specification's example."""
    return example("context-pack")


def entry_of(document):
    """Return the document's first entry."""
    return document["entries"][0]


def test_page_needs_no_network(document):
    """The report loads nothing; its one script copies the prompt text, and a notebook's part has none."""
    pack = ContextPack.parse(document)
    assert pack_html(pack, text="x").count("<script") == 1
    assert "<script" not in pack_html(pack, text="x", fragment=True)
    page = pack_html(pack)
    assert page.startswith("<!doctype html>")
    assert (
        re.findall(r"<script|src=|href=|url\(|@import|https?://", page.replace(entry_of(document)["content"], "")) == []
    )


def test_words_of_others_stay_words(document):
    """HTML in the question, entries and evidence is escaped."""
    hostile = document["query_context"] = entry_of(document)["content"] = "<img onerror=x>"
    texts = {drop["source_id"]: hostile for drop in document["dropped_entries"]}
    page = pack_html(
        ContextPack.parse(document),
        text="",
        trails={entry_of(document)["source_id"]: [EVENT]},
        drop_texts=texts,
    )
    assert "<img" not in pack_html(ContextPack.parse(document), text=hostile)
    assert "<img" not in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_long_trails_count_what_they_leave_out(document):
    """Evidence with many events shows the first ones and counts the rest."""
    page = pack_html(ContextPack.parse(document), trails={entry_of(document)["source_id"]: [EVENT] * 100})
    assert "evidence: 100 events" in page
    assert "and 40 more" in page


def test_what_was_left_out_is_listed_by_its_text(document):
    """If texts are given, drops without one are only counted; otherwise all are listed by id."""
    first = document["dropped_entries"][0]
    document["dropped_entries"] = [first, first | {"source_id": "no-text", "rank": 99}]
    pack = ContextPack.parse(document)
    page = pack_html(pack, drop_texts={first["source_id"]: "Deploy on Friday"})
    assert "Deploy on Friday" in page
    assert "no-text" not in page
    assert "no-text" in pack_html(pack)
