"""The OpenAPI document of the server, and an HTML page of its operations, both generated from ``OPERATIONS``."""

from functools import cache
from html import escape
from typing import Any

import hmxgraph
from hmxgraph.server.operations import OPERATIONS, Operation

PREFIX = "/v1"
_ENVELOPE = {
    "type": "object",
    "required": ["ok", "meta"],
    "properties": {
        "ok": {"type": "boolean"},
        "data": {"type": "object"},
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "details": {"type": "array", "items": {"type": "object"}},
            },
        },
        "meta": {
            "type": "object",
            "properties": {
                "requestId": {"type": "string"},
                "tenantId": {"type": ["string", "null"]},
                "durationMs": {"type": "number"},
            },
        },
    },
}
_ERRORS = {
    "401": "no valid API key",
    "403": "the key lacks the scope",
    "413": "the body is too large",
    "422": "the request is invalid, as the message says; details, if any, list the faults",
    "429": "too many requests; Retry-After says when to try again",
    "500": "an unexpected error",
    "503": "the memory cannot be reached",
}


@cache
def document() -> dict[str, Any]:
    """The OpenAPI 3.1 document.

    >>> sorted(document()["paths"])[0]
    '/v1/artifacts'
    """
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {"Envelope": _ENVELOPE}
    for operation in OPERATIONS:
        path = PREFIX + operation.path.replace(":path}", "}")
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hmxgraph",
            "version": hmxgraph.__version__,
            "description": "An open memory engine for agents; it offers the API that the Hippocortex SDK calls.",
        },
        "security": [{"key": []}],
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}, "schemas": schemas},
    }


def _described(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        {"name": name.removesuffix(":path"), "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _path_parameters(operation.path)
    ]
    described: dict[str, Any] = {
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "description": f"Needs the scope `{operation.scope}`.",
        "responses": _responses(operation),
    }
    if operation.request_model is not None:
        schema = operation.request_model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        if operation.method == "GET":
            parameters += [
                {"name": name, "in": "query", "required": False, "schema": part}
                for name, part in schema["properties"].items()
            ]
        else:
            schemas[operation.request_model.__name__] = schema
            reference = {"$ref": f"#/components/schemas/{operation.request_model.__name__}"}
            required = bool(schema.get("required"))
            described["requestBody"] = {"required": required, "content": {"application/json": {"schema": reference}}}
    return described | ({"parameters": parameters} if parameters else {})


def _path_parameters(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _responses(operation: Operation) -> dict[str, Any]:
    reference = {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}}
    descriptions = {"200": "the answer"} | _ERRORS
    if "{" in operation.path:
        descriptions["404"] = "no such object"
    if operation.path == "/artifacts":
        descriptions["404"] = "the cursor does not belong to this listing"
    if operation.path.startswith("/vault"):
        descriptions = {"501": "this server has no vault"} | _ERRORS
    return {status: {"description": text, "content": reference} for status, text in sorted(descriptions.items())}


@cache
def page() -> str:
    """The operations as an HTML page without scripts."""
    rows = "".join(
        f"<tr><td><code>{operation.method} {escape(PREFIX + operation.path.replace(':path}', '}'))}</code></td>"
        f"<td>{escape(operation.summary, quote=False)}</td><td>{operation.scope}</td></tr>"
        for operation in OPERATIONS
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>hmxgraph server</title>"
        "<style>body{font:16px system-ui;max-width:60rem;margin:2rem auto}td{padding:.3rem .8rem}</style>"
        f"<h1>hmxgraph {escape(hmxgraph.__version__)}</h1>"
        "<p>The contract of the Hippocortex SDK. Send <code>Authorization: Bearer &lt;key&gt;</code>; "
        "every answer has the envelope <code>{ok, data | error, meta}</code>. "
        'The full description: <a href="openapi.json">openapi.json</a>.</p>'
        f"<table><tr><th>Operation</th><th>What it does</th><th>Scope</th></tr>{rows}</table></html>"
    )
