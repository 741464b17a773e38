"""The values that a directive sets, such as a language or a name: a later directive with another value replaces it."""

from typing import NamedTuple

from hmxgraph.extraction.language import one_of, pattern

_LANGUAGE = one_of(
    "Arabic", "Bulgarian", "Chinese", "Croatian", "Czech", "Danish", "Dutch", "English", "Estonian", "Finnish",
    "French", "German", "Greek", "Hebrew", "Hindi", "Hungarian", "Italian", "Japanese", "Korean", "Latvian",
    "Lithuanian", "Mandarin", "Norwegian", "Polish", "Portuguese", "Romanian", "Russian", "Serbian", "Slovak",
    "Slovenian", "Spanish", "Swedish", "Turkish", "Ukrainian", "Vietnamese",
)  # fmt: skip
_COUNT = r"(?P<value>\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
# Kinds of values, each with the pattern that finds its values. Two values of a kind exclude each other only if they are
# demanded: "never answer in German" and "never answer in French" can both hold. Times and limits are left out, because
# several can hold at once: "not before 9 am", "not after 9 pm"; "8 workers", "under 100 GB".
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

# Words that limit a rule to some occasions or people. Its value says nothing about others.
_CONDITION = pattern(r"\b(?:when|whenever|if|unless|while|during|until|customers?|users?|clients?|guests?)\b")


class Valued(NamedTuple):
    """A directive with each value replaced by its kind, and the values."""

    text: str
    values: str


def without_values(text: str, *, demanded: bool) -> Valued:
    """Replace the values in the directive *text* by their kinds.

    The text stays as it is if the directive forbids something instead of *demanding* it, or if it holds only on some
    occasions or for some people. Two values of the same kind stay, because the text compares them.

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
