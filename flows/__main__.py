"""The `evergreen` command, also as `python -m flows`."""

import os
import sys

# Set in many images and CI systems; compiling the server and helpers at each start takes seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def main() -> None:
    from flows.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
