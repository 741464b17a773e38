"""The commands ``hmxgraph key``: create, list and revoke the API keys of a server."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Annotated

import typer
from rich.table import Table

from hmxgraph.cli._terminal import AsJson, Tenant, emit, err, opened, out
from hmxgraph.protocol.access import SCOPES, ApiKey, NewKey

app = typer.Typer(no_args_is_help=True, help="API keys: which tenant's memory clients of a server may read and write.")

_Scopes = Annotated[
    list[str] | None, typer.Option("--scope", help=f"{' or '.join(SCOPES)}; can be repeated; default: both.")
]
AgentName = Annotated[str, typer.Option("--agent", envvar="HMXGRAPH_AGENT", help="Agent in whose name requests act.")]
Days = Annotated[float | None, typer.Option("--days", min=0, max=36_500, help="Days after which the key expires.")]


@app.command()
def create(
    agent: AgentName = "agent",
    scope: _Scopes = None,
    label: Annotated[str, typer.Option(help="What the key is for.")] = "",
    days: Days = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Create a key and print its secret, which cannot be shown again."""
    if days is not None and isnan(days):
        raise typer.BadParameter("nan is not a number of days")
    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with opened(tenant) as graph:
        new_key = graph.keys.create(agent, scopes=scope or SCOPES, label=label, expires=expires)
        emit(new_key.document(), as_json, lambda: _show_new(new_key))


@app.command("list")
def list_keys(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """List the tenant's keys, newest first."""
    with opened(tenant) as graph:
        keys = graph.keys.list()
        emit([key.document() for key in keys], as_json, lambda: out.print(_table(keys) if keys else "no keys"))


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Id of the key.")], tenant: Tenant = "default", as_json: AsJson = False
) -> None:
    """Revoke a key; running servers refuse it within two seconds."""
    with opened(tenant) as graph:
        key = graph.keys.revoke(key_id)
        emit(key.document(), as_json, lambda: out.print(_table([key])))


def _show_new(new_key: NewKey) -> None:
    out.print(new_key.secret, highlight=False, soft_wrap=True)
    key = new_key.key
    description = f"key {key.key_id} of tenant {key.tenant_id!r}, {' and '.join(key.scopes)}"
    err.print(f"{description}; the secret cannot be shown again", style="dim", highlight=False, soft_wrap=True)


def _table(keys: Sequence[ApiKey]) -> Table:
    table = Table("key", "agent", "scopes", "label", "created", "expires", "revoked")
    for key in keys:
        document = key.document()
        times = (str(document[name] or "")[:16] for name in ("created_at", "expires_at", "revoked_at"))
        table.add_row(key.key_id, key.agent_id, " ".join(key.scopes), key.label, *times)
    return table
