"""Backups that Evergreen made while it signed them itself, before there was `SHA256SUMS`.

The two in `before_checksums` were made by commit 5c1e4a41, of schema version 18: one in a folder
and signed, one in a file and not.
"""

import tarfile
from pathlib import Path

import pytest

from tasks.backup.manifest import MANIFEST, BackupError
from tasks.warehouse.contents import PageStore, pages_folder
from tasks.warehouse.store import open_warehouse
from tests.tasks.backed_up import checked, restored

pytestmark = pytest.mark.file_only
MADE = Path(__file__).with_name("before_checksums")


@pytest.fixture(params=["signed", "unsigned.tar"])
def backup(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name: str = request.param
    with tarfile.open(MADE / f"{name.removesuffix('.tar')}.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / name


def test_it_is_verified_and_restored(backup: Path, tmp_path: Path) -> None:
    manifest = checked(backup)
    assert (manifest.format, manifest.stores["pages"].count) == (1, 1)
    new = tmp_path / "new.duckdb"
    assert restored(backup, new).copied == {"pages": 1, "files": 1}
    with open_warehouse(new) as store:
        assert store.id == manifest.warehouse_id
        sha = store.value("SELECT sha FROM fetches")
    assert PageStore(pages_folder(new)).get(sha) == b"<p>A page.</p>"


@pytest.mark.parametrize("backup", ["signed"], indirect=True)
def test_a_change_is_found(backup: Path) -> None:
    [table] = backup.rglob("editions.parquet")
    table.write_bytes(table.read_bytes() + b" ")
    with pytest.raises(BackupError, match="was changed after the backup was made"):
        checked(backup)


@pytest.mark.parametrize("backup", ["signed"], indirect=True)
def test_its_signature_may_be_missing_and_nothing_else_be_there(backup: Path) -> None:
    [signature] = backup.rglob(f"{MANIFEST}.minisig")
    signature.rename(signature.with_name("x.minisig"))
    with pytest.raises(BackupError, match=r"x\.minisig is not listed"):
        checked(backup)
    signature.with_name("x.minisig").unlink()
    checked(backup)
