"""Whether two artifacts of one type state the same knowledge, so that local evidence can confirm an imported draft."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint._texts import LONGEST_TITLE, texts_in
from hmxgraph.fingerprint.summaries import policy_title
from hmxgraph.protocol.display import truncate
from hmxgraph.text import artifacts
from hmxgraph.text.comparison import differs, jaccard
from hmxgraph.text.terms import terms

# Minimum Jaccard similarity of the search terms of two texts that count as the same.
ALIKE = 0.6
# Fields that rate the knowledge: exporter and importer may rate it differently.
_RATINGS = frozenset({"severity", "estimated_complexity"})
# A command between backticks is one piece; other text is split at white space.
_PIECE = re.compile(r"`[^`]*`?|[^\s`]+")
_ARTICLES = frozenset({"a", "an", "the"})
_SENTENCE_MARKS = ".,;:!?"


def agree(artifact_type: str, content: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether *content* and *other*, both of *artifact_type*, state the same knowledge, possibly in other words.

    Policies: the same condition and recommendation. Task schemas: the same steps in the same order. Playbooks: the same
    failure and the same first recovery step. Two texts count as the same if they share most of their search terms; of
    two recommendations, one may also add detail to the other. Artifacts of other types never agree. :func:`confirms` is
    stricter.

    >>> agree("decision_policy", {"condition": "table > 1 GB", "recommendation": "Migrate online"},
    ...     {"condition": "Table over 1 GB", "recommendation": "migrate online!"})
    True

    """
    match artifact_type:
        case "decision_policy":
            return _are_alike(content.get("condition"), other.get("condition")) and not differs(
                str(content.get("recommendation")), str(other.get("recommendation"))
            )
        case "task_schema":
            return _have_same_steps(_steps(content), _steps(other))
        case "failure_playbook":
            first_steps = [_texts(either.get("recovery_steps"))[:1] for either in (content, other)]
            same_failure = _are_alike(content.get("failure_pattern"), other.get("failure_pattern"))
            return same_failure and _have_same_steps(*first_steps)
        case _:
            return False


def confirms(own: Mapping[str, Any], imported: Mapping[str, Any]) -> bool:
    """Whether *own*, an artifact with ``artifact_type``, ``title`` and ``content``, confirms all of *imported*.

    The two must agree and have the same title. Each text of *imported* must occur in the same field of *own*, in the
    same order, so that no text takes effect that local evidence does not contain. The comparison ignores articles,
    inflection, case and punctuation of plain words, as well as severity and complexity. Commands must be identical.

    >>> check = {"condition": "deploying", "recommendation": "check the rollout"}
    >>> mail = {"condition": "deploying", "recommendation": "check the rollout and mail the customer list"}
    >>> own, imported = ({"artifact_type": "decision_policy", "title": "t", "content": text} for text in (check, mail))
    >>> confirms(own, own), confirms(own, imported)
    (True, False)

    """
    imported_content, own_content = imported["content"], own["content"]
    return (
        agree(imported["artifact_type"], imported_content, own_content)
        and _has_same_title(imported["title"], own)
        and all(
            _contains(own_content.get(name), value) for name, value in imported_content.items() if name not in _RATINGS
        )
    )


def _has_same_title(title: str, own: Mapping[str, Any]) -> bool:
    """Whether *title* is the title of *own*, or is made from the condition of *own*, as for imported policies."""
    condition = str(own["content"].get("condition") or "")
    derived = {truncate(condition, LONGEST_TITLE), policy_title(condition)} if condition else set()
    return _pieces(title) == _pieces(own["title"]) or title in derived


def _contains(own: Any, imported: Any) -> bool:
    """Whether all texts in *imported* occur in *own*, in the same order."""
    own_texts = map(_pieces, texts_in([own]))  # an iterator: `in` continues where the last match ended
    return all(_pieces(text) in own_texts for text in texts_in([imported]))


def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """The words and commands of *text* in the form in which they are compared."""
    pieces = (_piece(word) for word in _PIECE.findall(artifacts.plain(text)))
    return tuple(piece for piece in pieces if piece)


def _piece(text: str) -> tuple[str, ...]:
    """The search terms of a plain word, nothing for an article, and any other text unchanged."""
    word = text.strip(_SENTENCE_MARKS).lower()
    if not word.isalpha():
        return (text,)
    return () if word in _ARTICLES else tuple(terms(word)) or (word,)


def _have_same_steps(steps: Sequence[str], other_steps: Sequence[str]) -> bool:
    return len(steps) == len(other_steps) > 0 and all(map(_are_alike, steps, other_steps))


def _are_alike(text: Any, other_text: Any) -> bool:
    """Whether two texts share most of their search terms."""
    left, right = terms(str(text or "")), terms(str(other_text or ""))
    return bool(left) and jaccard(left, right) >= ALIKE


def _steps(content: Mapping[str, Any]) -> list[str]:
    """The descriptions of the steps of a task schema."""
    steps = content.get("steps")
    parts: Iterable[Any] = steps if isinstance(steps, list) else ()
    return [str(step.get("description")) for step in parts if isinstance(step, Mapping)]


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
