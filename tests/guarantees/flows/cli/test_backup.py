"""`evergreen backup`, `restore` and `compact` in the hands of an operator."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.backup.manifest import find_backups
from tasks.warehouse.compaction import compact_warehouse
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.tasks.annotated import sample_warehouse
from tests.tasks.backed_up import contents, keep_page

pytestmark = pytest.mark.file_only


def without_backups(warehouse: Path) -> dict[str, Any]:
    """All that a warehouse holds but its backups, of which these commands make some, and the count
    of writes, which such a row raises."""
    found = contents(warehouse)
    info = [row[:-1] for row in found["warehouse_info"]]
    return found | {"backups": None, "warehouse_info": info}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    path = sample_warehouse(tmp_path)
    with open_warehouse(path) as store:
        keep_page(store, "https://example.org/", b"A page.")
    return path


def test_a_backup_is_made_verified_and_restored(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    code, said, remarks = evergreen("backup", "--to", backups, "--warehouse", warehouse)
    (made,) = find_backups(backups)
    assert code == 0
    assert said.startswith(f"{made}: ")
    counts = said.partition(": ")[2].partition("; of ")[0]
    assert ", 1 page, 0 files, " in counts
    assert "New in it: 1 page, 0 files." in remarks
    assert f"Next: evergreen backup verify {made}" in remarks

    code, said, _ = evergreen("backup", "verify", backups)
    assert (code, said.startswith(f"{made} is whole: ")) == (0, True)

    new = tmp_path / "new.duckdb"
    code, said, remarks = evergreen("backup", "restore", backups, "--warehouse", new)
    assert (code, said.startswith(f"{new} is restored from {made}: ")) == (0, True)
    assert "Restored: 1 page, 0 files" in remarks
    assert without_backups(new) == without_backups(warehouse)
    assert [place for _, place in contents(warehouse)["backups"]] == [str(backups)]
    assert [place for _, place in contents(new)["backups"]] == [str(made)]
    _, said, _ = evergreen("backup", "--to", tmp_path / "again", "--warehouse", new)
    rows = counts.partition(" (schema ")[0]
    assert f": {rows} (schema " in said, "what is restored counts as what was backed up"

    code, _, remarks = evergreen("backup", "restore", backups, "--warehouse", new)
    assert code == 1
    assert "use --replace" in remarks
    code, _, remarks = evergreen("backup", "restore", backups, "--replace", "--warehouse", new)
    assert code == 0
    assert f"Previous warehouse: {new}.replaced-" in remarks


def test_older_backups_make_room(evergreen: Evergreen, warehouse: Path, tmp_path: Path) -> None:
    common = ("backup", "--to", tmp_path / "backups", "--warehouse", warehouse)
    evergreen(*common)
    code, _, remarks = evergreen(*common, "--keep", "1")
    assert code == 0
    assert "New in it: 0 pages, 0 files." in remarks
    assert "Removed: " in remarks
    assert len(find_backups(tmp_path / "backups")) == 1


def test_as_json_it_is_the_manifest(evergreen: Evergreen, warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    _, said, _ = evergreen("backup", "--to", file, "--format", "json", "--warehouse", warehouse)
    made = json.loads(said)
    _, said, _ = evergreen("backup", "verify", file, "--format", "json")
    assert json.loads(said) == made
    to = ("--warehouse", tmp_path / "new.duckdb", "--format", "json")
    assert json.loads(evergreen("backup", "restore", file, *to)[1]) == made
    assert made["stores"]["pages"]["count"] == 1


def test_a_warehouse_that_has_lost_pages_is_told_with_exit_code_1(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    (page,) = (warehouse.parent / "pages").rglob("*.gz")
    page.unlink()
    file = tmp_path / "b.tar"
    code, said, remarks = evergreen("backup", "--to", file, "--warehouse", warehouse)
    assert code == 1
    assert str(file) in said, "what is there is backed up"
    assert "missing or damaged: 1; the backup" in remarks
    assert f"the backup does not have them: pages/{page.name[:2]}/{page.name}." in remarks
    assert evergreen("backup", "verify", file)[0] == 0


def test_a_damaged_backup_is_refused_naming_the_file(
    evergreen: Evergreen, warehouse: Path, tmp_path: Path
) -> None:
    evergreen("backup", "--to", tmp_path / "backups", "--warehouse", warehouse)
    (made,) = find_backups(tmp_path / "backups")
    file = made / "tables" / "facts.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    for command in (
        ("backup", "verify", made),
        ("backup", "restore", made, "--warehouse", tmp_path / "n"),
    ):
        code, said, remarks = evergreen(*command)
        assert (code, said) == (1, "")
        assert f"{file} was changed after the backup" in remarks


def test_a_backup_waits_for_who_owns_the_warehouse_and_says_for_whom(
    evergreen: Evergreen,
    warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = lock_warehouse(warehouse)
    held.__enter__()
    monkeypatch.setattr(
        "tasks.warehouse.file_lock.time.sleep", lambda seconds: held.__exit__(None, None, None)
    )
    code, _, remarks = evergreen("backup", "--to", tmp_path / "b.tar", "--warehouse", warehouse)
    assert code == 0
    assert "is in use by pid" in remarks


def test_compacting_a_file_says_its_size(evergreen: Evergreen, warehouse: Path) -> None:
    before = contents(warehouse)
    size = warehouse.stat().st_size
    code, said, _ = evergreen("compact", "--warehouse", warehouse)
    assert code == 0
    assert f"{size:,}" in said
    size = warehouse.stat().st_size
    code, said, _ = evergreen("compact", "--warehouse", warehouse, "--format", "json")
    assert json.loads(said)["before"]["bytes"] == size
    assert compact_warehouse(warehouse).after["bytes"] == warehouse.stat().st_size
    assert contents(warehouse) == before


def test_there_is_nothing_to_compact_where_no_warehouse_is(
    evergreen: Evergreen, tmp_path: Path
) -> None:
    code, _, remarks = evergreen("compact", "--warehouse", tmp_path / "none.duckdb")
    assert (code, "there is no warehouse yet" in remarks) == (1, True)
    assert not (tmp_path / "none.duckdb").exists()
