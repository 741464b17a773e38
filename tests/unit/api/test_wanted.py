"""Options of packs as callers give them."""

import pytest

from hmxgraph.api._base import artifact_filter, pack_request
from hmxgraph.api.fingerprints import export_options
from hmxgraph.api.recording import event_draft, forget_criteria, memory_request
from hmxgraph.errors import InvalidRequest
from hmxgraph.graph._paging import check_limit


@pytest.mark.parametrize("name", ["foo", "priors", "as_of_us", "query"])
def test_an_option_that_there_is_not_is_refused(name):
    """An unknown option is refused; the error names the valid ones."""
    with pytest.raises(InvalidRequest, match=rf"{name} 1: expected an option of pack\(\); choose from budget, "):
        pack_request("Deploy", {name: 1})


@pytest.mark.parametrize(
    "read",
    [
        artifact_filter,
        export_options,
        forget_criteria,
        lambda options: memory_request("Use Biome", options),
        lambda options: event_draft("message", {}, "s1", options),
    ],
)
def test_a_misspelt_option_never_goes_unnoticed(read):
    """A misspelt option is refused: ignored, it would make a forget select more than intended."""
    with pytest.raises(InvalidRequest, match=r"agnet_id 'a': expected an option of \w+\(\); choose from "):
        read({"agent_id": "a", "agnet_id": "a"})


@pytest.mark.parametrize("name", ["tags", "public_types"])
def test_an_export_with_a_text_for_a_list(name):
    """A text in place of a list is refused: split into characters, it would export too little or mask too much."""
    with pytest.raises(InvalidRequest, match=f"{name} 'team': expected a list"):
        export_options({name: "team"})


def test_an_export_with_a_word_for_a_flag():
    """The word "no" never counts as True."""
    with pytest.raises(InvalidRequest, match="allow_list 'no': expected True or False"):
        export_options({"allow_list": "no"})


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "5", None, 2**53])
def test_a_page_size_that_is_no_number_of_rows(limit):
    """A page size is a whole number from 1 to the largest integer on the wire."""
    with pytest.raises(InvalidRequest, match=r"limit .*: expected a page size; give 1 to "):
        check_limit(limit)


@pytest.mark.parametrize("given", [1, "x", [], b""])
def test_what_is_no_fingerprint_is_refused(given):
    """The error names the type of the value and what to give instead."""
    with pytest.raises(InvalidRequest, match=f"of type {type(given).__name__}: expected a fingerprint"):
        pack_request("Deploy", {"fingerprint": given})


def test_a_fingerprint_may_be_its_document():
    """Priors are found in a fingerprint's document or envelope, or given as they are."""
    priors = {"preferred_sections": ["facts"]}
    forms = (priors, {"context_priors": priors}, {"fingerprint": {"context_priors": priors}})
    assert [pack_request("Deploy", {"fingerprint": form}).priors for form in forms] == [priors] * 3
