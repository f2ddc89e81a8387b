"""Restoring a backup: verified first, then whole or not at all, into either kind of warehouse.

A file is built under another name and takes its place in one step; a lake's tables change in one
commit. Pages and files come first: bytes that nothing names yet harm nobody, rows without their
bytes would.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.backup.manifest import (
    STAMP,
    STORES,
    TABLES,
    Backup,
    BackupError,
    BackupManifest,
    FolderBackup,
    Store,
    digest_of_stored,
    shas,
    stored_name,
    verify,
)
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.lake import connect_lake, migrating
from tasks.warehouse.lake_turns import LakeTurns
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, Where, location
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import check_schema, connect, migrate, migrations, warehouse_id
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.sql import quoted, table_names
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import explained

INFO = "warehouse_info"
RESTORING = ".restoring"
OnProgress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and of how much."""


@dataclass(frozen=True)
class Restored:
    """A warehouse that was restored."""

    where: Location
    kept_aside: Path | None
    """The file that was there before."""
    copied: dict[Store, int]
    """Pages and files that were not there."""


def restore(
    backup: Backup,
    where: Where,
    *,
    replace: bool = False,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> Restored:
    """Make a warehouse what it was when the backup was taken, with the id that it had.

    Args:
        replace: also where a warehouse with something in it is. A file is kept beside the new one.
        on_wait: told once whom we wait for, where another process owns that file.

    Raises:
        BackupError: the backup is not whole or newer than this Evergreen, or something is there.
        WarehouseError: the place cannot be written, or holds something foreign or newer.
    """
    where = location(where)
    _check_version(backup)
    _verify(backup, on_progress)
    try:
        into = _into_lake if isinstance(where, DuckLake) else _into_file
        restored = into(backup, where, replace, on_wait, on_progress)
        _export(where, backup.manifest, on_progress)
    except Exception as error:
        raise _said(where, error) from error
    return restored


def _into_file(
    backup: Backup,
    where: Location,
    replace: bool,
    on_wait: Callable[[str], None] | None,
    on_progress: OnProgress,
) -> Restored:
    assert isinstance(where, DuckDBFile)
    where.root.mkdir(parents=True, exist_ok=True)
    with own(where.path, on_wait=on_wait), _work(where) as work:
        if where.path.exists() and not replace:
            _check_empty_file(where)
        copied = _bytes(backup, where, on_progress)
        fresh = work / where.path.name
        _build(fresh, backup.manifest, _tables_at(backup, work), on_progress)
        aside = _put_aside(where.path)
        fresh.rename(where.path)
    return Restored(where, aside, copied)


def _into_lake(
    backup: Backup,
    where: Location,
    replace: bool,
    on_wait: Callable[[str], None] | None,
    on_progress: OnProgress,
) -> Restored:
    assert isinstance(where, DuckLake)
    with connect_lake(where) as connection, _work(where) as work:
        if check_schema(connection, where) and not replace:
            _check_empty(connection, where)
        with migrating(where):
            migrate(connection, where)
        copied = _bytes(backup, where, on_progress)
        tables = _as_of_today(backup, work, on_progress)
        turns = LakeTurns(where, warehouse_id(connection))
        with closing(turns), turns.committing():
            connection.execute("BEGIN")
            for name in table_names(connection):
                connection.execute(f"DELETE FROM {name}")
            _fill(connection, tables, on_progress)
            connection.execute("COMMIT")
    return Restored(where, None, copied)


def _check_version(backup: Backup) -> None:
    newest = migrations()[-1][0]
    if backup.manifest.schema_version > newest:
        raise BackupError(
            f"{backup.place} is of schema version {backup.manifest.schema_version}; this Evergreen "
            f"knows up to {newest}. Update it first."
        )


def _verify(backup: Backup, on_progress: OnProgress) -> None:
    done, total = 0, backup.manifest.bytes

    def read(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        on_progress("verified", done, total)

    verify(backup, read)


def _check_empty_file(where: DuckDBFile) -> None:
    try:
        with connect(where.path, read_only=True) as connection:
            _check_empty(connection, where)
    except BackupError:
        raise
    except WarehouseError as error:
        raise BackupError(
            f"{error} To put the backup in its place say --replace; it is kept beside it."
        ) from error


def _check_empty(connection: Any, where: Location) -> None:
    """Raise BackupError where something is in the warehouse."""
    rows = sum(
        connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        for name in table_names(connection)
        if name != INFO
    )
    if rows:
        kept = "" if isinstance(where, DuckLake) else "; what is there is kept beside it"
        raise BackupError(
            f"{where} holds a warehouse with {rows:,} rows. Restore to another place with "
            f"--warehouse, or say --replace{kept}."
        )


def _bytes(backup: Backup, where: Location, on_progress: OnProgress) -> dict[Store, int]:
    """Bring every page and file that is not there, or not what it should be; how many those are."""
    copied: dict[Store, int] = {}
    for store in STORES:
        copied[store] = 0
        wanted = shas(backup, store)
        for n, sha in enumerate(wanted):
            on_progress(store, n, len(wanted))
            name = stored_name(store, sha)
            target = where.beside(store) / name.removeprefix(f"{store}/")
            if not _is_there(store, sha, target):
                _copy(backup, name, target)
                copied[store] += 1
    return copied


def _is_there(store: Store, sha: str, path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return digest_of_stored(store, file) == sha
    except FileNotFoundError:
        return False


def _copy(backup: Backup, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}{RESTORING}")
    with backup.read(name) as source, fresh.open("wb") as file:
        shutil.copyfileobj(source, file)
    fresh.replace(target)


def _tables_at(backup: Backup, work: Path) -> Path:
    """The folder with the backup's tables; those of one file are taken out of it."""
    if isinstance(backup, FolderBackup):
        return backup.place / TABLES
    folder = work / TABLES
    for name in backup.manifest.tables:
        _copy(backup, f"{TABLES}/{name}.parquet", folder / f"{name}.parquet")
    return folder


def _as_of_today(backup: Backup, work: Path, on_progress: OnProgress) -> Path:
    """The folder with the backup's tables as the newest schema has them."""
    folder = _tables_at(backup, work)
    if backup.manifest.schema_version == migrations()[-1][0]:
        return folder
    _build(work / "staged.duckdb", backup.manifest, folder, on_progress)
    today = work / "today"
    today.mkdir()
    with connect(work / "staged.duckdb", read_only=True) as connection:
        for name in table_names(connection):
            file = quoted(str(today / f"{name}.parquet"))
            connection.execute(f"COPY {name} TO {file} (FORMAT parquet, COMPRESSION zstd)")
    return today


def _build(path: Path, manifest: BackupManifest, tables: Path, on_progress: OnProgress) -> None:
    """A new file with these tables: made as they were, filled, then brought up to date."""
    with connect(path) as connection:
        for number, sql in migrations():
            if number <= manifest.schema_version:
                connection.execute(sql)
        _fill(connection, tables, on_progress)
        migrate(connection, path)
        connection.execute("CHECKPOINT")


def _fill(connection: Any, tables: Path, on_progress: OnProgress) -> None:
    files = sorted(tables.glob("*.parquet"))
    for n, file in enumerate(files):
        on_progress("tables", n, len(files))
        connection.execute(
            f"INSERT INTO {file.stem} BY NAME SELECT * FROM read_parquet({quoted(str(file))})"
        )


def _put_aside(path: Path) -> Path | None:
    """Give a file that is there another name, and so what DuckDB has not yet written into it."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.replaced-{utc_now().strftime(STAMP)}")
    unwritten = path.with_name(f"{path.name}.wal")
    if unwritten.exists():
        unwritten.rename(aside.with_name(f"{aside.name}.wal"))
    path.rename(aside)
    return aside


def _export(where: Location, manifest: BackupManifest, on_progress: OnProgress) -> None:
    """Make the Parquet exports that there were: what people read while a flow runs."""
    if not manifest.exported:
        return
    with open_warehouse(where) as store:
        for n, edition in enumerate(manifest.exported):
            on_progress("exports", n, len(manifest.exported))
            export_edition(store, edition)


@contextmanager
def _work(where: Location) -> Iterator[Path]:
    """A folder beside the warehouse: what lies in it can take its place in one step."""
    folder = where.root / f".{where.name}{RESTORING}"
    shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _said(where: Location, error: Exception) -> BaseException:
    if isinstance(error, OSError):
        return BackupError(
            f"{where}: the backup could not be restored ({error.strerror or error}). Free some "
            "space or fix the permissions, then restore again."
        )
    return explained(error)
