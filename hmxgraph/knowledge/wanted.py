"""The filters of a listing, as keyword arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from hmxgraph.errors import InvalidRequest
from hmxgraph.graph.rows.lifecycle import ArtifactFilter
from hmxgraph.knowledge.moments import Moment, as_us
from hmxgraph.protocol.fingerprints import Envelope, Fingerprint
from hmxgraph.recall.asking.request import PackRequest
from hmxgraph.text.asked import checked_texts


class WantedArtifacts(TypedDict, total=False):
    """Which artifacts to list; see :class:`hmxgraph.graph.rows.lifecycle.ArtifactFilter`."""

    status: str | None
    artifact_type: str | None
    tags: Sequence[str]
    text: str | None
    agent_id: str | None
    situation: Sequence[str]
    compiled_by: str | None


def artifact_filter(wanted: WantedArtifacts) -> ArtifactFilter:
    """The filter that *wanted* describes.

    >>> artifact_filter({"tags": ["staging"]}).tags
    ('staging',)

    """
    tags, situation = (tuple(checked_texts(name, wanted.get(name))) for name in ("tags", "situation"))
    given: dict[str, Any] = {**wanted, "tags": tags, "situation": situation}
    return ArtifactFilter(**given)


class WantedPack(TypedDict, total=False):
    """What a context pack is to be; see :class:`hmxgraph.recall.asking.request.PackRequest`."""

    budget: int
    strategy: str
    as_of: Moment | None
    session_id: str | None
    agent_id: str | None
    sections: Sequence[str]
    min_confidence: float
    fingerprint: Fingerprint | Envelope | Mapping[str, Any] | None


def pack_request(query: str, wanted: WantedPack) -> PackRequest:
    """The checked request that *query* and *wanted* describe.

    >>> pack_request("Deploy", {"budget": 512, "sections": ["episodes"]}).budget
    512

    """
    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    for name in sorted(given.keys() - WantedPack.__annotations__.keys()):
        options = ", ".join(WantedPack.__annotations__)
        raise InvalidRequest(name, f"{given[name]!r:.60}", "option of a pack", f"there are {options}")
    given["as_of_us"] = as_us(given.pop("as_of", None))
    given["priors"] = _priors(given.pop("fingerprint", None))
    return PackRequest(query, **given)


def _priors(given: Fingerprint | Envelope | Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The context priors of a fingerprint, of the one in an envelope, or *given* itself where it is neither."""
    document: object = given.document() if isinstance(given, Fingerprint | Envelope) else given
    if document is None:
        return None
    if not isinstance(document, Mapping):
        kind = type(document).__name__
        raise InvalidRequest("fingerprint", f"of type {kind}", "fingerprint", "give one, its envelope or its document")
    for name in ("fingerprint", "context_priors"):
        inner = document.get(name)
        document = inner if isinstance(inner, Mapping) else document
    return document
