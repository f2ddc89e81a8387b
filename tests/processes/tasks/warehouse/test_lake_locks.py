"""Locks in a lake: one process at a time, released by its end, and never lost in silence."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tasks.verdicts import lock_cell
from tasks.warehouse.errors import LostWarehouse
from tasks.warehouse.lake_locks import LakeLocks, lock_number
from tasks.warehouse.locks import LocalLocks, hold_lock
from tests.lakes import lake_at
from tests.rigs.postgres import RunningPostgres, missing, running
from tests.waiting import until

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
HOLDER = """
import sys, time
from tasks.warehouse.location import parse_location
from tasks.warehouse.lake_locks import LakeLocks
locks = LakeLocks(parse_location(sys.argv[1]), "id")
assert locks.acquire("cell 1")
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPostgres]:
    with running(tmp_path_factory.mktemp("postgres")) as found:
        found.create("locks")
        yield found


@pytest.fixture
def locks(postgres: RunningPostgres, tmp_path: Path) -> Iterator[LakeLocks]:
    found = LakeLocks(lake_at(postgres, tmp_path / "w.duckdb", "locks"), "id")
    yield found
    found.close()


def test_a_lock_is_one_process_and_one_task_at_a_time(
    postgres: RunningPostgres, tmp_path: Path, locks: LakeLocks
) -> None:
    lake = lake_at(postgres, tmp_path / "w.duckdb", "locks")
    other = LakeLocks(lake, "id")
    assert locks.acquire("cell 1")
    assert not locks.acquire("cell 1"), "another task of the same process"
    assert not other.acquire("cell 1")
    assert other.acquire("cell 2")
    assert "pid" in other.describe_holder("cell 1")
    locks.release("cell 1")
    assert other.acquire("cell 1")
    other.close()
    assert locks.acquire("cell 1"), "what ends gives back what it had"


def test_a_cell_that_another_process_judges_is_taken_until_it_is_free(
    postgres: RunningPostgres, tmp_path: Path, locks: LakeLocks
) -> None:
    warehouse: Any = SimpleNamespace(locks=locks, frame=lambda *_: pl.DataFrame())
    plan: Any = SimpleNamespace(cell_id="1", state="pending", state_reason=None)

    async def own() -> str:
        async with lock_cell(warehouse, plan, wait=False) as ownership:
            return ownership

    other = LakeLocks(lake_at(postgres, tmp_path / "w.duckdb", "locks"), "id")
    assert other.acquire("cell 1")
    assert asyncio.run(own()) == "taken"
    other.release("cell 1")
    assert asyncio.run(own()) == "ours"
    assert other.acquire("cell 1"), "given back"
    other.close()


def test_lakes_in_one_database_do_not_take_each_others_locks(
    postgres: RunningPostgres, tmp_path: Path, locks: LakeLocks
) -> None:
    other = LakeLocks(lake_at(postgres, tmp_path / "w.duckdb", "locks"), "another id")
    assert locks.acquire("cell 1")
    assert other.acquire("cell 1")
    other.close()


def test_a_process_that_is_killed_releases_its_lock(
    postgres: RunningPostgres, tmp_path: Path, locks: LakeLocks
) -> None:
    lake = lake_at(postgres, tmp_path / "w.duckdb", "locks")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, lake.url], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline().strip() == "held"
    assert not locks.acquire("cell 1")
    assert f"pid {process.pid}" in locks.describe_holder("cell 1")
    process.kill()
    process.wait()
    until("free lock", lambda: locks.acquire("cell 1"), pause=0.05)


def test_who_waits_is_told_for_whom_and_gets_the_lock(
    postgres: RunningPostgres, tmp_path: Path, locks: LakeLocks
) -> None:
    other = LakeLocks(lake_at(postgres, tmp_path / "w.duckdb", "locks"), "id")
    assert other.acquire("pages")
    said: list[str] = []

    async def work() -> None:
        async def free() -> None:
            await asyncio.sleep(0.3)
            other.release("pages")

        freeing = asyncio.create_task(free())
        async with hold_lock(locks, "pages", said.append):
            assert not other.acquire("pages")
        await freeing

    asyncio.run(work())
    assert len(said) == 1
    assert "pid" in said[0]
    assert other.acquire("pages"), "given back at the block's end"
    other.close()


def test_a_catalog_that_goes_away_takes_all_locks_with_it_and_says_so(tmp_path: Path) -> None:
    with running(tmp_path / "own") as postgres:
        postgres.create("locks")
        locks = LakeLocks(lake_at(postgres, tmp_path / "w.duckdb", "locks"), "id")
        assert locks.acquire("cell 1")
        postgres.kill()
        with pytest.raises(LostWarehouse, match="went away"):
            locks.acquire("cell 2")
        locks.release("cell 1")  # was lost before
        postgres.start()
        assert locks.acquire("cell 2"), "a new beginning"
        locks.close()


def test_the_owner_of_a_file_never_waits() -> None:
    locks = LocalLocks()
    assert locks.acquire("cell 1")
    assert locks.acquire("cell 1")

    async def work() -> None:
        async with hold_lock(locks, "cell 1"), hold_lock(locks, "cell 1"):
            pass

    asyncio.run(asyncio.wait_for(work(), 30))


def test_locks_have_numbers_that_postgres_takes_and_that_differ() -> None:
    numbers = {lock_number("id", f"cell {n}") for n in range(1000)}
    assert len(numbers) == 1000
    assert all(0 <= number < 2**63 for number in numbers)
