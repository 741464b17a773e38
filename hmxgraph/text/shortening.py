"""Texts cut to what there is room for, with an ellipsis where they go on."""


def cut(text: str, most: int) -> str:
    """*text*, or its beginning and an ellipsis, in at most *most* characters.

    >>> cut("verify", 6), cut("verify it", 6), cut("verify it", 8)
    ('verify', 'verif…', 'verify…')

    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut_line(text: str, most: int) -> str:
    r"""The same on one line, each run of white space as one blank.

    >>> cut_line("verify\n  it", 20)
    'verify it'

    """
    return cut(" ".join(text.split()), most)
