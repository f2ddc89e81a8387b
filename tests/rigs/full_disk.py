"""Evaluate with a model on a disk that is nearly full, again and again, then with room.

    python -m tests.rigs.full_disk --work DIR [--free 700000] [--reserve 0] [--runs 4]

The warehouse lies on a tmpfs (which root can mount) that is filled but for `--free` bytes; Prefect
and the configurations lie in DIR. The model is a server in its own process that counts what it is
asked. Exit code 0: nothing was asked twice, each run without room ended with exit code 1 and a
sentence about room, and the last run did what was left.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.runtime.server import local_server
from flows.runtime.settings import prefect_environment
from tests.rigs.kill_judges import KINDS, Rig, calls

SIZE = "40m"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A tmpfs of 40 MB."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, free: int) -> Path:
    """Fill the disk but for so many bytes; return the file that does."""
    filler = folder / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(folder).free - free))
    return filler


def evaluate(rig: Rig, warehouse: Path) -> tuple[int, str]:
    """Evaluate once; return the exit code and what was printed last."""
    before = rig.log.stat().st_size
    code = rig.evaluation(warehouse).wait()
    with rig.log.open(encoding="utf-8") as log:
        log.seek(before)
        return code, log.read()


def measure(rig: Rig, disk: Path, free: int, runs: int) -> bool:
    """Run without room, then with it; return whether all is as it should be."""
    warehouse = disk / "w.duckdb"
    shutil.copy(rig.imported(), warehouse)
    filler = fill(disk, free)
    good = True
    with rig.model() as model:
        for number in range(1, runs + 2):
            if number > runs:
                filler.unlink()
            code, printed = evaluate(rig, warehouse)
            totals, kept = model.totals(), calls(warehouse) if number > runs else None
            said = "room" in printed and "Traceback" not in printed
            print(
                f"run {number}: exit code {code}, {len(printed):,} characters, says so: {said}; "
                f"{totals['requests']} asked, {totals['requests'] - totals['questions']} of them "
                f"twice; {shutil.disk_usage(disk).free:,} bytes free",
                flush=True,
            )
            good &= (code, said) == (1, True) if number <= runs else code == 0
        print(f"kept: {kept}")
        return good and totals["requests"] == totals["questions"] == kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder for this")
    parser.add_argument("--free", type=int, default=700_000)
    parser.add_argument("--reserve", default="0")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--kind", choices=sorted(KINDS), default="openai")
    asked = parser.parse_args()
    asked.warehouse, asked.edition = None, "sample"
    asked.work.mkdir(parents=True, exist_ok=True)
    rig = Rig(asked)
    rig.environment["EVERGREEN_FREE_SPACE"] = asked.reserve
    rig.log.touch()
    home = asked.work / "prefect"
    os.environ.update(prefect_environment(home))
    with local_server(home), small_disk(asked.work / "disk") as disk:
        return 0 if measure(rig, disk, asked.free, asked.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
