"""The writing thread: no wait withdraws a write, and nobody waits for a thread that has ended."""

import asyncio
import errno
from typing import Any

import duckdb
import pytest

from tasks.warehouse.errors import LostWarehouse, NoRoom, UnwritableWarehouse
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change, Writer, translate_error

COMMIT = "TransactionContext Error: Failed to commit: "
WAIT_SECONDS = 20.0
"""Only a thread that has ended makes a test wait so long."""


def change(name: str) -> Change:
    return Change(Edition, [Edition(edition=name, source="test")])


def test_a_cancelled_wait_withdraws_no_write_and_ends_no_writer(warehouse: Warehouse) -> None:
    async def cancel_some() -> None:
        writes = [asyncio.create_task(warehouse.write_async(change(f"{n}"))) for n in range(20)]
        await asyncio.sleep(0)
        for write in writes[::2]:
            write.cancel()
        await asyncio.gather(*writes, return_exceptions=True)
        await asyncio.wait_for(warehouse.write_async(change("last")), WAIT_SECONDS)

    asyncio.run(cancel_some())
    assert warehouse.value("SELECT count(*) FROM editions") == 21


def test_a_queued_write_cannot_be_withdrawn(warehouse: Warehouse) -> None:
    queued = warehouse._writer.submit([change("e")])
    assert not queued.cancel()
    assert queued.result(WAIT_SECONDS) is None
    assert warehouse.value("SELECT count(*) FROM editions") == 1


@pytest.mark.parametrize("error", [SystemExit("over"), MemoryError(), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["_gather", "_commit", "_execute"])
def test_a_writer_that_ends_fails_what_waits_and_what_comes(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException
) -> None:
    warehouse.write(change("before"))
    real = Writer._gather

    def end(writer: Writer, *of: Any) -> None:
        if place == "_gather":
            real(writer)  # it has taken some when it ends
        raise error

    monkeypatch.setattr(Writer, place, end)
    if place == "_gather":
        warehouse.write(change("taken before"))  # by the call that is waiting now
    waiting = [warehouse._writer.submit([change(f"{n}")]) for n in range(5)]
    for future in waiting:
        assert isinstance(future.exception(WAIT_SECONDS), LostWarehouse | MemoryError)
    if place == "_execute" and isinstance(error, MemoryError):
        return  # an error of these changes alone: the thread goes on
    later = warehouse._writer.submit([change("later")])
    assert isinstance(later.exception(WAIT_SECONDS), LostWarehouse)
    assert "Writing to the warehouse ended" in str(later.exception())
    warehouse.close()


@pytest.mark.parametrize(
    "error",
    [
        duckdb.TransactionException(f'{COMMIT}Could not write file "w": No space left on device'),
        duckdb.IOException('Could not write file "w": Disk quota exceeded'),
        duckdb.FatalException('Could not truncate file "w": File too large'),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
    ids=["commit", "quota", "size", "file"],
)
def test_a_full_disk_is_told_from_every_other_trouble(error: Exception) -> None:
    found = translate_error(error)
    assert isinstance(found, NoRoom)
    assert "run again" in str(found)


def test_a_log_that_cannot_be_written_is_no_conflict() -> None:
    broken = duckdb.TransactionException(f'{COMMIT}Could not fsync file "w": Input/output error')
    assert type(translate_error(broken)) is UnwritableWarehouse
    conflict = duckdb.TransactionException(f"{COMMIT}PRIMARY KEY or UNIQUE constraint violation")
    assert translate_error(conflict) is conflict
