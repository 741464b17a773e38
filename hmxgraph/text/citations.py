"""How knowledge cites what others wrote, so that nobody takes their words for its own, and how that is read back."""

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
