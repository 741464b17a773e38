"""Which of a record's texts a question meant, and how much of the question it answers."""

from collections.abc import Sequence

from hmxgraph.tasks.projections import Projection
from hmxgraph.text.shortening import cut_line
from hmxgraph.text.terms import terms

# Characters of a text in a compact answer.
SHORT = 160


def best_projection(question: str, parts: Sequence[Projection]) -> Projection:
    """The text among *parts* that has most of the question's terms; the main one where none has any.

    >>> best_projection("valgrind", [Projection("task_summary", "Leak closed"), Projection("worked", "valgrind")]).kind
    'worked'
    """
    asked = set(terms(question))
    return max(parts, key=lambda part: len(asked.intersection(terms(part.text)))) if parts else Projection("", "")


def coverage(question: str, text: str) -> float:
    """The share of the question's terms that *text* has; 0 for an empty question.

    >>> coverage("leak in the parser", "the parser has no leak")
    1.0
    """
    asked = set(terms(question))
    return len(asked.intersection(terms(text))) / len(asked) if asked else 0.0


def shortened(text: str) -> str:
    """*text* on one line, cut to what a compact answer shows.

    >>> shortened("two   words")
    'two words'
    """
    return cut_line(text, SHORT)
