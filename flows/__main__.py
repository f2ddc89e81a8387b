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
    from flows.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
