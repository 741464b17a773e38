"""Task records as candidates: what agents reported of shared work, as far as it is trusted (memd; DESIGN 6)."""

from collections.abc import Iterable, Iterator

from hmxgraph.recall.candidates import Candidate
from hmxgraph.recall.known.appraisal import Appraisal
from hmxgraph.recall.known.values import KnownRecord
from hmxgraph.text.lines import speaker_name

# How far a record is believed: countersigned, signed by one agent, rejected by another.
VERIFIED = 1.0
SIGNED = 0.8
REJECTED = 0.2
_SALIENCE = 0.7
# What a record is in terms of HMX-C 3.2: something that happened, or something that is held to be so.
_SOURCE_TYPES = {"episodes": "episode"}


def trust(record: KnownRecord) -> float:
    """How far *record* is believed, in [0, 1].

    >>> trust(KnownRecord("r", "evidence", "", "", 0, "s", trust_tier="verified_record"))
    1.0

    """
    if record.rejected:
        return REJECTED
    return VERIFIED if record.trust_tier == "verified_record" else SIGNED


def record_candidates(records: Iterable[KnownRecord], appraisal: Appraisal) -> Iterator[Candidate]:
    """A candidate for each of *records*; digests are hints where to look and never among them."""
    yield from (_record(record, appraisal) for record in records)


def _record(record: KnownRecord, appraisal: Appraisal) -> Candidate:
    relevance = appraisal.share(record.words)
    components = appraisal.components(relevance, record.created_us, trust(record), _SALIENCE)
    content = _told(record)
    return Candidate(
        section=record.section,
        source_type=_SOURCE_TYPES.get(record.section, "memory"),
        source_id=record.record_id,
        tokens=appraisal.count_tokens(content),
        score=components.score,
        components=components,
        content=content,
        origin=record.trust_tier,
        confidence=trust(record),
        evidence_count=1 + record.countersigned,
        time_us=record.created_us,
        session_id=record.session_id,
        verdict=appraisal.verdict(relevance) if record.held else "deprecated",
    )


def _told(record: KnownRecord) -> str:
    """The text of a record with its author, and what other agents said to it.

    >>> _told(KnownRecord("r", "evidence", "evidence: The buffer leaks", "", 0, "s", agent_id="ana", rejected=True))
    'evidence by ana, rejected by another agent: The buffer leaks'

    """
    kind, mark, said = record.text.partition(": ")
    author = speaker_name(record.agent_id or "")
    by = f" by {author}" if author else ", unsigned"
    if record.rejected:
        by += ", rejected by another agent"
    elif record.trust_tier == "verified_record":
        by += ", verified by another agent"
    return f"{kind}{by}{mark}{said}"
