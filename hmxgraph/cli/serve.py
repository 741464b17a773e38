"""The command ``hmxgraph serve``: serve the memory over HTTP and MCP, to clients in any language."""

from pathlib import Path
from typing import Annotated

import typer

from hmxgraph.cli._extras import need
from hmxgraph.cli._terminal import AsJson, emit, out

Host = Annotated[str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all.")]
Port = Annotated[int, typer.Option("--port", "-p", min=0, max=65_535, help="Port; 0 for a free one.")]
Certificate = Annotated[Path | None, typer.Option("--tls-cert", exists=True, help="Certificate chain in PEM.")]
PrivateKey = Annotated[
    Path | None, typer.Option("--tls-key", exists=True, help="Private key of the certificate, in PEM.")
]
Rate = Annotated[float, typer.Option("--rate", min=0, help="Requests per second for each key; 0 for no limit.")]
Burst = Annotated[
    int, typer.Option("--burst", min=1, help="Requests that a key may make at once, before --rate applies.")
]
MaxBytes = Annotated[int, typer.Option("--max-bytes", min=1_024, help="Maximum size of a request body in bytes.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8787,
    tls_cert: Certificate = None,
    tls_key: PrivateKey = None,
    rate: Rate = 100.0,
    burst: Burst = 200,
    max_bytes: MaxBytes = 8 << 20,
    as_json: AsJson = False,
) -> None:
    """Serve the memory over HTTP to clients with an API key, until stopped."""
    need("server", "starlette", "uvicorn", "prometheus_client")
    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("TLS needs both: --tls-cert and --tls-key")
    from hmxgraph.api.graph import connect  # noqa: PLC0415 - slow, so only after the checks
    from hmxgraph.cli.resident import resident  # noqa: PLC0415 - as above
    from hmxgraph.server.app import Limits  # noqa: PLC0415 - needs the extra
    from hmxgraph.server.running import Settings, address_of, has_mcp, listening, run  # noqa: PLC0415 - as above

    settings = Settings(host, port, tls_cert, tls_key, Limits(rate, burst, max_bytes))
    listener = listening(settings)
    graph = connect(progress=True)
    address = address_of(settings, listener)
    emit({"base_url": address}, as_json, lambda: _show(address, mcp=has_mcp()))
    out.file.flush()
    with resident(graph):
        run(graph, settings, listener)


def _show(address: str, *, mcp: bool) -> None:
    root = address.removesuffix("/v1")
    links = [*([f"MCP: {root}/mcp"] if mcp else []), f"description: {root}/docs", f"metrics: {root}/metrics"]
    out.print(f"serving {address}  ({', '.join(links)})", highlight=False)
    out.print("clients need a key: hmxgraph key create --tenant NAME --agent NAME", highlight=False)
