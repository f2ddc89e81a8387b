"""Turns in a lake: one process at a time, given back by its end, and never lost in silence."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.warehouse.errors import LostWarehouse
from tasks.warehouse.lake_turns import LakeTurns, turn_number
from tasks.warehouse.turns import OwnTurns, turn
from tests.lakes import lake_at
from tests.rigs.postgres import RunningPostgres, missing, running

pytestmark = [
    pytest.mark.rig,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
HOLDER = """
import sys, time
from tasks.warehouse.location import location
from tasks.warehouse.lake_turns import LakeTurns
turns = LakeTurns(location(sys.argv[1]), "id")
assert turns.take("cell 1")
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPostgres]:
    with running(tmp_path_factory.mktemp("postgres")) as found:
        found.create("turns")
        yield found


@pytest.fixture
def turns(postgres: RunningPostgres, tmp_path: Path) -> Iterator[LakeTurns]:
    found = LakeTurns(lake_at(postgres, tmp_path / "w.duckdb", "turns"), "id")
    yield found
    found.close()


def test_a_turn_is_one_process_and_one_task_at_a_time(
    postgres: RunningPostgres, tmp_path: Path, turns: LakeTurns
) -> None:
    lake = lake_at(postgres, tmp_path / "w.duckdb", "turns")
    other = LakeTurns(lake, "id")
    assert turns.take("cell 1")
    assert not turns.take("cell 1"), "another task of the same process"
    assert not other.take("cell 1")
    assert other.take("cell 2")
    assert "pid" in other.holder("cell 1")
    turns.leave("cell 1")
    assert other.take("cell 1")
    other.close()
    assert turns.take("cell 1"), "what ends gives back what it had"


def test_lakes_in_one_database_do_not_take_each_others_turns(
    postgres: RunningPostgres, tmp_path: Path, turns: LakeTurns
) -> None:
    other = LakeTurns(lake_at(postgres, tmp_path / "w.duckdb", "turns"), "another id")
    assert turns.take("cell 1")
    assert other.take("cell 1")
    other.close()


def test_a_process_that_is_killed_gives_its_turn_back(
    postgres: RunningPostgres, tmp_path: Path, turns: LakeTurns
) -> None:
    lake = lake_at(postgres, tmp_path / "w.duckdb", "turns")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, lake.url], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline().strip() == "held"
    assert not turns.take("cell 1")
    assert f"pid {process.pid}" in turns.holder("cell 1")
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while not turns.take("cell 1"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_who_waits_is_told_for_whom_and_gets_the_turn(
    postgres: RunningPostgres, tmp_path: Path, turns: LakeTurns
) -> None:
    other = LakeTurns(lake_at(postgres, tmp_path / "w.duckdb", "turns"), "id")
    assert other.take("pages")
    said: list[str] = []

    async def work() -> None:
        async def free() -> None:
            await asyncio.sleep(0.3)
            other.leave("pages")

        freeing = asyncio.create_task(free())
        async with turn(turns, "pages", said.append):
            assert not other.take("pages")
        await freeing

    asyncio.run(work())
    assert len(said) == 1
    assert "pid" in said[0]
    assert other.take("pages"), "given back at the block's end"
    other.close()


def test_a_catalog_that_goes_away_takes_all_turns_with_it_and_says_so(tmp_path: Path) -> None:
    with running(tmp_path / "own") as postgres:
        postgres.create("turns")
        turns = LakeTurns(lake_at(postgres, tmp_path / "w.duckdb", "turns"), "id")
        assert turns.take("cell 1")
        postgres.kill()
        with pytest.raises(LostWarehouse, match="went away"):
            turns.take("cell 2")
        turns.leave("cell 1")  # was lost before
        postgres.start()
        assert turns.take("cell 2"), "a new beginning"
        turns.close()


def test_the_owner_of_a_file_never_waits() -> None:
    turns = OwnTurns()
    assert turns.take("cell 1")
    assert turns.take("cell 1")

    async def work() -> None:
        async with turn(turns, "cell 1"), turn(turns, "cell 1"):
            pass

    asyncio.run(asyncio.wait_for(work(), 30))


def test_turns_have_numbers_that_postgres_takes_and_that_differ() -> None:
    numbers = {turn_number("id", f"cell {n}") for n in range(1000)}
    assert len(numbers) == 1000
    assert all(0 <= number < 2**63 for number in numbers)
