"""Time commands from their start to the first item that they begin: `make bench-start`.

The item is a question to a judge, whose server answers on loopback. `first` finds no Prefect
server, `further` one that an earlier command has left; `assign` needs no history.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tasks.imports.wlc import import_edition
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import (
    ROOT,
    at_hand,
    configured,
    environment,
    prepared_sample,
    write_configs,
)
from tests.flows.plain_prefect import plain_prefect
from tests.sample_edition import SMALL, WHOLE
from tests.servers.openai import OpenAiServer

FLOWS = (sys.executable, "-m", "flows", "-q")


def main() -> int:
    """Read the command line, print the medians."""
    parser = argparse.ArgumentParser(description="Time the start of commands.")
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    print("Seconds until the first item has begun (assign: until the end), medians:")
    with TemporaryDirectory() as made, plain_prefect():
        folder = Path(made)
        # DuckDB imports it where it is installed, which it is for tests alone.
        (folder / "pandas.py").write_text("raise ImportError")
        os.environ["PYTHONPATH"] = made
        sample = prepared_sample(folder, SMALL)
        rounds = [
            (
                time_command(IMPORT, os.environ),
                *time_evaluations(folder / str(n), sample),
                time_assign(folder / f"assign{n}"),
            )
            for n in range(times)  # all in turn, so that a busy machine slows all alike
        ]
    for what, seconds in zip(WHAT, zip(*rounds, strict=True), strict=True):
        report(what, seconds)
    return 0


WHAT = ("import prefect.flows", "first command", "further command", "assign")
IMPORT = (sys.executable, "-c", "import prefect.flows")


def report(what: str, seconds: Sequence[float]) -> None:
    """Print a median and what it is of."""
    each = ", ".join(f"{one:.2f}" for one in sorted(seconds))
    print(f"{what:22} {median(seconds):6.2f}   ({each})", flush=True)


def time_command(command: tuple[str, ...], variables: "os._Environ[str] | dict[str, str]") -> float:
    """Seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True)
    return time.perf_counter() - began


def time_evaluations(folder: Path, sample: Path) -> tuple[float, float]:
    """Seconds to the first question of a home's first command, and of the next one."""
    (folder / "prefect").mkdir(parents=True)
    configs = write_configs(folder)
    server = OpenAiServer()
    with configured(configs), at_hand(server, "openai"):
        variables = environment(configs, folder / "prefect", EVERGREEN_SERVER_MINUTES="1")
        variables.pop("PREFECT_API_URL", None)

        def time_one(name: str) -> float:
            server.log.entries.clear()
            warehouse = Path(shutil.copy(sample, folder / name))
            arguments = ("--edition", "sample", "--judge", "openai", "--warehouse", str(warehouse))
            return time_until(
                (*FLOWS, "evaluate", *arguments), variables, lambda: bool(server.log.entries)
            )

        found = time_one("first.duckdb"), time_one("further.duckdb")
        subprocess.run(
            (*FLOWS, "ui", "--stop"), cwd=ROOT, env=variables, check=True, capture_output=True
        )
    return found


def time_until(
    command: tuple[str, ...], variables: dict[str, str], begun: Callable[[], bool]
) -> float:
    """Seconds from a command's start until something has begun; the command is waited for."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL) as process:
        while not begun():
            if process.poll() is not None:
                raise RuntimeError(f"It ended with {process.returncode} and began nothing.")
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        process.wait()
    return seconds


def time_assign(folder: Path) -> float:
    """Seconds that the assignments of the sample's articles take."""
    folder.mkdir()
    with open_warehouse(folder / "w.duckdb") as store:
        import_edition(store, WHOLE, "sample")
        store._connection.execute("DELETE FROM assignments WHERE kind = 'write_article'")
    variables = dict(os.environ, EVERGREEN_PREFECT_HOME=str(folder / "prefect"))
    arguments = ("--edition", "sample", "--warehouse", str(folder / "w.duckdb"))
    return time_command((*FLOWS, "assign", *arguments), variables)


if __name__ == "__main__":
    sys.exit(main())
