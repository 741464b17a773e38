"""What agents and tools wrote may command a terminal; shown to people, it commands nothing."""

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult

# Tab and line end command nothing else. Unicode has pictures of the controls of ASCII, and none of those of Latin-1.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)

_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def visible(text: str) -> str:
    r"""*text* with its control characters as pictures of them.

    >>> visible("\x1b[2J gone?\n")
    '␛[2J gone?\n'

    """
    return text.translate(_PICTURES)


def escaped(json: str) -> str:
    r"""JSON with the control characters that it may hold as they are written as escapes; it means the same.

    >>> escaped('"\x9b2J"')
    '"\\u009b2J"'

    """
    return json.translate(_ESCAPES)


class Visibly(RenderHook):
    """Lets a console print every text as :func:`visible` shows it."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What rich is about to print, each part inside a wrapper."""
        return [_Visible(renderable) for renderable in renderables]


class _Visible:
    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
