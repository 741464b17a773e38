"""The value that a directive sets, such as a language, a limit or a time; another value for the same replaces it."""

from typing import NamedTuple

from hmxgraph.extraction.language import one_of, pattern
from hmxgraph.text.comparison import CLOCK_TIMES

_LANGUAGE = one_of(
    "Arabic", "Bulgarian", "Chinese", "Croatian", "Czech", "Danish", "Dutch", "English", "Estonian", "Finnish",
    "French", "German", "Greek", "Hebrew", "Hindi", "Hungarian", "Italian", "Japanese", "Korean", "Latvian",
    "Lithuanian", "Mandarin", "Norwegian", "Polish", "Portuguese", "Romanian", "Russian", "Serbian", "Slovak",
    "Slovenian", "Spanish", "Swedish", "Turkish", "Ukrainian", "Vietnamese",
)  # fmt: skip
_NUMBER = r"(?P<value>[$€£]?\d+(?:[.,:]\d+)*%?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)(?![\w:])"
# Values of these kinds replace each other in rules of either sign.
_LIMITS = (
    ("clock", pattern(rf"\b(?:before|after|until|till|by|from) (?P<value>{CLOCK_TIMES})")),
    ("limit", pattern(rf"\b(?:than|under|over|within|above|below|exceeding|at least|at most|up to) {_NUMBER}")),
)
# These exclude each other only if they are demanded: who must not answer in German may still answer in French.
_CHOICES = (
    ("clock", pattern(rf"\bat (?P<value>{CLOCK_TIMES})")),
    ("count", pattern(rf"\b(?:every|retry|wait|with|in|use|write|give|show|list) {_NUMBER}(?= [a-z-]+s\b)")),
    ("language", pattern(rf"\bin (?P<value>{_LANGUAGE})\b(?!-)")),
    ("units", pattern(r"\b(?P<value>metric|imperial) (?:units?|measures?|system)\b")),
    ("spelling", pattern(r"\b(?P<value>British|American) (?:English|spelling)\b")),
    ("indentation", pattern(r"\b(?:use|with) (?P<value>tabs|spaces)\b(?! (?:instead|rather))")),
    (
        "name",
        pattern(r"\b(?:call me|(?:address|refer to) me as) (?P<value>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)*)"),
    ),
)


class Valued(NamedTuple):
    """A directive with the kinds of its values in their place, and the values."""

    text: str
    values: str


def without_values(text: str, *, demanded: bool) -> Valued:
    """Take the values out of the directive *text*; those of a choice only if it is *demanded*.

    A text with two values of one kind keeps both, since it compares them.

    >>> without_values("Always answer in German", demanded=True)
    Valued(text='Always answer in language', values='German')
    >>> without_values("Never answer in German before 9:00", demanded=False)
    Valued(text='Never answer in German before clock', values='9:00')
    """
    values = []
    for kind, form in (*_LIMITS, *(_CHOICES if demanded else ())):
        matches = list(form.finditer(text))
        if len(matches) == 1:
            start, end = matches[0].span("value")
            values.append(text[start:end])
            text = f"{text[:start]}{kind}{text[end:]}"
    return Valued(text, " ".join(values))
