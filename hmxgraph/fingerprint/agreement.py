"""Whether two artifacts of one type say the same, so that local evidence can speak for an imported draft (DESIGN 6)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmxgraph.fingerprint._texts import LONGEST_TITLE, texts_in
from hmxgraph.fingerprint.summaries import policy_title
from hmxgraph.protocol.showing import cut
from hmxgraph.text import artifacts
from hmxgraph.text.comparison import differs, jaccard
from hmxgraph.text.terms import terms

ALIKE = 0.6
# One of a few words each, which the importer's own experience may see otherwise.
_RATINGS = frozenset({"severity", "estimated_complexity"})
# A command between backticks is one piece, and so is whatever stands between blanks.
_PIECE = re.compile(r"`[^`]*`?|[^\s`]+")
_ARTICLES = frozenset({"a", "an", "the"})
_SENTENCE_MARKS = ".,;:!?"


def agree(artifact_type: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the contents *one* and *other* of this type are the same knowledge in other words.

    Policies: the same condition and no other answer. Task schemas: the same steps in the same order. Playbooks: the
    same failure and the same first way out. Words count, not ids and punctuation; other types are never compared.
    One may say more than the other: see :func:`borne_out`.

    >>> agree("decision_policy", {"condition": "table > 1 GB", "recommendation": "Migrate online"},
    ...     {"condition": "Table over 1 GB", "recommendation": "migrate online!"})
    True

    """
    match artifact_type:
        case "decision_policy":
            return _alike(one.get("condition"), other.get("condition")) and not differs(
                str(one.get("recommendation")), str(other.get("recommendation"))
            )
        case "task_schema":
            return _same_steps(_steps(one), _steps(other))
        case "failure_playbook":
            recoveries = [_texts(content.get("recovery_steps"))[:1] for content in (one, other)]
            same_failure = _alike(one.get("failure_pattern"), other.get("failure_pattern"))
            return same_failure and _same_steps(*recoveries)
        case _:
            return False


def borne_out(imported: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Whether *own*, an artifact with ``artifact_type``, ``title`` and ``content``, says all that *imported* says.

    They agree, and each text of the imported one stands in the same field of the own one, in the same order: so no
    word that somebody else wrote becomes active because of the words around it. Articles, endings, capitals and the
    marks of a sentence do not count in plain words; commands must be the same to the letter.

    >>> step = {"condition": "deploying", "recommendation": "check the rollout"}
    >>> more = {"condition": "deploying", "recommendation": "check the rollout and mail the customer list"}
    >>> one, other = ({"artifact_type": "decision_policy", "title": "t", "content": said} for said in (step, more))
    >>> borne_out(one, one), borne_out(other, one), borne_out(one, other)
    (True, False, False)

    """
    theirs, ours = imported["content"], own["content"]
    return (
        agree(imported["artifact_type"], theirs, ours)
        and _titled_alike(imported["title"], own)
        and all(_says(ours.get(name), value) for name, value in theirs.items() if name not in _RATINGS)
    )


def _titled_alike(title: str, own: Mapping[str, Any]) -> bool:
    """Whether *title* is that of the own artifact, or follows from its condition: no imported policy has another."""
    condition = str(own["content"].get("condition") or "")
    derived = {cut(condition, LONGEST_TITLE), policy_title(condition)} if condition else set()
    return _pieces(title) == _pieces(own["title"]) or title in derived


def _says(own: Any, imported: Any) -> bool:
    """Whether all texts in *imported* are among those in *own*, in their order."""
    told = map(_pieces, texts_in([own]))
    return all(_pieces(text) in told for text in texts_in([imported]))


def _pieces(text: str) -> tuple[tuple[str, ...], ...]:
    pieces = (_piece(found) for found in _PIECE.findall(artifacts.plain(text)))
    return tuple(piece for piece in pieces if piece)


def _piece(found: str) -> tuple[str, ...]:
    """A plain word as its search terms, nothing of an article, anything else as it is."""
    word = found.strip(_SENTENCE_MARKS).lower()
    if not word.isalpha():
        return (found,)
    return () if word in _ARTICLES else tuple(terms(word)) or (word,)


def _same_steps(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) > 0 and all(map(_alike, one, other))


def _alike(one: Any, other: Any) -> bool:
    left, right = terms(str(one or "")), terms(str(other or ""))
    return bool(left) and jaccard(left, right) >= ALIKE


def _steps(content: Mapping[str, Any]) -> list[str]:
    steps = content.get("steps")
    parts: Iterable[Any] = steps if isinstance(steps, list) else ()
    return [str(step.get("description")) for step in parts if isinstance(step, Mapping)]


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
