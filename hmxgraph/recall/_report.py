"""A pack as one self-contained HTML page: prompt text, budget, entries with their reasons, dropped candidates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, TypeAlias

from hmxgraph.protocol.display import truncate_line
from hmxgraph.protocol.packs import ContextPack, DroppedEntry, Entry

# The style classes of the sections in the budget bar; the classes repeat if there are more sections.
_COLOURS = "abcd"
# The style classes of the score components.
_SHADES = {"relevance": "a", "recency": "b", "provenance": "c", "salience": "d"}
# Number of characters shown of the question, in the title and in the heading.
_TITLE_LENGTH, _HEADING_LENGTH = 80, 400
# Number of characters shown of an entry or a dropped candidate in one line.
_LINE_LENGTH = 110
# Number of characters shown of an event in the evidence of an entry, and number of these events.
_EVENT_LENGTH = 300
_MOST_EVENTS = 60
_STYLE = """
.hmx{--ink:#1c2733;--dim:#5b6773;--line:#d5dce3;--ground:#fff;--box:#f5f7f9;--a:#3b6ea5;--b:#6aa56a;--c:#b58a3b;
--d:#8a6aa5;color-scheme:light dark;font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--ground);
max-width:60rem;margin:0 auto;padding:1rem;print-color-adjust:exact;-webkit-print-color-adjust:exact}
@media(prefers-color-scheme:dark){.hmx{--ink:#e3e8ec;--dim:#9aa7b3;--line:#38444f;--ground:#161c22;--box:#1e262e;
--a:#6fa3dc;--b:#7fc07f;--c:#d4a953;--d:#b094cc}html:has(>body>.hmx){background:#161c22}}
html:has(>body>.hmx){color-scheme:light dark}
.hmx h1{font-size:1.3rem;margin:.2rem 0}.hmx h2{font-size:1rem;margin:1.2rem 0 .3rem;break-after:avoid}
.hmx h2::first-letter{text-transform:capitalize}.hmx .dim{color:var(--dim);font-size:.85em}
.hmx pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0}.hmx code{font-size:.9em}
.hmx .prompt{position:relative;background:var(--box);border:1px solid var(--line);border-radius:6px}
.hmx .prompt pre{max-height:26rem;overflow:auto;padding:.6rem 5.5rem .6rem .8rem;margin:0;
font:13px/1.45 ui-monospace,monospace}
.hmx button{position:absolute;top:.4rem;right:1.4rem;font:inherit;font-size:.85em;padding:.1rem .6rem}
.hmx .bar{display:flex;height:.7rem;background:var(--line);border-radius:3px;overflow:hidden}
.hmx .bar i{display:block;height:100%;border-right:1px solid var(--ground)}
.hmx .score{display:inline-flex;width:5rem;height:.5rem;margin-right:.5rem}
.hmx .a{background:var(--a)}.hmx .b{background:var(--b)}.hmx .c{background:var(--c)}.hmx .d{background:var(--d)}
.hmx .key i{display:inline-block;width:.7rem;height:.7rem;border-radius:2px;margin:0 .3rem 0 .8rem}
.hmx details{border-bottom:1px solid var(--line)}.hmx summary{cursor:pointer;padding:.15rem 0;white-space:nowrap;
overflow:hidden;text-overflow:ellipsis}
.hmx details details{border:0}.hmx ul{margin:.2rem 0;padding-left:1.1rem;font-size:.85em;overflow-wrap:anywhere}
.hmx table{border-collapse:collapse;width:100%;font-size:.85em}.hmx td,.hmx th{text-align:left;vertical-align:top;
padding:.15rem .4rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
.hmx th,.hmx td:not(:last-child){white-space:nowrap}
@media print{.hmx{max-width:none;font-size:11px;padding:0}.hmx button{display:none}
.hmx .prompt pre{max-height:none;padding-right:.8rem}
.hmx details:not(details details)::details-content{content-visibility:visible;display:block}.hmx tr{break-inside:avoid}}
"""
# The only script of the page: it copies the prompt text to the clipboard.
_COPY = (
    "document.querySelector('.hmx button').onclick=function(){"
    "getSelection().selectAllChildren(document.querySelector('.hmx .prompt pre'));"
    "document.execCommand('copy');getSelection().removeAllRanges();this.textContent='copied'}"
)

Trails: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]


def pack_html(
    pack: ContextPack,
    *,
    text: str = "",
    trails: Trails | None = None,
    drop_texts: Mapping[str, str] | None = None,
    fragment: bool = False,
) -> str:
    """Return the page, or with *fragment* only the part that a notebook shows.

    *text* is the prompt text. *trails* maps the ``source_id`` of entries to their evidence: events with timestamp,
    session_id, event_type and text. *drop_texts* maps the ``source_id`` of dropped candidates to their texts; if it has
    the text of any dropped candidate of the pack, only candidates with a text are shown.
    """
    parts = (
        _head(pack),
        _prompt(text, copy=not fragment),
        _budget(pack),
        _sections(pack, trails or {}),
        _drops(pack, drop_texts or {}),
    )
    body = f"<style>{_STYLE}</style><div class='hmx'>{''.join(parts)}</div>"
    if fragment:
        return body
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>"
    title = f"<title>{escape(pack.query_context[:_TITLE_LENGTH])}</title>"
    script = f"<script>{_COPY}</script>" if text else ""
    return f"<!doctype html><html lang='en'><head>{head}{title}</head><body>{body}{script}</body></html>"


def _head(pack: ContextPack) -> str:
    assembly = pack.assembly_metadata
    counts = f"{assembly.included_count} of {assembly.candidate_count} candidates"
    request = f"{assembly.assembly_strategy}, {assembly.query_classification.intent}, as of {pack.created_at}"
    line = f"{counts} &middot; {escape(request)} &middot; pack <code>{escape(pack.pack_id[:8])}</code>"
    return f"<h1>{escape(pack.query_context[:_HEADING_LENGTH])}</h1><div class='dim'>{line}</div>"


def _prompt(text: str, *, copy: bool) -> str:
    """Return the prompt text; with *copy*, also a button that copies it."""
    if not text:
        return ""
    button = "<button type='button'>copy</button>" if copy else ""
    return f"<h2>Prompt text</h2><div class='prompt'><pre>{escape(text)}</pre>{button}</div>"


def _budget(pack: ContextPack) -> str:
    """Return a bar with the share of the budget that each section uses, in pack order, and its legend."""
    budget = pack.token_budget
    used = [(name, part.used) for name, part in _used_sections(pack)]
    bar = "".join(
        f"<i class='{_COLOURS[number % len(_COLOURS)]}' style='width:{_percent(tokens, budget.total_budget)}' "
        f"title='{escape(_words(name))}: {tokens} tokens'></i>"
        for number, (name, tokens) in enumerate(used)
    )
    legend = " ".join(
        f"<span><i class='{_COLOURS[number % len(_COLOURS)]}'></i>{escape(_words(name))} {tokens}</span>"
        for number, (name, tokens) in enumerate(used)
    )
    title = f"Budget: {budget.used} of {budget.total_budget} tokens"
    return f"<h2>{title}</h2><div class='bar'>{bar}</div><div class='dim key'>{legend}</div>"


def _used_sections(pack: ContextPack) -> Iterator[tuple[str, Any]]:
    sections = dict.fromkeys(entry.section for entry in pack.entries)
    return ((name, pack.token_budget.section_budgets[name]) for name in sections)


def _sections(pack: ContextPack, trails: Trails) -> str:
    components = pack.metadata.get("score_components", {})
    weights = pack.assembly_metadata.ranking_weights.model_dump()
    metadata_of_entries = pack.metadata.get("entries")
    if not isinstance(metadata_of_entries, list) or len(metadata_of_entries) != len(pack.entries):
        # Other software made the pack.
        metadata_of_entries = [{}] * len(pack.entries)
    pairs = zip(pack.entries, metadata_of_entries, strict=True)
    body = ""
    for section, entries in groupby(pairs, key=lambda pair: pair[0].section):
        shown = [_entry(entry, metadata, components, weights, trails) for entry, metadata in entries]
        body += f"<h2>{escape(_words(section))} <span class='dim'>{len(shown)}</span></h2>{''.join(shown)}"
    return _legend(weights) + body if body else ""


def _legend(weights: Mapping[str, float]) -> str:
    """Return the heading of the entries, and the legend of the score colours."""
    shades = (f"<span><i class='{_SHADES[name]}'></i>{name} x {weight:g}</span>" for name, weight in weights.items())
    return f"<h2>Entries</h2><div class='dim key'>score = {' '.join(shades)}</div>"


def _entry(
    entry: Entry, metadata: Mapping[str, Any], components: Any, weights: Mapping[str, float], trails: Trails
) -> str:
    """Return one entry: its first words and score; when opened, its full text, reasons and evidence."""
    own_components = components.get(entry.source_id, {}) if isinstance(components, Mapping) else {}
    line = " · ".join(part.strip() for part in entry.content.splitlines())
    summary = f"{_score_bar(own_components, weights)}{escape(truncate_line(line, _LINE_LENGTH))}"
    reasons = _reasons(entry, metadata, own_components, weights)
    body = f"<pre>{escape(entry.content)}</pre><div class='dim'>{reasons}</div>"
    evidence = _trail(trails.get(entry.source_id, ()))
    return f"<details id='{escape(entry.source_id)}'><summary>{summary}</summary>{body}{evidence}</details>"


def _reasons(
    entry: Entry, metadata: Mapping[str, Any], components: Mapping[str, float], weights: Mapping[str, float]
) -> str:
    """Return why the entry is in the pack: rank, score, size, score components, confidence, evidence and source."""
    source = entry.provenance
    parts = [
        f"rank {entry.rank}, score {entry.relevance_score:.3f}, {entry.token_estimate} tokens",
        ", ".join(f"{name} {components[name]:.2f}" for name in weights if name in components),
        f"{source.origin}: confidence {source.confidence:.2f}, evidence {source.evidence_count}",
        " in ".join(str(metadata[name]) for name in ("timestamp", "session_id") if name in metadata),
        f"{entry.source_type} {entry.source_id}",
    ]
    return "<br>".join(escape(part) for part in parts if part)


def _score_bar(components: Mapping[str, float], weights: Mapping[str, float]) -> str:
    """Return a bar of the score components, each as wide as its weighted value (an opened entry lists the values)."""
    parts = (
        f"<i class='{_SHADES[name]}' style='width:{100 * weight * components[name]:.1f}%'></i>"
        for name, weight in weights.items()
        if name in components
    )
    bar = "".join(parts)
    return f"<span class='bar score'>{bar}</span>" if bar else ""


def _trail(events: Sequence[Mapping[str, Any]]) -> str:
    """Return the evidence of an entry as a collapsible list."""
    if not events:
        return ""
    shown = "".join(map(_event, events[:_MOST_EVENTS]))
    remainder = f"<li>and {len(events) - _MOST_EVENTS} more</li>" if len(events) > _MOST_EVENTS else ""
    count = f"{len(events)} {'event' if len(events) == 1 else 'events'}"
    return f"<details><summary class='dim'>evidence: {count}</summary><ul>{shown}{remainder}</ul></details>"


def _event(event: Mapping[str, Any]) -> str:
    head = " ".join(escape(event[name]) for name in ("timestamp", "session_id", "event_type"))
    return f"<li><span class='dim'>{head}</span> {escape(event['text'][:_EVENT_LENGTH])}</li>"


def _drops(pack: ContextPack, texts: Mapping[str, str]) -> str:
    drops = pack.dropped_entries or ()
    if not drops:
        return ""
    shown = [drop for drop in drops if drop.source_id in texts] or drops
    title = f"Left out: {pack.token_budget.dropped_count}, best {len(shown)} shown"
    head = "<tr><th>rank</th><th>section</th><th>reason</th><th>score</th><th>text</th></tr>"
    table = f"<table>{head}{''.join(_drop_rows(shown, texts))}</table>"
    return f"<h2>Left out</h2><details><summary>{title}</summary>{table}</details>"


def _drop_rows(drops: Iterable[DroppedEntry], texts: Mapping[str, str]) -> Iterator[str]:
    for drop in drops:
        text = truncate_line(texts[drop.source_id], _LINE_LENGTH) if drop.source_id in texts else drop.source_id
        reason = _words(drop.drop_reason)
        cells = (str(drop.rank), _words(drop.section), reason, f"{drop.relevance_score:.3f}", text)
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _percent(part: int, whole: int) -> str:
    return f"{min(100.0, 100 * part / whole) if whole else 0:.1f}%"
