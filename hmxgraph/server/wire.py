"""The wire format: the envelope of every response, and the HTTP status and code of every error."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.responses import Response

from hmxgraph.errors import EngineError, GraphError, HmxGraphError, InvalidDocument, StatementMisuse

# The HTTP status and the wire code for each ``HmxGraphError.code``.
_STATUSES = {
    "not_found": (404, "not_found"),
    "invalid": (422, "validation_error"),
    "conflict": (409, "conflict"),
    "denied": (403, "forbidden"),
    "unavailable": (503, "unavailable"),
    "unsupported": (501, "not_implemented"),
    "internal": (500, "internal_error"),
}
# The wire code for each HTTP status of a `Refusal` without a code.
_CODES = {
    400: "validation_error",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "request_too_large",
    422: "validation_error",
    429: "rate_limited",
    501: "not_implemented",
    503: "unavailable",
}
# Messages for clients in place of errors whose own text would reveal internals.
_NO_DATABASE = "the memory cannot be reached or changed right now; "
_UNKNOWN = "whether this request was stored is unknown; repeat it: data with an id or idempotency key is stored once"
_NOT_STORED = "nothing of this request was stored; try again later"
_STORED_IN_PART = "%s, the rest was not; repeat it: data with an id or idempotency key is stored once"
_DEFECT = "an unexpected error; the server's log has it under this request's id"


class Refusal(Exception):
    """Raised to answer a request with an error: HTTP status, wire code, message and details."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        details: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message)
        self.status = status
        self.code = code or _CODES.get(status, "internal_error")
        self.message = message
        self.details = list(details)
        self.headers = dict(headers or {})

    @classmethod
    def defect(cls) -> "Refusal":
        """The answer to an unexpected error, without internals."""
        return cls(500, _DEFECT)

    @classmethod
    def of(cls, error: HmxGraphError) -> "Refusal":
        """The answer to an error of hmxgraph.

        Errors of the database or the local server get another message, because theirs may contain addresses and
        settings, which clients must not see.

        >>> from hmxgraph.errors import NotFound, StorageUnavailable
        >>> Refusal.of(NotFound("artifact", "a1")).status, Refusal.of(StorageUnavailable("bolt://db", "x")).message[:10]
        (404, 'the memory')
        """
        is_internal = isinstance(error, GraphError | EngineError) and not isinstance(error, StatementMisuse)
        if is_internal:
            return cls(503, _NO_DATABASE + _outcome(error)) if error.code in {"unavailable", "denied"} else cls.defect()
        status, code = _STATUSES[error.code]
        faults = error.faults if isinstance(error, InvalidDocument) else ()
        details = [{"path": fault.path, "message": str(fault)} for fault in faults]
        return cls(status, str(error), code=code, details=details)


def _outcome(error: HmxGraphError) -> str:
    """The sentence that states what a failed request has stored, and whether to repeat the request."""
    if not isinstance(error, GraphError):
        return _NOT_STORED
    return _UNKNOWN if error.outcome == "unknown" else _STORED_IN_PART % error.stored if error.stored else _NOT_STORED


class Json(Response):
    """A JSON response."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """*content* as JSON text in UTF-8."""
        return orjson.dumps(content)


def success(data: Mapping[str, Any], meta: Mapping[str, Any]) -> Json:
    """The envelope of a successful response."""
    return Json({"ok": True, "data": data, "meta": meta})


def failure(refusal: Refusal, meta: Mapping[str, Any]) -> Json:
    """The envelope of an error."""
    error = {"code": refusal.code, "message": refusal.message, "details": refusal.details}
    body = {"ok": False, "error": error, "meta": meta}
    return Json(body, status_code=refusal.status, headers=refusal.headers)
