"""What is asked of a pack: the question, the budget, and what narrows the answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hmxgraph.errors import BudgetTooSmall, InvalidRequest, UnknownChoice
from hmxgraph.protocol.canonical import MAX_INTEGER
from hmxgraph.protocol.packs import SECTION_PRIORITY, STRATEGIES
from hmxgraph.protocol.timestamps import iso
from hmxgraph.text.asked import checked_text, quoted

DEFAULT_BUDGET = 2048
LONGEST_ID = 1_024
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
            InvalidRequest: an argument of another type, a budget that JSON cannot write, or an id that is too long.
            UnknownChoice: a strategy or section that HMX-C does not list, or a confidence outside [0, 1].

        """
        if not isinstance(self.query, str):
            raise _invalid("query", self.query, "text", 'ask in words, such as "Deploy staging"')
        _check_budget(self.budget)
        _check("strategy", self.strategy, STRATEGIES)
        _check_id("session_id", self.session_id)
        _check_id("agent_id", self.agent_id)
        _check_confidence(self.min_confidence)
        object.__setattr__(self, "sections", _in_order(self.sections))
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


def _check_budget(budget: object) -> None:
    if not isinstance(budget, int) or isinstance(budget, bool):
        raise _invalid("budget", budget, "whole number of tokens", f"give one, such as {DEFAULT_BUDGET}")
    if abs(budget) > MAX_INTEGER:
        raise _invalid("budget", budget, "number that JSON writes exactly", f"ask for at most {MAX_INTEGER}")
    if budget < 1:
        raise BudgetTooSmall(budget, 1)


def _check_id(name: str, value: object) -> None:
    if value is None:
        return
    text = checked_text(name, value, "give the id as the events spell it")
    if len(text) > LONGEST_ID:
        rule = f"id of at most {LONGEST_ID} characters"
        raise _invalid(name, text, rule, f"it has {len(text)}; give the id that the events have")


def _check_confidence(value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _invalid("min_confidence", value, "number", "give one from 0.0 to 1.0")
    if not 0 <= value <= 1:
        raise UnknownChoice("min_confidence", quoted(value), ("0.0 to 1.0",))


def _in_order(sections: Iterable[str]) -> tuple[str, ...]:
    """Those wanted, in the order of their priority; all where none is named."""
    if isinstance(sections, str) or not isinstance(sections, Iterable):
        raise _invalid("sections", sections, "list of names", 'give one, such as ["core", "episodes"]')
    wanted = tuple(sections)
    for section in wanted:
        _check("section", section, SECTION_PRIORITY)
    return tuple(section for section in SECTION_PRIORITY if section in wanted) or SECTION_PRIORITY


def _invalid(name: str, found: object, rule: str, way_out: str) -> InvalidRequest:
    return InvalidRequest(name, quoted(found), rule, way_out)
