"""What stays free on a disk, and which errors say that it is full."""

import errno
import shutil
import sqlite3
from collections import namedtuple
from pathlib import Path

import duckdb
import pytest

from tasks.files.room import DiskRoom, InvalidReserve, find_full_disk, load_reserve

Usage = namedtuple("Usage", "total used free")


def leave_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(free, 0, free))


@pytest.mark.parametrize(
    ("setting", "n_bytes"),
    [("", 500_000_000), ("0", 0), ("300 kB", 300_000), ("300kB", 300_000), ("2 GB", 2_000_000_000)],
)
def test_the_reserve_is_a_setting(
    monkeypatch: pytest.MonkeyPatch, setting: str, n_bytes: int
) -> None:
    monkeypatch.setenv("EVERGREEN_FREE_SPACE", setting)
    assert load_reserve() == n_bytes


@pytest.mark.parametrize("setting", ["much", "-1", "nan"])
def test_a_reserve_that_is_no_amount_is_named(
    monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv("EVERGREEN_FREE_SPACE", setting)
    with pytest.raises(InvalidReserve, match="EVERGREEN_FREE_SPACE"):
        load_reserve()


def test_a_shortage_names_the_disk_what_is_free_and_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = DiskRoom([tmp_path / "not" / "yet"], reserve=300_000)
    leave_free(monkeypatch, 350_000)
    assert room.find_shortage(50_000) is None
    found = room.find_shortage(50_001)
    assert found is not None
    assert f"{tmp_path} has 350 kB free and needs 350 kB, of which 300 kB stay free" in found


def wrapped(error: Exception, *, hidden: bool) -> Exception:
    try:
        try:
            raise error
        except Exception as cause:
            raise RuntimeError("a report could not be kept") from None if hidden else cause
    except RuntimeError as outer:
        return outer


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EFBIG, "File too large"),
        duckdb.IOException("Could not write file: No space left on device"),
        sqlite3.OperationalError("database or disk is full"),
    ],
    ids=str,
)
def test_a_full_disk_is_found_in_whatever_was_made_of_it(error: Exception) -> None:
    assert find_full_disk(error)
    assert find_full_disk(wrapped(error, hidden=False))
    assert find_full_disk(wrapped(error, hidden=True))
    assert find_full_disk(ExceptionGroup("several", [ValueError(), wrapped(error, hidden=True)]))


def test_what_a_server_says_of_its_own_disk_is_not_ours() -> None:
    assert find_full_disk(RuntimeError("HTTP 500: No space left on device")) is None
    assert find_full_disk(OSError(errno.EACCES, "Permission denied")) is None
