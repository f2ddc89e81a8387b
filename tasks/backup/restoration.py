"""Restore a backup into either kind of warehouse: verified first, completely or not at all.

A file is built under another name and replaces the old one in one step; a lake's tables change in
one commit. Pages and files come first: bytes without rows are harmless, rows without bytes are not.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tasks.backup.manifest import (
    RESTORING_SUFFIX,
    STAMP,
    STORES,
    Backup,
    BackupError,
    BackupManifest,
    OnProgress,
    Store,
    copy_out,
    copy_table,
    explain_errors,
    format_stored_name,
    is_intact,
    read_shas,
    verify,
)
from tasks.backup.signature import check_signature
from tasks.signing.signatures import PublicKey
from tasks.warehouse.errors import DamagedWarehouse, NewerWarehouse, WarehouseBusy, WarehouseError
from tasks.warehouse.file_lock import lock_path, lock_warehouse, wait_until_free
from tasks.warehouse.foreign_tables import INFO
from tasks.warehouse.lake import connect_lake, schema_lock
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.operations import UNCOUNTED
from tasks.warehouse.rows import utc_now
from tasks.warehouse.schema import (
    SCHEMA_VERSION,
    connect,
    ensure_schema,
    has_schema,
    load_schema,
    read_warehouse_id,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.sql import quote_literal, quote_name, table_names
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.write_counter import count_path


@dataclass(frozen=True)
class RestoredWarehouse:
    """A warehouse that was restored."""

    where: Location
    kept_aside: Path | None
    """The path of the replaced file."""
    copied: dict[Store, int]
    """Pages and files that were missing."""


def restore_backup(
    backup: Backup,
    where: LocationLike,
    *,
    replace: bool = False,
    public_key: PublicKey | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> RestoredWarehouse:
    """Restore a warehouse to its state at the backup, including its id.

    Args:
        replace: replace a warehouse with rows; an old file is kept next to the new one.
        public_key: the key that must have signed the backup; None: any backup will do.
        on_wait: called once with the process we wait for, if another one owns the file.

    Raises:
        BackupError: the backup is damaged or newer than this Evergreen, or the warehouse has rows.
        BadSignature: the key has not signed this backup.
        WarehouseError: the location cannot be written, or holds something else or newer.
    """
    where = parse_location(where)
    if public_key:
        check_signature(backup, public_key)
    _check_version(backup)
    verify(backup, on_progress)
    advice = "Free some space, fix the permissions or use another backup, then restore again."
    with explain_errors(where, "restored", advice):
        if isinstance(where, DuckLake):
            restored = _restore_lake(backup, where, replace, on_progress)
        else:
            assert isinstance(where, DuckDBFile)
            restored = _restore_file(backup, where, replace, on_wait, on_progress)
        _restore_exports(where, backup.manifest, on_progress)
    return restored


def _restore_file(
    backup: Backup,
    where: DuckDBFile,
    replace: bool,
    on_wait: Callable[[str], None] | None,
    on_progress: OnProgress,
) -> RestoredWarehouse:
    where.root.mkdir(parents=True, exist_ok=True)
    check = partial(_check_empty_file, where)
    if where.path.exists() and not replace and not lock_path(where.path).exists():
        wait_until_free(check, None, on_wait)  # a refused file gets no lock file
    with lock_warehouse(where.path, on_wait=on_wait), _work_folder(where) as work:
        if where.path.exists() and not replace:
            wait_until_free(check, None, on_wait)
        copied = _copy_bytes(backup, where, on_progress)
        fresh = work / where.path.name
        with connect(fresh, folders=[work]) as connection:
            connection.execute(load_schema())
            _insert_rows(connection, backup, work, on_progress)
            if where.path.exists():
                # Another program would go on writing, to a log that is the new file's by name.
                wait_until_free(partial(_check_closed, where.path), None, on_wait)
            connection.execute("CHECKPOINT")
        count_path(where.path).unlink(missing_ok=True)  # it counts what is now replaced
        aside = _move_aside(where.path)
        fresh.rename(where.path)
    return RestoredWarehouse(where, aside, copied)


def _restore_lake(
    backup: Backup, where: DuckLake, replace: bool, on_progress: OnProgress
) -> RestoredWarehouse:
    from tasks.warehouse.lake_locks import LakeLocks  # libpq, which only lakes need

    with (
        _work_folder(where) as work,
        connect_lake(where, folders=[work]) as connection,
    ):
        if has_schema(connection, where) and not replace:
            _check_empty(connection, where)
        with schema_lock(where):
            ensure_schema(connection, where)
        copied = _copy_bytes(backup, where, on_progress)
        locks = LakeLocks(where, read_warehouse_id(connection))
        with closing(locks), locks.commit_lock():
            connection.execute("BEGIN")
            for name in table_names(connection):
                connection.execute(f"DELETE FROM {quote_name(name)}")
            _insert_rows(connection, backup, work, on_progress)
            connection.execute("COMMIT")
    return RestoredWarehouse(where, None, copied)


def _check_version(backup: Backup) -> None:
    version = backup.manifest.schema_version
    if version != SCHEMA_VERSION:
        raise BackupError(
            f"{backup.place} has schema version {version}; this Evergreen knows only "
            f"{SCHEMA_VERSION}. Restore it with the Evergreen that made it, or one of the "
            "same schema."
        )


def _check_empty_file(where: DuckDBFile) -> None:
    try:
        connection = connect(where.path, read_only=True)
    except (DamagedWarehouse, NewerWarehouse) as error:
        raise BackupError(
            f"{error} Use --replace to restore anyway; the old file is kept next to the new one."
        ) from error
    with connection:
        _check_empty(connection, where)


def _check_closed(path: Path) -> None:
    """Raise WarehouseBusy while another program has the file open; whether or not it is whole."""
    try:
        connect(path, read_only=True).close()
    except WarehouseBusy:
        raise
    except WarehouseError:
        pass  # it is replaced


def _check_empty(connection: Any, where: Location) -> None:
    """Raise BackupError if the warehouse has rows."""
    rows = sum(
        connection.execute(f"SELECT count(*) FROM {quote_name(name)}").fetchone()[0]
        for name in table_names(connection)
        if name not in (INFO, *UNCOUNTED)
    )
    if rows:
        kept = "" if isinstance(where, DuckLake) else " (the old file is kept next to the new one)"
        raise BackupError(
            f"{where} holds a warehouse with {rows:,} rows. Restore to another location with "
            f"--warehouse, or use --replace{kept}."
        )


def _copy_bytes(backup: Backup, where: Location, on_progress: OnProgress) -> dict[Store, int]:
    """Copy every page and file that is missing or damaged; count them."""
    copied: dict[Store, int] = {}
    for store in STORES:
        copied[store] = 0
        wanted = read_shas(backup, store)
        for n, sha in enumerate(wanted):
            on_progress(store, n, len(wanted))
            name = format_stored_name(store, sha)
            target = where.subfolder(store) / name.removeprefix(f"{store}/")
            if not is_intact(store, sha, target):
                copy_out(backup, name, target, partial(is_intact, store, sha))
                copied[store] += 1
    return copied


def _insert_rows(connection: Any, backup: Backup, work: Path, on_progress: OnProgress) -> None:
    """Insert the rows of every table."""
    tables = backup.manifest.tables
    for n, name in enumerate(sorted(tables)):
        on_progress("tables", n, len(tables))
        file = copy_table(backup, name, work)
        rows = f"SELECT * FROM read_parquet({quote_literal(str(file))})"
        connection.execute(f"INSERT INTO {quote_name(name)} BY NAME {rows}")
        file.unlink()


def _move_aside(path: Path) -> Path | None:
    """Rename an existing file, together with DuckDB's write-ahead log."""
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.replaced-{utc_now().strftime(STAMP)}")
    unwritten = path.with_name(f"{path.name}.wal")
    if unwritten.exists():
        unwritten.rename(aside.with_name(f"{aside.name}.wal"))
    path.rename(aside)
    return aside


def _restore_exports(where: Location, manifest: BackupManifest, on_progress: OnProgress) -> None:
    """Make the Parquet exports that existed, which people read while a flow runs."""
    if not manifest.exported:
        return
    with open_warehouse(where) as store:
        known = set(store.frame("SELECT edition FROM editions")["edition"])
        editions = [edition for edition in manifest.exported if edition in known]
        for n, edition in enumerate(editions):
            on_progress("exports", n, len(editions))
            export_edition(store, edition)


@contextmanager
def _work_folder(where: Location) -> Iterator[Path]:
    """Make a folder on the warehouse's file system, so that a file can be moved in one step."""
    folder = where.root / f".{where.name}{RESTORING_SUFFIX}"
    shutil.rmtree(folder, ignore_errors=True)  # left by a killed run
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
