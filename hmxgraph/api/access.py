"""``graph.keys``: the API keys that open a tenant's memory through a server."""

from collections.abc import Sequence
from secrets import token_hex, token_urlsafe

from hmxgraph.api._base import Face, Moment, as_us, now_us
from hmxgraph.errors import InvalidRequest, UnknownChoice
from hmxgraph.graph import access
from hmxgraph.graph.connection import Connection
from hmxgraph.graph.plan import Tenancy
from hmxgraph.protocol.access import SCOPES, ApiKey, NewKey
from hmxgraph.protocol.parsing import checked_list, checked_text, quoted

# The prefix of every secret; what follows is random.
KEY_PREFIX = "hmx_"
_SECRET_BYTES = 32
_ID_BYTES = 6


def new_key(
    tenant_id: str, agent_id: str, scopes: Sequence[str], label: str = "", expires: Moment | None = None
) -> NewKey:
    """A key with a fresh id and secret.

    Raises:
        UnknownChoice: no such scope, or no scope at all.
        InvalidTime: *expires* is not a time.
        InvalidRequest: no agent, or scopes that are not a list.

    >>> example = new_key("acme", "bot", ["read"])
    >>> example.secret.startswith(KEY_PREFIX), example.key.scopes
    (True, ('read',))
    """
    if not checked_text("agent_id", agent_id):
        raise InvalidRequest("agent_id", quoted(agent_id), "an agent's name", "name the agent that will use this key")
    requested = checked_list("scopes", scopes)
    for scope in requested or ("",):
        if scope not in SCOPES:
            raise UnknownChoice("scope", scope, SCOPES)
    key = ApiKey(
        token_hex(_ID_BYTES),
        tenant_id,
        tuple(scope for scope in SCOPES if scope in requested),
        label,
        agent_id,
        now_us(),
        as_us(expires),
    )
    return NewKey(key, f"{KEY_PREFIX}{token_urlsafe(_SECRET_BYTES)}")


class Keys(Face):
    """API keys of the tenant. Only the hash of a key's secret is stored."""

    def __init__(self, tenancy: Tenancy, connection: Connection) -> None:
        self._tenancy = tenancy
        self._connection = connection

    def create(
        self,
        agent_id: str,
        *,
        scopes: Sequence[str] = SCOPES,
        label: str = "",
        expires: Moment | None = None,
    ) -> NewKey:
        """A new key with its secret, which cannot be read again. Requests with the key count as those of *agent_id*.

        *scopes* are ``"read"`` and ``"write"``; from *expires* on, the key is refused.

        Raises:
            UnknownChoice: no such scope, or no scope at all.
            InvalidTime: *expires* is not a time.
            InvalidRequest: no agent, or scopes that are not a list.

        Example::

            new = graph.keys.create("bot", scopes=["read"])
            assert graph.keys.find(new.secret) == new.key

        """
        new = new_key(self._tenancy.tenant_id, agent_id, scopes, label, expires)
        self._perform(access.create(self._tenancy, new.key, new.secret))
        return new

    def list(self) -> tuple[ApiKey, ...]:
        """The tenant's keys, newest first, including expired and revoked ones."""
        return self._perform(access.keys(self._tenancy))

    def revoke(self, key_id: str) -> ApiKey:
        """Revoke the key *key_id* and return it; a running server refuses it within two seconds.

        Raises:
            NotFound: the tenant has no such key.

        """
        return self._perform(access.revoke(self._tenancy, key_id, now_us()))

    def find(self, secret: str) -> ApiKey | None:
        """The key, of any tenant, with this secret, for use in a server; None if there is none.

        It may be expired or revoked: see its ``standing``.
        """
        return self._perform(access.find(secret))
