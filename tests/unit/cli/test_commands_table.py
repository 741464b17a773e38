"""The list of commands has the summaries of the commands, without importing them."""

import subprocess
import sys

from hmxgraph.cli._commands import COMMANDS, load_command


def first_line(command):
    """The first line of a command's own help."""
    return (command.help or "").strip().split("\n")[0]


def test_each_summary_is_the_first_line_of_the_command_s_own_help():
    """The list of commands and a command's own help have the same sentence."""
    own = {name: first_line(load_command(name)) for name in COMMANDS}
    assert own == {name: entry.summary for name, entry in COMMANDS.items()}


def test_a_summary_that_lists_subcommands_names_existing_ones():
    """Each word of such a list can be typed."""
    for name, entry in COMMANDS.items():
        listed = entry.summary.rstrip(".").partition(": ")[2].split(", ")
        if len(listed) > 1 and all(map(str.isalpha, listed)) and hasattr(load_command(name), "commands"):
            assert set(listed) <= set(load_command(name).commands)


def test_help_and_version_import_no_command():
    """The driver, numpy and the compiler stay out of a process that only prints its help."""
    program = (
        "import sys\nfrom typer.testing import CliRunner\nfrom hmxgraph.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'neo4j', 'numpy', 'pydantic', 'orjson'}))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_the_help_lists_only_kinds_that_can_be_created():
    """Digests are composed by the engine; ``record create`` refuses them."""
    kind = load_command("record").commands["create"].params[0].help
    assert "digest" not in kind
    assert "task_start, task_progress" in kind
