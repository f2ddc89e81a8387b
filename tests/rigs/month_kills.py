"""A month that is killed again and again: who runs it, when it is killed, what stood open then.

How it is counted. Before each kill the processes are stopped (SIGSTOP): from then on they can
neither ask nor commit. What the others have been asked until then, less what the warehouse holds
after the kill, less what earlier kills had cost, are the requests that stood open: under way, or
answered and not committed. Only they may be asked once more. A job of an agent is kept before and
after it is made, so of jobs none may be.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import duckdb
import httpx
import psutil

from tests import patient, waiting
from tests.rigs.month_world import AGENTS, World, environment_of
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
SETTLES_SECONDS = 0.1
"""For the servers to read what was on its way when the client was stopped."""
HELD = {
    "pages": "SELECT count(*) FROM fetches",
    "answers": "SELECT count(*) FROM calls WHERE status <> 'failed'",
}
"""What the warehouse holds of what others have been asked for."""
TABLES_WITHOUT_CONTENT = {"calls", "warehouse_info", "audit"}
INCIDENTAL = {
    "article_revisions": {"retrieved_at"},
    "cells": {"finished_at"},
    "collections": {"begun_at", "frozen_at", "manifest"},
    "editions": {"imported_at"},
    "fetches": {"fetched_at", "seconds", "headers"},
    # Names of jobs are drawn by lot, ours and the servers'.
    "jobs": {"job", "created_at", "polled_at", "finished_at", "polls", "remote_id", "answer"},
    "pages": {"fetched_at"},
    "reports": {"source_path"},
}
"""Columns that say when and how something came, not what it is. A frozen collection is known by
its `manifest_sha`, which leaves out when it was made."""
VERDICTS = """
SELECT v.* EXCLUDE (call_id, attempt), c.request_id, c.answer
FROM verdicts AS v LEFT JOIN calls AS c USING (call_id) ORDER BY ALL
"""
"""With what was asked and answered, whatever the number of tries: where a kill takes an answer
that nobody can use, the usable one is the ledger's first."""


@dataclass(frozen=True)
class Moment:
    """When the month is killed."""

    name: str
    is_here: Callable[[World], bool]


@dataclass(frozen=True)
class Kill:
    """What stood open when it was killed."""

    moment: str
    open: dict[str, int]


class Driver(Protocol):
    """What runs a month."""

    def begin(self) -> None:
        """Have it begin, or go on after a kill; until it does."""

    def process(self) -> psutil.Process | None:
        """That which does the work now."""

    def is_over(self) -> bool:
        """Whether nobody is at it any more."""

    def said(self) -> str:
        """What it has said so far."""


@dataclass
class CommandDriver:
    """`evergreen refresh`, given again after each kill."""

    outside: World
    warehouse: Path
    home: Path
    options: tuple[str, ...] = ()
    _started: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        self._started = _evergreen(self, "refresh", *self.options)

    def process(self) -> psutil.Process | None:
        return psutil.Process(self._started.pid) if self._started else None

    def is_over(self) -> bool:
        return self._started is not None and self._started.poll() is not None

    def wait(self) -> int:
        """Its exit code."""
        assert self._started is not None
        return self._started.wait()

    def said(self) -> str:
        return self.warehouse.with_suffix(".log").read_text("utf-8")


@dataclass
class ServedDriver:
    """`evergreen serve`: the schedule begins the month, and it goes on after kills without help.
    Here nobody does anything but look."""

    outside: World
    warehouse: Path
    home: Path
    api: str
    _serving: subprocess.Popen[bytes] | None = None
    _killed: set[int] = field(default_factory=set)

    def begin(self) -> None:
        if self._serving is None:
            self._serving = _evergreen(self, "serve", "--only", "refresh")
        if last := self.process():
            self._killed.add(last.pid)
        until("process that does the run", self.process, pause=0.2)

    def process(self) -> psutil.Process | None:
        assert self._serving is not None
        for child in psutil.Process(self._serving.pid).children():
            with suppress(psutil.Error):
                if child.environ().get("PREFECT__FLOW_RUN_ID") and child.pid not in self._killed:
                    return child
        return None

    def is_over(self) -> bool:
        return self._serving is not None and self._serving.poll() is not None

    def run(self) -> dict[str, Any]:
        """The one run of its deployment that was begun, as the server has it."""
        asked: dict[str, Any] = {
            "deployments": {"name": {"any_": [self.warehouse.stem]}},
            "flow_runs": {"state": {"name": {"not_any_": ["Scheduled"]}}},
        }

        def begun() -> list[dict[str, Any]]:
            try:
                answer = patient.post(f"{self.api}/flow_runs/filter", json=asked)
            except httpx.TransportError:  # busy
                return []
            return list(answer.json()) if answer.is_success else []

        found: list[dict[str, Any]] = until("run", begun, pause=0.2)
        [only] = [run for run in found if run["parent_task_run_id"] is None]
        return only

    def said(self) -> str:
        return self.warehouse.with_suffix(".log").read_text("utf-8")

    def end(self) -> None:
        """Serve no longer."""
        if self._serving:
            self._serving.send_signal(signal.SIGTERM)
            self._serving.wait(waiting.SECONDS)


def killed_at(driver: Driver, outside: World, warehouse: Path, *moments: Moment) -> list[Kill]:
    """Begin a month and kill it at each of these moments; it has gone on after the last."""
    kills: list[Kill] = []
    driver.begin()
    for moment in moments:
        until(moment.name, partial(_is_here, moment, outside, driver), pause=0.01)
        victim = None if driver.is_over() else driver.process()
        assert victim, f"it ended before {moment.name}:\n{driver.said()[-3000:]}"
        victim.suspend()
        time.sleep(SETTLES_SECONDS)
        asked = outside.counts()
        victim.kill()
        with suppress(psutil.Error):
            victim.wait(waiting.SECONDS)
        kills.append(Kill(moment.name, _open(asked, warehouse, kills)))
        driver.begin()
    return kills


def _is_here(moment: Moment, outside: World, driver: Driver) -> bool:
    return moment.is_here(outside) or driver.is_over()


def differences(one: Path, other: Path) -> list[str]:
    """What differs between two warehouses, in words; empty if nothing does."""
    left, right = contents(one), contents(other)
    found = []
    for table in left:
        if left[table] != right[table]:
            odd = sorted(map(str, {*left[table]} ^ {*right[table]}))
            found.append(
                f"{table}: {len(left[table])} rows against {len(right[table])}, {len(odd)} in one "
                f"of them only, e.g. {odd[:1]}"[:600]
            )
    return found


def contents(warehouse: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every table's rows, sorted, without what is incidental."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        sql = "SELECT table_name FROM duckdb_tables() ORDER BY 1"
        names = [name for (name,) in connection.execute(sql).fetchall()]
        return {
            name: connection.execute(_rows_of(connection, name)).fetchall()
            for name in names
            if name not in TABLES_WITHOUT_CONTENT
        }


def _rows_of(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    if table == "verdicts":
        return VERDICTS
    columns = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    kept = [c for c in columns if c not in INCIDENTAL.get(table, set())]
    listed = ", ".join(f'"{column}"' for column in kept)
    return f"SELECT {listed} FROM {table} ORDER BY ALL"


def moments(calm: dict[str, int]) -> tuple[Moment, ...]:
    """One in each part of a month; of judging when two fifths of the answers came.

    calm: what an undisturbed month has asked.
    """
    return (
        Moment("collecting", lambda w: w.counts()["wiki"] >= calm["wiki"] // 2),
        Moment("asking agents", _all_looked_at),
        Moment("fetching", lambda w: w.counts()["pages"] >= calm["pages"] // 3),
        Moment("judging", lambda w: w.counts()["answers"] >= calm["answers"] * 2 // 5),
    )


def _all_looked_at(outside: World) -> bool:
    """Whether every job's name has come back: who is killed before may have bought one that nobody
    can find (test_kill_points.py)."""
    return all(
        server.n_made == outside.n_articles and all(job.looks for job in [*server.jobs.values()])
        for server in (outside.agents[name] for name in AGENTS)
    )


def _open(asked: dict[str, int], warehouse: Path, before: list[Kill]) -> dict[str, int]:
    if not warehouse.exists():
        return dict.fromkeys(HELD, 0)
    # Opened for writing: what was in DuckDB's log must be read.
    with duckdb.connect(str(warehouse)) as connection:
        held = {name: _count(connection, sql) for name, sql in HELD.items()}
    return {name: asked[name] - held[name] - sum(kill.open[name] for kill in before)
            for name in HELD}  # fmt: skip


def _count(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    try:
        row = connection.execute(sql).fetchone()
    except duckdb.CatalogException:  # killed before it was made
        return 0
    return int(row[0]) if row else 0


def _evergreen(driver: CommandDriver | ServedDriver, *command: str) -> subprocess.Popen[bytes]:
    """The command in a process of its own, on the driver's warehouse."""
    with driver.warehouse.with_suffix(".log").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "flows", *command, "--warehouse", str(driver.warehouse)],
            stdout=output, stderr=output, cwd=ROOT,
            env=environment_of(driver.outside, driver.home),
        )  # fmt: skip
