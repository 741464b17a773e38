"""A pack as one self-contained page: what is in, why, and what was left out. No scripts, no network."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from hmxgraph.protocol.packs import SECTION_PRIORITY, ContextPack, DroppedEntry, Entry

_SHADES = {"relevance": "#3b6ea5", "recency": "#6aa56a", "provenance": "#b58a3b", "salience": "#8a6aa5"}
_STYLE = """
.hmx{font:15px/1.5 system-ui,sans-serif;color:#1c2733;max-width:60rem;margin:0 auto;padding:1rem}
.hmx h1{font-size:1.35rem;margin:.2rem 0}.hmx h2{font-size:1.05rem;margin:1.6rem 0 .4rem;text-transform:capitalize}
.hmx .dim{color:#66727f;font-size:.85rem}
.hmx pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:.2rem 0}
.hmx article{border:1px solid #d5dce3;border-radius:6px;padding:.5rem .8rem;margin:.5rem 0;break-inside:avoid}
.hmx .bar{display:flex;height:.55rem;background:#edf1f4;border-radius:3px;overflow:hidden;margin:.25rem 0}
.hmx .bar i{display:block;height:100%}.hmx .budget{display:grid;grid-template-columns:9rem 1fr 10rem;gap:0 .7rem}
.hmx table{border-collapse:collapse;width:100%;font-size:.85rem}.hmx td,.hmx th{text-align:left;padding:.2rem .5rem;
border-bottom:1px solid #e3e8ec;overflow-wrap:anywhere}.hmx code{font-size:.8rem;overflow-wrap:anywhere}
@media(max-width:40rem){.hmx .budget{grid-template-columns:1fr}.hmx .wide{display:none}}
@media print{.hmx{max-width:none;font-size:11px}}
"""


def pack_html(pack: ContextPack, *, fragment: bool = False) -> str:
    """The page, or with *fragment* the part of it that a notebook shows."""
    body = f"<style>{_STYLE}</style><div class='hmx'>{_head(pack)}{_budgets(pack)}{_sections(pack)}{_drops(pack)}</div>"
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
    return f"<h2>Budget</h2><div class='budget'>{''.join(_budget(*row, budget.total_budget) for row in rows)}</div>"


def _priority(named: tuple[str, Any]) -> int:
    return SECTION_PRIORITY.index(named[0])


def _budget(name: str, used: int, given: int, total: int) -> str:
    share = f"<i style='width:{_percent(used, total)};background:#3b6ea5'></i>"
    return (
        f"<span>{escape(name)}</span><div class='bar'>{share}</div><span class='dim'>{used} used, {given} given</span>"
    )


def _sections(pack: ContextPack) -> str:
    components = pack.metadata.get("score_components", {})
    weights = pack.assembly_metadata.ranking_weights.model_dump()
    told = zip(pack.entries, pack.metadata.get("entries") or [{}] * len(pack.entries), strict=True)
    by_section: dict[str, list[str]] = {}
    for entry, about in told:
        scored = components.get(entry.source_id, {}) if isinstance(components, Mapping) else {}
        by_section.setdefault(entry.section, []).append(_entry(entry, about, scored, weights))
    return "".join(f"<h2>{escape(name.replace('_', ' '))}</h2>{''.join(found)}" for name, found in by_section.items())


def _entry(entry: Entry, about: Mapping[str, Any], scored: Mapping[str, float], weights: Mapping[str, float]) -> str:
    origin = entry.provenance
    evidence = f"{origin.evidence_count} {'event' if origin.evidence_count == 1 else 'events'}"
    when = f" &middot; {escape(about['timestamp'])} in {escape(about['session_id'])}" if "timestamp" in about else ""
    score = f"#{entry.rank} &middot; score {entry.relevance_score:.3f} &middot; {entry.token_estimate} tokens"
    source = f"{escape(origin.origin)}, confidence {origin.confidence:.2f}, {evidence}{when}"
    name = f"{escape(entry.source_type)} <code>{escape(entry.source_id)}</code>"
    told = f"<div class='dim'>{score} &middot; {source}<br>{name}</div>"
    bar = _components(scored, weights)
    return f"<article id='{escape(entry.source_id)}'><pre>{escape(entry.content)}</pre>{bar}{told}</article>"


def _components(scored: Mapping[str, float], weights: Mapping[str, float]) -> str:
    """A bar of the weighted components; hovering over one tells its value."""
    parts = [_component(name, scored[name], weight) for name, weight in weights.items() if name in scored]
    return f"<div class='bar'>{''.join(parts)}</div>" if parts else ""


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
