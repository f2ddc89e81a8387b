"""Kill points: what a kill would leave before and after each commit of a run, copied as it runs.

A run in this process is disturbed by nothing. Whenever its writer is about to commit, and when it
has committed and told nobody yet, the folder of the warehouse is copied (database, log, pages,
files, exports), and the provider's state of that moment. From each copy the work is done again by
fresh clients: with the provider as it was then, and as it was just before the next commit, when it
may have answered what was never stored.
"""

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import duckdb
import pytest

from tasks.warehouse import writer
from tasks.warehouse.calls import BatchJob, Call
from tasks.warehouse.jobs import Job
from tests.rigs.same_figures import contents
from tests.servers.http import Request, Response

ProviderT = TypeVar("ProviderT", bound=Callable[[Request], Response])
When = Literal["before", "after"]
SAYS = {Call: "step", Job: "state", BatchJob: "state"}
"""By row, the column that tells the kinds of its commits apart."""


@dataclass
class KillPoint(Generic[ProviderT]):
    """What a run that was killed here would leave."""

    when: When
    nth: int
    """The commit, 1 for the first."""
    kind: str
    """What the commit writes."""
    warehouse: Path
    """A copy."""
    provider: ProviderT
    """As it was then."""
    provider_of_next: ProviderT
    """As it was just before the next commit, or at the end."""

    def __str__(self) -> str:
        return f"{self.when} commit {self.nth}, {self.kind}"

    def resumptions(
        self, to: Path, account: Callable[[ProviderT], object]
    ) -> Iterator[tuple[str, Path, ProviderT]]:
        """A name, a copy of the warehouse and the provider; twice, if it was asked before the
        next commit. account: what the provider has been asked for."""
        providers = {"the provider as it was then": self.provider}
        if account(self.provider) != account(self.provider_of_next):
            providers["the provider as it was before the next commit"] = self.provider_of_next
        for name, provider in providers.items():
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(self.warehouse.parent, to, symlinks=True)
            yield f"killed {self}; {name}", to / self.warehouse.name, deepcopy(provider)


class _Recorder(Generic[ProviderT]):
    """Copies while a run goes on."""

    def __init__(self, warehouse: Path, provider: ProviderT, to: Path) -> None:
        self.points: list[KillPoint[ProviderT]] = []
        self.told_too_early: list[str] = []
        """Commits that somebody was told of before they were made."""
        self.lock = threading.RLock()
        """Held by the provider while it answers."""
        self._warehouse, self._provider, self._to = warehouse, provider, to

    def record(self, when: When, units: Sequence[Any]) -> None:
        """Called by the writing thread."""
        provider = self.end() if when == "before" else self._look()
        nth = len(self.points) // 2 + 1
        folder = self._to / f"{nth}-{when}"
        last = self.points[-1].warehouse.parent if self.points else None
        _copy(self._warehouse, folder, last)
        copied = folder / self._warehouse.name
        self.points.append(KillPoint(when, nth, _kind_of(units), copied, provider, provider))
        if any(unit.done.done() for unit in units):
            self.told_too_early.append(str(self.points[-1]))

    def end(self) -> ProviderT:
        """The time after the last commit is over: this is the provider of its end."""
        provider = self._look()
        if self.points:
            self.points[-1].provider_of_next = provider
        return provider

    def _look(self) -> ProviderT:
        with self.lock:
            return deepcopy(self._provider)


@contextmanager
def kill_points(
    warehouse: Path, provider: ProviderT, to: Path
) -> Iterator[list[KillPoint[ProviderT]]]:
    """Within the block every change is committed alone, and each commit gives two points.

    The warehouse has a folder of its own. provider: the handler that is being served.
    """
    recorder = _Recorder(warehouse, provider, to)
    execute = writer.Writer._execute
    answer: Callable[[ProviderT, Request], Response] = type(provider).__call__

    def recorded(self: writer.Writer, units: list[Any]) -> None:
        recorder.record("before", units)
        execute(self, units)
        recorder.record("after", units)

    def answered(self: ProviderT, request: Request) -> Response:
        with recorder.lock:
            return answer(self, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "MAX_ROWS", 0)
        patch.setattr(writer.Writer, "_execute", recorded)
        patch.setattr(type(provider), "__call__", answered)
        yield recorder.points
    recorder.end()
    early = recorder.told_too_early
    assert not early, f"{len(early)} told before they were committed, the first {early[0]}"


def chosen(
    points: Sequence[KillPoint[ProviderT]], per_kind: int, seed: int = 1
) -> list[KillPoint[ProviderT]]:
    """Up to so many points of every kind of commit, drawn by lot.

    A point before a commit is left out if no file has come since the commit before: the point
    after that one shows the same.
    """
    last: list[tuple[str, int]] | None = None
    distinct = []
    for point in points:
        files = _list_files(point.warehouse)
        if point.when == "after" or files != last:
            distinct.append(point)
        last = files
    lot, found = random.Random(seed), []

    def kind(point: KillPoint[ProviderT]) -> tuple[str, str]:
        return point.when, point.kind

    for _, of_one_kind in groupby(sorted(distinct, key=kind), key=kind):
        same = list(of_one_kind)
        found += lot.sample(same, min(per_kind, len(same)))
    return sorted(found, key=points.index)


def tables_of(warehouse: Path, *without: str) -> dict[str, list[tuple[object, ...]]]:
    """The rows of all tables. without: tables, and columns as `table.column`, that may differ."""
    duckdb.connect(str(warehouse)).close()  # opened for writing: its log must be read
    found = contents(str(warehouse), *without)
    return {table: rows for table, rows in found.items() if table not in without}


def _kind_of(units: Sequence[Any]) -> str:
    found = set()
    for change in (change for unit in units for change in unit.changes):
        said = {getattr(row, SAYS[change.model]) for row in change.rows if change.model in SAYS}
        found.add(" ".join([change.model.table, *sorted(said)]))
    return ", ".join(sorted(found))


def _list_files(warehouse: Path) -> list[tuple[str, int]]:
    """Pages, files and exports: what is not the database's own."""
    return sorted(
        (str(path.relative_to(warehouse.parent)), path.stat().st_size)
        for path in warehouse.parent.rglob("*")
        if path.is_file() and not path.name.startswith((warehouse.name, f".{warehouse.name}"))
    )


def _copy(warehouse: Path, to: Path, last: Path | None) -> None:
    """Copy a warehouse's folder, the database and its log first: no file is older than its row.

    last: an earlier copy, whose database serves again if it has not changed. What other threads
    remove meanwhile is left out.
    """
    folder = warehouse.parent
    found = sorted(folder.rglob("*"), key=lambda path: not path.name.startswith(warehouse.name))
    for path in found:
        target = to / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if last and path == warehouse and _is_same(path, last / path.name):
            os.link(last / path.name, target)
            continue
        if path.is_dir() and not path.is_symlink():
            target.mkdir(exist_ok=True)
            continue
        with suppress(FileNotFoundError):
            shutil.copy2(path, target, follow_symlinks=False)


def _is_same(one: Path, other: Path) -> bool:
    return (one.stat().st_mtime_ns, one.stat().st_size) == (
        other.stat().st_mtime_ns, other.stat().st_size,
    )  # fmt: skip
