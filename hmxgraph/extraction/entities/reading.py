"""From one event to the entities it mentions and how they relate."""

from collections.abc import Iterable, Mapping
from typing import Any

from hmxgraph.extraction.entities import relating
from hmxgraph.extraction.entities.commands import commands
from hmxgraph.extraction.entities.fields import leaves
from hmxgraph.extraction.entities.forms import forms, host_of
from hmxgraph.extraction.entities.gathering import Gathering
from hmxgraph.extraction.entities.spans import spans
from hmxgraph.extraction.values import Mention, Ref, Relation
from hmxgraph.extraction.voice import Voice
from hmxgraph.protocol.events import Event
from hmxgraph.protocol.outcomes import WORK, went_well

# Results list what was asked for and much else; a few names are enough to find them by.
MOST_RESULTS = 16
_ACTIONS = WORK | {"tool_call", "decision"}
_STRUCTURED = frozenset({"tool_call", "tool_result", "command_exec", "file_edit", "test_run", "api_result"})
_TALK = frozenset({"message", "feedback"})
_PROSE = frozenset({"text", "reasoning", "question", "summary", "description", "comment"})
# Characters of a string inside structured content that are looked through.
_LONGEST_FIELD = 2_000


def read(event: Event, voice: Voice) -> tuple[Gathering, list[Relation]]:
    """The mentions of *event* and the relations between them."""
    gathered = Gathering(MOST_RESULTS if event.event_type in {"tool_result", "api_result"} else 32)
    if event.event_type in _ACTIONS:
        gathered.add("agent", event.agent_id)
    if event.event_type in _TALK:
        return gathered, _talk(event, voice, gathered)
    return gathered, _record(event, gathered)


def names_in(text: str) -> tuple[Mention, ...]:
    """The names that a free text speaks of, such as a question, under the normalisation that events are read with.

    >>> [(mention.type, mention.normalised) for mention in names_in("When did Lilu call get_weather in app.py?")]
    [('concept', 'lilu'), ('file', 'app.py')]
    """
    gathered = Gathering()
    _names(text, gathered)
    return gathered.mentions()


def _talk(event: Event, voice: Voice, gathered: Gathering) -> list[Relation]:
    relations: list[Relation] = []
    speaker = gathered.add("person", voice.name, 1.0, "speaker") if voice.name else None
    text = event.content.get("comment" if event.event_type == "feedback" else "text")
    if isinstance(text, str) and text:
        relations.extend(_names(text, gathered, listing=voice.part == "assistant"))
    if event.content.get("attachments"):
        relations.extend(_fields({"attachments": event.content["attachments"]}, gathered))
    if speaker:
        relations.extend(relating.said(speaker, gathered.of_type("concept", "person")))
    _tags(event, gathered)
    return relations


def _record(event: Event, gathered: Gathering) -> list[Relation]:
    content = event.content
    title = content.get("title")
    subject = gathered.add_title(_title_type(title), title) if isinstance(title, str) and title else None
    _actor(event, gathered)
    relations = _fields(content, gathered)
    for name in sorted(_PROSE & content.keys()) if event.event_type not in _STRUCTURED else ():
        if isinstance(content[name], str):
            _spans(content[name], gathered, titled=subject is not None)
    if event.event_type == "decision" and isinstance(content.get("chosen_option"), str):
        gathered.add("concept", content["chosen_option"][:80], 0.9)
    if subject:
        relations.extend(relating.told_of(subject, gathered.of_type("concept", "person")))
    relations.extend(_relations(event, gathered))
    _tags(event, gathered)
    return relations


def _actor(event: Event, gathered: Gathering) -> None:
    """What the source of the event names: ``tool:kubectl``."""
    kind, colon, name = (event.source or "").partition(":")
    if colon and kind in {"tool", "command"}:
        gathered.add(kind, name)


def _relations(event: Event, gathered: Gathering) -> list[Relation]:
    content = event.content
    found = gathered.by_type()
    if event.event_type == "decision":
        chosen = content.get("chosen_option")
        found["concept"] = [gathered.ref("concept", chosen[:80])] if isinstance(chosen, str) else []
    relations = list(relating.structural(event.event_type, found, failed=went_well(event.event_type, content) is False))
    if "error_type" in found:
        text = content.get("change") or content.get("summary") or content.get("message")
        actors = [ref for kind in ("file", "command", "tool") for ref in found.get(kind, ())]
        errors = [(ref, ref.normalised) for ref in found["error_type"]]
        relations.extend(relating.mended(text, errors, actors) if isinstance(text, str) else ())
    return relations


def _title_type(title: Any) -> str:
    form = next(forms(title), None) if isinstance(title, str) else None
    return form.type if form and form.name == title and form.type in {"file", "url", "host"} else "concept"


def _names(text: str, gathered: Gathering, *, listing: bool = False) -> list[Relation]:
    relations, found = _forms(text, gathered)
    _spans(text, gathered, listing=listing)
    if any(ref.type == "error_type" for ref, _ in found):
        relations.extend(relating.mended(text, found, ()))
    return relations


def _spans(text: str, gathered: Gathering, *, titled: bool = False, listing: bool = False) -> None:
    for span in spans(text, titled=titled, listing=listing):
        gathered.add("person" if span.person else "concept", span.name, span.confidence)


def _forms(text: str, gathered: Gathering) -> tuple[list[Relation], list[tuple[Ref, str]]]:
    found: list[tuple[Ref, str]] = []
    hosts: list[tuple[Ref, Ref]] = []
    for form in forms(text):
        ref = gathered.add(form.type, form.name, form.confidence)
        if ref:
            found.append((ref, form.name))
            hosts.extend(_host(ref, form.name, gathered))
    return list(relating.hosted(hosts)), found


def _host(url: Ref, name: str, gathered: Gathering) -> Iterable[tuple[Ref, Ref]]:
    host = gathered.add("host", host_of(name)) if url.type == "url" else None
    return [(url, host)] if host else []


def _fields(content: Mapping[str, Any], gathered: Gathering) -> list[Relation]:
    relations: list[Relation] = []
    for leaf in leaves(content):
        if leaf.type == "text":
            relations.extend(_forms(leaf.value[:_LONGEST_FIELD], gathered)[0])
        elif leaf.type == "command":
            for command in commands(leaf.value):
                gathered.add("command", command, 0.95)
            relations.extend(_forms(leaf.value[:_LONGEST_FIELD], gathered)[0])
        elif leaf.type == "url":
            ref = gathered.add("url", leaf.value)
            relations.extend(relating.hosted(_host(ref, leaf.value, gathered) if ref and "://" in leaf.value else []))
        else:
            gathered.add(leaf.type, leaf.value, 0.95)
    return relations


def _tags(event: Event, gathered: Gathering) -> None:
    for tag in event.tags or ():
        gathered.add("tag", tag, 1.0, "tag")
