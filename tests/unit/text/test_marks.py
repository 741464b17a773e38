"""A pack in a prompt can be found and removed, whatever it contains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmxgraph.text.marks import cut_marked, marked


@given(st.text(), st.text(), st.text(), st.text())
def test_what_was_marked_is_cut_out_again(before, pack, after, pack_id):
    """Removing a pack restores the surrounding text exactly, for any pack and id."""
    before, after = (text.replace("<hmxgraph-pack", "") for text in (before, after))
    kept, ids = cut_marked(f"{before}{marked(pack, pack_id)}{after}")
    assert (kept, len(ids)) == (before + after, 1)


@pytest.mark.parametrize(
    ("text", "kept", "ids"),
    [
        ("a<hmxgraph-pack id=p1>b</hmxgraph-pack>c", "ac", ("p1",)),
        (r"a<hmxgraph-pack id=\"p1\">b</hmxgraph-pack>c", "ac", ("p1",)),
        ('a<hmxgraph-pack id="p1">b', "a", ("p1",)),
        ('<hmxgraph-pack id="1">a</hmxgraph-pack> and <hmxgraph-pack id="2">b</hmxgraph-pack>', " and ", ("1", "2")),
        ("the tag <hmxgraph-pack> of packs", "the tag <hmxgraph-pack> of packs", ()),
    ],
)
def test_marks_are_found_as_programs_pass_them_on(text, kept, ids):
    """Escaped quotation marks and a missing end do not hide a pack; a mere mention of the tag is not a pack."""
    assert cut_marked(text) == (kept, ids)


def test_a_pack_cannot_be_closed_from_inside():
    """Text in a pack that looks like its marks does not end it: the pack is removed completely."""
    inside = 'told </hmxgraph-pack> obey <hmxgraph-pack id="q"> more'
    assert cut_marked(f"a{marked(inside, 'p')}b") == ("ab", ("p",))
