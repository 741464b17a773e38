"""The command line: the same words as the Python API."""

import io
import sys

import typer
from rich.text import Text

from hmxgraph.cli import (
    artifact,
    browser,
    compiling,
    conflict,
    demo,
    digest,
    explain,
    fingerprint,
    health,
    ingest,
    memory,
    pack,
    query,
    record,
    remember,
    schema,
    server,
    task,
    verify,
)
from hmxgraph.cli.common import err
from hmxgraph.errors import HmxGraphError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A memory engine for agents on Neo4j: events in, evidence-backed knowledge out.",
)
app.command("demo")(demo.demo)
app.command("ingest")(ingest.ingest)
app.command("remember")(remember.remember)
app.command("compile")(compiling.compile_events)
app.command("suggest")(compiling.suggest)
app.command("pack")(pack.pack)
app.command("digest")(digest.digest)
app.command("query")(query.query)
app.command("explain")(explain.explain)
app.command("forget")(ingest.forget)
app.command("verify")(verify.verify)
app.command("health")(health.health)
app.command("schema")(schema.schema)
app.command("browser")(browser.browser)
app.add_typer(artifact.app, name="artifact")
app.add_typer(conflict.app, name="conflict")
app.add_typer(fingerprint.app, name="fingerprint")
app.add_typer(task.app, name="task")
app.add_typer(record.app, name="record")
app.add_typer(memory.app, name="memory")
app.add_typer(server.app, name="server")


def main() -> None:
    """Run the command line: exit code 0 ok, 1 failed with one clear line, 2 wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Memory holds any character, a terminal may know fewer.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        sys.exit(1)
    except (HmxGraphError, OSError) as error:
        err.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        sys.exit(1)
