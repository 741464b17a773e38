"""One candidate for a pack, whatever it is: an event, a memory, an artifact, an entity, a relation, a conflict."""

from typing import NamedTuple, TypeAlias

from hmxgraph.recall.scoring import Components

# What candidates are ranked by: score downwards, tokens, id, section.
Order: TypeAlias = tuple[float, int, str, str]


class Candidate(NamedTuple):
    """Something that may go into a section.

    ``tokens`` are those that it takes as written; of what cannot go in those of its text are enough. ``verdict`` is a
    drop reason that stands from the beginning. An ``exempt`` candidate is never too irrelevant: identity and hard
    rules. Of events, ``label`` says that their words came from tools or the web, and ``place`` is where they stand in
    their session.
    """

    section: str
    source_type: str
    source_id: str
    tokens: int
    score: float
    components: Components
    content: str = ""
    origin: str = ""
    confidence: float = 1.0
    evidence_count: int = 1
    time_us: int = 0
    session_id: str = ""
    speaker: str = ""
    label: str = ""
    place: int = 0
    verdict: str = ""
    exempt: bool = False

    @property
    def order(self) -> Order:
        """By score, then the shorter, then by id (HMX-C 3.3); the section where one record stands in two."""
        return -self.score, self.tokens, self.source_id, self.section


class Ranked(NamedTuple):
    """A candidate with its place among all of them, 1 for the first."""

    rank: int
    candidate: Candidate


class Dropped(NamedTuple):
    """A candidate that was left out, and why (HMX-C 8)."""

    ranked: Ranked
    reason: str
