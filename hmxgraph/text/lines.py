"""Formats the lines of a context pack: speakers, labels, quotations; text that looks like markup is neutralised."""

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from hmxgraph.protocol.events import Event

# Quotation marks around the words of others, so that they are not mistaken for the engine's own words.

_INNER_QUOTES = str.maketrans("“”", '""')
# The beginning of the condition of a policy that answers a question.
_ASKED = "the question is “"


def cited(words: str) -> str:
    """Return *words* in curly quotation marks; those inside become straight ones.

    >>> cited("disk “a” is full")
    '“disk "a" is full”'

    """
    return f"“{plain_quotes(words)}”"


def plain_quotes(text: str) -> str:
    """Return *text* with straight quotation marks, as used inside citations.

    >>> plain_quotes("disk “a”")
    'disk "a"'

    """
    return text.translate(_INNER_QUOTES)


def condition_of(question: str) -> str:
    """Return the condition of a policy that answers *question*.

    >>> condition_of("Which plan?")
    'the question is “Which plan?”'

    """
    return f"{_ASKED}{question}”"


def question_in(condition: str) -> str:
    """Return the question inside a condition made by :func:`condition_of`; empty for other conditions.

    >>> question_in(condition_of("Which plan?")), question_in("the work begins")
    ('Which plan?', '')

    """
    return condition.removeprefix(_ASKED).removesuffix("”") if condition.startswith(_ASKED) else ""


# The part that a speaker plays in a conversation, by the role of the message.

Part: TypeAlias = Literal["user", "assistant", "system", "peer", "none"]
PARTS: dict[str, Part] = {
    **dict.fromkeys(("user", "human", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "bot", "model"), "assistant"),
    **dict.fromkeys(("system", "developer", "operator"), "system"),
}

# Candidate names for the speaker of an event; extraction and packs check them further.

# The fields of the content or metadata that name the speaker, in this order.
_NAME_FIELDS = ("speaker", "user_name", "username", "author", "name")
_NAME_FIELD_SET = frozenset(_NAME_FIELDS)
# One to four words that begin with a letter: "Ana", "Bo van der Li".
_PERSON = re.compile(r"[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,3}")


def named_speaker(event: Event) -> str | None:
    """Return the speaker named by the content or the metadata; None if there is none.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={"user_name": " Ana "}, content={})
    >>> named_speaker(event)
    'Ana'
    """
    for part in (event.content, event.metadata):
        for field in _NAME_FIELDS if not _NAME_FIELD_SET.isdisjoint(part) else ():
            value = part.get(field)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def speaking_source(event: Event) -> str | None:
    """Return the source of *event* if it looks like a name: one to four words, capitalised or the agent id; else None.

    Whether it is a person's name is not checked: ``Slack`` and ``Customer`` pass like ``Caroline``; components such as
    ``tool:gh`` do not.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="ana", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="ana", content={})
    >>> [speaking_source(event.model_copy(update={"source": name})) for name in ("ana", "Bo Li", "bo", "Tool:gh")]
    ['ana', 'Bo Li', None, None]
    """
    source = event.source
    if not source or not _PERSON.fullmatch(source):
        return None
    return source if source == event.agent_id or source[0].isupper() else None


# One entry as lines of a pack. Nothing in its text can be mistaken for a heading, a date or another entry.
#
# Headings, dates and labels start at the margin. The first line of an entry starts with a label, a bullet or a name
# written by this module; its other lines are indented.

# Characters that are removed from the name of a speaker.
_NOT_IN_NAMES = re.compile(r"[^\w .'@/-]+")
# Maximum length of a speaker's name in characters.
LONGEST_NAME = 60
# The label of entries that contradict each other.
DISPUTED = "disputed"
# The label of events whose statement is no longer true.
SUPERSEDED = "superseded"
_REJECTED = "rejected by "
# Labels that say nothing about the origin of a text.
_NEVER_FOREIGN = frozenset({"", DISPUTED, SUPERSEDED})
# Labels by event type.
_LABELS = {
    "tool_result": "tool",
    "command_exec": "tool",
    "test_run": "tool",
    "error": "tool",
    "file_edit": "tool",
    "api_result": "web",
    "browser_action": "web",
    "observation": "data",
}
# The beginnings of the sources of tool results and of web pages.
_TOOLS = ("tool:", "mcp:")
_PAGES = ("web:", "http:", "https:", "www.", "url:")
# The beginnings of lines within an entry that quote an outside source.
_QUOTE_LABELS = ("[tool] ", "[web] ", "[data] ")
# Message roles that carry tool output.
_TOOL_ROLES = frozenset({"tool", "function"})


def label_of(event_type: str, source: str, role: str = "") -> str:
    """Return the label of an event written by a tool, the web or another outside source; empty for all others.

    *role* is the role of a message, if it has one.

    >>> label_of("tool_result", "tool:kubectl"), label_of("message", "user"), label_of("message", "", "function")
    ('tool', '', 'tool')

    """
    lowered = source.strip().lower()
    if lowered.startswith(_TOOLS):
        return "" if event_type == "tool_call" else "tool"
    # Other sources that begin with "web" count only in lower case: "webhook" is a component, "Webster" may be a person.
    if lowered.startswith(_PAGES) or source.startswith("web"):
        return "web"
    return "tool" if role.lower() in _TOOL_ROLES else _LABELS.get(event_type, "")


def foreign(label: str) -> bool:
    """Whether *label* marks words from an outside source.

    >>> foreign("tool"), foreign("web, disputed"), foreign("disputed"), foreign(""), foreign("rejected by bo")
    (True, True, False, False, False)

    """
    return label not in _NEVER_FOREIGN and not label.startswith(_REJECTED)


def rejection(names: Iterable[str]) -> str:
    """Return the label for a record that these agents reject; empty if there are none.

    >>> rejection(["bo", "cy"]), rejection([])
    ('rejected by bo and cy', '')

    """
    agents = [speaker_name(name) or "another agent" for name in names]
    all_but_last = ", ".join(agents[:-1])
    return f"{_REJECTED}{f'{all_but_last} and ' if all_but_last else ''}{agents[-1]}" if agents else ""


def labelled(content: str, label: str) -> str:
    """Return *content* prefixed with its label, for output that has no separate label field.

    >>> labelled("disk full", "tool"), labelled("disk full", "")
    ('[tool] disk full', 'disk full')

    """
    return f"[{label}] {content}" if label else content


def unlabelled(content: str, label: str) -> str:
    """Return *content* without the *label* that :func:`labelled` added.

    >>> unlabelled("[tool] disk full", "tool"), unlabelled("[tool] disk full", "")
    ('disk full', '[tool] disk full')

    """
    return content.removeprefix(f"[{label}] ") if label else content


def outside_kind(label: str) -> str:
    """Return the kind of outside source in *label*; empty if the label marks no outside source.

    >>> outside_kind("web, disputed"), outside_kind("disputed")
    ('web', '')

    """
    return label.partition(",")[0] if foreign(label) else ""


def tool_quote(words: str) -> str:
    r"""Return the words of a tool as one line inside another entry.

    >>> tool_quote("disk\n## full")
    '[tool] disk ## full'

    """
    return f"[tool] {' '.join(words.split())}"


def quotes_outside(content: str) -> bool:
    r"""Whether an entry quotes an outside source below its first line.

    >>> quotes_outside("Recover\n1. Retry\n[tool] disk full"), quotes_outside("[tool] is what labels say")
    (True, False)

    """
    return any(line.startswith(_QUOTE_LABELS) for line in content.splitlines()[1:])


def speaker_name(speaker: str) -> str:
    """Return a speaker's name, cut to 60 characters, without characters that could be read as structure, such as "#".

    It is empty if what remains does not begin with a letter.

    >>> speaker_name("Caroline"), speaker_name("## Core")
    ('Caroline', 'Core')

    """
    name = _NOT_IN_NAMES.sub(" ", speaker).strip()[:LONGEST_NAME].strip()
    return name if name[:1].isalpha() else ""


def attributed(text: str, speaker: str) -> str:
    """Return the words of an event, prefixed with the speaker if known.

    >>> attributed("Hey Mel!", "Caroline"), attributed("Done.", "")
    ('Caroline: Hey Mel!', 'Done.')

    """
    return f"{speaker}: {text}" if speaker else text


def event_line(text: str, label: str, speaker: str) -> str:
    r"""Return the rendered line of an event with its line end, whose tokens a pack counts.

    >>> event_line("Hey Mel!", "", "Caroline"), event_line("a\nb", "tool", "")
    ('Caroline: Hey Mel!\n', '[tool] a\n  b\n')

    """
    name = speaker_name(speaker)
    return entry_text(attributed(text, name), label, name) + "\n"


def entry_text(content: str, label: str = "", speaker: str = "") -> str:
    r"""Return one entry as it appears in a pack, without the final line end.

    It begins with the label, if any; otherwise with a bullet, unless *content* begins with the name of *speaker*.

    >>> entry_text("one\ntwo"), entry_text("## Core", label="web"), entry_text("Ann: hello", speaker="Ann")
    ('- one\n  two', '[web] ## Core', 'Ann: hello')

    """
    mark = f"[{label}] " if label else ("" if speaker else "- ")
    first, *rest = content.splitlines() or [""]
    return "\n".join([mark + first, *(f"  {line}" for line in rest)])
