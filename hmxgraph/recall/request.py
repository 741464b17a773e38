"""What is asked of a pack: the question, the budget, and what narrows the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.errors import BudgetTooSmall, UnknownChoice
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES
from hmxgraph.protocol.timestamps import iso

DEFAULT_BUDGET = 2048
# What a pack quotes of its question: the pack itself is limited to 256 KB.
LONGEST_QUOTE = 8_000
CUT = " [truncated]"


@dataclass(frozen=True, slots=True)
class PackRequest:
    """A checked request for a context pack (HMX-C 2, 4, 5).

    ``sections`` are those wanted, in the order of their priority; ``priors`` are the context priors of a fingerprint
    (HMX-F 7) for the strategy ``fingerprint_guided``.
    """

    query: str
    budget: int = DEFAULT_BUDGET
    strategy: str = "ranked"
    as_of_us: int | None = None
    session_id: str | None = None
    agent_id: str | None = None
    sections: tuple[str, ...] = SECTION_PRIORITY
    min_confidence: float = 0.0
    priors: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what no pack can satisfy; put the sections into their order, and the query into valid Unicode.

        Raises:
            BudgetTooSmall: a budget below one token.
            UnknownChoice: a strategy or section that HMX-C does not list, or a confidence outside [0, 1].

        """
        if self.budget < 1:
            raise BudgetTooSmall(self.budget, 1)
        _check("strategy", self.strategy, STRATEGIES)
        for section in self.sections:
            _check("section", section, SECTION_PRIORITY)
        if not 0 <= self.min_confidence <= 1:
            raise UnknownChoice("min_confidence", str(self.min_confidence), ("0.0 to 1.0",))
        wanted = tuple(section for section in SECTION_PRIORITY if section in self.sections)
        object.__setattr__(self, "sections", wanted or SECTION_PRIORITY)
        object.__setattr__(self, "query", self.query.encode("utf-8", "replace").decode("utf-8"))

    @property
    def quote(self) -> str:
        """The question as the pack quotes it, cut where it is too long."""
        return self.query if len(self.query) <= LONGEST_QUOTE else self.query[:LONGEST_QUOTE] + CUT

    def document(self) -> dict[str, Any]:
        """The request as JSON values, by which equal requests are known."""
        named = {"session_id": self.session_id, "agent_id": self.agent_id, "priors": self.priors}
        return {
            "query": self.query,
            "budget": self.budget,
            "strategy": self.strategy,
            "as_of": None if self.as_of_us is None else iso(self.as_of_us),
            "sections": list(self.sections),
            "min_confidence": float(self.min_confidence),
            **{name: value for name, value in named.items() if value is not None},
        }


def _check(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UnknownChoice(name, str(value), choices)
