"""Where the argument values of tool calls come from: an earlier result or the user."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from zlib import crc32

from hmxgraph.compiler._bounded import remember
from hmxgraph.compiler._vocabulary import identifies
from hmxgraph.compiler.summary import FROM_USER

# Limits: actions whose last call is remembered; values read per result or call, and their nesting depth; characters
# read per message or argument; arguments kept per call, and characters kept of an argument's name.
_MOST_CALLS = 1000
_MOST_SCALARS = 200
_DEEPEST = 6
_LONGEST_READ = 4000
_MOST_INPUTS = 12
_LONGEST_NAME = 40
# An argument name with this many spaces is taken for a sentence. Procedures must not repeat sentences, because an agent
# could take them for instructions.
_SENTENCE_SPACES = 3
# Limits: remembered argument values that contain a space, sources per value, identifiers per session.
_MOST_VALUES_WITH_SPACES = 50
_MOST_SOURCES = 3
_MOST_IDENTIFIERS = 100
# A word of at least this many capitals is taken for an identifier ("SDZQKO"); a shorter one is a code ("JFK").
_LEAST_CAPITALS = 5
_LONG_NUMBER = re.compile(r"\d{4,}")


class ValueOrigins:
    """Remembers user messages and the values of results, to find where argument values come from."""

    def __init__(self, most_values: int, most_messages: int) -> None:
        self._most_values = most_values
        # For each value, the first and the latest action that returned it, and the moment of that result.
        self._first: dict[str, tuple[str, int]] = {}
        self._latest: dict[str, tuple[str, int]] = {}
        # The values returned by several actions.
        self._shared: dict[str, None] = {}
        # For each value, the smallest number of values that one result had in its field, and the actions with such a
        # result. See ``add_result``.
        self._sources: dict[str, tuple[int, tuple[str, ...]]] = {}
        # The latest user messages, each with its moment.
        self._messages: deque[tuple[int, str]] = deque(maxlen=most_messages)
        # The number of messages and results so far: it orders them in time.
        self.moment = 0
        self._last_arguments: dict[str, dict[str, int]] = {}
        self._values_with_spaces: dict[str, str] = {}
        self._identifiers: dict[str, None] = {}

    @property
    def about(self) -> tuple[str, ...]:
        """The checksums of at most ``_MOST_IDENTIFIERS`` identifiers with which tools were called, sorted."""
        return tuple(sorted(self._identifiers))

    def add_call(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """Store the identifiers among these arguments; return their checksums, at most ``_MOST_INPUTS``."""
        values = islice(_scalars(arguments), _MOST_SCALARS)
        checksums = {f"{crc32(value.lower().encode()):08x}": None for value in values if _identifies(value)}
        for checksum in checksums:
            if len(self._identifiers) < _MOST_IDENTIFIERS:
                self._identifiers[checksum] = None
        return tuple(checksums)[:_MOST_INPUTS]

    def add_message(self, text: str) -> None:
        """Store a user message."""
        self.moment += 1
        self._messages.append((self.moment, text[:_LONGEST_READ].lower()))

    def add_result(self, action: str, result: Any, call_values: Container[str] = ()) -> None:
        """Store the values in a result of *action*.

        The sources of a value are the actions whose results hold the fewest values in the same field. For example, if
        get_order returned one payment method and list_payment_methods returned that one and two others, only get_order
        is its source. A value with which *action* was called (*call_values*, in lower case) keeps the sources that it
        has: the result only repeats it.
        """
        self.moment += 1
        fields = dict(islice(((value, name) for name, value in _fields(result)), _MOST_SCALARS))
        siblings = Counter(fields.values())
        for value, name in fields.items():
            first = self._first.get(value, (action, self.moment))
            if first[0] != action:
                remember(self._shared, value, None, self._most_values)
            remember(self._first, value, first, self._most_values)
            remember(self._latest, value, (action, self.moment), self._most_values)
            if value not in self._sources or value.lower() not in call_values:
                self._add_source(value, action, siblings[name])

    def _add_source(self, value: str, action: str, siblings: int) -> None:
        fewest, actions = self._sources.get(value, (siblings, ()))
        if siblings < fewest:
            fewest, actions = siblings, ()
        if siblings == fewest and action not in actions:
            actions = (*actions, action)[:_MOST_SOURCES]
        remember(self._sources, value, (fewest, actions), self._most_values)

    def of_arguments(self, arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Pairs of argument name and origin of its value: an action, "user", or "" if unknown.

        An argument with several origins has a pair for each. At most ``_MOST_INPUTS`` arguments are considered, and
        none whose name is a sentence.
        """
        pairs = sorted(arguments.items(), key=lambda pair: str(pair[0]))[:_MOST_INPUTS]
        return tuple(
            (str(name)[:_LONGEST_NAME], origin)
            for name, value in pairs
            if str(name).count(" ") < _SENTENCE_SPACES
            for origin in self._origins(value)
        )

    def since(self, text: str, moment: int) -> str:
        """The source of *text* after *moment*: the user, else the latest action that returned it; "" if none did."""
        if any(when > moment and _contains(message, text) for when, message in self._messages):
            return FROM_USER
        action, when = self._latest.get(text, ("", 0))
        return action if when > moment else ""

    def only_source(self, text: str) -> str:
        """The only action that returned *text*; "" if none or several did, or if a user message contains it."""
        action, _ = self._first.get(text, ("", 0))
        from_user = any(_contains(message, text) for _, message in self._messages)
        return "" if from_user or text in self._shared else action

    def changed(self, action: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The arguments that changed since the last call of *action*; none at its first call."""
        checksums = {
            str(name)[:_LONGEST_NAME]: crc32(repr(arguments[name])[:_LONGEST_READ].encode()) for name in arguments
        }
        before = self._last_arguments.get(action)
        remember(self._last_arguments, action, checksums, _MOST_CALLS)
        if before is None:
            return ()
        names = checksums.keys() | before.keys()
        return tuple(sorted(name for name in names if checksums.get(name) != before.get(name)))

    def names_by_value(self, arguments: Mapping[str, Any]) -> dict[str, str]:
        """The name of the argument of each value, by the value in lower case.

        Values of earlier calls are included if they contain a space, because the message of a later failure may quote
        them.
        """
        current = {text.lower(): name for text, name in islice(_scalars_with_key(arguments, ""), _MOST_SCALARS)}
        names = self._values_with_spaces | current
        for text, name in current.items():
            if " " in text:
                remember(self._values_with_spaces, text, name, _MOST_VALUES_WITH_SPACES)
        return names

    def _origins(self, value: Any) -> tuple[str, ...]:
        """The origins of *value*, which may be a text or contain many; ("",) if they are unknown.

        Of several texts, those under keys that identify something decide first: flights come from the search that
        returned their numbers, wherever their dates come from. An origin counts if it is that of at least half of them.
        Without such an origin, those of more than half of all texts count, else those of more than half of the texts
        under any one key.
        """
        if isinstance(value, str) and value:
            return self._shared_origins([value]) or ("",)
        by_key: defaultdict[str, list[str]] = defaultdict(list)
        for name, text in islice(_fields(value), _MOST_SCALARS):
            by_key[name].append(text)
        identifying = [text for name, texts in by_key.items() if identifies(name) for text in texts]
        shared = self._shared_origins(identifying, or_half=True) or self._shared_origins([*chain(*by_key.values())])
        of_keys = (origin for texts in by_key.values() for origin in self._shared_origins(texts))
        return shared or tuple(dict.fromkeys(of_keys)) or ("",)

    def _shared_origins(self, texts: Sequence[str], *, or_half: bool = False) -> tuple[str, ...]:
        """The origins of more than half of *texts*; with *or_half*, also those of exactly half."""
        counts = Counter(origin for text in texts for origin in self._origins_of(text))
        return tuple(origin for origin, count in counts.items() if 2 * count + or_half > len(texts))

    def _origins_of(self, text: str) -> tuple[str, ...]:
        """The user if a user message contains *text*, else the actions that are its sources.

        An identifier that a result returned before the user wrote it comes from the result.
        """
        action, first_returned = self._first.get(text, ("", 0))
        is_returned_identifier = bool(action) and any(map(str.isdigit, text))
        messages = (message for when, message in self._messages if when < first_returned or not is_returned_identifier)
        if any(_contains(message, text) for message in messages):
            return (FROM_USER,)
        return self._sources.get(text, (0, ()))[1]


def _identifies(value: str) -> bool:
    """Whether *value* looks like an identifier: it has a digit, or it is a word of at least five capitals.

    >>> _identifies("W2378156"), _identifies("SDZQKO"), _identifies("JFK")
    (True, True, False)
    """
    return any(map(str.isdigit, value)) or (len(value) >= _LEAST_CAPITALS and value.isalpha() and value.isupper())


def _contains(message: str, text: str) -> bool:
    """Whether a lower-case *message* contains *text* as a word.

    Users shorten identifiers: the message may omit punctuation around *text*, and what precedes a final number of at
    least four digits.

    >>> _contains("it is 9502127", "#W9502127"), _contains("it is 19502127", "#W9502127"), _contains("row 12", "a12")
    (True, False, False)
    """
    bare = text.lower().strip("#$.,:;!? ")
    numbers = _LONG_NUMBER.findall(bare)
    words = [bare, *(numbers if len(numbers) == 1 and bare.endswith(numbers[0]) else [])]
    return any(len(word) > 1 and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in words)


def _scalars(value: Any) -> Iterator[str]:
    """Yield the values of :func:`_fields` without their keys."""
    return (text for _, text in _fields(value))


def _fields(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (key, value) for each text of 3 to 80 characters and each integer of at least 3 digits in *value*.

    A key with a digit, such as the order id in {"orders": {"W12": ...}}, counts as a value of the key around it.
    """
    match value:
        case bool() | None:
            return
        case str() if 2 < len(value) <= 80:
            yield name, value
        case int() if abs(value) >= 100:
            yield name, str(value)
        case Mapping() if depth < _DEEPEST:
            for key, part in value.items():
                key_is_value = isinstance(key, str) and any(map(str.isdigit, key))
                if key_is_value:
                    yield name, key
                yield from _fields(part, name if key_is_value else str(key), depth + 1)
        case list() if depth < _DEEPEST:
            for part in value:
                yield from _fields(part, name, depth + 1)
        case _:
            return


def _scalars_with_key(value: Any, name: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts and integers that :func:`_fields` yields, each with the innermost key around it, else *name*."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for key in sorted(value, key=str):
            yield from _scalars_with_key(value[key], str(key)[:_LONGEST_NAME], depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for part in value:
            yield from _scalars_with_key(part, name, depth + 1)
    else:
        yield from ((text, name) for text in _scalars(value))
