"""Committed writes that are missing are counted and told, until they are restored or given up."""

import asyncio
import logging
import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from tasks.backup.creation import create_backup
from tasks.doctor.warehouse import open_and_check
from tasks.models.errors import StopStage
from tasks.run import make_budget
from tasks.warehouse.compaction import compact_warehouse
from tasks.warehouse.location import parse_location
from tasks.warehouse.operations import KnownBackup
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.rows import Edition, utc_now
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.write_counter import WriteCount, WriteCounter, count_path
from tasks.warehouse.writer import Change
from tests.tasks.backed_up import restored
from tests.tasks.warehouse.test_store import take_back_to_the_oldest_schema

pytestmark = pytest.mark.file_only
N_WRITES = 8


def opened_anew(path: Path) -> AbstractContextManager[Warehouse]:
    """A new warehouse, opened for the second time: the id of the tests' copies is in the log."""
    with open_warehouse(path):
        pass
    return open_warehouse(path)


def write(store: Warehouse, name: str) -> None:
    store.write(Change(Edition, [Edition(edition=name, source="test")]))


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def as_if_killed(path: Path, to: Path) -> Path:
    """A copy of an open warehouse's files: what is left of it when its process is killed."""
    to.mkdir()
    for file in (path, log_of(path), count_path(path)):
        if file.exists():
            shutil.copy(file, to)
    return to / path.name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A warehouse whose process was killed with all its writes in the log, and where each ends."""
    folder, ends = tmp_path_factory.mktemp("recorded"), []
    with opened_anew(folder / "w.duckdb") as store:
        for n in range(N_WRITES):
            write(store, f"e{n}")
            ends.append(log_of(folder / "w.duckdb").stat().st_size)
        return as_if_killed(folder / "w.duckdb", folder / "killed"), ends


@pytest.fixture
def killed(recorded: tuple[Path, list[int]], tmp_path: Path) -> Path:
    return as_if_killed(recorded[0], tmp_path / "killed")


def lost(path: Path, opened: Any = open_for_reading) -> str | None:
    with opened(path) as source:
        found: str | None = source.lost
        return found


def lost_without_log(path: Path) -> str:
    log_of(path).unlink()
    return str(lost(path))


def said(n: int) -> str:
    return f": {n} committed writes are missing, the last of "


@pytest.mark.parametrize("opened", [open_for_reading, open_warehouse])
@pytest.mark.parametrize(
    ("kept", "missing"),
    [("none", 8), ("empty", 8), ("five and a half", 3), ("five", 3), ("all but a byte", 1)],
)
def test_a_log_that_is_cut_or_missing_is_told(
    killed: Path, recorded: tuple[Path, list[int]], kept: str, missing: int, opened: Any
) -> None:
    ends = recorded[1]
    sizes = {"empty": 0, "five": ends[4], "five and a half": (ends[4] + ends[5]) // 2}
    if kept == "none":
        log_of(killed).unlink()
    else:
        os.truncate(log_of(killed), sizes.get(kept, log_of(killed).stat().st_size - 1))
    text = lost(killed, opened)
    assert text
    assert said(missing) in text
    assert "w.duckdb.wal, was cut or removed" in text
    assert "none is known: `evergreen backup restore FOLDER --replace" in text
    assert f"remove {count_path(killed)}" in text


def test_an_older_copy_in_the_place_of_the_file_is_told(path: Path, tmp_path: Path) -> None:
    with open_warehouse(path) as store:
        write(store, "e")
    older = shutil.copy(path, tmp_path / "older.duckdb")
    with open_warehouse(path) as store:
        write(store, "f")
        write(store, "g")
    shutil.copy(older, path)
    assert said(2) in str(lost(path))


def test_every_opening_tells_it_until_somebody_gives_them_up(
    killed: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("evergreen"), "filters", [])  # those of a command
    log_of(killed).unlink()
    caplog.clear()
    with open_warehouse(killed) as store:
        first = store.lost
        write(store, "later")
    assert lost(killed) == lost(killed, open_warehouse) == first
    assert [record.getMessage() for record in caplog.records] == [first] * 3
    count_path(killed).unlink()
    with open_warehouse(killed) as store:
        assert store.lost is None
        write(store, "again")
    assert lost(killed) is None


def test_what_is_lost_later_is_added(killed: Path, tmp_path: Path) -> None:
    log_of(killed).unlink()
    with open_warehouse(killed) as store:
        write(store, "f")
        write(store, "g")
        again = as_if_killed(killed, tmp_path / "again")
    assert said(N_WRITES + 2) in lost_without_log(again)


def test_changes_that_share_a_commit_count_each(path: Path, tmp_path: Path) -> None:
    with opened_anew(path) as store:
        changes = [Change(Edition, [Edition(edition=f"e{n}", source="test")]) for n in range(5)]
        commits = [store._writer.submit([change]) for change in changes]
        for commit in commits:
            commit.result()
        killed = as_if_killed(path, tmp_path / "killed")
    assert said(5) in lost_without_log(killed)


def test_no_moment_to_die_raises_an_alarm(path: Path, tmp_path: Path) -> None:
    """Between a commit and its count beside it, the count is that of the write before."""
    with open_warehouse(path) as store:
        before = b""
        for n in range(2):
            write(store, f"e{n}")
            whole = as_if_killed(path, tmp_path / f"{n} counted")
            uncounted = as_if_killed(path, tmp_path / f"{n} committed")
            count_path(uncounted).write_bytes(before)
            before = count_path(path).read_bytes()
            assert lost(whole) is lost(whole, open_warehouse) is None
            assert lost(uncounted) is lost(uncounted, open_warehouse) is None
    assert lost(path) is None


@pytest.mark.parametrize(
    "content",
    [
        None, b"", b"\xff", b"[]", b'{"warehouse_id": 1}', b'{"warehouse_id": "ID", "writes": "x"}',
        b'{"warehouse_id": "ID", "writes": 1, "missing": -3}', b"{" * 20_000, "folder", "pipe",
        "of another",
    ],
)  # fmt: skip
def test_without_a_count_of_this_warehouse_nothing_is_said(
    killed: Path, tmp_path: Path, content: bytes | str | None
) -> None:
    log_of(killed).unlink()
    beside = count_path(killed)
    mine = beside.read_bytes()
    beside.unlink()
    if content == "folder":
        beside.mkdir()
    elif content == "pipe":
        os.mkfifo(beside)
    elif content == "of another":
        beside.write_bytes(mine.replace(b'"warehouse_id":"', b'"warehouse_id":"0'))
    elif content is not None:
        assert isinstance(content, bytes)
        beside.write_bytes(content)
    assert lost(killed) is None
    with open_warehouse(killed) as store:
        assert store.lost is None
        write(store, "later")
    assert lost(killed) is None


def test_a_count_that_cannot_be_kept_fails_no_write(path: Path, tmp_path: Path) -> None:
    with opened_anew(path) as store:
        write(store, "e")
        count_path(path).with_suffix(".new").mkdir()  # as on a full disk: it cannot be made
        write(store, "f")
        assert store.value("SELECT count(*) FROM editions") == 2
        killed = as_if_killed(path, tmp_path / "killed")
    assert lost(killed) is None
    assert said(1) in lost_without_log(killed)


def test_a_commit_that_fails_is_not_counted(killed: Path) -> None:
    class FullDisk(NamedTuple):
        connection: duckdb.DuckDBPyConnection

        def execute(self, sql: str, parameters: object = None) -> Any:
            if sql == "COMMIT":
                raise duckdb.TransactionException("Failed to commit: No space left on device")
            return self.connection.execute(sql, parameters)

    with duckdb.connect(str(killed)) as connection:
        counter, before = WriteCounter(killed, connection), count_path(killed).read_text()
        connection.execute("BEGIN")
        with pytest.raises(duckdb.TransactionException):
            counter.commit(FullDisk(connection), 1)  # type: ignore[arg-type]
        connection.execute("ROLLBACK")
        assert count_path(killed).read_text() == before
        connection.execute("BEGIN")
        counter.commit(connection, 1)
    assert lost(killed) is None
    assert WriteCount.model_validate_json(count_path(killed).read_text()).writes == N_WRITES + 1


def test_a_count_is_written_through_no_link(tmp_path: Path) -> None:
    path, other = tmp_path / "w.duckdb", tmp_path / "other"
    other.write_text("mine")
    count_path(path).symlink_to(other)
    count_path(path).with_suffix(".new").symlink_to(other)
    with open_warehouse(path) as store:
        write(store, "e")
    assert other.read_text() == "mine"


def test_an_older_warehouse_begins_to_count(path: Path, tmp_path: Path) -> None:
    with open_warehouse(path) as store:
        write(store, "e")
    take_back_to_the_oldest_schema(path)
    count_path(path).unlink()
    with open_warehouse(path) as store:
        assert store.lost is None
        write(store, "f")
        killed = as_if_killed(path, tmp_path / "killed")
    assert lost(path) is None
    assert lost(killed) is None


def test_compaction_keeps_the_count(path: Path, tmp_path: Path) -> None:
    with open_warehouse(path) as store:
        write(store, "e")
    compact_warehouse(path)
    with open_warehouse(path) as store:
        write(store, "f")
        killed = as_if_killed(path, tmp_path / "killed")
    assert lost(path) is None
    assert said(1) in lost_without_log(killed)


def backup_in(place: str) -> KnownBackup:
    return KnownBackup(began_at=utc_now(), place=place)


class TestBackups:
    @pytest.fixture
    def backed_up(self, path: Path, tmp_path: Path) -> Path:
        """A warehouse that knows its backups, with three writes after the last of them."""
        with open_warehouse(path) as store:
            write(store, "e")
        create_backup(path, tmp_path / "b")
        with open_warehouse(path) as store:
            for place in ("first", "second"):
                store.write(Change(KnownBackup, [backup_in(f"/srv/{place}")]))
        with open_warehouse(path) as store:
            for n in range(3):
                write(store, f"f{n}")
            killed = as_if_killed(path, tmp_path / "killed")
        log_of(killed).unlink()
        return killed

    def test_the_newest_that_was_made_is_named(self, backed_up: Path) -> None:
        assert "`evergreen backup restore /srv/second --replace" in str(lost(backed_up))

    def test_one_made_after_the_loss_is_not(self, backed_up: Path) -> None:
        with open_warehouse(backed_up) as store:
            store.write(Change(KnownBackup, [backup_in("/srv/late")]))
        assert "restore /srv/second" in str(lost(backed_up))

    def test_a_restored_warehouse_begins_anew(self, backed_up: Path, tmp_path: Path) -> None:
        restored(tmp_path / "b", backed_up, replace=True)
        assert lost(backed_up) is None
        with open_warehouse(backed_up) as store:
            assert store.lost is None
            write(store, "later")
        assert lost(backed_up) is None


def test_nothing_is_bought_until_somebody_decides(killed: Path) -> None:
    log_of(killed).unlink()
    with open_warehouse(killed) as store:
        with pytest.raises(StopStage, match="are missing"):
            asyncio.run(make_budget(store, None).reserve(0.0))
        with pytest.raises(StopStage, match="are missing"):
            asyncio.run(make_budget(store, None).reserve(1.0))
    count_path(killed).unlink()
    with open_warehouse(killed) as store:
        asyncio.run(make_budget(store, None).reserve(1.0))


def test_the_doctor_tells_it(killed: Path) -> None:
    with open_and_check(parse_location(killed)) as (_, found):
        assert "writes" not in {each.check for each in found}
    log_of(killed).unlink()
    with open_and_check(parse_location(killed)) as (_, found):
        [told] = [each for each in found if each.check == "writes"]
    assert told.status == "fail"
    assert said(N_WRITES) in told.finding
