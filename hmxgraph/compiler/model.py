"""What suggestions need of a compilation, as one document."""

from dataclasses import dataclass, field
from typing import Any, Self, cast

from hmxgraph.compiler.compilation import Compilation
from hmxgraph.compiler.models.goals import Goals
from hmxgraph.compiler.models.habits import Habits
from hmxgraph.protocol.canonical import canonical_text
from hmxgraph.protocol.parsing import parse_json


@dataclass(frozen=True, slots=True)
class Model:
    """Goals and habits of one tenant."""

    goals: Goals = field(default_factory=Goals)
    habits: Habits = field(default_factory=Habits)

    @property
    def empty(self) -> bool:
        """Whether nothing can be suggested from it."""
        return not self.goals.actions and not self.habits.actions

    @classmethod
    def of(cls, compilation: Compilation) -> Self:
        """The model of a compilation."""
        return cls(compilation.goals, compilation.habits)

    def to_json(self) -> str:
        """The canonical text that the graph stores."""
        return canonical_text({"goals": self.goals.document(), "habits": self.habits.document()})

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """The model that :meth:`to_json` wrote; the empty one of None."""
        if not text:
            return cls()
        document = cast("dict[str, Any]", parse_json(text))
        return cls(Goals.of(document["goals"]), Habits.of(document["habits"]))
