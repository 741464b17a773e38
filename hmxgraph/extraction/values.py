"""What extraction finds in one event: plain tuples, because thousands of them are made a second."""

from typing import Literal, NamedTuple, TypeAlias

from hmxgraph.text.terms import wording

MemoryKind: TypeAlias = Literal["fact", "preference", "policy", "goal"]
Role: TypeAlias = Literal["", "title", "speaker", "tag"]


class Ref(NamedTuple):
    """An entity as others name it: type and normalised name."""

    type: str
    normalised: str


class Mention(NamedTuple):
    """An entity that an event speaks of.

    ``role`` says how: as its own title, as its speaker, as a tag, or (empty) in passing. ``confidence`` is how sure it
    is that this is a name at all, in [0, 1].
    """

    type: str
    name: str
    normalised: str
    times: int = 1
    role: Role = ""
    confidence: float = 1.0
    aliases: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """The entity's type and normalised name."""
        return Ref(self.type, self.normalised)


class Relation(NamedTuple):
    """A typed relation between two entities that the same event mentions."""

    source: Ref
    relation_type: str
    target: Ref
    confidence: float


# How a memory came to be known that somebody wanted to be remembered.
BY_HAND = "remembered"


class MemoryDraft(NamedTuple):
    """Something worth keeping: a stated fact, a preference, a policy or a goal.

    ``slot`` names the question that has one answer at a time, such as subject and predicate; in one slot another
    ``answer`` supersedes or contradicts. Empty where several answers can hold at once. ``said_by`` is the person whose
    words these are; empty for whoever may decide: a system, or the one user.
    """

    kind: MemoryKind
    text: str
    confidence: float
    extraction_method: str
    subject: str = ""
    predicate: str = ""
    object: str = ""
    hard: bool = False
    slot: str = ""
    about: tuple[Ref, ...] = ()
    said_by: str = ""

    @property
    def answer(self) -> str:
        """What distinguishes this memory from others of its slot."""
        return wording(f"{self.predicate} {self.object}")

    @property
    def laid_down(self) -> bool:
        """Whether somebody laid it down by hand as a rule without exception: nothing said by the way replaces it."""
        return self.hard and self.extraction_method == BY_HAND


class Extraction(NamedTuple):
    """Everything found in one event."""

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    memories: tuple[MemoryDraft, ...] = ()
