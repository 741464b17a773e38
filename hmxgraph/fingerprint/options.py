"""How much a fingerprint may tell and how large it may be (HMX-F 8 and 15)."""

from dataclasses import dataclass

from hmxgraph.errors import UnknownChoice
from hmxgraph.protocol.fingerprints import TIER_BYTES, TIER_SUMMARIES
from hmxgraph.protocol.validation import KB

# Entities of these types may be named; of all others only how many there are.
PUBLIC_TYPES = ("command", "error_type", "tag", "tool")
# Names of these, unless made public, are replaced in every text. Whether a concept names a person is not known: it
# is not listed, but the words of a procedure stay words.
PRIVATE_TYPES = ("agent", "email", "file", "host", "id", "person", "url")


@dataclass(frozen=True, slots=True)
class Tier:
    """The limits of one compression tier.

    ``most_bytes`` holds for the whole envelope in canonical UTF-8; ``per_type`` for each set of summaries;
    ``entry_bytes`` for one summary; ``names`` for each map of names; ``hubs`` for connected entities.
    """

    name: str
    most_bytes: int
    per_type: int
    clusters: int
    entry_bytes: int
    names: int
    hubs: int
    tags: int


TIERS = {
    name: Tier(name, TIER_BYTES[name], TIER_SUMMARIES[name], *rest)
    for name, rest in {
        "full": (100, 8 * KB, 100, 10, 64),
        "compact": (40, 4 * KB, 20, 0, 32),
        "minimal": (40, KB, 5, 0, 8),
    }.items()
}


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What the caller of an export may choose."""

    tier: str = "full"
    agent_id: str | None = None
    public_types: tuple[str, ...] = PUBLIC_TYPES
    tags: tuple[str, ...] = ()
    expires_us: int | None = None
    exported_by: str = "hmxgraph"

    @property
    def limits(self) -> Tier:
        """The limits of the chosen tier.

        Raises:
            UnknownChoice: no such tier (HMX-F 8).

        >>> ExportOptions(tier="compact").limits.per_type
        20

        """
        if self.tier not in TIERS:
            raise UnknownChoice("compression tier", self.tier, tuple(TIERS))
        return TIERS[self.tier]

    def tells(self, entity_type: str) -> bool:
        """Whether names of entities of this type may travel."""
        return entity_type in self.public_types

    @property
    def private_types(self) -> tuple[str, ...]:
        """The entity types whose names are replaced in texts."""
        return tuple(kind for kind in PRIVATE_TYPES if not self.tells(kind))
