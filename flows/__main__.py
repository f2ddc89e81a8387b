"""The `evergreen` command, also as `python -m flows`."""

import os
import sys

# Set in many images and CI systems; compiling the server and helpers at each start takes seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


PRIVATE = 0o077
"""What others get of the files that this process, and those that it starts, make: nothing."""


def main() -> None:
    os.umask(PRIVATE)
    from flows.runtime.ending import end_at_second_signal, end_process

    end_at_second_signal()
    from flows.runtime.server_start import prepare_server

    prepare_server(sys.argv[1:])
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
