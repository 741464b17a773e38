"""What many command lines come to that differ in names only."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from hmxgraph.compiler.sessions.commands import command_name

_PIECES = re.compile(r"([\s/=:,'\"]+)")
_HALF, _USUALLY = 0.5, 0.75
_NAME = "<name>"


def shared_line(lines: Sequence[str]) -> str:
    """The command line that most of *lines* come to, with ``<name>`` where they differ; "" where they have no one form.

    >>> shared_line(["kubectl logs -n shop web-1", "kubectl logs -n pay web-2"])
    'kubectl logs -n <name> <name>'
    >>> shared_line(["git push", "git push", "git push origin"]), shared_line(["git add a", "git push"])
    ('git push', '')
    """
    forms: defaultdict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for line in lines:
        pieces = _PIECES.split(line)
        forms[_form(pieces)].append(pieces)
    alike = max(forms.values(), key=lambda group: (len(group), group), default=[])
    if not alike or len(alike) <= _HALF * len(lines):
        return ""
    usual = [_usual_piece(column) for column in zip(*alike, strict=True)]
    named = len(command_name("".join(usual)).split())
    told = sum(piece != _NAME and not _PIECES.fullmatch(piece) for piece in usual) - named
    if usual.count(_NAME) <= told + 1:
        return "".join(usual)
    most = Counter(map("".join, alike)).most_common(1)
    return next((line for line, count in most if count > _HALF * len(lines)), "")


def _form(pieces: Sequence[str]) -> tuple[str, ...]:
    """What two command lines share that differ in names only: what stands between the words, and the flags."""
    return tuple(piece if place % 2 or piece.startswith("-") else "" for place, piece in enumerate(pieces))


def _usual_piece(column: Sequence[str]) -> str:
    piece, count = max(Counter(column).items(), key=lambda pair: (pair[1], pair[0]))
    return piece if count >= _USUALLY * len(column) else _NAME
