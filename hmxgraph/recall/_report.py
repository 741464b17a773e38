"""A pack as one self-contained HTML page: entries, scores and drops. No scripts, no network."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, TypeAlias

from hmxgraph.protocol.packs import SECTION_PRIORITY, ContextPack, DroppedEntry, Entry

_SHADES = {"relevance": "#3b6ea5", "recency": "#6aa56a", "provenance": "#b58a3b", "salience": "#8a6aa5"}
_MOST_SHOWN = 300
_MOST_EVENTS = 60
_STYLE = """
.hmx{font:15px/1.5 system-ui,sans-serif;color:#1c2733;background:#fff;max-width:60rem;margin:0 auto;padding:1rem;
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.hmx h1{font-size:1.35rem;margin:.2rem 0}.hmx h2{font-size:1.05rem;margin:1.6rem 0 .4rem;break-after:avoid}
.hmx h2::first-letter{text-transform:capitalize}
.hmx .dim{color:#5b6773;font-size:.85em}
.hmx pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:.2rem 0}
.hmx article{border:1px solid #d5dce3;border-radius:6px;padding:.5rem .8rem;margin:.5rem 0}
.hmx article:not(:has(details[open])){break-inside:avoid}
.hmx .bar{display:flex;position:relative;height:.55rem;background:#e6ebf0;border-radius:3px;margin:.25rem 0}
.hmx .bar i{display:block;height:100%}
.hmx .bar b{position:absolute;top:-.15rem;bottom:-.15rem;border-left:2px solid #1c2733}
.hmx .budget{display:grid;grid-template-columns:9rem 1fr 10rem;grid-auto-flow:dense;gap:0 .7rem;align-items:center}
.hmx .budget .dim{grid-column:3}.hmx .budget .bar{grid-column:2}
.hmx .key span{white-space:nowrap}
.hmx .key i{display:inline-block;width:.7rem;height:.7rem;border-radius:2px;margin:0 .3rem 0 .8rem}
.hmx .told{display:none}.hmx summary{cursor:pointer;color:#5b6773;font-size:.85em}
.hmx details ul{margin:.2rem 0;padding-left:1.1rem;font-size:.85em;overflow-wrap:anywhere}
.hmx table{border-collapse:collapse;width:100%;font-size:.85em}.hmx td,.hmx th{text-align:left;padding:.2rem .5rem;
border-bottom:1px solid #e3e8ec;overflow-wrap:anywhere}.hmx code{font-size:.8em;overflow-wrap:anywhere}
@media(max-width:40rem){.hmx{padding:.6rem}.hmx .budget{grid-template-columns:1fr auto}.hmx .wide{display:none}
.hmx .budget .dim{grid-column:2}.hmx .budget .bar{grid-column:1/3}.hmx .told{display:inline}}
@media print{.hmx{max-width:none;font-size:11px;padding:0}.hmx .told{display:inline}.hmx tr{break-inside:avoid}}
"""


Trails: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]


def pack_html(pack: ContextPack, *, trails: Trails | None = None, fragment: bool = False) -> str:
    """Return the page, or with *fragment* only the part that a notebook shows.

    *trails* holds the evidence of entries by ``source_id``: events with timestamp, session_id, event_type and text.
    """
    told = f"{_head(pack)}{_budgets(pack)}{_sections(pack, trails or {})}{_drops(pack)}"
    body = f"<style>{_STYLE}</style><div class='hmx'>{told}</div>"
    if fragment:
        return body
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width,initial-scale=1'>"
    title = f"<title>{escape(pack.query_context[:80])}</title>"
    return f"<!doctype html><html lang='en'><head>{head}{title}</head><body>{body}</body></html>"


def _head(pack: ContextPack) -> str:
    made = pack.assembly_metadata
    found = f"{made.included_count} of {made.candidate_count} candidates"
    asked = f"{made.assembly_strategy}, {made.query_classification.intent}, as of {pack.created_at}"
    told = f"{found} &middot; {escape(asked)} &middot; <code>{escape(pack.pack_id)}</code>"
    return f"<h1>{escape(pack.query_context[:400])}</h1><div class='dim'>{told}</div>"


def _budgets(pack: ContextPack) -> str:
    budget = pack.token_budget
    rows = [("all sections", budget.used, budget.total_budget)]
    rows += [(name, part.used, part.budget) for name, part in sorted(budget.section_budgets.items(), key=_priority)]
    drawn = "".join(_budget(*row, budget.total_budget) for row in rows)
    why = "The mark is a section's own share; what others leave free goes to the best entries."
    return f"<h2>Budget</h2><div class='budget'>{drawn}</div><div class='dim'>{why}</div>"


def _priority(named: tuple[str, Any]) -> int:
    return SECTION_PRIORITY.index(named[0])


def _budget(name: str, used: int, given: int, total: int) -> str:
    share = f"<i style='width:{_percent(used, total)};background:#3b6ea5'></i>"
    mark = f"<b style='left:{_percent(given, total)}'></b>" if 0 < given < total else ""
    words = f"<span class='dim'>{used} used, {given} given</span>"
    return f"<span>{escape(name.replace('_', ' '))}</span>{words}<div class='bar'>{share}{mark}</div>"


def _sections(pack: ContextPack, trails: Trails) -> str:
    components = pack.metadata.get("score_components", {})
    weights = pack.assembly_metadata.ranking_weights.model_dump()
    told = zip(pack.entries, pack.metadata.get("entries") or [{}] * len(pack.entries), strict=True)
    by_section: dict[str, list[str]] = {}
    for entry, about in told:
        scored = components.get(entry.source_id, {}) if isinstance(components, Mapping) else {}
        drawn = _components(scored, weights) + _trail(trails.get(entry.source_id, ()))
        by_section.setdefault(entry.section, []).append(_entry(entry, about, drawn))
    body = "".join(f"<h2>{escape(name.replace('_', ' '))}</h2>{''.join(found)}" for name, found in by_section.items())
    return _key(weights) + body


def _key(weights: Mapping[str, float]) -> str:
    """Return the legend of the score colours."""
    shades = (f"<i style='background:{_SHADES[name]}'></i>{name} x {weight:g}" for name, weight in weights.items())
    parts = " ".join(f"<span>{shade}</span>" for shade in shades)
    return f"<h2>Entries</h2><div class='dim key'>score = {parts}</div>"


def _trail(events: Sequence[Mapping[str, Any]]) -> str:
    """Return the evidence of an entry as a collapsible list."""
    if not events:
        return ""
    shown = "".join(map(_event, events[:_MOST_EVENTS]))
    left = f"<li>and {len(events) - _MOST_EVENTS} more</li>" if len(events) > _MOST_EVENTS else ""
    counted = f"{len(events)} {'event' if len(events) == 1 else 'events'}"
    return f"<details><summary>what it rests on: {counted}</summary><ul>{shown}{left}</ul></details>"


def _event(event: Mapping[str, Any]) -> str:
    head = " ".join(escape(event[name]) for name in ("timestamp", "session_id", "event_type"))
    return f"<li><span class='dim'>{head}</span> {escape(event['text'][:_MOST_SHOWN])}</li>"


def _entry(entry: Entry, about: Mapping[str, Any], drawn: str) -> str:
    origin = entry.provenance
    when = f" &middot; {escape(about['timestamp'])}" if "timestamp" in about else ""
    when += f" in {escape(about['session_id'])}" if "session_id" in about else ""
    score = f"#{entry.rank} &middot; score {entry.relevance_score:.3f} &middot; {entry.token_estimate} tokens"
    source = f"{escape(origin.origin)}, confidence {origin.confidence:.2f}, evidence {origin.evidence_count}{when}"
    name = f"{escape(entry.source_type)} <code>{escape(entry.source_id)}</code>"
    told = f"<div class='dim'>{score} &middot; {source}<br>{name}</div>"
    return f"<article id='{escape(entry.source_id)}'><pre>{escape(entry.content)}</pre>{told}{drawn}</article>"


def _components(scored: Mapping[str, float], weights: Mapping[str, float]) -> str:
    """Return a bar of the weighted components; values show on hover, and as text in print and on phones."""
    known = {name: scored[name] for name in weights if name in scored}
    if not known:
        return ""
    words = ", ".join(f"{name} {value:.2f}" for name, value in known.items())
    bar = "".join(_component(name, value, weights[name]) for name, value in known.items())
    return f"<div class='bar'>{bar}</div><span class='dim told'>{words}</span>"


def _component(name: str, value: float, weight: float) -> str:
    style = f"width:{100 * weight * value:.1f}%;background:{_SHADES[name]}"
    return f"<i title='{name} {value:.2f} x {weight:g}' style='{style}'></i>"


def _drops(pack: ContextPack) -> str:
    drops = pack.dropped_entries or ()
    if not drops:
        return ""
    counted = f"{pack.token_budget.dropped_count} in all, the {len(drops)} best ranked:"
    title = f"<h2>Left out</h2><div class='dim'>{counted}</div>"
    head = "<tr><th>rank</th><th>section</th><th>reason</th><th>score</th><th class='wide'>source</th></tr>"
    return f"{title}<table>{head}{''.join(_drop_rows(drops))}</table>"


def _drop_rows(drops: Iterable[DroppedEntry]) -> Iterable[str]:
    for drop in drops:
        cells = (drop.rank, drop.section, drop.drop_reason.replace("_", " "), f"{drop.relevance_score:.3f}")
        source = f"<td class='wide'><code>{escape(drop.source_id)}</code></td>"
        yield f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}{source}</tr>"


def _percent(part: int, whole: int) -> str:
    return f"{min(100.0, 100 * part / whole) if whole else 0:.1f}%"
