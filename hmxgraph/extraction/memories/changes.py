"""State changes as facts: what an event of this type, or any content with old and new value, says about its subject."""

from collections.abc import Mapping
from typing import Any, NamedTuple

# The names under which producers send the parts of a state change, most telling first.
SUBJECTS = ("subject", "entity", "object", "resource", "component", "target", "service", "item", "node", "name", "id")
FIELDS = ("field", "attribute", "property", "predicate", "key", "variable", "setting", "parameter", "what")
OLD = ("from", "old", "old_value", "previous", "previous_value", "before", "from_state", "old_state")
NEW = ("to", "new", "new_value", "current", "value", "after", "to_state", "new_state", "state", "status")
LONGEST = 120


class Change(NamedTuple):
    """*subject*'s *predicate* is now *object*; *old* is empty where it was not told."""

    subject: str
    predicate: str
    object: str
    old: str

    @property
    def text(self) -> str:
        """The change as a sentence."""
        was = f" (was {self.old})" if self.old else ""
        return f"{self.subject}: {self.predicate} is {self.object}{was}."


def change(content: Mapping[str, Any]) -> Change | None:
    """The change that the content of a state change tells, if it names a subject and its new value.

    >>> change({"subject": "staging cluster", "field": "version", "from": "1.29", "to": "1.30"}).text
    'staging cluster: version is 1.30 (was 1.29).'
    >>> change({"key": "deploy_region", "old": "eu-west-1", "new": "eu-north-1"}).subject
    'deploy_region'
    >>> change({"from": "planning", "to": "executing"}) is None
    True
    """
    subject, field = _first(content, SUBJECTS), _first(content, FIELDS)
    now = _first(content, NEW)
    if not now or not (subject or field):
        return None
    if not subject:
        return Change(field, "value", now, _first(content, OLD))
    return Change(subject, field or "state", now, _first(content, OLD))


def _first(content: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first plain value under one of *names*."""
    for name in names:
        value = content.get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float) and 0 < len(str(value).strip()) <= LONGEST:
            return str(value).strip()
    return ""
