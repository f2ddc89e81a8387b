"""A warehouse that a notebook, DBeaver or DuckDB's shell has open: named, waited for, read."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import open_backup
from tasks.backup.restoration import restore_backup
from tasks.doctor.warehouse import open_and_check
from tasks.warehouse.compaction import compact_warehouse
from tasks.warehouse.errors import WarehouseBusy, WarehouseError
from tasks.warehouse.location import parse_location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.rows import Edition
from tasks.warehouse.schema import connect
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

pytestmark = pytest.mark.file_only

HOLDER = """
import sys, duckdb
held = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reads")
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A warehouse of one exported edition; its name looks like a part of DuckDB's message."""
    folder = tmp_path / 'Conflicting lock is held in a (PID 7), "b"'
    with open_warehouse(folder / "w.duckdb") as store:
        store.write(Change(Edition, [Edition(edition="e", source="test")]))
        export_edition(store, "e")
    return folder / "w.duckdb"


@contextmanager
def program(path: Path, how: str = "writes") -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), how],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        try:
            yield process
        finally:
            process.kill()


def test_readers_read_the_last_export_and_say_who_has_the_file(path: Path) -> None:
    with program(path) as process:
        with open_for_reading(path) as source:
            assert source.frame("SELECT edition FROM editions").to_dicts() == [{"edition": "e"}]
        assert source.notice
        assert f"{path} is in use by pid {process.pid} (" in source.notice
        assert "python" in source.notice
        with open_and_check(parse_location(path)) as (_, (owner, opens)):
            assert f"pid {process.pid}" in owner.finding
            assert opens.status == "skipped"
    with open_for_reading(path) as source:
        assert source.notice is None


def test_without_an_export_the_program_is_named(path: Path) -> None:
    (path.parent / "exports" / "w" / "e" / "latest").unlink()
    with (
        program(path) as process,
        pytest.raises(WarehouseError, match=rf"pid {process.pid}.*no snapshot") as raised,
        open_for_reading(path),
    ):
        pass
    assert "restore" not in str(raised.value)


def test_a_program_that_only_reads_is_no_obstacle_for_readers(path: Path) -> None:
    with program(path, "reads"), open_for_reading(path) as source:
        assert source.notice is None


def opened(path: Path, *, on_wait: Callable[[str], None]) -> None:
    with open_warehouse(path, on_wait=on_wait):
        pass


def restored(place: Path, path: Path, on_wait: Callable[[str], None]) -> None:
    with open_backup(place) as backup:
        restore_backup(backup, path, replace=True, on_wait=on_wait)


WRITERS: dict[str, Any] = {
    "open": lambda path, tmp, on_wait: opened(path, on_wait=on_wait),
    "compact": lambda path, tmp, on_wait: compact_warehouse(path, on_wait=on_wait),
    "backup": lambda path, tmp, on_wait: create_backup(path, tmp / "more", on_wait=on_wait),
    "restore": lambda path, tmp, on_wait: restored(tmp / "backups", path, on_wait),
}


@pytest.mark.parametrize(
    ("writer", "how"),
    [*((writer, "writes") for writer in WRITERS), ("open", "reads"), ("compact", "reads")],
)
def test_who_needs_the_file_waits_and_says_for_whom(
    writer: str, how: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_backup(path, tmp_path / "backups")
    said: list[str] = []
    with program(path, how) as process:

        def end(_: float) -> None:
            process.kill()
            process.wait()

        monkeypatch.setattr("tasks.warehouse.file_lock.time.sleep", end)
        WRITERS[writer](path, tmp_path, said.append)
    assert len(said) == 1
    assert said[0].startswith(f"{path} is in use by pid {process.pid} (")
    assert said[0].endswith("; waiting for it to finish.")


def test_who_does_not_wait_is_told_and_nobody_is_sent_to_a_backup(
    path: Path, tmp_path: Path
) -> None:
    with (
        program(path) as process,
        pytest.raises(WarehouseBusy) as raised,
        open_warehouse(path, wait_seconds=0),
    ):
        pass
    assert f"pid {process.pid}" in str(raised.value)
    assert "restore" not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Conflicting lock is held in PID 0. See also", "another process, perhaps on another host"),
        ("Conflicting lock is held in PID -12. See also", "another process, perhaps on another"),
        ("Conflicting lock is held in PID 12 by user ann. See", "pid 12,"),
        ("Conflicting lock is held in /opt/my db/duck (2) (PID 9) by user ann. See also",
         "pid 9 (/opt/my db/duck (2)),"),
        ("Conflicting lock is held in /a\x1b[31m (PID 9). See also", "pid 9 (/a⟨U+001B⟩[31m),"),
        ("Lock is already held in current process, likely another DuckDB instance",
         "another DuckDB connection of this process,"),
    ],
)  # fmt: skip
def test_every_holder_has_a_name(
    said: str, expected: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise duckdb.IOException(f'IO Error: Could not set lock on file "{path}": {said}')

    monkeypatch.setattr("tasks.warehouse.schema.duckdb.connect", refuse)
    with pytest.raises(WarehouseBusy) as raised:
        connect(path)
    assert raised.value.line.startswith(f"{path} is in use by {expected}")


@pytest.mark.parametrize("attached", [True, False])
def test_a_notebook_that_has_the_file_open_itself_reads_the_last_export(
    path: Path, attached: bool
) -> None:
    with duckdb.connect() if attached else duckdb.connect(str(path)) as connection:
        if attached:
            connection.execute(f"ATTACH '{path}' AS mine")
        with open_for_reading(path) as source:
            assert source.notice
            assert "another DuckDB connection of this process" in source.notice


def test_the_doctor_makes_no_lock_file_beside_what_is_no_warehouse(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("# Read me\n")
    with open_and_check(parse_location(tmp_path / "notes.txt")) as (source, (_, opens)):
        assert (source, opens.status) == (None, "fail")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
