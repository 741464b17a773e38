"""Work that tells its end itself, taken apart: what was done, with what, and how it went; HMX-E gives it no fields."""

import re
from collections.abc import Mapping
from typing import Any

from hmxgraph.compiler.sessions.web_requests import REQUEST_FIELDS
from hmxgraph.compiler.vocabulary import BROWSER_LOOKUPS, BROWSER_WAYS
from hmxgraph.text.addresses import public_address

COMMAND_FIELDS = ("command", "cmd", "command_line", "script")
_PATH_FIELDS = ("path", "file_path", "filepath", "file", "filename")
_VERB_FIELDS = ("action", "action_type", "type")
_NAME_FIELDS = ("tool_name", "operation", "api_name", "api", "service")
_VERB = re.compile(r"(?:browser[_. -]+)?([A-Za-z][A-Za-z_. -]{0,40})", re.IGNORECASE)
# What is given, by type of event. A text is typed or found, as the verb tells.
_GIVEN = {
    "browser_action": (
        "url", "href", "selector", "xpath", "element", "index", "ref", "target", "value", "text", "key", "keys",
        "option", "query", "coordinate", "coordinates", "x", "y", "username", "password",
    ),
    "api_result": ("request_body", "params", "payload", "query"),
}  # fmt: skip
# Where some put all of it.
_BUNDLES = ("params", "parameters", "arguments", "args")
# By what an action in a browser is told from others of its kind: to what it was done, or where it led.
TARGET_FIELDS = ("selector", "element", "xpath", "url", "href")
_DEED = {
    "command_exec": (*COMMAND_FIELDS, "cwd"),
    "test_run": (*COMMAND_FIELDS, "cwd", "suite", "framework"),
    "file_edit": (*_PATH_FIELDS, "operation", "content", "diff", "patch", "old_string", "new_string"),
    "browser_action": (*_VERB_FIELDS, *_BUNDLES),
    "api_result": (*REQUEST_FIELDS, *_NAME_FIELDS, "request"),
}


def browser_verb(content: Mapping[str, Any]) -> str:
    """What was done in the browser, as its agent calls it; "" where it does not say.

    >>> browser_verb({"action": "click"}), browser_verb({"type": "browser_input_text"}), browser_verb({"action": "#"})
    ('click', 'input_text', '')
    """
    named = next((content[name] for name in _VERB_FIELDS if isinstance(content.get(name), str)), "")
    found = _VERB.fullmatch(named.strip())
    return (found[1].lower() if found[1].isupper() else found[1]) if found else ""


def interface(content: Mapping[str, Any]) -> object:
    """What an API result calls the interface or operation that it is of; None where it does not say."""
    return next((content[name] for name in _NAME_FIELDS if isinstance(content.get(name), str) and content[name]), None)


def edited_path(content: Mapping[str, Any]) -> str:
    """The file that an edit names; "" where it names none."""
    return next((content[name] for name in _PATH_FIELDS if isinstance(content.get(name), str)), "")


def inputs_of(event_type: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """What was given to the work, by the names of its fields.

    >>> inputs_of("browser_action", {"action": "fill", "selector": "#name", "text": "Ann", "success": True})
    {'selector': '#name', 'text': 'Ann'}
    >>> inputs_of("browser_action", {"action": "extract", "selector": "#name", "text": "Ann"})
    {'selector': '#name'}
    """
    bundle = next((content[name] for name in _BUNDLES if isinstance(content.get(name), Mapping)), None)
    if event_type == "browser_action" and bundle is not None:
        return dict(bundle)
    names = [name for name in _GIVEN.get(event_type, ()) if content.get(name) not in (None, "", {}, [])]
    found = event_type == "browser_action" and _finds(browser_verb(content))
    told = {name: content[name] for name in names if not (found and name == "text")}
    return _opened(told) if event_type == "api_result" else told


def browser_target(content: Mapping[str, Any]) -> str:
    """To what something was done in the browser, or where it led; "" where that is not told in words.

    >>> browser_target({"action": "click", "selector": "#buy", "url": "https://shop.example/cart"})
    '#buy'
    >>> browser_target({"action": "navigate", "url": "https://ann@shop.example/cart?id=7"})
    'https://shop.example/cart'
    """
    inputs = inputs_of("browser_action", content)
    told = {name: inputs[name] for name in TARGET_FIELDS if isinstance(inputs.get(name), str)}
    inside = next((told[name] for name in TARGET_FIELDS[:3] if name in told), "")
    led = _first_word(browser_verb(content)) in BROWSER_WAYS
    return inside or (public_address(next(iter(told.values()), "")) if led else "")


def _opened(told: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, by the names of its parts."""
    found: dict[str, Any] = {}
    for name, value in told.items():
        found |= value if isinstance(value, Mapping) else {name: value}
    return found


def ending(event_type: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """What *content* tells of how the work went: all but what was done and with what.

    >>> ending("command_exec", {"command": "make", "exit_code": 2, "stderr": "no rule"})
    {'exit_code': 2, 'stderr': 'no rule'}
    """
    aside = {"type", *_DEED.get(event_type, ()), *_GIVEN.get(event_type, ())}
    if event_type == "browser_action" and "text" not in inputs_of(event_type, content):
        aside.discard("text")
    return {name: part for name, part in content.items() if name not in aside}


def _finds(verb: str) -> bool:
    return _first_word(verb) in BROWSER_LOOKUPS


def _first_word(verb: str) -> str:
    return re.split(r"[_. -]+|(?<=[a-z])(?=[A-Z])", verb)[0].lower()
