"""Sentences of talk, without what is only markup, quotation or decoration, in plain quotes and dashes."""

import re

# Typewriter signs for typographic ones, so that no rule has to know both; quotes, then dashes and blanks.
QUOTES = (("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"'))
DASHES = (("\u2013", "-"), ("\u2014", "-"), ("\u2011", "-"), ("\u00a0", " "))
_SPLIT = re.compile(
    r"(?<=[.!?\u2026])(?<!\b[A-Z]\.)(?<!\b(?:Dr|Mr|Ms|St|vs)\.)(?<!\bMrs\.)(?<!e\.g\.)(?<!i\.e\.)[\")*]*\s+"
    r"|\n+|;\s+|\s+-+\s+(?=[A-Z])"
)
_FENCED = re.compile(r"```.*?(?:```|\Z)|^>.*$|\[[^\]\n]{0,300}\]|###\w+###", re.DOTALL | re.MULTILINE)
_BULLET = re.compile(r"^(?:[-*\u2022>#\s]+|\(?\d{1,2}[.)]\s+|[a-z]\)\s+)+")
# Characters. What is longer is a document, and its beginning is read.
LONGEST_TALK = 12_000
LONGEST_SENTENCE = 300


def plain_signs(text: str, signs: tuple[tuple[str, str], ...] = (*QUOTES, *DASHES)) -> str:
    r"""*text* with straight quotes and simple dashes.

    >>> plain_signs("I\u2019d say \u201cyes\u201d \u2013 now")
    'I\'d say "yes" - now'
    """
    if not text.isascii():
        for sign, plain in signs:
            text = text.replace(sign, plain)
    return text


def sentences(text: str) -> list[str]:
    r"""The sentences of *text* of at most 300 characters; code, quoted lines and bracketed notes are left out.

    >>> sentences("Hi! See Dr. No. [shares image]\n- **Always** test.\n```rm -rf```")
    ['Hi!', 'See Dr. No.', 'Always test.']
    """
    plain = text[:LONGEST_TALK]
    if "[" in plain or "`" in plain or ">" in plain or "#" in plain:
        plain = _FENCED.sub("\n", plain)
    if "**" in plain:
        plain = plain.replace("**", "")
    found = (_BULLET.sub("", part).strip(' \t"*') for part in _SPLIT.split(plain))
    return [sentence for sentence in found if 2 < len(sentence) <= LONGEST_SENTENCE]
