"""Mentions as they are found: the same name counted once, and no more names an event than there is room for."""

from collections.abc import Iterable

from hmxgraph.extraction.entities.names import bare, family, normalise, surest
from hmxgraph.extraction.entities.relating import MOST_RELATIONS
from hmxgraph.extraction.values import Mention, Ref, Relation, Role

MOST_MENTIONS = 32
_ROLES: tuple[Role, ...] = ("", "tag", "speaker", "title")


class Gathering:
    """Mentions of one event, keyed by family and normalised name."""

    __slots__ = ("_found", "_room")

    def __init__(self, room: int = MOST_MENTIONS) -> None:
        self._found: dict[tuple[str, str], Mention] = {}
        self._room = room

    def add(self, entity_type: str, name: str, confidence: float = 1.0, role: Role = "") -> Ref | None:
        """Count *name* as mentioned once more; None where it is no name or there is no room for another."""
        normalised = normalise(entity_type, name)
        key = (family(entity_type), normalised)
        known = self._found.get(key)
        if known is not None:
            merged = _merged(known, entity_type, name, confidence, role)
            self._found[key] = merged
            return Ref(merged.type, normalised)
        if not normalised or len(self._found) >= self._room:
            return None
        self._found[key] = Mention(entity_type, name.strip()[:200], normalised, 1, role, confidence)
        return Ref(entity_type, normalised)

    def add_title(self, entity_type: str, title: str) -> Ref | None:
        """Count *title* as what the event is about; its bare form is the same subject by a shorter name."""
        ref = self.add(entity_type, title, 1.0, "title")
        short = bare(title) if entity_type == "concept" else ""
        if short and self.add("concept", short, 0.9, "title"):
            self._alias(("name", normalise("concept", short)), title)
        return ref

    def ref(self, entity_type: str, name: str) -> Ref:
        """The entity called *name*, with the type it turned out to have."""
        normalised = normalise(entity_type, name)
        known = self._found.get((family(entity_type), normalised))
        return known.ref if known else Ref(entity_type, normalised)

    def by_type(self) -> dict[str, list[Ref]]:
        """The entities found so far, in order, by type."""
        found: dict[str, list[Ref]] = {}
        for mention in self._found.values():
            found.setdefault(mention.type, []).append(mention.ref)
        return found

    def of_type(self, *types: str) -> list[Ref]:
        """The entities of these types, as found so far, in order."""
        return [mention.ref for mention in self._found.values() if mention.type in types]

    def mentions(self) -> tuple[Mention, ...]:
        """Everything found, by type and name."""
        return tuple(sorted(self._found.values()))

    def settled(self, relations: Iterable[Relation]) -> tuple[Relation, ...]:
        """*relations* between entities that are mentioned, under the types these turned out to have, each once."""
        found: dict[Relation, None] = {}
        for source, relation_type, target, confidence in relations:
            ends = (self._now(source), self._now(target))
            if ends[0] and ends[1] and ends[0] != ends[1]:
                found[Relation(ends[0], relation_type, ends[1], confidence)] = None
        return tuple(sorted(list(found)[:MOST_RELATIONS]))

    def _now(self, ref: Ref) -> Ref | None:
        mention = self._found.get((family(ref.type), ref.normalised))
        return mention.ref if mention else None

    def _alias(self, key: tuple[str, str], name: str) -> None:
        mention = self._found[key]
        if name not in (mention.name, *mention.aliases):
            self._found[key] = mention._replace(aliases=(*mention.aliases, name))


def _merged(known: Mention, entity_type: str, name: str, confidence: float, role: Role) -> Mention:
    """*known* seen once more, perhaps spelt otherwise, of a surer type or in a weightier role."""
    spelt = name.strip()[:200]
    aliases = known.aliases if spelt == known.name or spelt in known.aliases else (*known.aliases, spelt)[:4]
    return Mention(
        surest(known.type, entity_type),
        known.name,
        known.normalised,
        known.times + 1,
        _weightier(known.role, role),
        max(known.confidence, confidence),
        aliases,
    )


def _weightier(one: Role, other: Role) -> Role:
    return one if _ROLES.index(one) >= _ROLES.index(other) else other
