"""The table of commands. A command's module is imported only when the command runs, so that ``--help`` is fast."""

import gc
import signal
import threading
from functools import partial
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


class Entry(NamedTuple):
    """Where a command is defined, and its summary for the list of commands.

    ``attribute`` is the name of the command's function in ``module``, or of the typer application with its subcommands.
    ``summary`` equals the first line of the command's help.
    """

    module: str
    attribute: str
    summary: str


COMMANDS = {
    "demo": Entry(
        "demo", "demo", "Load sample events, compile them, and print a context pack and what memory changes."
    ),
    "ingest": Entry("ingest", "ingest", "Store events, and report the outcome of each line and event."),
    "watch": Entry("watch", "watch", "Follow a file or folder, and store what is appended to it."),
    "remember": Entry("ingest", "remember", "Remember a fact, preference, policy or goal."),
    "embed": Entry("ingest", "embed", "Add vectors to stored events, with your own embedder."),
    "compile": Entry("compiling", "compile_events", "Compile sessions into artifacts, without a language model."),
    "suggest": Entry("compiling", "suggest", "Suggest the next tool and steps of a running session."),
    "pack": Entry("pack", "pack", "Print the context pack for a query."),
    "digest": Entry("explore", "digest", "Print counts, distributions, hubs and diameter of the entity graph."),
    "query": Entry("explore", "query", "Run a saved query, or list them."),
    "draw": Entry("explore", "draw", "Write a picture of a saved query's result to a file."),
    "explain": Entry("explore", "explain", "Show the evidence of a record, down to the text of events."),
    "forget": Entry("ingest", "forget", "Erase events that meet all criteria, after a dry run."),
    "clock": Entry(
        "ingest",
        "clock",
        "List events dated over five minutes after this machine's clock; --repair sets the tenant's logical time back.",
    ),
    "verify": Entry("explore", "verify", "Check hashes, chains, transitions, links and counters."),
    "backup": Entry("backup", "backup", "Write all data of a tenant, or of the whole local server, to a file."),
    "restore": Entry("backup", "restore", "Load a backup, then verify it; exits with 1 if anything is wrong."),
    "health": Entry("explore", "health", "Show server and tenant status."),
    "schema": Entry("explore", "schema", "Print the JSON Schema of one kind of document, or list the kinds."),
    "browser": Entry("browser", "browser", "Print the address and login of Neo4j Browser, and open it."),
    "artifact": Entry("artifact", "app", "Artifacts: learned knowledge with versions and status."),
    "conflict": Entry("artifact", "conflict_app", "Conflicts: records that cannot all be true."),
    "fingerprint": Entry("fingerprint", "app", "Learned memory in a portable file: export, verify, import, diff."),
    "task": Entry("task", "app", "Tasks: shared work with its runs and evidence."),
    "record": Entry("record", "app", "Task records: reviews, verifications and decisions."),
    "memory": Entry("memory", "app", "Semantic memories: add, search, supersede, delete, dream."),
    "install": Entry("install", "install", "Show or install the memory's hooks in a coding agent."),
    "uninstall": Entry("install", "uninstall", "Show or remove the memory's hooks in a coding agent."),
    "hook": Entry("install", "hook", "Answer one hook of a coding agent within its time limit, or stay silent."),
    "serve": Entry("serve", "serve", "Serve the memory over HTTP to clients with an API key, until stopped."),
    "mcp": Entry("mcp", "mcp", "Serve the memory to one MCP client over standard input and output."),
    "key": Entry("key", "app", "API keys: which tenant's memory clients of a server may read and write."),
    "server": Entry("server", "app", "The local Neo4j that hmxgraph starts on demand."),
}


class ClientTenant(NamedTuple):
    """The tenant of a client for which the warm process (``adapters.warm``) runs a command."""

    name: str


class LazyGroup(TyperGroup):
    """The root command, which imports a command's module only when that command is looked up."""

    _listing = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # These commands are never run. Typer uses their names to suggest one for a misspelt command.
        self.commands = {name: TyperCommand(name) for name in COMMANDS}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order in which the help lists them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with that name, or None; for the help text, only a stub with its name and summary."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        return TyperCommand(cmd_name, help=entry.summary) if self._listing else load_command(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text without importing any command."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


def load_command(command: str) -> Any:
    """Import the module of *command* and return the command or command group, with the option ``--timeout`` added."""
    entry = COMMANDS[command]
    definition = getattr(import_module(f"hmxgraph.cli.{entry.module}"), entry.attribute)
    click_command: Any
    if isinstance(definition, typer.Typer):
        click_command = get_group(definition)  # get_command would offer shell completion, as only the root should
    else:
        single = typer.Typer(add_completion=False)
        single.command(command)(definition)
        click_command = get_command(single)
    click_command.name = command
    for subcommand in getattr(click_command, "commands", {"": click_command}).values():
        subcommand.params.append(_timeout_option())
        subcommand.parse_args = partial(_parse_once, subcommand, subcommand.parse_args)
    if threading.current_thread() is threading.main_thread():  # not in a warm process
        _raise_on_interrupt()
        _resume_garbage_collection()
    return click_command


def _parse_once(command: Any, parse: Any, ctx: Any, args: list[str]) -> Any:
    """Parse *args* with *parse*, but refuse an option that takes one value and is given more than once.

    Click would silently use the last value. In a warm process, the client's tenant applies unless ``--tenant`` is
    given.
    """
    if not ctx.resilient_parsing:
        _, _, parameters = command.make_parser(ctx).parse_args(args=list(args))
        for option in parameters:
            takes_value = option.param_type_name == "option" and option.nargs == 1
            if takes_value and not (option.multiple or option.is_flag or option.count) and parameters.count(option) > 1:
                raise typer.BadParameter("takes one value and is given more than once", ctx=ctx, param=option)
    remaining = parse(ctx, args)
    source = ctx.get_parameter_source("tenant")
    if isinstance(ctx.obj, ClientTenant) and source is not None and source.name != "COMMANDLINE":
        ctx.params["tenant"] = ctx.obj.name
    return remaining


# ``--timeout``, an option of all commands: how long they wait for the database.

_timeout: dict[str, float | None] = {}


def _keep_timeout(seconds: float | None) -> float | None:
    _timeout["seconds"] = seconds
    return seconds


def _with_timeout(
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            callback=_keep_timeout,
            expose_value=False,
            envvar="HMXGRAPH_TIMEOUT",
            help="Seconds for each transaction with retries; default: 15 to read, 60 to write, 600 for a whole tenant.",
        ),
    ] = None,
) -> None:
    """Declare the option for `_timeout_option`; this function is never called."""


def _timeout_option() -> Any:
    holder = typer.Typer(add_completion=False)
    holder.command()(_with_timeout)
    command: Any = get_command(holder)
    return command.params[0]


def timeout_of_command() -> float | None:
    """The seconds of the running command's ``--timeout`` or of HMXGRAPH_TIMEOUT; None without either."""
    return _timeout.get("seconds")


def _raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from here on, unless the program was started with SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _resume_garbage_collection() -> None:
    """Enable the garbage collector if the program paused it to start faster; it ignores all objects created so far."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
