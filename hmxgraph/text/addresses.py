"""Addresses as anybody may read them: in errors, reports and the files of bad lines."""

import re

# A login ends at an @ before the path. A colon before anything but a port is a login's as well: somebody's password
# holds what an address has no place for.
_LOGIN = re.compile(r"(?<=://)(?:[^/?#]*@|[^/?#:\[]*:(?!\d*(?:[/?#]|$)).*@)", re.DOTALL)
_AFTER_THE_PATH = re.compile(r"[?#].*", re.DOTALL)
_IN_TEXT = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)


def public_address(address: str) -> str:
    """*address* without login, query and fragment, where passwords and keys stand.

    >>> public_address("rediss://ana:s3@cret@host:6379/events?key=1")
    'rediss://host:6379/events'
    >>> public_address("redis://:a/b?c@host/events"), public_address("http://host:80/@ana"), public_address("host:7687")
    ('redis://host/events', 'http://host:80/@ana', 'host:7687')
    """
    return _AFTER_THE_PATH.sub("", _LOGIN.sub("", address))


def public_addresses(text: str) -> str:
    """*text* with each address in it as anybody may read it.

    >>> public_addresses("401 for 'https://ana:secret@host/events?key=1'")
    "401 for 'https://host/events'"
    """
    return _IN_TEXT.sub(lambda found: public_address(found[0]), text)
