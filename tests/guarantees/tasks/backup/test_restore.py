"""What is restored takes the place of what is there, or leaves it."""

import json
import shutil
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition, load_latest_manifests
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.guarantees.tasks.backup.test_manifest import backups, original, tar, warehouse
from tests.tasks.backed_up import N_ROWS, checked, contents, keep_file, restored

__all__ = ["backups", "original", "tar", "warehouse"]
pytestmark = pytest.mark.file_only


def test_a_warehouse_that_is_there_stays_unless_it_is_to_be_replaced(
    original: Path, warehouse: Path, tar: Path
) -> None:
    with open_warehouse(warehouse) as store:
        store.write(Change(Edition, [Edition(edition="later", source="test")]))
    later = contents(warehouse)
    with pytest.raises(BackupError, match=r"holds a warehouse .*--replace"):
        restored(tar, warehouse)
    assert contents(warehouse) == later
    result = restored(tar, warehouse, replace=True)
    assert contents(warehouse) == contents(original)
    assert result.kept_aside
    aside = shutil.copy(result.kept_aside, warehouse.with_name("warehouse2.duckdb"))
    with open_warehouse(aside) as store:
        assert store.value("SELECT count(*) FROM editions WHERE edition = 'later'") == 1


def test_an_empty_warehouse_may_be_restored_into(tar: Path, tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "new.duckdb"):
        pass
    restored(tar, tmp_path / "new.duckdb")
    with open_warehouse(tmp_path / "new.duckdb") as store:
        assert store.value("SELECT count(*) FROM facts") == N_ROWS


def test_a_damaged_file_is_replaced_with_what_it_had_not_yet_written(
    original: Path, warehouse: Path, tar: Path
) -> None:
    warehouse.write_bytes(b"no database" * 1000)
    log = warehouse.with_name("warehouse.duckdb.wal")
    log.write_bytes(b"what it had not yet written")
    with pytest.raises(BackupError, match=r"not a readable warehouse .*--replace"):
        restored(tar, warehouse)
    result = restored(tar, warehouse, replace=True)
    assert contents(warehouse) == contents(original)
    assert result.kept_aside
    assert result.kept_aside.read_bytes().startswith(b"no database")
    assert result.kept_aside.with_name(f"{result.kept_aside.name}.wal").exists()


def test_pages_that_are_lost_or_changed_come_back(
    original: Path, warehouse: Path, tar: Path
) -> None:
    (page,) = (warehouse.parent / "pages").rglob("*.gz")
    (file,) = (p for p in (warehouse.parent / "files").rglob("*") if p.is_file())
    page.unlink()
    file.write_bytes(b"x" * file.stat().st_size)
    result = restored(tar, warehouse, replace=True)
    assert result.copied == {"pages": 1, "files": 1}
    assert contents(warehouse) == contents(original)


def test_what_the_warehouse_has_lost_is_listed_and_the_rest_backed_up(
    warehouse: Path, backups: Path, tmp_path: Path
) -> None:
    (page,) = (warehouse.parent / "pages").rglob("*.gz")
    page.write_bytes(b"not what it was")
    with open_warehouse(warehouse) as store:
        gone = keep_file(store, "b", b"a file to be lost")
    (warehouse.parent / "files" / "warehouse" / gone[:2] / gone).unlink()
    made = create_backup(warehouse, backups)
    sha = page.name.removesuffix(".gz")
    assert made.manifest.missing == (f"pages/{sha[:2]}/{page.name}", f"files/{gone[:2]}/{gone}")
    assert made.copied == {"pages": 0, "files": 1}
    checked(backups)
    restored(backups, tmp_path / "new.duckdb")


def test_exports_are_made_anew(warehouse: Path, tmp_path: Path) -> None:
    with open_warehouse(warehouse) as store:
        export_edition(store, "kept")
        facts = store.value("SELECT count(*) FROM editions WHERE edition = 'kept'")
    create_backup(warehouse, tmp_path / "b.tar")
    new = tmp_path / "new.duckdb"
    restored(tmp_path / "b.tar", new)
    ((_, manifest),) = load_latest_manifests(new)
    assert (manifest.edition, manifest.rows["editions"]) == ("kept", facts)


def test_a_backup_of_an_older_schema_is_refused(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb"):
        pass
    create_backup(tmp_path / "w.duckdb", tmp_path / "backups")
    [manifest] = (tmp_path / "backups").rglob("manifest.json")
    older = json.loads(manifest.read_text("utf-8")) | {"schema_version": 7}
    manifest.write_text(json.dumps(older), "utf-8")
    with pytest.raises(BackupError, match="schema version 7; this Evergreen knows 12 to"):
        restored(tmp_path / "backups", tmp_path / "new.duckdb")
    assert not (tmp_path / "new.duckdb").exists()
