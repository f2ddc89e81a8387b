"""What no stamp covers, and running it (CONTRIBUTING.md):

python -m tests.stamps plan [--everything]              a table; targets to run, one per line
python -m tests.stamps prove TARGET [--everything]      run what no stamp covers, and stamp it
python -m tests.stamps reach UNIT                       the files that decide on its stamp
"""

import argparse
import sys
from pathlib import Path

from tests.stamps.plan import plan, planned, table
from tests.stamps.proving import prove
from tests.stamps.units import BY_FILE, TARGETS, Units

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=("plan", "prove", "reach"))
    parser.add_argument("unit", nargs="?", help="a target, or for `reach` a file of long tests")
    parser.add_argument("--everything", action="store_true", help="whatever the stamps say")
    asked = parser.parse_args()
    units = Units(ROOT)
    if asked.do == "plan":
        rows = list(plan(units, asked.everything))
        print(table(rows), file=sys.stderr)
        print(*(row.target for row in rows if row.names), sep="\n")
        return 0
    if asked.do == "reach":
        target = asked.unit if asked.unit in TARGETS else min(BY_FILE)
        print(*sorted(units.reached(target, asked.unit)), sep="\n")
        return 0
    row = planned(units, asked.unit, asked.everything)
    if not row.names:
        print(f"== {asked.unit}: stamped; --everything runs it.")
        return 0
    return prove(units, asked.unit, row.names)


if __name__ == "__main__":
    sys.exit(main())
