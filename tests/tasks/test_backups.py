"""A backup is whole or none; what is restored from it equals what there was."""

import json
import shutil
import signal
import tarfile
import textwrap
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

from tasks.backing_up import back_up
from tasks.backups import BackupError, BackupManifest, dated_backups, opened_backup, verify
from tasks.restoring import Restored, restore
from tasks.warehouse.errors import DamagedWarehouse, WarehouseBusy, WarehouseError
from tasks.warehouse.location import DuckDBFile, location
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import migrate, migrations
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition, latest_manifests
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.tables import TABLES
from tasks.warehouse.writer import Change
from tests.tasks.backed_up import N_ROWS, contents, filled, in_a_process, keep_file, keep_page

pytestmark = pytest.mark.file_only


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Never changed; to be copied or only read."""
    return Path(str(filled(tmp_path_factory.mktemp("original") / "warehouse.duckdb")))


@pytest.fixture
def warehouse(original: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    shutil.copytree(original.parent, tmp_path / "own")
    return tmp_path / "own" / original.name


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def restored(backup: Path, to: Path, *, replace: bool = False) -> Restored:
    with opened_backup(backup) as found:
        return restore(found, to, replace=replace)


def checked(backup: Path) -> BackupManifest:
    with opened_backup(backup) as found:
        verify(found)
        return found.manifest


@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_a_restored_warehouse_equals_the_one_that_was_backed_up(
    original: Path, tmp_path: Path, name: str
) -> None:
    before = contents(original)
    assert all(len(before[model.table]) >= N_ROWS for model in TABLES)
    made = back_up(original, tmp_path / name)
    assert made.copied == {"pages": 1, "files": 1}
    result = restored(tmp_path / name, tmp_path / "new" / "other.duckdb")
    assert (result.kept_aside, result.copied) == (None, {"pages": 1, "files": 1})
    assert contents(tmp_path / "new" / "other.duckdb") == before


def test_the_manifest_says_what_is_in_it(original: Path, backups: Path) -> None:
    made = back_up(original, backups)
    manifest = checked(backups)
    assert manifest == made.manifest
    with open_warehouse(original) as store:
        assert manifest.warehouse_id == store.id
    assert manifest.schema_version == migrations()[-1][0]
    assert manifest.tables["facts"].rows == N_ROWS
    assert manifest.tables["editions"].rows == N_ROWS + 1
    assert set(manifest.tables) == {"warehouse_info", *(model.table for model in TABLES)}
    assert manifest.created_at.utcoffset().total_seconds() == 0  # type: ignore[union-attr]
    on_disk = sum(p.stat().st_size for p in backups.rglob("*") if p.is_file())
    assert manifest.bytes == on_disk - (made.place / "manifest.json").stat().st_size


def test_a_second_backup_copies_only_what_is_new(warehouse: Path, backups: Path) -> None:
    first = back_up(warehouse, backups)
    with open_warehouse(warehouse) as store:
        keep_page(store, "https://example.org/2", b"Another page.")
    second = back_up(warehouse, backups)
    assert (first.copied, second.copied) == ({"pages": 1, "files": 1}, {"pages": 1, "files": 0})
    assert dated_backups(backups) == [first.place, second.place]
    assert checked(backups) == second.manifest
    assert checked(first.place) == first.manifest


def test_bytes_that_a_failing_machine_cut_off_are_copied_again(
    warehouse: Path, backups: Path
) -> None:
    back_up(warehouse, backups)
    (page,) = (backups / "pages").rglob("*.gz")
    page.write_bytes(page.read_bytes()[:10])
    assert back_up(warehouse, backups).copied == {"pages": 1, "files": 0}
    checked(backups)


def test_of_older_backups_only_so_many_stay(warehouse: Path, backups: Path) -> None:
    made = [back_up(warehouse, backups).place for _ in range(2)]
    last = back_up(warehouse, backups, keep=2)
    assert last.removed == made[:1]
    assert dated_backups(backups) == [made[1], last.place]
    assert sorted(p.name for p in backups.iterdir()) == [
        ".lock", made[1].name, last.place.name, "files", "pages",
    ]  # fmt: skip
    with pytest.raises(BackupError, match="one file"):
        back_up(warehouse, backups / "b.tar", keep=2)


def test_a_folder_holds_the_backups_of_one_warehouse(warehouse: Path, backups: Path) -> None:
    back_up(warehouse, backups)
    other = backups.parent / "other.duckdb"
    with open_warehouse(other):
        pass
    with pytest.raises(BackupError, match="holds backups of another warehouse"):
        back_up(other, backups)


def test_a_file_is_never_written_over(warehouse: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    back_up(warehouse, file)
    before = file.read_bytes()
    with pytest.raises(BackupError, match="never written over"):
        back_up(warehouse, file)
    assert file.read_bytes() == before


KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from tasks import backup_making
    from tasks.backing_up import back_up
    at = int(sys.argv[3])
    def die(*said):
        global at
        at -= 1
        if at < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    backup_making.os.sync = die  # the last moment before and after it has its name
    back_up(Path(sys.argv[1]), Path(sys.argv[2]), follow=lambda what, done, total: die())
    print("whole")
""")


N_TABLES = len(TABLES) + 1
MOMENTS = {
    "in the first table": 0,
    "amid the tables": N_TABLES // 2,
    "at the pages": N_TABLES,
    "at the files": N_TABLES + 1,
    "before it has its name": N_TABLES + 2,
}
QUICK = (("backups", "before it has its name"), ("backup.tar", "at the files"))
"""The others are long tests."""


def kill_and_go_on(original: Path, place: Path, moment: str) -> None:
    """A backup is killed, which leaves none, and made again, which leaves nothing of the first."""
    killed = in_a_process(KILLED, original, place, MOMENTS[moment])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert list(place.parent.rglob(".*making")), "it was killed before it began"
    with pytest.raises(BackupError, match="is no backup"), opened_backup(place):
        pass
    back_up(original, place)
    checked(place)
    assert not list(place.parent.rglob(".*making")), "the next one leaves it"


@pytest.mark.parametrize(("name", "moment"), QUICK)
def test_a_backup_that_is_killed_is_never_taken_for_one(
    original: Path, tmp_path: Path, name: str, moment: str
) -> None:
    kill_and_go_on(original, tmp_path / name, moment)


@pytest.mark.parametrize("name", ["backups", "backup.tar"])
def test_whatever_is_damaged_is_named_and_nothing_is_restored(
    original: Path, tmp_path: Path, name: str
) -> None:
    whole = tmp_path / name
    back_up(original, whole)
    parts = ["tables/facts.parquet", "pages.txt", "pages/", "files/"]
    for part in parts:
        broken = tmp_path / f"broken-{name}"
        damaged(whole, broken, part)
        to = tmp_path / "new.duckdb"
        with pytest.raises(BackupError, match=part) as refused:
            restored(broken, to)
        assert "not what it was" in str(refused.value)
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
    place = back_up(original, tmp_path / "backups").place
    (place / "tables" / "claims.parquet").unlink()
    with pytest.raises(BackupError, match=r"claims\.parquet .* is missing"):
        checked(place)
    back_up(original, tmp_path / "b.tar")
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
    made = back_up(original, tmp_path / "backups")
    manifest = made.place / "manifest.json"
    as_it_was = manifest.read_text()
    for change, said in (
        ({"schema_version": 99}, "schema version 99; this Evergreen knows up to"),
        ({"format": 2}, "is of format 2"),
        ({"format": 1, "tables": {"x; DROP": {}}}, "no manifest"),
    ):
        changed = {**made.manifest.model_dump(mode="json"), **change}
        manifest.write_text(json.dumps(changed))
        with pytest.raises(BackupError, match=said):
            restored(made.place, tmp_path / "new.duckdb")
    manifest.write_text(as_it_was)
    checked(made.place)


def test_a_warehouse_that_is_there_stays_unless_it_is_to_be_replaced(
    original: Path, warehouse: Path, tmp_path: Path
) -> None:
    back_up(original, tmp_path / "b.tar")
    with open_warehouse(warehouse) as store:
        store.write(Change(Edition, [Edition(edition="later", source="test")]))
    later = contents(warehouse)
    with pytest.raises(BackupError, match=r"holds a warehouse .*--replace"):
        restored(tmp_path / "b.tar", warehouse)
    assert contents(warehouse) == later
    result = restored(tmp_path / "b.tar", warehouse, replace=True)
    assert contents(warehouse) == contents(original)
    assert result.kept_aside
    aside = shutil.copy(result.kept_aside, warehouse.with_name("warehouse2.duckdb"))
    with open_warehouse(aside) as store:
        assert store.value("SELECT count(*) FROM editions WHERE edition = 'later'") == 1


def test_an_empty_warehouse_may_be_restored_into(original: Path, tmp_path: Path) -> None:
    back_up(original, tmp_path / "b.tar")
    with open_warehouse(tmp_path / "new.duckdb"):
        pass
    restored(tmp_path / "b.tar", tmp_path / "new.duckdb")
    with open_warehouse(tmp_path / "new.duckdb") as store:
        assert store.value("SELECT count(*) FROM facts") == N_ROWS


def test_a_damaged_file_is_replaced_with_what_it_had_not_yet_written(
    original: Path, warehouse: Path, tmp_path: Path
) -> None:
    back_up(original, tmp_path / "b.tar")
    warehouse.write_bytes(b"no database" * 1000)
    log = warehouse.with_name("warehouse.duckdb.wal")
    log.write_bytes(b"what it had not yet written")
    with pytest.raises(BackupError, match=r"not a readable warehouse .*--replace"):
        restored(tmp_path / "b.tar", warehouse)
    result = restored(tmp_path / "b.tar", warehouse, replace=True)
    assert contents(warehouse) == contents(original)
    assert result.kept_aside
    assert result.kept_aside.read_bytes().startswith(b"no database")
    assert result.kept_aside.with_name(f"{result.kept_aside.name}.wal").exists()


def test_pages_that_are_lost_or_changed_come_back(
    original: Path, warehouse: Path, tmp_path: Path
) -> None:
    back_up(original, tmp_path / "b.tar")
    (page,) = (warehouse.parent / "pages").rglob("*.gz")
    (file,) = (p for p in (warehouse.parent / "files").rglob("*") if p.is_file())
    page.unlink()
    file.write_bytes(b"x" * file.stat().st_size)
    result = restored(tmp_path / "b.tar", warehouse, replace=True)
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
    made = back_up(warehouse, backups)
    sha = page.name.removesuffix(".gz")
    assert made.manifest.missing == (f"pages/{sha[:2]}/{page.name}", f"files/{gone[:2]}/{gone}")
    assert made.copied == {"pages": 0, "files": 1}
    checked(backups)
    restored(backups, tmp_path / "new.duckdb")


def test_exports_are_made_anew(warehouse: Path, tmp_path: Path) -> None:
    with open_warehouse(warehouse) as store:
        export_edition(store, "kept")
        facts = store.value("SELECT count(*) FROM editions WHERE edition = 'kept'")
    back_up(warehouse, tmp_path / "b.tar")
    new = tmp_path / "new.duckdb"
    restored(tmp_path / "b.tar", new)
    ((_, manifest),) = latest_manifests(new)
    assert (manifest.edition, manifest.rows["editions"]) == ("kept", facts)


def test_a_backup_of_an_older_schema_is_restored_as_that_warehouse_would_be_updated(
    tmp_path: Path,
) -> None:
    old = tmp_path / "old.duckdb"
    with duckdb.connect(str(old), config={"storage_compatibility_version": "latest"}) as connection:
        for number, sql in migrations():
            if number <= 7:
                connection.execute(sql)
        connection.execute("INSERT INTO warehouse_info VALUES ('an id', 7, '2026-01-01')")
        connection.execute("INSERT INTO editions VALUES ('e', 'wlc', NULL, '2026-01-01')")
        connection.execute(
            "INSERT INTO pages (edition, url, status) VALUES ('e', 'https://example.org', 'ok')"
        )
    before = old.read_bytes()
    made = back_up(old, tmp_path / "backups")
    assert made.manifest.schema_version == 7
    assert old.read_bytes() == before, "a backup updates nothing"
    restored(tmp_path / "backups", tmp_path / "new.duckdb")
    with duckdb.connect(str(old)) as connection:
        migrate(connection, old)
    assert contents(tmp_path / "new.duckdb") == contents(old)


def test_nothing_is_made_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="there is no warehouse yet"):
        back_up(tmp_path / "none.duckdb", tmp_path / "backups")
    assert not (tmp_path / "backups").exists()
    (tmp_path / "damaged.duckdb").write_bytes(b"no database" * 1000)
    with pytest.raises(DamagedWarehouse):
        back_up(tmp_path / "damaged.duckdb", tmp_path / "backups")
    assert dated_backups(tmp_path / "backups") == []


def test_the_warehouse_is_held_while_its_tables_are_written_and_no_longer(
    warehouse: Path, backups: Path
) -> None:
    held: dict[str, set[bool]] = {}

    def look(what: str, done: int, total: int) -> None:
        try:
            with own(warehouse, wait_seconds=0):
                held.setdefault(what, set()).add(False)
        except WarehouseBusy:
            held.setdefault(what, set()).add(True)

    back_up(warehouse, backups, follow=look)
    assert held == {"tables": {True}, "pages": {False}, "files": {False}}


def test_a_place_that_cannot_be_written_is_named(original: Path) -> None:
    with pytest.raises(BackupError, match=r"/proc/backups: the backup could not be written"):
        back_up(original, Path("/proc/backups"))


def test_a_restore_that_is_killed_leaves_the_warehouse_that_was_there(
    original: Path, warehouse: Path, tmp_path: Path
) -> None:
    back_up(original, tmp_path / "b.tar")
    before = contents(warehouse)
    code = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from tasks.backups import opened_backup
        from tasks.restoring import restore
        def die(what, done, total):
            if what == "tables" and done == total - 1:
                os.kill(os.getpid(), signal.SIGKILL)
        with opened_backup(Path(sys.argv[1])) as backup:
            restore(backup, sys.argv[2], replace=True, follow=die)
    """)
    killed = in_a_process(code, tmp_path / "b.tar", warehouse)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert contents(warehouse) == before
    restored(tmp_path / "b.tar", warehouse, replace=True)
    names = {path.name for path in warehouse.parent.iterdir()}
    assert not {name for name in names if "restoring" in name}


def test_no_name_in_a_backup_leads_out_of_the_warehouse(original: Path, tmp_path: Path) -> None:
    made = back_up(original, tmp_path / "backups")
    name = "../../../../etc/passwd\n"
    listed = made.place / "files.txt"
    listed.write_text(name)
    with pytest.raises(BackupError, match=r"files\.txt .* not what it was"):
        restored(made.place, tmp_path / "new.duckdb")
    manifest = json.loads((made.place / "manifest.json").read_text())
    manifest["stores"]["files"]["sha256"] = sha256(name.encode()).hexdigest()
    (made.place / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BackupError, match=r"files\.txt .* no list"):
        restored(made.place, tmp_path / "new.duckdb")
    assert isinstance(location(tmp_path / "new.duckdb"), DuckDBFile)
    assert [path.name for path in tmp_path.iterdir()] == ["backups"]
