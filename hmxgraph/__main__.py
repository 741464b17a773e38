"""``hmxgraph`` and ``python -m hmxgraph``: the command line, which can be interrupted even during its imports."""

import gc
import os
import signal
import sys
from types import FrameType

# The exit status that shells report for a program ended by SIGINT.
INTERRUPTED = 130


def main() -> None:
    """Run the command line; see :func:`hmxgraph.cli.main`."""
    if sys.argv[1:2] == ["hook"]:
        from hmxgraph.adapters._hook import run  # noqa: PLC0415 - an agent waits, so no command is imported

        run(sys.argv[2:])
        return
    gc.disable()  # imported modules stay in memory; hmxgraph.cli._commands.load_command enables it again
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Imports leave nothing to clean up. After them, hmxgraph.cli._commands.load_command restores KeyboardInterrupt.
        signal.signal(signal.SIGINT, _exit_now)
    from hmxgraph.adapters.warm import run_in_warm_process  # noqa: PLC0415 - before anything slow

    if (code := run_in_warm_process(sys.argv[1:])) is not None:
        sys.exit(code)
    from hmxgraph.cli import main as program  # noqa: PLC0415 - slow, so only now

    program()


def _exit_now(_number: int, _frame: FrameType | None) -> None:
    """Exit at once: an exception could be caught or changed by the module that is being imported."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
