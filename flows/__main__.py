"""The `evergreen` command, also as `python -m flows`."""

import gc
import os
import sys
from collections.abc import Sequence

from flows.registry import SERVED_FLOWS

# Set in many images and CI systems; compiling the server and helpers at each start takes seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


PRIVATE = 0o077
"""What others get of the files that this process, and those that it starts, make: nothing."""
RUNS = {*SERVED_FLOWS, "demo"}
"""Commands that may run a flow."""
RUNS_NOTHING = {"--help", "--estimate", "--dry-run"}
"""Options with which they do not."""


def may_run_flow(arguments: Sequence[str]) -> bool:
    """Whether these arguments may run a flow: a guess, before what parses them is imported."""
    return bool(RUNS.intersection(arguments)) and not RUNS_NOTHING.intersection(arguments)


def main() -> None:
    gc.disable()  # imports make much and no garbage; the command enables it (LazyCommand)
    os.umask(PRIVATE)
    from flows.runtime.ending import end_at_second_signal, end_process

    end_at_second_signal()
    if may_run_flow(sys.argv[1:]):
        from flows.runtime.server_start import prepare_server

        prepare_server()
    from flows.cli.main import main as run

    try:
        run()
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code and "prefect" in sys.modules:
            # At exit, Prefect's threads would try for minutes to reach a server that is away.
            end_process(ended.code)
        raise


if __name__ == "__main__":
    main()
