"""The `evergreen` command, also as `python -m flows`.

What it needs is imported inside: helper processes import this module again when they start.
"""

import os
import sys

# Set in many images and CI systems; a server and helpers compiled anew at each start take seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def main() -> None:
    from flows.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
