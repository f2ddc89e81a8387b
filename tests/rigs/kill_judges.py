"""Kill an LLM evaluation hard at random moments, run it again, and count what was bought twice.

    python -m tests.rigs.kill_judges --work DIR [--kills 10] [--seed 1] [--kind openai]
        [--interrupt] [--warehouse FILE --edition NAME]

One copy of the warehouse (the sample edition unless another is given) is evaluated undisturbed,
the other is killed with SIGKILL at moments drawn by lot, run again each time, and left to finish.
The model is a server in its own process that answers after `--delay` seconds.

How it is counted. Before each kill the process is stopped (SIGSTOP), so that from then on it can
neither ask nor commit; the server then needs a moment to read what had been sent. What it has
then been asked in all, less what the ledger holds after the kill and less what earlier kills had
cost, are the calls of this run that were sent and not yet committed: those in flight at the
server, and those answered but not in the ledger. Only they may be asked again: an answer that is
committed is never bought twice. What really was asked again is counted at the end, by question
and by the other side: requests that reached the server less different questions. It has no
faults here, so every request is a purchase.

With --interrupt each kill is a Ctrl-C instead: calls under way are waited for, so none may be
asked again, and the process must end with exit code 130.

Exit code 0: no more was asked again than that, and all tables are equal (without times and
response ids, and without the tokens a server counts as cached: they hang on the order).
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from flows.runtime.server import local_server
from flows.runtime.settings import prefect_environment
from tests.changed_configs import copy_configs
from tests.rigs.compared_tables import contents, differences
from tests.rigs.model_process import model_process, totals_of
from tests.sample_edition import PART

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"openai": "openai_chat", "gemini": "gemini"}
SETTLES_SECONDS = 0.1
"""For the server to read what was on its way when the client was stopped."""
HANGS_SECONDS = 120.0
"""After which a process that was interrupted counts as hung."""
INCIDENTAL = ("called_at", "latency_seconds", "response_id", "tries", "cached_tokens", "cost_usd")
"""Columns of a call that say how it went, not what was asked and answered."""


@dataclass(frozen=True)
class Kill:
    """What stood open when the process was killed."""

    asked: int
    """Requests that had reached the server, of all runs so far."""
    in_flight: int
    committed: int
    """Calls in the ledger."""
    uncommitted: int
    """Calls of this run that were sent and are not in the ledger: those in flight among them."""

    def __str__(self) -> str:
        return (
            f"{self.asked} asked, {self.in_flight} in flight, "
            f"{self.uncommitted - self.in_flight} answered but not committed, "
            f"{self.committed} in the ledger"
        )


class Rig:
    """One folder, one configuration, one Prefect server."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.work: Path = asked.work
        self.log = self.work / "log.txt"
        self.environment = {
            "EVERGREEN_PREFECT_HOME": str(self.work / "prefect"),
            "EVERGREEN_CONFIGS": str(self._configs()),
            "RIG_KEY": "test-key",
        }

    def _configs(self) -> Path:
        """A copy of the project's configuration with one judge more: `rig`."""
        rig = {
            "kind": KINDS[self.asked.kind], "title": "a rig's judge", "provider": "local",
            "model": "local", "base_url_env": "RIG_URL", "key_env": "RIG_KEY",
            "context_tokens": 1_000_000, "temperature": 0,
            "limits": {"concurrency": self.asked.concurrency},
            "source": "made for a test", "checked": "2026-11-21",
        }  # fmt: skip
        return copy_configs(self.work, judges=lambda s: s["judges"].update(rig=rig))

    def imported(self) -> Path:
        """The warehouse to start from; left as it is."""
        if self.asked.warehouse:
            return Path(self.asked.warehouse)
        path = self.work / "imported.duckdb"
        self.run("import", "wlc", str(PART), "--edition", "sample", "--warehouse", str(path))
        return path

    @contextmanager
    def model(self) -> Iterator["Model"]:
        """A model server in its own process."""
        with model_process(self.asked.kind, self.asked.delay) as address:
            self.environment["RIG_URL"] = address
            yield Model(address)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """The command, with its output into the log."""
        with self.log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "flows", *arguments],
                stdout=output, stderr=output, cwd=ROOT, env={**os.environ, **self.environment},
            )  # fmt: skip

    def run(self, *arguments: str) -> float:
        """The command to its end; seconds it took."""
        started = time.monotonic()
        if code := self.start(*arguments).wait():
            raise RuntimeError(f"evergreen {' '.join(arguments)} ended with {code}: see {self.log}")
        return time.monotonic() - started

    def evaluation(self, warehouse: Path) -> subprocess.Popen[bytes]:
        return self.start(*self._arguments(warehouse))

    def finish(self, warehouse: Path) -> float:
        """Evaluate to the end; seconds."""
        return self.run(*self._arguments(warehouse))

    def _arguments(self, warehouse: Path) -> tuple[str, ...]:
        return ("evaluate", "--edition", self.asked.edition, "--judge", "rig",
                "--extractor", "offline", "--warehouse", str(warehouse))  # fmt: skip


class Model:
    """The server's own account of what it was asked."""

    def __init__(self, address: str) -> None:
        self.totals = partial(totals_of, address)

    def wait_for(self, answered: int, process: subprocess.Popen[bytes]) -> bool:
        """Until so many answers have gone out; False if the process ended before."""
        while process.poll() is None:
            if self.totals()["answered"] >= answered:
                return True
            time.sleep(0.05)
        return False


def kill(process: subprocess.Popen[bytes], model: Model, warehouse: Path, lost_before: int) -> Kill:
    """Stop, look, kill, and see what the ledger holds."""
    process.send_signal(signal.SIGSTOP)
    in_flight = model.totals()["under_way"]
    time.sleep(SETTLES_SECONDS)
    totals = model.totals()
    process.send_signal(signal.SIGKILL)
    process.wait()
    committed = calls(warehouse)
    return Kill(
        asked=totals["requests"],
        in_flight=in_flight,
        committed=committed,
        uncommitted=totals["requests"] - committed - lost_before,
    )


def interrupt(process: subprocess.Popen[bytes], model: Model, warehouse: Path) -> Kill:
    """Press Ctrl-C, wait for the end, and see what the ledger holds."""
    in_flight, began = model.totals()["under_way"], time.monotonic()
    process.send_signal(signal.SIGINT)
    code = process.wait(HANGS_SECONDS)
    if code != 130:
        raise RuntimeError(f"Ctrl-C ended it with exit code {code}")
    asked, committed = model.totals()["requests"], calls(warehouse)
    print(f"ended after {time.monotonic() - began:.1f} s, {in_flight} in flight at Ctrl-C")
    return Kill(asked=asked, in_flight=0, committed=committed, uncommitted=0)


def calls(warehouse: Path) -> int:
    """Calls in the ledger; opened for writing, as what was in the log of DuckDB must be read."""
    with duckdb.connect(str(warehouse)) as connection:
        row = connection.execute("SELECT count(*) FROM calls").fetchone()
        return int(row[0]) if row else 0


def kill_and_resume(rig: Rig, warehouse: Path, n_calls: int) -> tuple[list[Kill], dict[str, Any]]:
    """Every kill, and the server's totals when all is done.

    n_calls: what the whole evaluation takes; the moments are shares of it.
    """
    lot = random.Random(rig.asked.seed)
    moments = sorted(lot.uniform(0.02, 0.95) for _ in range(rig.asked.kills))
    kills: list[Kill] = []
    with rig.model() as model:
        for number, moment in enumerate(moments, 1):
            process = rig.evaluation(warehouse)
            # At least one new answer: each kill is of a run that had begun to ask.
            target = max(round(moment * n_calls), model.totals()["answered"] + 1)
            if not model.wait_for(target, process):
                print(f"kill {number}: the run had ended by itself", flush=True)
                continue
            time.sleep(lot.uniform(0, rig.asked.delay))
            if rig.asked.interrupt:
                kills.append(interrupt(process, model, warehouse))
            else:
                kills.append(kill(process, model, warehouse, sum(k.uncommitted for k in kills)))
            print(f"kill {number}: {kills[-1]}", flush=True)
        rig.finish(warehouse)
        return kills, model.totals()


def different_calls(one: Path, other: Path) -> int:
    """Calls that are in one ledger only, by what was asked and answered."""
    said = f"SELECT * EXCLUDE ({', '.join(INCIDENTAL)}) FROM calls ORDER BY ALL"
    found = []
    for path in (one, other):
        with duckdb.connect(str(path), read_only=True) as connection:
            found.append(set(connection.execute(said).fetchall()))
    return len(found[0] ^ found[1])


def compare(rig: Rig, warehouse: Path) -> bool:
    """The whole rig: whether all is as it should be."""
    calm, killed = rig.work / "calm.duckdb", rig.work / "killed.duckdb"
    shutil.copy(warehouse, calm)
    shutil.copy(warehouse, killed)
    before = calls(calm)
    with rig.model() as model:
        seconds = rig.finish(calm)
        undisturbed = model.totals()
    n_calls = calls(calm) - before
    print(f"undisturbed: {seconds:.0f} s, {n_calls} calls, {undisturbed['requests']} requests",
          flush=True)  # fmt: skip
    kills, totals = kill_and_resume(rig, killed, n_calls)
    again = totals["requests"] - totals["questions"]
    allowed = sum(one.uncommitted for one in kills)
    differing = differences(contents(calm), contents(killed))
    if n := different_calls(calm, killed):
        differing.append(f"calls: {n} in one of them only")
    print(
        f"asked again: {again} of {totals['requests']} requests (answers that arrived twice: "
        f"{totals['bought_again']}, lost with a kill: {totals['lost']}); open at the "
        f"{len(kills)} kills: {allowed}, of which in flight {sum(k.in_flight for k in kills)}"
    )
    print("\n".join(differing) or "every table is equal")
    whole = totals["questions"] == undisturbed["questions"]
    if not whole:
        print(f"{totals['questions']} questions against {undisturbed['questions']}")
    return again <= allowed and not differing and whole and len(kills) == rig.asked.kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder for this")
    parser.add_argument("--warehouse", help="another one than the sample edition's")
    parser.add_argument("--edition", default="sample")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--interrupt", action="store_true", help="Ctrl-C instead of SIGKILL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delay", type=float, default=0.3)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--kind", choices=sorted(KINDS), default="openai")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    rig = Rig(asked)
    rig.log.touch()
    home = asked.work / "prefect"
    os.environ.update(prefect_environment(home))
    with local_server(home):
        return 0 if compare(rig, rig.imported()) else 1


if __name__ == "__main__":
    sys.exit(main())
