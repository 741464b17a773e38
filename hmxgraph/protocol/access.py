"""API keys of a server: tenant, scopes and lifetime."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hmxgraph.protocol.timestamps import iso

SCOPES = ("read", "write")
Standing: TypeAlias = Literal["active", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key: its tenant, its scopes, and the agent in whose name its requests act. The secret itself is not stored."""

    key_id: str
    tenant_id: str
    scopes: tuple[str, ...]
    label: str
    agent_id: str
    created_us: int
    expires_us: int | None = None
    revoked_us: int | None = None

    def standing(self, now_us: int) -> Standing:
        """Whether the key is active, expired or revoked at *now_us*.

        >>> key = ApiKey("k", "acme", ("read",), "", "bot", 0, expires_us=5)
        >>> key.standing(4), key.standing(5)
        ('active', 'expired')
        """
        if self.revoked_us is not None:
            return "revoked"
        return "expired" if self.expires_us is not None and now_us >= self.expires_us else "active"

    def document(self) -> dict[str, Any]:
        """The key as a JSON-able dict."""
        times = {name: getattr(self, f"{name}_us") for name in ("created", "expires", "revoked")}
        return {
            "key_id": self.key_id,
            "tenant_id": self.tenant_id,
            "scopes": list(self.scopes),
            "label": self.label,
            "agent_id": self.agent_id,
            **{f"{name}_at": None if us is None else iso(us) for name, us in times.items()},
        }


@dataclass(frozen=True, slots=True)
class NewKey:
    """A newly created key with its secret, which cannot be read again."""

    key: ApiKey
    secret: str

    def document(self) -> dict[str, Any]:
        """The key and its secret as a JSON-able dict."""
        return self.key.document() | {"secret": self.secret}
