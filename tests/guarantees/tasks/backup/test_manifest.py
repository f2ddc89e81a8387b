"""A backup is whole or none; what is restored from it equals what there was."""

import json
import shutil
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from tasks.backup.creation import create_backup
from tasks.backup.manifest import BackupError, find_backups
from tasks.files.checksums import SUMS, parse_sums
from tasks.warehouse.errors import DamagedWarehouse, WarehouseBusy, WarehouseError
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.location import DuckDBFile, parse_location
from tasks.warehouse.schema import SCHEMA_VERSION
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.tables import TABLES
from tests.tasks.backed_up import (
    N_ROWS,
    checked,
    contents,
    filled,
    keep_page,
    list_again,
    restored,
)

pytestmark = pytest.mark.file_only


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Never changed; to be copied or only read."""
    return Path(str(filled(tmp_path_factory.mktemp("original") / "warehouse.duckdb")))


@pytest.fixture(scope="module")
def tar(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it, never changed either."""
    return create_backup(original, tmp_path_factory.mktemp("tar") / "b.tar").place


@pytest.fixture
def warehouse(original: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    shutil.copytree(original.parent, tmp_path / "own")
    return tmp_path / "own" / original.name


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_a_restored_warehouse_equals_the_one_that_was_backed_up(
    original: Path, tmp_path: Path, name: str
) -> None:
    before = contents(original)
    assert all(len(before[model.table]) >= N_ROWS for model in TABLES)
    made = create_backup(original, tmp_path / name)
    assert made.copied == {"pages": 1, "files": 1}
    result = restored(tmp_path / name, tmp_path / "new" / "other.duckdb")
    assert (result.kept_aside, result.copied) == (None, {"pages": 1, "files": 1})
    assert contents(tmp_path / "new" / "other.duckdb") == before


def test_the_manifest_says_what_is_in_it(original: Path, backups: Path) -> None:
    made = create_backup(original, backups)
    manifest = checked(backups)
    assert manifest == made.manifest
    with open_warehouse(original) as store:
        assert manifest.warehouse_id == store.id
    assert manifest.schema_version == SCHEMA_VERSION
    assert manifest.tables["facts"].rows == N_ROWS
    assert manifest.tables["editions"].rows == N_ROWS + 1
    assert set(manifest.tables) == {"warehouse_info", *(model.table for model in TABLES)}
    assert manifest.created_at.utcoffset().total_seconds() == 0  # type: ignore[union-attr]
    on_disk = sum(p.stat().st_size for p in backups.rglob("*") if p.is_file())
    described = sum((made.place / name).stat().st_size for name in ("manifest.json", SUMS))
    assert manifest.bytes == on_disk - described


def test_the_list_of_checksums_may_be_signed_and_everything_but_it_is_listed(
    original: Path, backups: Path
) -> None:
    place = create_backup(original, backups).place
    listed = parse_sums((place / SUMS).read_bytes())
    there = sorted(path for path in place.rglob("*") if path.is_file() and path.name != SUMS)
    assert listed == {
        str(path.relative_to(place)): sha256(path.read_bytes()).hexdigest() for path in there
    }
    (place / f"{SUMS}.minisig").write_text("a signature")
    checked(backups)
    manifest = place / "manifest.json"
    manifest.write_text(manifest.read_text().replace("warehouse.duckdb", "w.duckdb"))
    with pytest.raises(BackupError, match=r"manifest\.json was changed after the backup"):
        checked(backups)


def test_a_second_backup_copies_only_what_is_new(warehouse: Path, backups: Path) -> None:
    first = create_backup(warehouse, backups)
    with open_warehouse(warehouse) as store:
        keep_page(store, "https://example.org/2", b"Another page.")
    second = create_backup(warehouse, backups)
    assert (first.copied, second.copied) == ({"pages": 1, "files": 1}, {"pages": 1, "files": 0})
    assert find_backups(backups) == [first.place, second.place]
    assert checked(backups) == second.manifest
    assert checked(first.place) == first.manifest


def test_bytes_that_a_failing_machine_cut_off_are_copied_again(
    warehouse: Path, backups: Path
) -> None:
    create_backup(warehouse, backups)
    (page,) = (backups / "pages").rglob("*.gz")
    page.write_bytes(page.read_bytes()[:10])
    assert create_backup(warehouse, backups).copied == {"pages": 1, "files": 0}
    checked(backups)


def test_of_older_backups_only_so_many_stay(warehouse: Path, backups: Path) -> None:
    made = [create_backup(warehouse, backups).place for _ in range(2)]
    last = create_backup(warehouse, backups, keep=2)
    assert last.removed == made[:1]
    assert find_backups(backups) == [made[1], last.place]
    assert sorted(p.name for p in backups.iterdir()) == [
        ".lock", made[1].name, last.place.name, "files", "pages",
    ]  # fmt: skip
    with pytest.raises(BackupError, match="one file"):
        create_backup(warehouse, backups / "b.tar", keep=2)


def test_a_folder_holds_the_backups_of_one_warehouse(warehouse: Path, backups: Path) -> None:
    create_backup(warehouse, backups)
    other = backups.parent / "other.duckdb"
    with open_warehouse(other):
        pass
    with pytest.raises(BackupError, match="holds backups of another warehouse"):
        create_backup(other, backups)


def test_a_file_is_never_written_over(warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    create_backup(warehouse, file)
    before = file.read_bytes()
    with pytest.raises(BackupError, match="never overwritten"):
        create_backup(warehouse, file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_whatever_is_damaged_is_named_and_nothing_is_restored(
    original: Path, tmp_path: Path, name: str
) -> None:
    whole = tmp_path / name
    create_backup(original, whole)
    parts = ["tables/facts.parquet", "pages.txt", "pages/", "files/"]
    for part in parts:
        broken = tmp_path / f"broken-{name}"
        damaged(whole, broken, part)
        to = tmp_path / "new.duckdb"
        with pytest.raises(BackupError, match=part) as refused:
            restored(broken, to)
        assert "was changed after the backup" in str(refused.value)
        assert not to.exists()
        shutil.rmtree(broken) if broken.is_dir() else broken.unlink()


def damaged(whole: Path, broken: Path, part: str) -> None:
    """A copy with one bit turned in the middle of the first file whose name begins so."""
    if whole.is_dir():
        shutil.copytree(whole, broken)
        paths = [p for p in broken.rglob("*") if p.is_file()]
        (path, *_) = (p for p in paths if part in str(p.relative_to(broken)))
        offset, size = 0, path.stat().st_size
    else:
        path = Path(shutil.copy(whole, broken))
        with tarfile.open(path) as tar:
            member = next(m for m in tar if m.name.startswith(part))
        offset, size = member.offset_data, member.size
    content = bytearray(path.read_bytes())
    content[offset + size // 2] ^= 1
    path.write_bytes(content)


def test_what_is_missing_or_cut_off_is_named(original: Path, tmp_path: Path) -> None:
    place = create_backup(original, tmp_path / "backups").place
    (place / "tables" / "claims.parquet").unlink()
    with pytest.raises(BackupError, match=r"claims\.parquet .* is missing"):
        checked(place)
    create_backup(original, tmp_path / "b.tar")
    cut = tmp_path / "cut.tar"
    content = (tmp_path / "b.tar").read_bytes()
    for length in (0, 100, len(content) // 2):
        cut.write_bytes(content[:length])
        with pytest.raises(BackupError, match=r"cut\.tar"):
            checked(cut)


def test_what_is_no_backup_or_of_a_later_version_is_refused(original: Path, tmp_path: Path) -> None:
    for nothing in (tmp_path / "nowhere", tmp_path, Path(__file__)):
        with pytest.raises(BackupError, match="is no backup"):
            checked(nothing)
    made = create_backup(original, tmp_path / "backups")
    manifest = made.place / "manifest.json"
    as_it_was = manifest.read_text()
    for change, said in (
        ({"schema_version": 99}, "schema version 99; this Evergreen knows 12 to"),
        ({"format": 3}, "has format 3"),
        ({"format": 1, "tables": {"x; DROP": {}}}, "is not a backup manifest"),
    ):
        changed = {**made.manifest.model_dump(mode="json"), **change}
        manifest.write_text(json.dumps(changed))
        with pytest.raises(BackupError, match=said):
            restored(made.place, tmp_path / "new.duckdb")
    manifest.write_text(as_it_was)
    checked(made.place)


def test_nothing_is_made_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="there is no warehouse yet"):
        create_backup(tmp_path / "none.duckdb", tmp_path / "backups")
    assert not (tmp_path / "backups").exists()
    (tmp_path / "damaged.duckdb").write_bytes(b"no database" * 1000)
    with pytest.raises(DamagedWarehouse):
        create_backup(tmp_path / "damaged.duckdb", tmp_path / "backups")
    assert find_backups(tmp_path / "backups") == []


def test_the_warehouse_is_held_while_its_tables_are_written_and_no_longer(
    warehouse: Path, backups: Path
) -> None:
    held: dict[str, set[bool]] = {}

    def look(what: str, done: int, total: int) -> None:
        try:
            with lock_warehouse(warehouse, wait_seconds=0):
                held.setdefault(what, set()).add(False)
        except WarehouseBusy:
            held.setdefault(what, set()).add(True)

    create_backup(warehouse, backups, on_progress=look)
    assert held == {"tables": {True}, "pages": {False}, "files": {False}}


def test_a_place_that_cannot_be_written_is_named(original: Path) -> None:
    with pytest.raises(BackupError, match=r"/proc/backups: the backup could not be written"):
        create_backup(original, Path("/proc/backups"))


def test_no_name_in_a_backup_leads_out_of_the_warehouse(original: Path, tmp_path: Path) -> None:
    made = create_backup(original, tmp_path / "backups")
    name = "../../../../etc/passwd\n"
    listed = made.place / "files.txt"
    listed.write_text(name)
    with pytest.raises(BackupError, match=r"files\.txt was changed after the backup"):
        restored(made.place, tmp_path / "new.duckdb")
    list_again(made.place)
    with pytest.raises(BackupError, match=r"files\.txt is not a list"):
        restored(made.place, tmp_path / "new.duckdb")
    assert isinstance(parse_location(tmp_path / "new.duckdb"), DuckDBFile)
    assert [path.name for path in tmp_path.iterdir()] == ["backups"]
