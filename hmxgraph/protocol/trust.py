"""Trust policy: which sources may state rules, preferences and facts that take effect."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast, get_args

from hmxgraph.errors import InvalidRequest, UnknownChoice
from hmxgraph.protocol.events import ASSISTANT, HARNESS, IMPORT, OPERATOR, TOOL, USER
from hmxgraph.protocol.parsing import quoted

# When secrets are masked: when packs show them, already when they are stored, or never.
MaskSecrets: TypeAlias = Literal["packs", "ingest", "off"]
MASK_SECRETS: tuple[str, ...] = get_args(MaskSecrets)
# Sources that name a role in the conversation: the roles of people, and those of language models.
_PEOPLE = frozenset({"user", "human", "customer", "client", "operator", "system", "developer"})
_MODELS = frozenset({"assistant", "agent", "ai", "bot", "model"})
# Sources that name a channel through which users write.
CHANNELS = frozenset(
    ("slack", "teams", "discord", "telegram", "whatsapp", "email", "web", "cli", "api", "sms", "phone", "chat")
)
# Channels through which not only users write.
_OPEN_CHANNELS = frozenset({"email", "web"})
# Sources whose events report the agent's own work or its users' words, so that they do not count as outside sources.
OWN_SOURCES = (_PEOPLE | _MODELS | CHANNELS) - _OPEN_CHANNELS
# Prefixes of an agent's own sources: its tools, and the sub-agents that it starts.
_TOOL_PREFIXES = ("tool:", "mcp:")
_OWN_PREFIXES = (*_TOOL_PREFIXES, "agent:")
# Origins with which importers mark an agent's own work, whatever the name of its source.
_OWN_ORIGINS = frozenset({USER, ASSISTANT, OPERATOR, HARNESS, TOOL})


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """Which sources may make which statements take effect.

    By default:

    - `remember`, and system or developer messages, speak for the whole tenant.
    - Users named in the metadata of their messages (``user_id``, ``user_name``) speak for themselves.
    - Unnamed users speak for their session only, since anybody may speak in the next one. In a tenant of one person,
      set *single_user*: unnamed users then speak for the tenant.
    - Tools, web pages, documents, unknown sources and anonymous feedback only propose. A proposal takes effect once it
      was made in at least *sessions* sessions and by at least *origins* independent named users or outside sources.

    Whatever their role, *trusted* sources speak for the tenant, and *untrusted* ones only propose. Both list event
    sources, or prefixes of event sources that end with ``:``, such as ``"web:"``.

    *mask_secrets* says when keys, tokens and passwords are masked: when packs show them (``"packs"``), already when
    they are stored (``"ingest"``), or never (``"off"``).

    >>> TrustPolicy(untrusted=("partner:",)).distrusts("partner:acme")
    True
    """

    trusted: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    sessions: int = 3
    origins: int = 3
    single_user: bool = False
    mask_secrets: MaskSecrets = "packs"

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidRequest: *trusted* or *untrusted* is not a collection of non-empty strings, or a count is not a whole
                number of at least one.
            UnknownChoice: *mask_secrets* is not a masking mode.

        """
        if self.mask_secrets not in MASK_SECRETS:
            raise UnknownChoice("mask_secrets", str(self.mask_secrets)[:60], MASK_SECRETS)
        for name in ("trusted", "untrusted"):
            value = getattr(self, name)
            sources = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (None,)
            if not all(isinstance(source, str) and source for source in sources):
                raise InvalidRequest(name, quoted(value), "tuple of event sources", 'write it as ("user", "web:")')
            object.__setattr__(self, name, sources)
        for name in ("sessions", "origins"):
            count = getattr(self, name)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise InvalidRequest(name, quoted(count), "whole number of at least 1", "omit it to use the default, 3")

    def trusts(self, source: str) -> bool:
        """Whether *source* speaks for the whole tenant."""
        return _is_listed(source, self.trusted)

    def distrusts(self, source: str) -> bool:
        """Whether *source* only proposes."""
        return _is_listed(source, self.untrusted)

    def vouches(self, agents: Iterable[str | None]) -> bool:
        """Whether one of *agents*, as the source ``agent:NAME``, is trusted.

        >>> TrustPolicy(trusted=("agent:ana",)).vouches(["bo", "ana"])
        True
        """
        return any(self.trusts(f"agent:{name}") for name in agents if name)

    def outside(self, source: str | None, agent_id: str, origin: str | None, *, decides: bool = False) -> str:
        """The outside source that did the work of an event; empty for the agent's own work and for trusted sources.

        The result is the event's *source* in lower case, or ``import``. *origin* is the mark that an importer set, if
        any. *decides* says that the work is a decision: a decision made by a tool is not the agent's own.

        >>> TrustPolicy().outside("web:shop.example", "ana", None), TrustPolicy().outside("tool:bash", "ana", None)
        ('web:shop.example', '')
        """
        name = (source or "").strip()
        key = name.lower()
        if self.trusts(name):
            return ""
        if self.distrusts(name) or origin == IMPORT:
            return key or IMPORT
        if not key or key in OWN_SOURCES or name == agent_id:
            return ""
        if decides and (key.startswith(_TOOL_PREFIXES) or origin == TOOL):
            return key
        return "" if key.startswith(_OWN_PREFIXES) or origin in _OWN_ORIGINS else key


DEFAULT_TRUST = TrustPolicy()


def with_masking(trust: TrustPolicy, mask_secrets: str | None) -> TrustPolicy:
    """*trust* with another masking mode, if *mask_secrets* is set.

    Raises:
        UnknownChoice: *mask_secrets* is not a masking mode.

    """
    if mask_secrets is None:
        return trust
    if mask_secrets not in MASK_SECRETS:
        raise UnknownChoice("mask_secrets", str(mask_secrets)[:60], MASK_SECRETS)
    return replace(trust, mask_secrets=cast("MaskSecrets", mask_secrets))


def _is_listed(source: str, names: tuple[str, ...]) -> bool:
    return any(source == name or (name.endswith(":") and source.startswith(name)) for name in names)
