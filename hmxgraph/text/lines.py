"""How an entry is written in the text of a pack: speaker, quotation and neutralised markup."""

import re

from hmxgraph.protocol.events import Event

# How knowledge cites what others wrote, so that nobody takes their words for its own, and how that is read back.

_INNER_QUOTES = str.maketrans("“”", '""')
_ASKED = "the question is “"


def cited(words: str) -> str:
    """*words* as a citation; quotation marks in them become plain ones.

    >>> cited("disk “a” is full")
    '“disk "a" is full”'

    """
    return f"“{plain_quotes(words)}”"


def plain_quotes(text: str) -> str:
    """*text* with plain quotation marks, as what is cited has them.

    >>> plain_quotes("disk “a”")
    'disk "a"'

    """
    return text.translate(_INNER_QUOTES)


def condition_of(question: str) -> str:
    """The condition of a policy that answers *question*.

    >>> condition_of("Which plan?")
    'the question is “Which plan?”'

    """
    return f"{_ASKED}{question}”"


def question_in(condition: str) -> str:
    """The question that :func:`condition_of` made a condition of; empty where it is another condition.

    >>> question_in(condition_of("Which plan?")), question_in("the work begins")
    ('Which plan?', '')

    """
    return condition.removeprefix(_ASKED).removesuffix("”") if condition.startswith(_ASKED) else ""


# Who speaks in an event, as far as it tells: the names that the making of packs and extraction judge further.

_NAMED_IN = ("speaker", "user_name", "username", "author", "name")
_NAMES = frozenset(_NAMED_IN)
_PERSON = re.compile(r"[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,3}")


def named_speaker(event: Event) -> str | None:
    """The speaker whom content or metadata name; None where neither does.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="a", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={"user_name": " Ana "}, content={})
    >>> named_speaker(event)
    'Ana'
    """
    for part in (event.content, event.metadata):
        for field in _NAMED_IN if not _NAMES.isdisjoint(part) else ():
            value = part.get(field)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return None


def speaking_source(event: Event) -> str | None:
    """The source of *event* where it is spelled like a name: capitalised, or the agent's own.

    Whether a person bears the name is not looked at: ``Caroline`` is one, ``Slack`` and ``Customer`` are spelled like
    one, components such as ``tool:gh`` are none.

    >>> event = Event(hmx_version="HMX-1.0", event_id="e", event_type="message", agent_id="ana", tenant_id="t",
    ...     session_id="s", timestamp="2023-05-08T13:56:00Z", sequence=0, metadata={}, source="ana", content={})
    >>> [speaking_source(event.model_copy(update={"source": name})) for name in ("ana", "Bo Li", "bo", "Tool:gh")]
    ['ana', 'Bo Li', None, None]
    """
    source = event.source
    if not source or not _PERSON.fullmatch(source):
        return None
    return source if source == event.agent_id or source[0].isupper() else None


# How one entry stands in the text of a pack: by whom, whose words, and nothing in it that could pass for structure.
#
# Headings, dates and labels begin at the margin; every line of an entry but its first is set in, and the first begins
# with a label, a bullet or a name that this module wrote.

_NOT_IN_NAMES = re.compile(r"[^\w .'@/-]+")
LONGEST_NAME = 60
# The label of what contradicts another entry.
DISPUTED = "disputed"
# What an event's type says about where its words come from.
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
_TOOLS = ("tool:", "mcp:")
_PAGES = ("web:", "http:", "https:", "www.")
_REPORTED = ("[tool] ", "[web] ", "[data] ")
# Roles under which chats hand over what a tool answered.
_TOOL_ROLES = frozenset({"tool", "function"})


def label_of(event_type: str, source: str, role: str = "") -> str:
    """The label of an event whose words were written by a tool, the web or another outside source; else nothing.

    *role* is that of a message, where it has one.

    >>> label_of("tool_result", "tool:kubectl"), label_of("message", "user"), label_of("message", "", "function")
    ('tool', '', 'tool')

    """
    written_by = source.lower()
    if written_by.startswith(_TOOLS):
        return "" if event_type == "tool_call" else "tool"
    # "webhook" is no person, "Webster" may be one.
    if written_by.startswith(_PAGES) or source.startswith("web"):
        return "web"
    return "tool" if role.lower() in _TOOL_ROLES else _LABELS.get(event_type, "")


def foreign(label: str) -> bool:
    """Whether a label says that the words come from outside.

    >>> foreign("tool"), foreign("web, disputed"), foreign("disputed"), foreign("")
    (True, True, False, False)

    """
    return label not in {"", DISPUTED}


def reported(words: str) -> str:
    r"""What a tool said, as a line inside an entry that is not its own.

    >>> reported("disk\n## full")
    '[tool] disk ## full'

    """
    return f"[tool] {' '.join(words.split())}"


def reports(content: str) -> bool:
    r"""Whether a line inside an entry, below its first, reports what came from outside.

    >>> reports("Recover\n1. Retry\n[tool] disk full"), reports("[tool] is what labels say")
    (True, False)

    """
    return any(line.startswith(_REPORTED) for line in content.splitlines()[1:])


def speaker_name(speaker: str) -> str:
    """A speaker's name without anything that could pass for structure; empty where nothing is left of it.

    >>> speaker_name("Caroline"), speaker_name("## Core")
    ('Caroline', 'Core')

    """
    name = _NOT_IN_NAMES.sub(" ", speaker).strip()[:LONGEST_NAME].strip()
    return name if name[:1].isalpha() else ""


def told(text: str, speaker: str) -> str:
    """The words of an event with the name of who said them, where that is known.

    >>> told("Hey Mel!", "Caroline"), told("Done.", "")
    ('Caroline: Hey Mel!', 'Done.')

    """
    return f"{speaker}: {text}" if speaker else text


def event_line(text: str, label: str, speaker: str) -> str:
    r"""The line of an event with its end, by the speaker as the event names it: what a pack spends its tokens on.

    >>> event_line("Hey Mel!", "", "Caroline"), event_line("a\nb", "tool", "")
    ('Caroline: Hey Mel!\n', '[tool] a\n  b\n')

    """
    name = speaker_name(speaker)
    return written(told(text, name), label, name) + "\n"


def written(content: str, label: str = "", speaker: str = "") -> str:
    r"""One entry as it is written, without the end of its last line.

    >>> written("one\ntwo"), written("## Core", label="web"), written("Ann: hello", speaker="Ann")
    ('- one\n  two', '[web] ## Core', 'Ann: hello')

    """
    mark = f"[{label}] " if label else ("" if speaker else "- ")
    first, *rest = content.splitlines() or [""]
    return "\n".join([mark + first, *(f"  {text}" for text in rest)])
