"""Trust policy: which sources may put rules, preferences and facts in force (DESIGN 6, Trust)."""

from dataclasses import dataclass

from hmxgraph.errors import InvalidRequest
from hmxgraph.protocol.parsing import quoted


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """Who may put what in force.

    Without any setting: `remember` and system or developer messages speak for the whole tenant; users whom the metadata
    of their messages names (``user_id``, ``user_name``) speak for themselves; tools, web pages, documents, unknown
    sources and anonymous feedback only propose. Users without a name speak for the tenant, which suits a tenant with
    one user; with *bind_sessions*, what they say is bound to their session.

    *trusted* sources speak for the tenant, *untrusted* ones only propose, whatever their role; both name event sources
    exactly, or by a prefix that ends with ``:``, such as ``"web:"``. A proposal becomes a memory in force when it was
    made in at least *sessions* sessions by at least *origins* independent origins: named users or outside sources.

    >>> TrustPolicy(untrusted=("partner:",)).distrusts("partner:acme")
    True
    """

    trusted: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    sessions: int = 3
    origins: int = 3
    bind_sessions: bool = False

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidRequest: a source that is no text, or a count below one.

        """
        for name in ("trusted", "untrusted"):
            sources = getattr(self, name)
            if isinstance(sources, str) or not all(isinstance(source, str) and source for source in sources):
                raise InvalidRequest(name, quoted(sources), "tuple of event sources", 'write it as ("user", "web:")')
            object.__setattr__(self, name, tuple(sources))
        for name in ("sessions", "origins"):
            count = getattr(self, name)
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise InvalidRequest(name, quoted(count), "whole number of at least 1", "leave it out for 3")

    def trusts(self, source: str) -> bool:
        """Whether *source* speaks for the whole tenant."""
        return _listed(source, self.trusted)

    def distrusts(self, source: str) -> bool:
        """Whether *source* only proposes."""
        return _listed(source, self.untrusted)


DEFAULT_TRUST = TrustPolicy()


def _listed(source: str, names: tuple[str, ...]) -> bool:
    return any(source == name or (name.endswith(":") and source.startswith(name)) for name in names)
