"""Kill an evaluation hard at several moments, run it again, compare with one left alone.

    python tests/rigs/kill_and_resume.py --import ../shared/data/wlc/2025_Mar_Nov --work DIR

imports the edition twice, evaluates one copy undisturbed, kills the other with SIGKILL after
each of the given seconds (counted from the start of the flow's work), lets it finish, and
compares every table. Exit code 0 if they are equal.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb

TABLES_WITHOUT_CONTENT = {"warehouse_info", "calls", "audit"}
MADE_AT = {"imported_at", "finished_at", "called_at", "fetched_at"}


def contents(warehouse: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table's rows, sorted, without the columns that say when a row was made."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        names = [name for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]  # fmt: skip
        found = {}
        for name in names:
            if name in TABLES_WITHOUT_CONTENT:
                continue
            columns = [row[0] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
            kept = ", ".join(f'"{column}"' for column in columns if column not in MADE_AT)
            found[name] = connection.execute(f"SELECT {kept} FROM {name} ORDER BY ALL").fetchall()
        return found


def differences(one: Path, other: Path) -> list[str]:
    """What differs between two warehouses, in words; empty if nothing does."""
    left, right = contents(one), contents(other)
    return [
        f"{name}: {len(left[name])} rows against {len(right[name])}, "
        f"{len(set(left[name]) ^ set(right[name]))} in one of them only"
        for name in left
        if left[name] != right[name]
    ]


def evergreen(*arguments: str, log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start the command in this interpreter, its output into `log`."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "flows", *arguments],
            stdout=output,
            stderr=output,
            env={**os.environ, **environment},
        )


def run(*arguments: str, log: Path, environment: dict[str, str]) -> float:
    """Run the command to its end; seconds it took. Raises if it failed."""
    started = time.monotonic()
    code = evergreen(*arguments, log=log, environment=environment).wait()
    if code != 0:
        raise RuntimeError(f"evergreen {' '.join(arguments)} ended with {code}: see {log}")
    return time.monotonic() - started


def evaluate_killing(
    warehouse: Path, edition: str, moments: list[float], log: Path, environment: dict[str, str]
) -> list[int]:
    """Evaluate, killed hard after each of `moments` (seconds of work), then left to finish.

    Returns how many cells had been committed after each kill.
    """
    committed = []
    arguments = ("evaluate", "--edition", edition, "--warehouse", str(warehouse))
    for moment in moments:
        size = log.stat().st_size
        process = evergreen(*arguments, log=log, environment=environment)
        _wait_for_work(process, log, size)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        committed.append(_cells(warehouse))
    run(*arguments, log=log, environment=environment)
    return committed


def _wait_for_work(process: subprocess.Popen[bytes], log: Path, size: int) -> None:
    """The first stage announces itself in the output; the server takes its time before."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if b"stage " in log.read_bytes()[size:]:
            return
        time.sleep(0.05)


def _cells(warehouse: Path) -> int:
    with duckdb.connect(str(warehouse)) as connection:
        row = connection.execute("SELECT count(*) FROM cells").fetchone()
        return int(row[0]) if row else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--import", dest="source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder for this")
    parser.add_argument("--moments", type=float, nargs="+", default=[1, 6, 15, 30, 45])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    log = options.work / "log.txt"
    log.touch()
    environment = {"EVERGREEN_PREFECT_HOME": str(options.work / "prefect")}
    calm, killed = options.work / "calm.duckdb", options.work / "killed.duckdb"
    run("import", "wlc", str(options.source), "--edition", "e", "--warehouse", str(calm),
        log=log, environment=environment)  # fmt: skip
    shutil.copy(calm, killed)
    seconds = run("evaluate", "--edition", "e", "--warehouse", str(calm), log=log,
                  environment=environment)  # fmt: skip
    print(f"undisturbed: {seconds:.0f} s, {_cells(calm)} cells")
    committed = evaluate_killing(killed, "e", options.moments, log, environment)
    print(f"killed after {options.moments} s of work: {committed} cells were committed")
    found = differences(calm, killed)
    print("\n".join(found) or "every table is equal")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
