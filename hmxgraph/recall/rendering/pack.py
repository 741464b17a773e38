"""A context pack as callers hold it: the wire document with its text and its faces for people."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from rich.table import Table

from hmxgraph.errors import NotWritten
from hmxgraph.protocol.packs import ContextPack, Entry
from hmxgraph.protocol.timestamps import microseconds
from hmxgraph.recall.asking.days import day
from hmxgraph.recall.rendering.explain import pack_table
from hmxgraph.recall.rendering.render import Line, rendered
from hmxgraph.recall.rendering.report import Trails, pack_html
from hmxgraph.text.lines import speaker_name


class Pack(ContextPack):
    """One context pack (HMX-C), also as text, table and report.

    ``entries`` and ``dropped_entries`` tell what is in and what is out; ``text`` is what an agent's prompt gets.
    """

    @cached_property
    def text(self) -> str:
        """The pack for a prompt: by section, events under their dates, foreign words labelled; within the budget."""
        return rendered(list(self._lines()))

    def table(self) -> Table:
        """Why each entry is in and each drop is out, as a table for a terminal."""
        return pack_table(self)

    def to_html(self, path: str | Path, *, trails: Trails | None = None) -> Path:
        """Write the pack as one self-contained HTML page to *path*, which is returned.

        *trails* unfolds what entries rest on: by ``source_id``, events with ``timestamp``, ``session_id``,
        ``event_type`` and ``text``, as ``graph.explain(source_id)`` tells them.

        Raises:
            NotWritten: *path* cannot be written.

        """
        page = pack_html(self, trails=trails)
        try:
            target = Path(path)
            target.write_text(page, encoding="utf-8")
        except OSError as error:
            raise NotWritten(str(path), error.strerror or str(error)) from error
        except (TypeError, ValueError) as error:
            # No path at all, and one that the system cannot spell.
            raise NotWritten(repr(path), str(error)) from error
        return target

    def taking(self, milliseconds: float) -> Self:
        """The same pack with how long its assembly took: the one volatile field, no part of its hash."""
        timed = self.assembly_metadata.model_copy(update={"assembly_duration_ms": round(milliseconds, 3)})
        return self.model_copy(update={"assembly_metadata": timed})

    def _repr_html_(self) -> str:
        return pack_html(self, fragment=True)

    def _lines(self) -> Iterator[Line]:
        for entry, about in zip(self.entries, self._told(), strict=True):
            yield _line_of(entry, about)

    def _told(self) -> list[Mapping[str, Any]]:
        """What the metadata tell of each entry: nothing in a pack of another maker."""
        told = self.metadata.get("entries")
        if not isinstance(told, list) or len(told) != len(self.entries):
            return [{}] * len(self.entries)
        return [about if isinstance(about, dict) else {} for about in told]


def _line_of(entry: Entry, about: Mapping[str, Any]) -> Line:
    """An entry as a line of text; *about* is what the metadata tell of it."""
    time_us, place = _time_us(about), about.get("place")
    return Line(
        entry.section,
        entry.content,
        time_us or 0,
        _text(about, "session_id"),
        place if isinstance(place, int) else 0,
        _text(about, "label"),
        speaker_name(_text(about, "speaker")),
        timed=time_us is not None,
    )


def _text(about: Mapping[str, Any], name: str) -> str:
    found = about.get(name)
    return found if isinstance(found, str) else ""


def _time_us(about: Mapping[str, Any]) -> int | None:
    """When it was; None where that is not told, or is no day of the calendar."""
    try:
        time_us = microseconds(_text(about, "timestamp"))
        day(time_us)
    except (ValueError, OverflowError):
        return None
    return time_us
