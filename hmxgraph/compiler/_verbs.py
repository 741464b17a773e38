"""What an action does, and how to put it as an instruction, both derived from its name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from hmxgraph.compiler._vocabulary import (
    BROWSER,
    BROWSER_LOOKUPS,
    CHECKING_PROGRAMS,
    INTERFACES,
    READ_ONLY_PROGRAMS,
    READ_ONLY_SUBCOMMANDS,
    REQUEST_VERBS,
    TOOL_VERBS,
    WEB_LOOKUPS,
    WEB_METHODS,
    has_word,
)
from hmxgraph.compiler.actions import PATH_ID

# What an action does: it looks something up ("lookup"), changes something ("action"), only thinks ("scratch"), or
# passes the work to somebody else ("handover").
Kind: TypeAlias = Literal["lookup", "action", "scratch", "handover"]

# First words of action names, each with the verb that instructions use for it.
_LOOKUP = {
    "get": "look up", "fetch": "look up", "lookup": "look up", "look": "look up", "read": "read", "load": "load",
    "find": "find", "search": "search for", "query": "query", "list": "list", "show": "show", "view": "view",
    "check": "check", "inspect": "inspect", "describe": "describe", "verify": "verify", "validate": "validate",
    "can": "check whether it can", "is": "check whether it is", "has": "check whether it has",
    "count": "count", "browse": "browse", "test": "test", "ping": "ping", "diff": "compare",
    "compare": "compare", "identify": "identify", "authenticate": "authenticate", "open": "open", "ask": "ask for",
    "retrieve": "look up", "scan": "scan", "grep": "search", "cat": "read", "ls": "list", "monitor": "watch",
    "watch": "watch", "status": "check", "logs": "read the logs with", "head": "read", "tail": "read",
    "select": "select", "track": "track", "estimate": "estimate", "visit": "visit", "parse": "parse",
    "analyze": "analyze", "analyse": "analyse", "translate": "translate", "geocode": "locate", "glob": "find",
    "screenshot": "look at", "snapshot": "look at", "preview": "preview",
}  # fmt: skip
_SCRATCH = {
    "think": "think through", "calculate": "calculate", "compute": "compute", "plan": "plan", "reason": "reason about",
    "reflect": "reflect on", "summarize": "summarise", "note": "note", "scratchpad": "write down",
}  # fmt: skip
_HANDOVER = {
    "transfer": "hand over", "escalate": "escalate", "handoff": "hand over", "handover": "hand over",
    "delegate": "delegate", "forward": "forward",
}  # fmt: skip
# Verbs that mean a handover if they stand alone or if a word of ``_HANDED_OVER`` follows. Otherwise they change
# something: "transfer money".
_MOVES = frozenset({"transfer", "forward"})
_HANDED_OVER = frozenset(
    """
    to back call caller calls case chat control conversation customer human request session task ticket user work
    agent agents operator person representative specialist staff supervisor support
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
_PEOPLE = frozenset(
    ("human", "humans", "person", "people", "operator", "representative", "staff", "supervisor", "manager", "support")
)
# A word in a name of any style: "get_user", "getUser", "HTTPServer", "page2".
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Separators between the name of a tool and that of its service: "calendar.create_event".
_OWNER_SEPARATORS = re.compile(r"[./:]+|__+")
# The prefix of tools that control a browser: "browser_click".
_BROWSER_TOOL = re.compile(r"(?:^|__|[./:])browser_(?=[a-z])")
# Particles that belong to the verb before them: "turn off".
_PARTICLES = frozenset(("on", "off", "up", "down", "in", "out"))
# Verbs that are rarely nouns, so that they are recognised after a service name: "jira_create_issue".
_INNER_LOOKUPS = frozenset(
    ("get", "fetch", "find", "list", "search", "read", "describe", "query", "show", "retrieve", "lookup", "inspect")
)
_INNER_VERBS = _INNER_LOOKUPS | frozenset(
    ("add", "apply", "approve", "assign", "cancel", "clear", "close", "create", "delete", "disable", "edit", "enable",
     "execute", "insert", "modify", "move", "post", "publish", "register", "remove", "resolve", "restart", "send",
     "set", "submit", "take", "update", "upload", "write")
)  # fmt: skip
# Function words inside names, such as "by" in "find_user_by_email".
_LINKS = frozenset(
    (
        "by",
        "to",
        "for",
        "of",
        "with",
        "from",
        "in",
        "on",
        "at",
        "and",
        "or",
        "via",
        "per",
        "as",
        "into",
        "all",
        "any",
        "the",
    )
)
# Words that end an item of an enumeration: in "find_user_by_name_zip", "zip" is the next item.
_ITEM_ENDS = frozenset(("id", "name", "code", "number"))
# Nouns that need no article.
_MASS_NOUNS = frozenset(("data", "roaming", "usage", "information", "info", "access", "feedback", "money"))
# Nouns for the place that is searched, not for what is searched for: "search the web", but "search for a flight".
_SEARCHED = frozenset(
    (*("code", "codebase", "text", "web", "internet", "history", "memory", "base", "knowledge", "docs", "database"),
     *("documentation", "repo", "repository", "index", "catalog", "catalogue", "inbox", "source", "sources"))
)  # fmt: skip
# Words which show that a run only checks something: "run_tests", "cargo test".
_CHECK_WORDS = frozenset(("test", "tests", "check", "checks", "scan", "query", "diagnostics", "lint"))


@dataclass(frozen=True, slots=True)
class Reading:
    """What the name of an action says: its kind, its verb, and the object of the verb (``subject``)."""

    kind: Kind
    verb: str
    subject: str

    @property
    def phrase(self) -> str:
        """The action as an imperative without an initial capital: "look up the order details"."""
        return f"{self.verb} {self.subject}".strip()


@lru_cache(maxsize=10_000)
def read_action(action: str) -> Reading:
    """Read the name of an action: a tool, a program with its subcommand, or a web request.

    >>> read_action("get_order_details").phrase, read_action("find_user_id_by_email").phrase
    ('look up the order details', 'find the user id by email')
    >>> read_action("update_reservation_flights").kind, read_action("kubectl rollout status").phrase
    ('action', 'run kubectl rollout status')

    If a name has no known verb, its verb is "call", or "run" for a single word.

    >>> read_action("billing_api").phrase, read_action("provision").phrase
    ('call billing_api', 'run provision')

    A service or object name may precede the verb.

    >>> read_action("calendar.list_events").phrase, read_action("light.turn_off").phrase
    ('list the events', 'turn off the light')
    >>> read_action("GET api.shop.example/orders/<id>").phrase
    'call GET api.shop.example/orders/<id>'
    >>> read_action("mcp__github__create_issue").phrase, read_action("airflow_get_dag_run").phrase
    ('create the issue', 'look up the dag run')
    >>> read_action("browser input_text").phrase, read_action("browser navigate").kind
    ('input text in the browser', 'lookup')
    >>> read_action("mcp__playwright__browser_click").phrase, read_action("browser_snapshot").kind
    ('click in the browser', 'lookup')
    >>> read_action("transfer_to_billing").kind, read_action("transfer_money").kind
    ('handover', 'action')
    """
    if action in _EVENT_ACTIONS or _is_in_browser(action):
        return _EVENT_ACTIONS.get(action) or _read_browser_action(action)
    if (method := action.partition(" ")[0]) in WEB_METHODS:
        return Reading("lookup" if method in WEB_LOOKUPS else "action", "call", action)
    if _is_program(action):
        return Reading(_program_kind(action), "run", action)
    owner, words = _split_owner(action)
    if not words:
        return Reading("action", "use", action)
    first = words[0].lower()
    for kind, table in _TABLES:
        if first in table and not (first in _MOVES and words[1:] and _HANDED_OVER.isdisjoint(words[1:])):
            verb, subject = table[first], _object(table[first], words[1:], owner)
            # Only places that are searched get the article here: "search the code", but "search for a flight".
            return Reading(kind, "search" if verb == "search for" and subject.startswith("the ") else verb, subject)
    return _read_change(action, owner, words)


def _is_in_browser(action: str) -> bool:
    return action.startswith(BROWSER) or _BROWSER_TOOL.search(action) is not None


def _read_browser_action(action: str) -> Reading:
    words = [word for word in _name_words(_BROWSER_TOOL.split(action.removeprefix(BROWSER))[-1]) if word != "take"]
    if not words:  # The name has no Latin letters.
        return Reading("action", "act", "in the browser")
    reads_only = words[0] in BROWSER_LOOKUPS or words[0] in _LOOKUP
    return Reading("lookup" if reads_only else "action", " ".join(words), "in the browser")


def _read_change(action: str, owner: Sequence[str], words: Sequence[str]) -> Reading:
    """The reading of an action whose verb is not a lookup, a thought or a handover."""
    first = words[0].lower()
    if len(words) == 1 and not owner:
        return Reading("action", "run", action)
    if first not in REQUEST_VERBS | TOOL_VERBS or words[-1] in INTERFACES:
        return Reading("action", "call", action)
    if words[1:] and _PARTICLES.issuperset(words[1:]):
        return Reading("action", " ".join(words), _object(first, (), owner))
    kind: Kind = "lookup" if first == "run" and not _CHECK_WORDS.isdisjoint(words) else "action"
    return Reading(kind, first, _object(first, words[1:], owner))


def _split_owner(action: str) -> tuple[list[str], list[str]]:
    """The words before the verb, which name a service or an object, and the words from the verb on.

    >>> _split_owner("contacts.search"), _split_owner("get_user")
    ((['contacts'], ['search']), ([], ['get', 'user']))
    >>> _split_owner("jira_create_issue"), _split_owner("wiki_search")
    ((['jira'], ['create', 'issue']), (['wiki'], ['search']))
    """
    *owners, name = [part for part in _OWNER_SEPARATORS.split(action) if part] or [""]
    words, owner = _name_words(name), _name_words(owners[-1]) if owners else []
    if len(words) > 1 and words[-1] == "lookup":  # In "order_lookup", "order" is not the verb.
        return words[:-1], words[-1:]
    if not words or _is_verb(words[0]):
        return owner, words
    verb_index = next((index for index, word in enumerate(words[:-1]) if index and word in _INNER_VERBS), 0)
    verb_index = verb_index or (len(words) - 1 if len(words) > 1 and words[-1] in _INNER_VERBS else 0)
    if verb_index:
        return words[:verb_index], words[verb_index:]
    return ([], [*owner, *words]) if owner and _is_verb(owner[0]) else (owner, words)


def _name_words(name: str) -> list[str]:
    return [word.lower() if not word.isupper() or len(word) == 1 else word for word in _WORDS.findall(name)]


def _is_verb(word: str) -> bool:
    return word.lower() in REQUEST_VERBS | TOOL_VERBS or any(word.lower() in table for _, table in _TABLES)


def _is_program(action: str) -> bool:
    """Whether *action* is a program: it has a subcommand, is known, is a script, or has a hyphen but no verb first."""
    has_program_name = " " in action or action in READ_ONLY_PROGRAMS or action.endswith((".sh", ".py"))
    return has_program_name or ("-" in action and not _is_verb(action.partition("-")[0]))


def serves_any_purpose(action: str) -> bool:
    """Whether the name of *action* does not show its purpose: a program, an API, or an action without a name.

    >>> serves_any_purpose("git push"), serves_any_purpose("browser click"), serves_any_purpose("cancel_order")
    (True, True, False)
    """
    return action in _EVENT_ACTIONS or _is_in_browser(action) or read_action(action).verb in {"run", "call"}


def line_instruction(action: str, line: str) -> str:
    """The instruction to take *action* with this *line*: a command line, a file or the target of a browser action.

    >>> line_instruction("git push", "git push origin"), line_instruction("file_edit", "setup.cfg")
    ('Run `git push origin`', 'Edit `setup.cfg`')
    >>> line_instruction("browser click", "#buy"), line_instruction("browser goto", "https://shop.example")
    ('Click `#buy` in the browser', 'Open `https://shop.example` in the browser')
    """
    if not line_is_target(action):
        return f"Run `{line}`"
    if not action.startswith(BROWSER):
        return f"Edit `{line}`"
    verb = "open" if "://" in line else read_action(action).verb
    return f"{verb[:1].upper()}{verb[1:]} `{line}` in the browser"


def line_is_target(action: str) -> bool:
    """Whether the ``command`` of a step with this *action* is a target: the file of an edit, or a browser element.

    >>> line_is_target("git push"), line_is_target("file_edit"), line_is_target("browser click")
    (False, True, True)
    """
    return action == "file_edit" or action.startswith(BROWSER)


def kind_of(action: str) -> Kind:
    """The kind of *action*: lookup, action (a change), scratch (only thinking) or handover.

    >>> kind_of("search_direct_flight"), kind_of("cancel_order"), kind_of("think"), kind_of("transfer_to_human_agents")
    ('lookup', 'action', 'scratch', 'handover')
    """
    return read_action(action).kind


def receiver(action: str) -> str:
    """Who takes over after the handover *action*: a person, unless its name says which agent.

    >>> receiver("transfer_to_human_agents"), receiver("transfer_to_billing_agent"), receiver("transfer_to_agent")
    ('a person', 'the billing agent', 'another agent')
    """
    _, to, receiver_name = f" {read_action(action).subject}".partition(" to ")
    if not to or not _PEOPLE.isdisjoint(receiver_name.split()):
        return "a person"
    return "another agent" if receiver_name in {"agent", "agents"} else f"the {receiver_name}"


def is_action(action: str) -> bool:
    """Whether *action* changes something, so that its kind is "action"."""
    return read_action(action).kind == "action"


def instruction(action: str) -> str:
    """The instruction to take *action*.

    >>> instruction("get_order_details"), instruction("kubectl apply")
    ('Look up the order details with get_order_details', 'Run kubectl apply')
    """
    reading = read_action(action)
    phrase = reading.phrase[:1].upper() + reading.phrase[1:]
    is_complete = action in reading.phrase or action in _EVENT_ACTIONS or action.startswith(BROWSER)
    return phrase if is_complete else f"{phrase} with {action}"


def is_check(action: str) -> bool:
    """Whether *action* is a program that checks results, such as a test runner or a linter.

    >>> [is_check(action) for action in ("pytest", "cargo test", "ruff check", "git status", "git push", "ls")]
    [True, True, True, False, False, False]
    """
    words = action.split(" ")
    programs = {"/".join(words[:length]) for length in range(1, len(words) + 1)}
    return not programs.isdisjoint(CHECKING_PROGRAMS) or (len(words) > 1 and words[-1] in _CHECK_WORDS)


def names_program(message: str, action: str) -> bool:
    """Whether *message* contains the last word of the name of *action*, a program.

    >>> names_program("validation failed: [DIALYZER]", "mix dialyzer"), names_program("a test failed", "mix dialyzer")
    (True, False)
    """
    return has_word(message.lower(), action.rsplit(maxsplit=1)[-1].lower()) and serves_any_purpose(action)


def names_its_object(action: str) -> bool:
    """Whether the name of *action* says what it acts on, so that an instruction with only this name is specific.

    >>> names_its_object("get_order_details"), names_its_object("mix format"), names_its_object("billing_api")
    (True, True, True)
    >>> names_its_object("Edit"), names_its_object("Read"), names_its_object("browser click"), names_its_object("sed")
    (False, False, False, False)
    """
    if action in _EVENT_ACTIONS or action.startswith(BROWSER):
        return action == "test_run"
    reading = read_action(action)
    has_object = reading.subject not in {"", action} or (reading.verb != "run" and len(_name_words(action)) > 1)
    return has_object or " " in action


def noun_words(action: str) -> tuple[str, ...]:
    """The nouns in the name of *action*, without its verb and prepositions.

    For a program, and for a name without nouns, it is the first word. For a web request, it is the words of the path.

    >>> noun_words("modify_pending_order_items"), noun_words("billing_api")
    (('pending', 'order', 'items'), ('billing', 'api'))
    """
    if action.partition(" ")[0] in WEB_METHODS:
        path = _name_words(action.replace(PATH_ID, "").partition("/")[2])
        return tuple(word.lower() for word in path if len(word) > 1) or (action,)
    if action.startswith(BROWSER):
        return tuple(word.lower() for word in _name_words(action) if word not in _LINKS | _PARTICLES)
    owner, name = ([], _name_words(action)) if _is_program(action) else _split_owner(action)
    words = [word.lower() for word in (*owner, *name)]
    nouns = words if read_action(action).subject == action else [word.lower() for word in (*owner, *name[1:])]
    content_nouns = () if _is_program(action) else tuple(word for word in nouns if word not in _LINKS | _PARTICLES)
    return content_nouns or tuple(words[:1])


def _object(verb: str, words: Sequence[str], owner: Sequence[str]) -> str:
    """The object of the verb, made of the *words* after it, else of those before it: "turn off the light"."""
    if words or not owner:
        return _subject(verb, words)
    return f"{'to' if verb == 'post' else 'the'} {' '.join(owner)}"


def _subject(verb: str, words: Sequence[str]) -> str:
    """The object made of *words*, with an article if it needs one; without words, the usual object of the verb."""
    if not words:
        return _USUAL_OBJECTS.get(verb, "")
    text = " ".join(_with_function_words(words))
    if words[0] in _LINKS or words[0] in _MASS_NOUNS or verb.startswith("check whether"):
        return text
    if verb == "search for" and words[-1] in _SEARCHED:
        return f"the {text}"
    if verb == "search for":
        return text if words[-1].endswith("s") else f"{'an' if text[0] in 'aeiou' else 'a'} {text}"
    return f"the {text}"


def _with_function_words(words: Sequence[str]) -> Iterator[str]:
    """The words of a name with the missing function words: "by name zip" becomes "by name and zip".

    >>> list(_with_function_words(["user", "id", "by", "name", "zip"]))
    ['user', 'id', 'by', 'name', 'and', 'zip']
    >>> list(_with_function_words(["bills", "for", "customer"]))
    ['bills', 'for', 'the', 'customer']
    """
    before, in_enumeration = "", False
    for index, word in enumerate(words):
        in_enumeration = in_enumeration or before == "by"
        if in_enumeration and before in _ITEM_ENDS and word not in _LINKS:
            yield "and"
        if before == "for" and word not in _LINKS and not word.endswith("s") and index == len(words) - 1:
            yield "the"
        yield word
        before = word


def _program_kind(action: str) -> Kind:
    """Whether a program is a lookup or an action.

    It is a lookup if it is known to only read, or if its last subcommand begins with a word such as "describe".
    """
    words = action.split(" ")
    prefixes = {"/".join(words[:length]) for length in range(1, len(words) + 1)}
    reads_only = bool(prefixes & READ_ONLY_PROGRAMS) or (
        len(words) > 1 and words[-1].split("-")[0] in READ_ONLY_SUBCOMMANDS
    )
    return "lookup" if reads_only else "action"


_TABLES: tuple[tuple[Kind, dict[str, str]], ...] = (
    ("handover", _HANDOVER),
    ("scratch", _SCRATCH),
    ("lookup", _LOOKUP),
)
# The usual objects of verbs, for names without an object, and the readings of the event types after which actions
# without a name are named.
_USUAL_OBJECTS = {
    "think through": "the next step",
    "calculate": "the amounts",
    "plan": "the next steps",
    "search for": "it",
}
_EVENT_ACTIONS = {
    "file_edit": Reading("action", "edit", "the file"),
    "test_run": Reading("lookup", "run", "the tests"),
    "api_result": Reading("action", "call", "the API"),
    "browser_action": Reading("action", "use", "the browser"),
}
