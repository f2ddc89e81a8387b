"""A warehouse in a folder that cannot be written to: it is read."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.backup.creation import create_backup
from tasks.doctor.machine import check_disk
from tasks.warehouse.compaction import compact_warehouse
from tasks.warehouse.errors import UnwritableWarehouse, WarehouseBusy
from tasks.warehouse.file_lock import lock_path, lock_warehouse
from tasks.warehouse.location import parse_location
from tasks.warehouse.reader import open_for_reading, run_query
from tasks.warehouse.rows import Edition
from tasks.warehouse.schema import connect
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.processes.tasks.warehouse.test_other_programs import opened, program
from tests.read_only import read_only

pytestmark = pytest.mark.file_only

ONE = "SELECT edition FROM editions"


@pytest.fixture(params=[True, False], ids=["lock file", "no lock file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "shelf" / "w.duckdb"
    with open_warehouse(path) as store:
        store.write(Change(Edition, [Edition(edition="e", source="test")]))
        export_edition(store, "e")
    if not request.param:
        lock_path(path).unlink()
    return path


def test_it_is_read_and_nothing_is_made(path: Path) -> None:
    before = sorted(path.parent.iterdir())
    with read_only(path.parent):
        frame, notice = run_query(path, ONE)
        assert (frame.to_dicts(), notice) == ([{"edition": "e"}], None)
    assert sorted(path.parent.iterdir()) == before


def test_what_a_killed_process_left_in_the_log_is_read(path: Path) -> None:
    code = (
        "import os, sys; from tasks.warehouse.rows import Edition;"
        "from tasks.warehouse.store import open_warehouse; "
        "from tasks.warehouse.writer import Change\n"
        "with open_warehouse(sys.argv[1]) as store:\n"
        "    store.write(Change(Edition, [Edition(edition='late', source='test')]))\n"
        "    os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.with_name("w.duckdb.wal").stat().st_size
    with read_only(path.parent):
        frame, _ = run_query(path, ONE + " ORDER BY 1")
    assert frame["edition"].to_list() == ["e", "late"]


def test_another_process_that_writes_to_it_elsewhere_is_told_from_duckdbs_own_lock(
    path: Path, tmp_path: Path
) -> None:
    """The same disk may be mounted a second time, to be written to."""
    with program(path) as process, read_only(path.parent), open_for_reading(path) as source:
        assert source.notice
        assert f"pid {process.pid}" in source.notice


def test_a_backup_of_it_can_be_made(path: Path, tmp_path: Path) -> None:
    with read_only(path.parent):
        assert create_backup(path, tmp_path / "backups").manifest.tables["editions"].rows == 1


@pytest.mark.parametrize("writer", [opened, compact_warehouse])
def test_who_would_write_is_told_to_choose_another_place(writer: Any, path: Path) -> None:
    with read_only(path.parent), pytest.raises(UnwritableWarehouse, match="--warehouse"):
        writer(path, on_wait=print)


def test_an_older_schema_is_told_to_be_copied(path: Path, tmp_path: Path) -> None:
    with connect(path) as connection:
        connection.execute("UPDATE warehouse_info SET schema_version = schema_version - 1")
    with (
        read_only(path.parent),
        pytest.raises(UnwritableWarehouse, match=r"older schema.*Copy it"),
        open_for_reading(path),
    ):
        pass


def test_a_lock_file_of_another_user_does_not_keep_readers_out(path: Path) -> None:
    lock_path(path).touch()
    with read_only(lock_path(path)), open_for_reading(path) as source:
        assert source.notice is None


def test_a_holder_that_cannot_describe_itself_holds_the_lock_nevertheless(path: Path) -> None:
    path.with_name("w.duckdb.holder.json").mkdir()
    with (
        lock_warehouse(path),
        pytest.raises(WarehouseBusy, match="another process"),
        lock_warehouse(path, wait_seconds=0),
    ):
        pass


def test_the_doctor_says_that_it_cannot_be_written_to(path: Path) -> None:
    with read_only(path.parent):
        (found, *_) = [each for each in check_disk(parse_location(path), []) if each.status != "ok"]
    assert (found.status, found.check) == ("warn", str(path.parent))
    assert "cannot be written to" in found.finding
