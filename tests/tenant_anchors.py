"""The nodes that a statement looks up by key, index or full text, and which of them it ties to the tenant."""

import re

_VERBS = r"(?:OPTIONAL )?MATCH"
_END = r"\b(?:MATCH|MERGE|WITH|RETURN|SET|CALL|UNWIND|DELETE|DETACH|CREATE|ORDER BY|FOREACH|UNION)\b"
_CLAUSE = re.compile(rf"\b{_VERBS}\s+(?P<clause>(?:(?!{_END}).)*)", re.DOTALL)
_NODE = re.compile(r"\(\s*(?P<name>\w+)(?P<label>:[\w|]+)?\s*(?:\{(?P<properties>[^}]*)\})?\s*\)")
_AFTER_PATTERN = re.compile(r"\b(?:USING|WHERE)\b")
_BY_KEY = re.compile(r"\b(?P<name>\w+)\.(?:key|session_key)\s*(?:=|IN)\s*[$\w]")
_ENDPOINT = re.compile(r"\b(?:start|end)Node\(\w+\) AS (?P<name>\w+)")
_FULL_TEXT = re.compile(r"\bYIELD (?P<name>node)\b(?: AS (?P<alias>\w+))?")
_TENANT = "tenant_id: $tenant_id"
_COMMENT = re.compile(r"//[^\n]*")


def anchors(text):
    """Yield the nodes that *text* looks up, each with the part of the text that must tie it to the tenant.

    A node looked up by key must be tied in its MATCH. One found by label, full text, or as the end of a matched
    relationship may be tied anywhere after it.
    """
    code = _COMMENT.sub("", text)
    for match in _FULL_TEXT.finditer(code):
        yield match["alias"] or match["name"], slice(match.end(), len(code))
    for match in _CLAUSE.finditer(code):
        clause, before = match["clause"], code[: match.start()]
        nodes = list(_NODE.finditer(_AFTER_PATTERN.split(clause)[0]))
        by_key = {by_key["name"] for by_key in _BY_KEY.finditer(clause)}
        by_key |= {node["name"] for node in nodes if re.search(r"\bkey:", node["properties"] or "")}
        keyed = by_key & {node["name"] for node in nodes}
        if not nodes and clause.startswith("()-[") and (endpoint := _ENDPOINT.search(code, match.end())):
            yield endpoint["name"], slice(endpoint.end(), len(code))
        if nodes and not keyed and not any(re.search(rf"\b{node['name']}\b", before) for node in nodes):
            yield nodes[0]["name"], slice(match.start("clause"), len(code))
        for name in sorted(keyed):
            yield name, slice(match.start("clause"), match.end("clause"))


def untied(text):
    """The looked-up nodes of *text* that have no condition on the tenant."""
    code = _COMMENT.sub("", text)
    return sorted({name for name, part in anchors(text) if not _conditions(name).search(code[part])})


def without_tenant(text, name):
    """*text* without the tenant conditions on the node *name*."""
    code = _COMMENT.sub("", text)
    return _conditions(name).sub(_open, code)


def _conditions(name):
    inline = rf"\({name}(?::[\w|]+)? \{{[^}}]*{re.escape(_TENANT)}[^}}]*\}}\)"
    compared = rf"\b{name}\.tenant_id = \$tenant_id(?=\s|\)|\}})(?! AS)"
    return re.compile(f"{inline}|{compared}")


def _open(match):
    if not match[0].startswith("("):
        return "true"
    inner = re.sub(rf",?\s*{re.escape(_TENANT)}|{re.escape(_TENANT)},?\s*", "", match[0])
    return inner.replace("{}", "").replace("{ ", "{")
