"""How the inputs of a retry differ from those of the failed call, by kind of change."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from zlib import crc32

from hmxgraph.compiler._bounded import remember
from hmxgraph.compiler._vocabulary import has_word, informative_words
from hmxgraph.compiler.summary import FROM_USER, Amendment
from hmxgraph.text.masking import mask_ids, mask_secrets

# The kinds of change: how an input of the retry differs from the same input of the failed call. "The message" is the
# error message of that call. The brackets give the ``detail`` of the amendment.
GIVEN = "given"  # the failed call lacked the input ["user", "from <action>", "set to <value>", or ""]
LEFT = "left out"  # the retry lacks the input
ASKED = "asked"  # replaced by a value that the user gave after the failure
# Replaced after the user spoke: the user may have chosen the value, although no message contains it [the action that
# returned it, or ""]. ``_recoveries.changed_inputs`` makes it from FROM and CORRECTED.
CHOSEN = "chosen"
FROM = "from"  # replaced by a value from a result [the action that returned it]
SET = "set"  # replaced by a flag, a small number or a plain word [the value]
ADDS_UP = "adds up"  # several numbers now add up to one in the message [the words that name that one]
EQUALS = "equals"  # a single number now equals one in the message [the words that name that one]
SPLIT = "split"  # the numbers have the same total as before, but there are more of them
NAMED = "named"  # replaced by values that the message contains
UNLIKE = "unlike"  # the entries in which this list equalled another were removed from both [the other list]
AS_MANY = "as many"  # a list is now as long as another one [the other list]
FEWER = "fewer"  # a list lost some of its entries
AFFIXED, STRIPPED = "affixed", "stripped"  # a short prefix or suffix was added or removed [the prefix or suffix]
WRITTEN = "written"  # the same value in another form [the form, such as "as a number"]
CORRECTED = "corrected"  # any other replacement
# Kinds of change that do not show how to repeat the change.
UNEXPLAINED = frozenset({CORRECTED, FEWER})

# Limits: calls remembered, characters of a value or message, values compared per input, nesting depth, length of a
# prefix or suffix.
_MOST_CALLS = 100
_LONGEST_VALUE = 2000
_MOST_LEAVES = 200
_DEEPEST = 6
_LONGEST_AFFIX = 8
# Characters kept of the name of an input.
_LONGEST_NAME = 40
# A separate number, such as "375" or "1,250.50", but not the digits of "W12" or "1.2.3".
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)")
# Punctuation that ends a clause, and the space after it.
_CLAUSE_END = re.compile(r"[,;:.()\[\]\n]\s")
# Words and signs that may stand between a number and the words that name it, such as "is" in "total price is 375".
_LINKS = frozenset({"is", "are", "was", "be", "of", "to", "than", "=", "$", "only", "at", "must", "has", "have"})
_WORD = re.compile(r"[A-Za-z_$=]+")
# Values that artifacts may quote because they are not personal data: flags, lower-case words and small whole numbers.
_PLAIN_WORD = re.compile(r"[a-z][a-z_-]{1,23}")
_PLAIN_BELOW = 1000
# Totals that differ by less than half a cent are equal.
_HALF_CENT = 0.005
_DIGITS = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
# Two texts with at most this many digits may have the same digits by chance.
_TOO_FEW_DIGITS = 3


@dataclass(slots=True)
class _Call:
    """A call: its action and inputs.

    If it failed, ``message`` is the error message, and ``moment`` the number of messages and results before it, which
    serves as the time of the failure.
    """

    action: str
    inputs: Mapping[str, Any]
    message: str = ""
    moment: int = 0


@dataclass(slots=True)
class Attempts:
    """Remembers the latest calls by event id, and for each action the last failed call that was not retried yet."""

    _calls: dict[str, _Call] = field(default_factory=dict)
    _failed: dict[str, _Call] = field(default_factory=dict)

    def add_call(self, event_id: str, action: str, inputs: Mapping[str, Any]) -> _Call | None:
        """Add a call, and return the failed call of the same action that it retries, if any."""
        call = _Call(action, {str(name)[:_LONGEST_NAME]: _bounded(part) for name, part in inputs.items()})
        remember(self._calls, event_id, call, _MOST_CALLS)
        return self._failed.pop(action, None)

    def add_failure(self, event_id: str, message: str, moment: int) -> None:
        """Record that the call of this event failed at this *moment*, with this *message*.

        A call already recorded as failed keeps its moment, and its message if the new one is empty. Unknown calls and
        calls without inputs are ignored.
        """
        call = self._calls.get(event_id)
        if call is None or not call.inputs:
            return
        known = self._failed.get(call.action) is call
        call.message, call.moment = message or call.message, call.moment if known else moment
        remember(self._failed, call.action, call, _MOST_CALLS)


def _bounded(value: Any) -> Any:
    """*value*, or its checksum if it is too large to keep."""
    text = repr(value)
    return value if len(text) <= _LONGEST_VALUE else crc32(text.encode())


@dataclass(frozen=True, slots=True)
class Origins:
    """Two functions that return the source of a value given as text; "" if it is unknown.

    ``since`` considers what came after the failure: it returns "user" if a user message contains the value, else the
    latest action whose result contained it. ``in_session`` considers the whole session: it returns the only action
    whose results contained the value, unless a user message contains it.
    """

    since: Callable[[str], str]
    in_session: Callable[[str], str]


def amendments(
    before: Mapping[str, Any], after: Mapping[str, Any], message: str, origins: Origins
) -> tuple[Amendment, ...]:
    """How the inputs changed from *before* to *after*, given the *message* of the failure.

    >>> unknown, asked = Origins(lambda _: "", lambda _: ""), Origins(lambda _: "user", lambda _: "")
    >>> amendments({"zip": "11111"}, {"zip": "22222"}, "user not found", asked)
    (Amendment(input='zip', how='asked', part='', detail=''),)
    >>> amendments({"sum": 3}, {"sum": 375}, "total price is 375, but paid 3", unknown)
    (Amendment(input='sum', how='equals', part='sum', detail='total price'),)
    """
    after = {str(name)[:_LONGEST_NAME]: _bounded(part) for name, part in after.items()}
    amended: list[Amendment] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            amended.append(_new_input(name, after[name], origins))
        elif name not in after:
            amended.append(Amendment(name, LEFT))
        elif before[name] != after[name]:
            amended += _changed_input(name, before, after, (message, origins))
    return tuple(amended)


def _new_input(name: str, value: Any, origins: Origins) -> Amendment:
    """The amendment for an input that the failed call lacked, with its source, else its value if that may be quoted."""
    source = _source(value, None, origins.since) or _source(value, None, origins.in_session)
    plain = _plain(value)
    if source:
        return Amendment(name, GIVEN, "", source if source == FROM_USER else f"from {source}")
    return Amendment(name, GIVEN, "", f"set to {plain}" if plain else "")


def _changed_input(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], context: tuple[str, Origins]
) -> list[Amendment]:
    """The amendments for one changed input, of the first kind that explains the change.

    *context* holds the error message and the origins.
    """
    old, new, (message, origins) = before[name], after[name], context
    part, added = _part(name, old, new), [text for _, text in _new_values(old, new)]
    if (shape := _shape(old, new)) is not None:
        return [Amendment(name, WRITTEN, "", shape)]
    if related := [*_numbers(name, old, new, message), *_list_relation(name, before, after)]:
        return related
    if isinstance(old, list) and isinstance(new, list) and _is_subsequence(new, old):
        return [Amendment(name, FEWER)]
    if added and all(len(text) > 1 and has_word(message, text) for text in added):
        return [Amendment(name, NAMED, part)]
    return [_replacement(name, part, (old, new), origins)]


def _replacement(name: str, part: str, change: tuple[Any, Any], origins: Origins) -> Amendment:
    """How a value was replaced: by one from a known source, by another form or a plain value; else ``CORRECTED``.

    *change* holds the old and the new value.
    """
    old, new = change
    if source := _source(new, old, origins.since):
        return Amendment(name, ASKED, part) if source == FROM_USER else Amendment(name, FROM, part, source)
    if (form := _form(old, new)) is not None:
        return Amendment(name, *form)
    if source := _source(new, old, origins.in_session):
        return Amendment(name, FROM, part, source)
    plain = _plain(new)
    return Amendment(name, SET, "", plain) if plain else Amendment(name, CORRECTED, part)


def _list_relation(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Amendment]:
    """Yield how a list changed relative to another list of the call: ``UNLIKE``, ``AS_MANY``, or nothing.

    If a call to exchange items named [a, b] as old and [a, c] as new items, and its retry [b] and [c], then the entries
    in which the lists agreed were removed: the old items are now unlike the new ones.
    """
    old, new = before[name], after[name]
    for other in sorted(before.keys() & after.keys() - {name}):
        other_old, other_new = before[other], after[other]
        if not all(map(_is_plain_list, (old, new, other_old, other_new))):
            continue
        pairs = list(zip(old, other_old, strict=False))
        unequal = [pair for pair in pairs if pair[0] != pair[1]]
        new_pairs = list(zip(new, other_new, strict=False))
        if len(old) == len(other_old) and 0 < len(unequal) < len(pairs) and new_pairs == unequal:
            yield Amendment(name, UNLIKE, "", other)
            return
        if len(old) != len(other_old) and len(new) == len(other_new) and len(new) != len(old):
            yield Amendment(name, AS_MANY, "", other)
            return


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value)


def _shape(old: Any, new: Any) -> str | None:
    """How the same value is written now; None if it is another value.

    Recognises a list instead of a single value, a number instead of a text, and the reverse, and a change of case.
    """
    if isinstance(new, list) and new == [old]:
        return "as a list"
    if isinstance(old, list) and old == [new]:
        return "as a single value"
    if any(isinstance(value, bool | list | dict) for value in (old, new)):
        return None
    if type(old) is not type(new) and str(old) == str(new):
        return "as text" if isinstance(new, str) else "as a number"
    if isinstance(old, str) and isinstance(new, str) and old.lower() == new.lower():
        return "in lower case" if new.islower() else "in upper case" if new.isupper() else "in other capitals"
    return None


def _form(old: Any, new: Any) -> tuple[str, str, str] | None:
    """How a text changed in form, as (kind, "before" or "after", affix or form); None for any other change.

    Recognises a short prefix or suffix that was added or removed ("12" and "#12"), and the same digits in another
    format without letters ("05/31/2024" and "2024-05-31").
    """
    if not isinstance(old, str) or not isinstance(new, str) or not old or not new:
        return None
    for how, short, long in ((AFFIXED, old, new), (STRIPPED, new, old)):
        if (affix := _affix(short, long)) is not None:
            return how, *affix
    pattern, digits = _DIGITS.sub("N", new), Counter(_DIGITS.findall(new))
    reformatted = (
        digits.total() > _TOO_FEW_DIGITS
        and digits == Counter(_DIGITS.findall(old))
        and pattern != _DIGITS.sub("N", old)
    )
    return (WRITTEN, "", f"as {pattern}") if reformatted and not _LETTER.search(pattern.replace("N", "")) else None


def _affix(old: str, new: str) -> tuple[str, str] | None:
    """The prefix or suffix that was added to *old* to make *new*, as ("before", prefix) or ("after", suffix).

    None if it is too long, may be a secret, or was not the only change.
    """
    added = len(new) - len(old)
    if not 0 < added <= min(_LONGEST_AFFIX, len(old)) or not (new.endswith(old) or new.startswith(old)):
        return None
    where, affix = ("before", new[:added]) if new.endswith(old) else ("after", new[-added:])
    return (where, affix) if mask_secrets(affix) == affix else None


def _numbers(name: str, old: Any, new: Any, message: str) -> Iterator[Amendment]:
    """Yield an amendment for each key whose numbers now add up to a number in the message, or split the same total."""
    before, after = _by_key(name, old), _by_key(name, new)
    named_numbers = list(_named_numbers(message))
    for key in sorted(after):
        if key not in before or before[key] == after[key]:
            continue
        old_total, new_total = math.fsum(before[key]), math.fsum(after[key])
        words = next(
            (words for number, words in named_numbers if math.isclose(number, new_total, abs_tol=_HALF_CENT)), None
        )
        same_total = math.isclose(old_total, new_total, abs_tol=_HALF_CENT)
        if words is not None and not same_total:
            yield Amendment(name, ADDS_UP if len(after[key]) > 1 or isinstance(new, list) else EQUALS, key, words)
        elif same_total and len(after[key]) > len(before[key]):
            yield Amendment(name, SPLIT, key)


def _by_key(name: str, value: Any) -> dict[str, list[float]]:
    """The numbers in *value* by the innermost key around them; *name* is the key of those without one."""
    numbers: dict[str, list[float]] = {}
    for key, leaf in islice(_leaves(value, name), _MOST_LEAVES):
        if isinstance(leaf, int | float) and not isinstance(leaf, bool):
            numbers.setdefault(key, []).append(float(leaf))
    return numbers


def _named_numbers(message: str) -> Iterator[tuple[float, str]]:
    """Yield each number of a message with the words before it that name it, at most three; "" without such words.

    >>> list(_named_numbers("amounts do not add up, total price is 375, but paid 299"))
    [(375.0, 'total price'), (299.0, 'paid')]
    """
    for match in _NUMBER.finditer(message[:_LONGEST_VALUE]):
        clause = _CLAUSE_END.split(message[: match.start()])[-1]
        words = _WORD.findall(clause)
        while words and (words[-1].lower() in _LINKS or not informative_words(words[-1])):
            words.pop()
        name_words: list[str] = []
        while words and informative_words(words[-1]) and words[-1].lower() not in _LINKS and len(name_words) < 3:
            name_words.insert(0, words.pop().lower())
        yield float(match.group().replace(",", "")), " ".join(name_words)


def _is_subsequence(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    """Whether *part* is *whole* with some entries left out."""
    remaining = iter(whole)
    return len(part) < len(whole) and all(any(entry == other for other in remaining) for entry in part)


def _source(new: Any, old: Any, origin: Callable[[str], str]) -> str:
    """The origin of the values in *new* that *old* lacks; "" if it is unknown or they have several origins."""
    origins = {origin(text) for _, text in _new_values(old, new)}
    return origins.pop() if len(origins) == 1 else ""


def _new_values(old: Any, new: Any) -> list[tuple[str, str]]:
    """The values in *new* that *old* lacks, with their keys; flags are ignored."""
    old_texts = {str(leaf) for _, leaf in islice(_leaves(old, ""), _MOST_LEAVES)}
    new_texts = [(key, str(leaf)) for key, leaf in islice(_leaves(new, ""), _MOST_LEAVES) if not isinstance(leaf, bool)]
    return [(key, text) for key, text in new_texts if text not in old_texts]


def _part(name: str, old: Any, new: Any) -> str:
    """The one key under which all new values of an input are nested; "" if there is none, or if it is *name*."""
    keys = {key for key, _ in _new_values(old, new)}
    return next(iter(keys - {"", name}), "") if len(keys) == 1 else ""


def _leaves(value: Any, key: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield each scalar in *value* except None, with the innermost key around it, or *key* if there is none.

    Containers that are nested too deeply count as scalars.
    """
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for name in sorted(value, key=str):
            yield from _leaves(value[name], str(name)[:_LONGEST_NAME], depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for part in value:
            yield from _leaves(part, key, depth + 1)
    elif value is not None:
        yield key, value


def _plain(value: Any) -> str:
    """*value* as text if it is a flag, a small whole number or a plain word; other values may identify somebody: ""."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) < _PLAIN_BELOW else ""
    plain = isinstance(value, str) and _PLAIN_WORD.fullmatch(value) is not None
    return value if plain and mask_ids(mask_secrets(value)) == value else ""
