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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from tests.rigs import compared_tables
from tests.rigs.compared_tables import Tables
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
INCIDENTAL = (
    "article_revisions.retrieved_at", "cells.finished_at", "collections.begun_at",
    "collections.frozen_at", "collections.manifest", "editions.imported_at", "fetches.fetched_at",
    "fetches.seconds", "fetches.headers", "pages.fetched_at", "reports.source_path",
    # Names of jobs are drawn by lot, ours and the servers'.
    "jobs.job", "jobs.created_at", "jobs.polled_at", "jobs.finished_at", "jobs.polls",
    "jobs.remote_id", "jobs.answer",
)  # fmt: skip
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


@dataclass
class KilledMonth:
    """`evergreen refresh` in a process of its own, given again after each kill."""

    outside: World
    warehouse: Path
    home: Path
    options: tuple[str, ...]
    _started: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        with self.warehouse.with_suffix(".log").open("ab") as output:
            self._started = subprocess.Popen(
                [sys.executable, "-m", "flows", "refresh", *self.options, "--warehouse",
                 str(self.warehouse)],
                stdout=output, stderr=output, cwd=ROOT, env=environment_of(self.outside, self.home),
            )  # fmt: skip

    def _is_time(self, moment: Moment) -> bool:
        return moment.is_here(self.outside) or self._is_over()

    def _is_over(self) -> bool:
        return self._started is not None and self._started.poll() is not None

    def wait(self) -> int:
        """Its exit code."""
        assert self._started is not None
        return self._started.wait()

    def said(self) -> str:
        return self.warehouse.with_suffix(".log").read_text("utf-8")

    def killed_at(self, *moments: Moment) -> list[Kill]:
        """Begin, and be killed at each of these moments; it has gone on after the last."""
        kills: list[Kill] = []
        self.begin()
        for moment in moments:
            until(moment.name, partial(self._is_time, moment), pause=0.01)
            assert not self._is_over(), f"it ended before {moment.name}:\n{self.said()[-3000:]}"
            assert self._started is not None
            self._started.send_signal(signal.SIGSTOP)
            time.sleep(SETTLES_SECONDS)
            asked = self.outside.counts()
            self._started.kill()
            self._started.wait()
            kills.append(Kill(moment.name, _open(asked, self.warehouse, kills)))
            self.begin()
        return kills


def contents(warehouse: Path) -> Tables:
    """Every table's rows, sorted, without what is incidental."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        verdicts = connection.execute(VERDICTS).fetchall()
    return compared_tables.contents(warehouse, without=INCIDENTAL) | {"verdicts": verdicts}


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
