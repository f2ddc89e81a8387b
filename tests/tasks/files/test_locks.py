"""Locks where there are none: a sentence, whatever the file system answers."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tasks.doctor.machine import check_disk
from tasks.doctor.warehouse import open_and_check
from tasks.files.locks import UNSUPPORTED, NoFileLocks, check_locks, hold_lock
from tasks.warehouse.errors import LocklessWarehouse
from tasks.warehouse.location import parse_location
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.schema import connect
from tasks.warehouse.store import open_warehouse


@pytest.fixture(params=sorted(UNSUPPORTED), ids=lambda code: errno.errorcode[code])
def no_locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the file system answers."""

    def refuse(*_: Any) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)
    return os.strerror(request.param)


def test_a_lock_file_says_where_and_why(no_locks: str, tmp_path: Path) -> None:
    with pytest.raises(NoFileLocks) as raised, hold_lock(tmp_path / "lock"):
        pass
    assert str(tmp_path) in str(raised.value)
    assert no_locks in str(raised.value)
    assert "local disk" in str(raised.value)


@pytest.mark.parametrize("opened", [open_warehouse, open_for_reading])
def test_a_warehouse_says_what_to_do(opened: Any, no_locks: str, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    if opened is open_for_reading:
        connect(path).close()
    with pytest.raises(LocklessWarehouse) as raised, opened(path):
        pass
    assert str(raised.value) == (
        f"{tmp_path} is on a file system without file locks ({no_locks}), such as some network "
        "drives: nothing would keep two processes apart. Use a folder on a local disk "
        "(--warehouse; for Prefect's EVERGREEN_PREFECT_HOME)."
    )


@pytest.mark.parametrize(
    "said",
    [
        "No locks available. See also https://duckdb.org",
        "File locks are not supported for this file system, cannot open the file",
        "Function not implemented. See also https://duckdb.org",
    ],
)
def test_duckdbs_own_lock_may_lack_too(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"

    def refuse(*_: Any, **__: Any) -> None:
        raise duckdb.IOException(f'IO Error: Could not set lock on file "{path}": {said}')

    monkeypatch.setattr("tasks.warehouse.schema.duckdb.connect", refuse)
    with pytest.raises(LocklessWarehouse, match="local disk"):
        connect(path)


def test_another_trouble_with_a_lock_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(OSError, match="Input/output error"), hold_lock(tmp_path / "lock"):
        pass


def test_a_folder_is_tried_and_left_as_it_is(tmp_path: Path) -> None:
    check_locks(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_locks_fails_the_trial(no_locks: str, tmp_path: Path) -> None:
    with pytest.raises(NoFileLocks, match="without file locks"):
        check_locks(tmp_path)


def test_the_doctor_says_it_of_a_warehouse_that_is_there_and_of_one_that_is_not(
    no_locks: str, tmp_path: Path
) -> None:
    path = parse_location(tmp_path / "w.duckdb")
    assert [each.status for each in check_disk(path, []) if "file locks" in each.finding] == [
        "fail"
    ]
    connect(tmp_path / "w.duckdb").close()
    with open_and_check(path) as (source, (*_, opens)):
        assert source is None
    assert (opens.check, opens.status) == ("opens", "fail")
    assert no_locks in opens.finding
