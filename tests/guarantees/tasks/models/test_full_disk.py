"""A disk that is really full: whatever is bought is kept, over any number of runs."""

import asyncio
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.costs.ledger import WarehouseLedger
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.gateway import Gateway
from tasks.warehouse.errors import NoRoom, WarehouseError
from tasks.warehouse.store import open_warehouse
from tests.tasks.models.scripted import question, read_word, said
from tests.tasks.runs import run_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")
REQUESTS = [question(random.Random(n).randbytes(4_500).hex()) for n in range(200)]


class CountingSender:
    """Answers each request after a moment, and counts what was bought."""

    def __init__(self) -> None:
        self.bought: list[str] = []

    async def wait_for_capacity(self) -> None:
        """There is always capacity."""

    async def send(self, request: ModelRequest, on_lost: Any = None) -> Reply:
        self.bought.append(request.request_id)
        await asyncio.sleep(0.002)
        return said("yes")

    async def close(self) -> None:
        """It holds nothing."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 MB of the test's own, which can be filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, free: int) -> Path:
    """Fill the disk but for so many bytes; return the file that does."""
    filler = folder / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(folder).free - free))
    return filler


async def ask_all(disk: Path, sender: Any) -> list[Any]:
    """One run: all that is not in the ledger, eight at a time, until there is no room."""
    with (
        open_warehouse(disk / "w.duckdb") as warehouse,
        run_of(warehouse) as run,
    ):
        gateway = Gateway(
            sender, WarehouseLedger(warehouse), answers_as=None, price=None, budget=run.budget
        )
        slots = asyncio.Semaphore(8)

        async def ask(request: ModelRequest) -> Any:
            async with slots:
                return await gateway.ask(request, read_word)

        found = await asyncio.gather(*map(ask, REQUESTS), return_exceptions=True)
        await gateway.close()
        return list(found)


@pytest.mark.parametrize("reserve", ["0", "300 kB"])
def test_nothing_is_bought_twice(disk: Path, monkeypatch: pytest.MonkeyPatch, reserve: str) -> None:
    monkeypatch.setenv("EVERGREEN_FREE_SPACE", reserve)
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    sender = CountingSender()
    with open_warehouse(disk / "w.duckdb"):
        pass
    filler = fill(disk, 700_000)
    for _ in range(4):
        errors = [e for e in asyncio.run(ask_all(disk, sender)) if isinstance(e, Exception)]
        assert errors
        assert {type(error) for error in errors} == {NoRoom}
    assert 0 < len(sender.bought) < len(REQUESTS)
    filler.unlink()
    monkeypatch.setenv("EVERGREEN_FREE_SPACE", "1 MB")
    outcomes = asyncio.run(ask_all(disk, sender))
    assert [outcome.value for outcome in outcomes] == ["yes"] * len(REQUESTS)
    assert len(sender.bought) == len(set(sender.bought)) == len(REQUESTS)


def test_a_disk_with_less_than_the_default_reserve_buys_nothing(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVERGREEN_FREE_SPACE", raising=False)
    sender = CountingSender()
    errors = asyncio.run(ask_all(disk, sender))
    assert sender.bought == []
    assert all(isinstance(error, WarehouseError) for error in errors)
    assert "needs 500 MB, of which 500 MB stay free" in str(errors[0])
