"""The value that a directive sets, such as a language or a name; another value for the same replaces it."""

from typing import NamedTuple

from hmxgraph.extraction.language import one_of, pattern

_LANGUAGE = one_of(
    "Arabic", "Bulgarian", "Chinese", "Croatian", "Czech", "Danish", "Dutch", "English", "Estonian", "Finnish",
    "French", "German", "Greek", "Hebrew", "Hindi", "Hungarian", "Italian", "Japanese", "Korean", "Latvian",
    "Lithuanian", "Mandarin", "Norwegian", "Polish", "Portuguese", "Romanian", "Russian", "Serbian", "Slovak",
    "Slovenian", "Spanish", "Swedish", "Turkish", "Ukrainian", "Vietnamese",
)  # fmt: skip
_COUNT = r"(?P<value>\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
# Values exclude each other only if they are demanded: who must not answer in German may still answer in French. Times
# and limits may hold side by side: "not before 9 am", "not after 9 pm"; "8 workers under 100 GB".
_CHOICES = (
    ("count", pattern(rf"\bretry {_COUNT}(?= times\b)")),
    (
        "language",
        pattern(
            r"\b(?:answer|reply|respond|speak|talk|write|chat|communicate)(?: [\w-]+){0,3} in "
            rf"(?P<value>{_LANGUAGE})\b(?!-| [a-z]+s\b)"
        ),
    ),
    ("units", pattern(r"\b(?P<value>metric|imperial) (?:units?|measures?|system)\b")),
    ("spelling", pattern(r"\b(?P<value>British|American) (?:English|spelling)\b")),
    ("indentation", pattern(r"\b(?:use|with) (?P<value>tabs|spaces)\b(?! (?:instead|rather))")),
    (
        "name",
        pattern(r"\b(?:call me|(?:address|refer to) me as) (?P<value>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)*)"),
    ),
)

# A value in a rule for some occasions is not the value for others.
_CONDITION = pattern(r"\b(?:when|whenever|if|unless|while|during|until|customers?|users?|clients?|guests?)\b")


class Valued(NamedTuple):
    """A directive with the kinds of its values in their place, and the values."""

    text: str
    values: str


def without_values(text: str, *, demanded: bool) -> Valued:
    """Take the values out of the directive *text* if what it says is *demanded*, for all occasions.

    A text with two values of one kind keeps both, since it compares them.

    >>> without_values("Always answer in German", demanded=True)
    Valued(text='Always answer in language', values='German')
    >>> without_values("If a user asks in German, answer in German", demanded=True).values
    ''
    >>> without_values("Answer in German and write the comments in English", demanded=True).values
    ''
    """
    values = []
    for kind, form in () if not demanded or _CONDITION.search(text) else _CHOICES:
        matches = list(form.finditer(text))
        if len(matches) == 1:
            start, end = matches[0].span("value")
            values.append(text[start:end])
            text = f"{text[:start]}{kind}{text[end:]}"
    return Valued(text, " ".join(values))
