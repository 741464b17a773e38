"""Run the conformance kit from the command line.

``python -m hmxgraph.conformance --adapter module:function`` or ``--command "node program.js"``.
"""

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from hmxgraph.conformance.runner import Implementation, Outcome, Verdict, by_clause, verdicts

_STYLES: dict[Outcome, str] = {"passed": "green", "failed": "red", "untested": "yellow"}


class Program:
    """An implementation in another language: one request per line on its standard input, one answer per line back."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the user's own command
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __call__(self, request: dict[str, Any]) -> Mapping[str, Any]:
        """The answer to one request.

        Raises:
            typer.BadParameter: the program ended, or its answer is not JSON.

        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise typer.BadParameter(f"the implementation ended during the request: {request['op']}")
        try:
            answer: Mapping[str, Any] = json.loads(line)
        except ValueError as error:
            answer_text = f"{line.strip():.80}"
            raise typer.BadParameter(f"the answer to {request['op']} is not JSON: {answer_text}") from error
        return answer

    def close(self) -> None:
        """Close the program's input and wait until it ends; kill it after 30 seconds."""
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


_Factory = Annotated[bool, typer.Option("--factory", help="--adapter names a factory, whose result answers requests.")]
_ShowAll = Annotated[bool, typer.Option("--all", help="List every case, not only failed ones.")]
_Clauses = Annotated[
    bool,
    typer.Option(
        "--clauses", help="Print each clause with its verdict, its cases and, if parts of it are untested, why."
    ),
]
_AsJson = Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")]


def run(
    *,
    adapter: Annotated[str | None, typer.Option(help="A Python function that answers requests, module:name.")] = None,
    command: Annotated[str | None, typer.Option(help="A program that answers requests, one JSON line each.")] = None,
    factory: _Factory = False,
    show_all: _ShowAll = False,
    clauses: _Clauses = False,
    as_json: _AsJson = False,
) -> None:
    """Test an implementation of HMX-1.0 and memd task records; exit code 1 if a case fails."""
    if (adapter is None) == (command is None):
        raise typer.BadParameter("give either --adapter module:name or --command 'program'")
    implementation = Program(command) if command else _imported(str(adapter), factory=factory)
    try:
        results = list(track(verdicts(implementation), "cases", console=Console(stderr=True), transient=True))
    finally:
        if close := getattr(implementation, "close", None):
            close()
    if as_json:
        sys.stdout.write(json.dumps([result.document() for result in results]) + "\n")
    else:
        if clauses:
            _show_clauses(results)
        _show(results, show_all=show_all)
    if any(result.outcome == "failed" for result in results):
        raise typer.Exit(1)


def _imported(name: str, *, factory: bool) -> Implementation:
    module, colon, attribute = name.partition(":")
    if not colon:
        raise typer.BadParameter(f"--adapter {name}: write module:name")
    target = getattr(import_module(module), attribute)
    implementation: Implementation = target() if factory else target
    return implementation


def _show(results: Sequence[Verdict], *, show_all: bool) -> None:
    """Print the failed cases (or all), the operations that the implementation lacks, and the count of each outcome."""
    console = Console()
    table = Table("clause", "level", "case", "verdict", "detail")
    for result in results:
        if show_all or result.outcome == "failed":
            outcome = f"[{_STYLES[result.outcome]}]{result.outcome}"
            table.add_row(result.clause, result.level, result.name, outcome, escape(result.detail))
    if table.rows:
        console.print(table)
    missing = Counter(result.detail for result in results if result.outcome == "untested")
    for detail, count in sorted(missing.items()):
        console.print(f"untested, needs {detail}: {count}", style="yellow", highlight=False)
    counts = Counter(result.outcome for result in results)
    console.print(", ".join(f"{counts[outcome]} {outcome}" for outcome in _STYLES), highlight=False)


def _show_clauses(results: Sequence[Verdict]) -> None:
    """Print every statement with its clause, verdict and cases and, if a part of it is untested, the reason."""
    console = Console(soft_wrap=True, highlight=False)
    for row in by_clause(results):
        console.print(f"{row.clause} {row.level} [{_STYLES[row.outcome]}]{row.outcome}[/]: {escape(row.says)}")
        if row.cases:
            console.print(f"  {', '.join(row.cases)}")
        if row.untested:
            console.print(f"  not tested: {escape(row.untested)}")


if __name__ == "__main__":
    typer.run(run)
