"""One verdict on its way to the leaderboard: a report of the sample edition is judged again by
another judge, and which figures change is printed.

    python -m tests.rigs.travelling_verdict --to DIR

The other judge is a model server of the tests, on the loopback; with a key of your own the same
command names a real one. DIR holds the warehouse and the site, to be looked at.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.rigs.model_process import model_process

REPORT = "sample_blogger/Mercury_(planet)"


def main() -> int:
    """Read the command line, judge again, print what changed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--to", required=True, type=Path, help="an empty or new folder")
    to: Path = parser.parse_args().to.absolute()
    evergreen = [sys.executable, "-m", "flows"]
    with model_process() as address:
        here = {
            "EVERGREEN_WAREHOUSE": str(to / "warehouse.duckdb"),
            "EVERGREEN_PREFECT_HOME": str(to / "prefect"),
            "EVERGREEN_LOCAL_URL": address,
            "EVERGREEN_LOCAL_KEY": "test-key",
        }
        environment = {**os.environ, **here}
        subprocess.run([*evergreen, "--quiet", "demo"], env=environment, check=True)
        judged = subprocess.run(
            [*evergreen, "rejudge", "--edition", "sample", "--protocol", "wiki_fact",
             "--report", REPORT, "--judge", "local", "--to", str(to / "sites")],
            env=environment, check=False,
        )  # fmt: skip
    return judged.returncode


if __name__ == "__main__":
    sys.exit(main())
