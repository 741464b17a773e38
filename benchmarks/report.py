"""The results as a table and a chart in the documentation: ``python -m benchmarks.report``."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- compared: begin -->", "<!-- compared: end -->"
FLOOR = "most recent"
Row: TypeAlias = dict[str, Any]


def main() -> None:
    """Write the table between the marks of docs/benchmarks.md, and the chart beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results.json")
    report = json.loads(parser.parse_args().results.read_bytes())
    page = DOCS / "benchmarks.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    body = "\n".join(lines(report))
    page.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")
    (DOCS / "compared.svg").write_text(chart(report["systems"]), encoding="utf-8")


# The tables.


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Conditions and tables as Markdown."""
    conditions, systems = report["conditions"], report["systems"]
    yield "Conditions:\n"
    for name, value in conditions.items():
        yield f"- {name}: {_plain(value)}"
    yield "\n![Recall of each system](compared.svg)\n"
    yield "% of a question's evidence within that number of tokens; passages among the best five; beliefs as F1.\n"
    yield from _table(_QUALITY, systems)
    yield "\nSpeed and isolation, on the conversations:\n"
    yield from _table(_SPEED, systems)
    yield from _failures(systems)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class Column(NamedTuple):
    """A column: its head, and its cell for a system."""

    head: str
    cell: Callable[[Row], str]


def _recalls(part: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        figures = row[part]
        return "failed" if "failed" in figures else " / ".join(f"{value:.0f}" for value in figures["recall"].values())

    return cell


def _beliefs(row: Row) -> str:
    figures = row["precision"]
    if "failed" in figures:
        return "failed"
    return f"{figures['f1']:.2f} ({figures['precision']:.2f} / {figures['recall']:.2f}, {figures['cut']})"


def _hops(row: Row) -> str:
    return "failed" if "failed" in row["multi_hop"] else f"{row['multi_hop']['recall_at_5']:.0f}"


def _speed(name: str, form: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        figures = row["conversations"]
        return "failed" if "failed" in figures else form.format(figures[name])

    return cell


def _apart(row: Row) -> str:
    figures = row["isolation"]
    if "failed" in figures:
        return "failed"
    if not figures["by"]:
        return "nothing in this call"
    return f"{figures['by']}: {figures['foreign']} of {figures['questions']} answers hold foreign items"


_NAME = Column("system", lambda row: f"{row['name']} {row.get('version', '')}".strip())
_QUALITY = (
    _NAME,
    Column("conversations, 512 / 1k / 2k / 4k", _recalls("conversations")),
    Column("chats, 1k / 2k / 4k / 8k", _recalls("chats")),
    Column("multi-hop @5", _hops),
    Column("beliefs: F1 (precision / recall, cut)", _beliefs),
)
_SPEED = (
    _NAME,
    Column("items/s", _speed("items_per_second", "{:,.0f}")),
    Column("query p50, ms", _speed("p50_ms", "{:.1f}")),
    Column("p99, ms", _speed("p99_ms", "{:.1f}")),
    Column("two memories in one store", _apart),
    Column("how it is called", lambda row: f"`{row['how']}`"),
)


def _table(columns: Sequence[Column], systems: Sequence[Row]) -> Iterator[str]:
    yield "| " + " | ".join(column.head for column in columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in systems:
        if columns is _QUALITY or row["name"] != FLOOR:
            yield "| " + " | ".join(column.cell(row) for column in columns) + " |"


def _failures(systems: Sequence[Row]) -> Iterator[str]:
    for row in systems:
        for part, figures in row.items():
            if isinstance(figures, dict) and "failed" in figures:
                yield f"\n{row['name']}, {part}: did not run, {figures['failed'].splitlines()[0][:160]}"


# The chart: for each kind of data a bar a system.

_PANELS = (
    ("Conversations, 1,024 tokens", lambda row: row["conversations"]["recall"]["1024"]),
    ("Assistant chats, 2,048 tokens", lambda row: row["chats"]["recall"]["2048"]),
    ("Multi-hop passages, best five", lambda row: row["multi_hop"]["recall_at_5"]),
)
_STEP, _BAR, _NAMES, _PANEL, _TOP = 22, 15, 168, 250, 46


def chart(systems: Sequence[Row]) -> str:
    """Horizontal bars as SVG, the best system of the first panel on top."""
    shown = [row for row in systems if row["name"] != "hmxgraph, episodes only"]
    ordered = sorted(shown, key=lambda row: (-(_value(_PANELS[0][1], row) or 0), row["name"]))
    width, height = _NAMES + len(_PANELS) * _PANEL + 10, _TOP + _STEP * len(ordered) + 14
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        "font-family='system-ui,sans-serif' font-size='12'><rect width='100%' height='100%' fill='#fff'/>"
        "<text x='10' y='16' font-size='13' font-weight='600' fill='#1c2733'>"
        "Share of a question's evidence that the answer holds, %</text>"
    )
    names = "".join(
        f"<text x='{_NAMES - 8}' y='{_y(place) + 12}' text-anchor='end' fill='#1c2733'{_weight(row)}>"
        f"{escape(row['name'])}</text>"
        for place, row in enumerate(ordered)
    )
    panels = "".join(_panel(number, title, value, ordered) for number, (title, value) in enumerate(_PANELS))
    return f"{head}{names}{panels}</svg>\n"


def _panel(number: int, title: str, value: Callable[[Row], float], ordered: Sequence[Row]) -> str:
    left, room = _NAMES + number * _PANEL, _PANEL - 60
    bars = [f"<text x='{left}' y='{_TOP - 10}' fill='#5b6773'>{escape(title)}</text>"]
    for place, row in enumerate(ordered):
        share = _value(value, row)
        if share is None:
            bars.append(f"<text x='{left}' y='{_y(place) + 12}' fill='#9aa7b4'>did not run</text>")
            continue
        colour = "#2f5f99" if _ours(row) else "#b9c4cf"
        length = room * share / 100
        bars.append(
            f"<rect x='{left}' y='{_y(place)}' width='{length:.1f}' height='{_BAR}' fill='{colour}'/>"
            f"<text x='{left + length + 5:.1f}' y='{_y(place) + 12}' fill='#1c2733'{_weight(row)}>{share:.0f}</text>"
        )
    return "".join(bars)


def _value(value: Callable[[Row], float], row: Row) -> float | None:
    try:
        return value(row)
    except KeyError:  # that part failed
        return None


def _y(place: int) -> int:
    return _TOP + place * _STEP


def _ours(row: Row) -> bool:
    return row["name"].startswith("hmxgraph")


def _weight(row: Row) -> str:
    return " font-weight='600'" if _ours(row) else ""


if __name__ == "__main__":
    main()
