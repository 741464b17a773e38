"""A small embedder without a model: word forms are close, and so are a few words for the same subject."""

from hashlib import sha256

import numpy as np

from hmxgraph.text.terms import terms

SIZE = 128
THINGS = {
    "music": "cello violin instrument music musical practise orchestra",
    "food": "vegetarian vegan dinner eat meal restaurant peanuts",
    "storage": "disk space storage volume full",
    "machine": "box host machine node runner",
}
_OF = {term: topic for topic, words in THINGS.items() for term in terms(words)}


def embedder(texts):
    """A vector for each of *texts*."""
    return [_vector(text) for text in texts]


async def async_embedder(texts):
    """The same, asynchronously."""
    return embedder(texts)


def wider(texts):
    """Vectors with one more dimension."""
    return [[*vector, 0.5] for vector in embedder(texts)]


def _vector(text):
    vector = np.full(SIZE, 0.01)
    for term in terms(text):
        vector += _direction(term)
        if term in _OF:
            vector += 3 * _direction(_OF[term])
    return vector.tolist()


def _direction(word):
    seed = int.from_bytes(sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=SIZE) / SIZE**0.5
