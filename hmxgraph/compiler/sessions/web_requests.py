"""Calls that are web requests, by what they do: the method and the address."""

import re
from collections.abc import Mapping
from typing import Any

from hmxgraph.compiler.vocabulary import WEB_METHODS
from hmxgraph.text.addresses import public_address
from hmxgraph.text.masking import mask_secrets

PATH_ID = "<id>"
_ADDRESS_FIELDS = ("url", "path", "endpoint", "uri")
REQUEST_FIELDS = frozenset(("method", *_ADDRESS_FIELDS))
_LONGEST = 120
_HAS_DIGIT = re.compile(r"\d")
_VERSION = re.compile(r"v\d{1,3}")


def request_name(given: Mapping[str, Any]) -> str:
    """The web request that a call with these arguments makes, without what differs from run to run; "" if it is none.

    Logins, queries and secrets, which stand in addresses too, are no part of it.

    >>> request_name({"method": "get", "url": "https://api.shop.example/v2/orders/4711?full=1"})
    'GET api.shop.example/v2/orders/<id>'
    >>> request_name({"method": "express", "url": "x"})
    ''
    """
    method = str(given.get("method") or "").upper()
    address = public_address(next((given[field] for field in _ADDRESS_FIELDS if isinstance(given.get(field), str)), ""))
    if method not in WEB_METHODS or not address:
        return ""
    host, *parts = address.partition("://")[2].split("/") if "://" in address else ("", *address.split("/")[1:])
    path = [PATH_ID if _HAS_DIGIT.search(part) and not _VERSION.fullmatch(part) else part for part in parts]
    return mask_secrets(f"{method} {'/'.join((host, *path))}")[:_LONGEST]
