"""Create a backup: a consistent snapshot of the tables, then the pages and files that they name.

The warehouse stores pages and files before the rows that name them and never changes them, so it is
locked only while the tables are written. See `tasks.backup.manifest` for the format.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.backup.manifest import (
    STORES,
    TABLES,
    BackupError,
    BackupManifest,
    FolderBackup,
    Store,
    StoredBytes,
    StoredFile,
    StoredTable,
    digest_file,
    digest_stored,
    find_backups,
    format_stored_name,
)
from tasks.backup.targets import UNFINISHED_SUFFIX, BackupWriter, FolderWriter, open_writer
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.lake import connect_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.reader import check_exists
from tasks.warehouse.rows import utc_now
from tasks.warehouse.schema import (
    SCHEMA_VERSION,
    check_file,
    connect,
    has_schema,
    read_warehouse_id,
)
from tasks.warehouse.snapshot import load_latest_manifests
from tasks.warehouse.sql import quote_literal, table_names
from tasks.warehouse.writer import translate_error

NAMED_BY: dict[Store, str] = {"pages": "fetches", "files": "report_files"}
"""The table whose column `sha` names the contents of each store."""
OnProgress = Callable[[str, int, int], None]
"""Called with what is being done ("tables", or a store), how much is done, and the total."""


@dataclass
class MadeBackup:
    """A backup that was created."""

    place: Path
    manifest: BackupManifest
    copied: dict[Store, int] = field(default_factory=dict)
    """Pages and files copied, which earlier backups did not contain."""
    removed: list[Path] = field(default_factory=list)
    """Older backups that were removed."""


def create_backup(
    where: LocationLike,
    to: Path,
    *,
    keep: int | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> MadeBackup:
    """Back a warehouse up into a folder, or into one file if `to` ends in `.tar`.

    Args:
        keep: keep only this many of the newest backups in the folder; None: all.
        on_wait: called once with the process we wait for, if another one owns the warehouse.

    Raises:
        WarehouseError: the warehouse is missing or damaged, or the backup cannot be written.
        BackupError: the folder holds another warehouse's backups, or the file exists.
    """
    where = parse_location(where)
    check_exists(where)
    if to.suffix == ".tar" and keep is not None:
        raise BackupError(f"{to} is one file, which holds one backup: --keep is for folders.")
    try:
        with open_writer(to) as writer:
            made = MadeBackup(writer.place, _write_tables(where, writer, on_wait, on_progress))
            for store in STORES:
                made.manifest, made.copied[store] = _copy_bytes(
                    where, made.manifest, store, writer, on_progress
                )
            writer.finish(made.manifest)
            if keep is not None:
                made.removed = _remove_old(keep, to)
    except Exception as error:
        raise _convert_error(to, error) from error
    return made


def _write_tables(
    where: Location,
    writer: BackupWriter,
    on_wait: Callable[[str], None] | None,
    on_progress: OnProgress,
) -> BackupManifest:
    """Write every table and the lists of what they name; return a manifest without stores."""
    with _connect_snapshot(where, on_wait) as connection:
        if not has_schema(connection, where):
            raise BackupError(f"{where} is empty: there is nothing to back up yet.")
        began, identity = utc_now(), read_warehouse_id(connection)
        _check_same_warehouse(writer, identity)
        names = table_names(connection)
        tables = {}
        for n, name in enumerate(names):
            on_progress("tables", n, len(names))
            tables[name] = _write_table(
                connection, name, writer.scratch / TABLES / f"{name}.parquet"
            )
        for store, table in NAMED_BY.items():
            _write_list(
                connection, writer.scratch / f"{store}.txt", table if table in tables else None
            )
    return BackupManifest(
        warehouse_id=identity,
        warehouse=str(where),
        schema_version=SCHEMA_VERSION,
        created_at=began,
        tables=tables,
        stores={},
        exported=tuple(exported.edition for _, exported in load_latest_manifests(where)),
    )


@contextmanager
def _connect_snapshot(where: Location, on_wait: Callable[[str], None] | None) -> Iterator[Any]:
    """Open a connection that sees the warehouse as it is now, despite concurrent writes. It does
    not migrate, so it can be used before an update."""
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True) as connection:
            connection.execute("BEGIN")
            yield connection
        return
    assert isinstance(where, DuckDBFile)
    check_file(where.path)
    with (
        lock_warehouse(where.path, on_wait=on_wait),
        connect(where.path, read_only=True) as connection,
    ):
        yield connection


def _write_table(connection: Any, name: str, file: Path) -> StoredTable:
    path = quote_literal(str(file))
    sql = f"COPY (SELECT * FROM {name}) TO {path} (FORMAT parquet, COMPRESSION zstd)"
    (rows,) = connection.execute(sql).fetchone()
    return StoredTable(rows=rows, **_describe_file(file).model_dump())


def _write_list(connection: Any, file: Path, table: str | None) -> None:
    """Write the sorted shas that a table names; none if the warehouse is older than the table."""
    sql = f"SELECT DISTINCT sha FROM {table} WHERE sha IS NOT NULL ORDER BY 1"
    shas = [sha for (sha,) in connection.execute(sql).fetchall()] if table else []
    file.write_text("".join(f"{sha}\n" for sha in shas), "ascii")


def _copy_bytes(
    where: Location,
    manifest: BackupManifest,
    store: Store,
    writer: BackupWriter,
    on_progress: OnProgress,
) -> tuple[BackupManifest, int]:
    """Copy what the tables name in a store, except what earlier backups contain; count it."""
    listed = writer.scratch / f"{store}.txt"
    shas = listed.read_text("ascii").split()
    folder, found, lost = where.subfolder(store), [], []
    copied = n_bytes = 0
    for n, sha in enumerate(shas):
        on_progress(store, n, len(shas))
        name = format_stored_name(store, sha)
        path = folder / name.removeprefix(f"{store}/")
        size = path.stat().st_size if path.is_file() else None
        if size is not None and not writer.has(name, size):
            with path.open("rb") as file:
                is_whole = digest_stored(store, file) == sha
            if is_whole:
                writer.add(name, path)
                copied += 1
            else:
                size = None
        if size is None:
            lost.append(name)
        else:
            found.append(sha)
            n_bytes += size
    listed.write_text("".join(f"{sha}\n" for sha in found), "ascii")
    kept = StoredBytes(count=len(found), total_bytes=n_bytes, **_describe_file(listed).model_dump())
    changed = {"stores": {**manifest.stores, store: kept}, "missing": (*manifest.missing, *lost)}
    return manifest.model_copy(update=changed), copied


def _describe_file(file: Path) -> StoredFile:
    with file.open("rb") as opened:
        return digest_file(opened)


def _check_same_warehouse(writer: BackupWriter, identity: str) -> None:
    """Raise BackupError if the folder's newest backup is of another warehouse: restoring from the
    folder takes the newest."""
    if not isinstance(writer, FolderWriter):
        return
    for dated in find_backups(writer.place.parent)[-1:]:
        other = FolderBackup(dated).manifest
        if other.warehouse_id != identity:
            raise BackupError(
                f"{writer.place.parent} holds backups of another warehouse ({other.warehouse}, id "
                f"{other.warehouse_id}). Choose another folder."
            )


def _remove_old(keep: int, folder: Path) -> list[Path]:
    """Remove older backups; the pages and files that they share stay."""
    removed = find_backups(folder)[:-keep]
    for dated in removed:
        leaving = dated.with_name(f".{dated.name}{UNFINISHED_SUFFIX}")
        dated.rename(leaving)
        shutil.rmtree(leaving)
    return removed


def _convert_error(to: Path, error: Exception) -> BaseException:
    if isinstance(error, OSError):
        return BackupError(
            f"{to}: the backup could not be written ({error.strerror or error}). Nothing was "
            "changed; free some space or fix the permissions, then try again."
        )
    return translate_error(error)
