"""From a file into a lake and back, and out of a lake that others write to: nothing changes."""

import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pytest

from tasks.backup import restoration
from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError, open_backup
from tasks.backup.restoration import RestoredWarehouse, restore_backup
from tasks.backup.verification import verify
from tasks.warehouse.lake import lake_exists
from tasks.warehouse.lake_locks import LakeLocks
from tasks.warehouse.location import DuckLake, LocationLike
from tasks.warehouse.rows import Edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.tables import TABLES
from tasks.warehouse.writer import Change
from tests.lakes import NEEDS_POSTGRES, lake_at
from tests.rigs.postgres import RunningPostgres
from tests.tasks.backed_up import N_ROWS, ROOT, contents, filled, list_again

pytestmark = [*NEEDS_POSTGRES, pytest.mark.file_only]


@pytest.fixture
def lake(postgres: RunningPostgres, tmp_path: Path) -> DuckLake:
    return lake_at(postgres, tmp_path / "shared" / "lake")


def restored(backup: Path, to: LocationLike, *, replace: bool = False) -> RestoredWarehouse:
    with open_backup(backup) as found:
        return restore_backup(found, to, replace=replace)


def test_a_file_becomes_a_lake_and_the_lake_a_file_again(lake: DuckLake, tmp_path: Path) -> None:
    file = tmp_path / "warehouse.duckdb"
    filled(file)
    before = contents(file)
    create_backup(file, tmp_path / "first.tar")
    assert restored(tmp_path / "first.tar", lake).copied == {"pages": 1, "files": 1}
    assert contents(lake) == before
    create_backup(lake, tmp_path / "second")
    restored(tmp_path / "second", tmp_path / "again.duckdb")
    assert contents(tmp_path / "again.duckdb") == before

    with open_warehouse(lake) as store:
        store.write(Change(Edition, [Edition(edition="later", source="test")]))
    with pytest.raises(BackupError, match=r"holds a warehouse .*--replace\.$"):
        restored(tmp_path / "second", lake)
    restored(tmp_path / "second", lake, replace=True)
    assert contents(lake) == before


def test_a_lake_is_replaced_between_the_commits_of_others(lake: DuckLake, tmp_path: Path) -> None:
    with open_warehouse(lake) as store:
        identity = store.id
    create_backup(lake, tmp_path / "b.tar")
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with (
        closing(LakeLocks(lake, identity)) as other,
        psycopg.connect(lake.catalog, autocommit=True) as catalog,
        ThreadPoolExecutor() as pool,
    ):
        with other.commit_lock():
            restoring = pool.submit(restored, tmp_path / "b.tar", lake, replace=True)
            while catalog.execute(waiting).fetchone() == (0,):
                assert not restoring.done(), "it did not wait for its turn"
                time.sleep(0.05)
        assert restoring.result().copied == {"pages": 0, "files": 0}


def test_a_backup_holds_one_moment_of_a_lake_that_others_write_to(
    lake: DuckLake, tmp_path: Path
) -> None:
    filled(lake)
    program = textwrap.dedent("""
        import sys
        from tasks.warehouse.rows import Agent, Edition
        from tasks.warehouse.store import open_warehouse
        from tasks.warehouse.writer import Change
        with open_warehouse(sys.argv[1]) as warehouse:
            for n in range(10_000):  # always as many in the one table as in the other
                name = f"written {n}"
                warehouse.write(Change(Edition, [Edition(edition=name, source="test")]),
                                Change(Agent, [Agent(edition=name, agent="a", name="A")]))
                if n == 3:
                    print("begun", flush=True)
    """)
    writer = subprocess.Popen(
        [sys.executable, "-c", program, lake.url], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert writer.stdout
        assert writer.stdout.readline() == "begun\n"
        made = create_backup(lake, tmp_path / "backups")
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
    rows = made.manifest.tables
    assert rows["agents"].rows == N_ROWS + rows["editions"].rows - (N_ROWS + 1) > N_ROWS + 3
    with open_backup(tmp_path / "backups") as backup:
        verify(backup)
    restored(tmp_path / "backups", tmp_path / "new.duckdb")
    with open_warehouse(tmp_path / "new.duckdb") as store:
        for table, column in (("editions", "edition"), ("agents", "edition")):
            n = f"SELECT count(*) FROM {table} WHERE {column} LIKE 'written %'"
            assert store.value(n) == rows["editions"].rows - (N_ROWS + 1)


def test_a_restore_into_a_lake_that_is_killed_changes_none_of_its_tables(
    lake: DuckLake, tmp_path: Path
) -> None:
    file = tmp_path / "warehouse.duckdb"
    filled(file)
    create_backup(file, tmp_path / "b.tar")
    with open_warehouse(lake) as store:
        store.write(Change(Edition, [Edition(edition="there", source="test")]))
    before = contents(lake)
    code = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from tasks.backup.manifest import open_backup
        from tasks.backup.restoration import restore_backup
        def die(what, done, total):
            if what == "tables" and done == total - 1:
                os.kill(os.getpid(), signal.SIGKILL)
        with open_backup(Path(sys.argv[1])) as backup:
            restore_backup(backup, sys.argv[2], replace=True, on_progress=die)
    """)
    killed = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "b.tar"), lake.url], cwd=ROOT, check=False
    )
    assert killed.returncode == -9
    tables = [model.table for model in TABLES] + ["warehouse_info"]
    after = contents(lake)
    assert {name: after[name] for name in tables} == {name: before[name] for name in tables}
    restored(tmp_path / "b.tar", lake, replace=True)
    assert contents(lake) == contents(file)


def test_a_backup_that_a_lake_refuses_changes_nothing_of_it(
    lake: DuckLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "warehouse.duckdb"
    filled(file)
    dated = create_backup(file, tmp_path / "backups").place
    facts = dated / "tables" / "facts.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{facts}'; UPDATE t SET text = NULL")
        connection.execute(f"COPY t TO '{facts}'")
    list_again(dated)
    with pytest.raises(BackupError, match=r"facts\.parquet has nulls in text"):
        restored(dated, lake)
    assert not lake_exists(lake), "it was refused before anything was made"

    with open_warehouse(lake) as store:
        store.write(Change(Edition, [Edition(edition="there", source="test")]))
    tables = ["warehouse_info", *(model.table for model in TABLES)]
    before = contents(lake)
    monkeypatch.setattr(restoration, "verify", lambda *_: None)  # as if it had seen nothing
    with pytest.raises(BackupError, match=r"could not be restored \(.*NOT NULL"):
        restored(dated, lake, replace=True)
    after = contents(lake)
    assert {name: after[name] for name in tables} == {name: before[name] for name in tables}


def test_nothing_is_made_of_a_lake_that_is_not_there(lake: DuckLake, tmp_path: Path) -> None:
    assert not lake_exists(lake)
    with pytest.raises(Exception, match="there is no warehouse yet"):
        create_backup(lake, tmp_path / "backups")
    assert not lake_exists(lake), "looking for it has not made it"
