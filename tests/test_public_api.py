"""The public names exist, are documented, and are the same in the synchronous and the asynchronous API."""

import inspect

import pytest

import hmxgraph
from hmxgraph.api.aio import AsyncKnowledgeGraph
from hmxgraph.api.graph import KnowledgeGraph

FACE = [name for name, _ in inspect.getmembers(KnowledgeGraph) if not name.startswith("_")]


@pytest.mark.parametrize("name", hmxgraph.__all__)
def test_public_name_is_documented(name):
    """Everything exported has a docstring."""
    assert inspect.getdoc(getattr(hmxgraph, name))


def parameters(face, name):
    """Names, kinds and defaults of a method's parameters."""
    signature = inspect.signature(getattr(face, name))
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


@pytest.mark.parametrize("name", FACE)
def test_faces_are_alike(name):
    """The asynchronous API has the same methods with the same parameters."""
    if isinstance(getattr(KnowledgeGraph, name), property):
        assert isinstance(getattr(AsyncKnowledgeGraph, name), property)
    else:
        assert parameters(AsyncKnowledgeGraph, name) == parameters(KnowledgeGraph, name)


@pytest.mark.parametrize("name", FACE)
def test_method_is_documented(name):
    """Every public method has a docstring."""
    assert inspect.getdoc(getattr(KnowledgeGraph, name))
    assert inspect.getdoc(getattr(AsyncKnowledgeGraph, name))


@pytest.mark.parametrize("name", [name for name in FACE if callable(getattr(KnowledgeGraph, name))])
def test_arguments_after_the_second_are_named(name):
    """A method takes at most two positional arguments; all others are keyword-only."""
    positional = [
        p for p, kind, _ in parameters(KnowledgeGraph, name) if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    assert len(positional) <= 3
