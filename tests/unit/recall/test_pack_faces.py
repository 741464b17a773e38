"""Human-readable views of a pack, and its one volatile field."""

import io

import pytest
from rich.console import Console

from hmxgraph.errors import NotWritten
from hmxgraph.recall.pack import Pack
from hmxgraph.text.marks import cut_marked
from tests.recall_makers import artifact, event, known, memory, packed


def some_pack():
    """Return a pack with entries and drops."""
    events = [event(1, "deploy <b>staging</b> & more"), event(2, "Bread")]
    return packed(events, known(memories=[memory(1, sound=False)], artifacts=[artifact(1)]), budget=300)


def test_the_table_names_entries_and_drops():
    """The table shows each entry with its score and each drop with its reason."""
    out = io.StringIO()
    Console(file=out, width=200).print(some_pack().table())
    assert "provenance_failed" in out.getvalue()
    assert "<b>staging</b>" in out.getvalue()


def test_the_page_is_self_contained(tmp_path):
    """The page escapes content, loads nothing, and shows the prompt text with a button that copies it."""
    page = some_pack().to_html(tmp_path / "pack.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;staging&lt;/b&gt; &amp; more" in page
    assert "<button type='button'>copy</button>" in page
    assert "http" not in page.replace("http-equiv", "")
    assert some_pack()._repr_html_().startswith("<style>")


def test_a_page_that_cannot_be_written_names_its_place(tmp_path):
    """A missing folder raises one error with the path, which is also an OSError."""
    with pytest.raises(NotWritten, match=r"cannot write .*pack\.html \(No such file") as refused:
        some_pack().to_html(tmp_path / "nowhere" / "pack.html")
    assert isinstance(refused.value, OSError)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", None, 1, b"pack.html"])
def test_an_invalid_path_is_reported(path):
    """An invalid path raises NotWritten, whatever Python raises for it."""
    with pytest.raises(NotWritten, match="cannot write"):
        some_pack().to_html(path)


def test_the_prompt_is_cut_out_again():
    """A pack between its marks leaves a prompt as it was; an empty pack adds nothing to it."""
    pack = some_pack()
    assert cut_marked(f"Deploy it.{pack.prompt}") == ("Deploy it.", (pack.pack_id,))
    assert pack.text in pack.prompt
    assert packed([], known()).prompt == ""


def test_only_the_duration_is_volatile():
    """The assembly time changes neither the hash nor anything else."""
    fast, slow = some_pack().taking(1), some_pack().taking(2.34567)
    assert fast.metadata["pack_hash"] == slow.metadata["pack_hash"]
    assert slow.assembly_metadata.assembly_duration_ms == 2.346
    assert fast.text == slow.text


@pytest.mark.parametrize("age_days", [150_000, -150_000])
def test_a_pack_can_date_events_of_any_century(age_days):
    """Times in the metadata are text, because microseconds of other centuries exceed JSON integers."""
    pack = packed([event(1, "Deploy the staging environment", age_days=age_days, salience=1.0)])
    assert Pack.parse(pack.to_json()).text == pack.text
    assert ("1615" if age_days > 0 else "2436") in pack.text


def test_a_pack_that_was_read_is_the_pack_that_was_made():
    """The text is reproduced from the document alone, including times and order."""
    pack = packed([event(number, f"deploy staging {number}", session=f"s{number % 2}") for number in range(9)])
    assert Pack.parse(pack.to_json()).text == pack.text


@pytest.mark.parametrize(
    "entries",
    [
        None,
        "entries",
        [],
        [None],
        [{}],
        [{"timestamp": 5, "session_id": 5, "place": "x", "label": 5, "speaker": 5}],
        [{"timestamp": "yesterday"}],
        [{"timestamp": "0000-01-01T00:00:00Z"}],
    ],
)
def test_a_pack_without_entry_times_is_rendered_without_dates(entries):
    """A section with an event of unknown time is rendered without dates."""
    document = packed([event(1, "deploy staging")]).document()
    document["metadata"] = {} if entries is None else {"entries": entries}
    assert Pack.parse(document).text == "## Episodes\n- deploy staging\n"
