"""The tags that bind raw conversational chunks to what they came from (memd: Conversation Event Tags)."""

from collections.abc import Iterable
from dataclasses import dataclass

ENTRY_KINDS = ("factual", "relational", "synthesis")


@dataclass(frozen=True, slots=True)
class ConversationTags:
    """What the tags of one chunk say; what they do not say is None."""

    event_id: str | None = None
    entry: str | None = None
    speaker: str | None = None
    turn: int | None = None

    @classmethod
    def read(cls, tags: Iterable[str]) -> "ConversationTags":
        """What *tags* say about event, entry, speaker and turn; the first of a kind counts, others are passed over.

        >>> ConversationTags.read(["event:e1", "entry:factual", "speaker:ana", "turn:3", "urgent"])
        ConversationTags(event_id='e1', entry='factual', speaker='ana', turn=3)
        """
        values: dict[str, str] = {}
        for name, colon, value in (tag.partition(":") for tag in tags):
            if colon and value:
                values.setdefault(name, value)
        entry, turn = values.get("entry"), values.get("turn", "")
        return cls(
            event_id=values.get("event"),
            entry=entry if entry in ENTRY_KINDS else None,
            speaker=values.get("speaker"),
            turn=int(turn) if turn.isascii() and turn.isdigit() else None,
        )

    def written(self) -> tuple[str, ...]:
        """The tags that say the same.

        >>> ConversationTags(event_id="e1", turn=3).written()
        ('event:e1', 'turn:3')
        """
        named = (("event", self.event_id), ("entry", self.entry), ("speaker", self.speaker), ("turn", self.turn))
        return tuple(f"{name}:{value}" for name, value in named if value is not None)
