"""Making a backup: the tables as one moment left them, then the bytes that they name.

Bytes of pages and files are kept before the rows that name them and never change, so the warehouse
is held only while its tables are written. See `tasks.backup.manifest` for what comes out.
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
    Stored,
    StoredBytes,
    StoredTable,
    dated_backups,
    digest_of,
    digest_of_stored,
    stored_name,
)
from tasks.backup.targets import MAKING, FolderMaking, Making, making_at
from tasks.warehouse.lake import connect_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, Where, location
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import check_schema, connect, warehouse_id
from tasks.warehouse.reading import check_there
from tasks.warehouse.rows import utc_now
from tasks.warehouse.snapshot import latest_manifests
from tasks.warehouse.sql import quoted, table_names
from tasks.warehouse.writer import explained

NAMED_BY: dict[Store, str] = {"pages": "fetches", "files": "report_files"}
"""The table whose column `sha` names what a store holds."""
OnProgress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and of how much: tables, or bytes of a store."""


@dataclass
class MadeBackup:
    """A backup that was made."""

    place: Path
    manifest: BackupManifest
    copied: dict[Store, int] = field(default_factory=dict)
    """Pages and files that were not there from earlier backups."""
    removed: list[Path] = field(default_factory=list)
    """Older backups that made room."""


def back_up(
    where: Where,
    to: Path,
    *,
    keep: int | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> MadeBackup:
    """Back a warehouse up into a folder, or into one file if `to` ends in `.tar`.

    Args:
        keep: of the backups in the folder only so many stay, the newest; None: all do.
        on_wait: told once whom we wait for, where another process owns the warehouse.

    Raises:
        WarehouseError: there is none, it is damaged, or the backup cannot be written.
        BackupError: the folder holds another warehouse's backups, or the file exists.
    """
    where = location(where)
    check_there(where)
    if to.suffix == ".tar" and keep is not None:
        raise BackupError(f"{to} is one file, which holds one backup: --keep is for folders.")
    try:
        with making_at(to) as making:
            made = MadeBackup(making.place, _tables(where, making, on_wait, on_progress))
            for store in STORES:
                made.manifest, made.copied[store] = _bytes(
                    where, made.manifest, store, making, on_progress
                )
            making.publish(made.manifest)
            if keep is not None:
                made.removed = _remove_all_but(keep, to)
    except Exception as error:
        raise _said(to, error) from error
    return made


def _tables(
    where: Location, making: Making, on_wait: Callable[[str], None] | None, on_progress: OnProgress
) -> BackupManifest:
    """Write every table and the lists of what they name; the manifest without the stores."""
    with _at_one_moment(where, on_wait) as connection:
        version = check_schema(connection, where)
        if not version:
            raise BackupError(f"{where} is empty: there is nothing to back up yet.")
        began, identity = utc_now(), warehouse_id(connection)
        _check_same(making, identity)
        names = table_names(connection)
        tables = {}
        for n, name in enumerate(names):
            on_progress("tables", n, len(names))
            tables[name] = _table(connection, name, making.scratch / TABLES / f"{name}.parquet")
        for store, table in NAMED_BY.items():
            _list(connection, making.scratch / f"{store}.txt", table if table in tables else None)
    return BackupManifest(
        warehouse_id=identity,
        warehouse=str(where),
        schema_version=version,
        created_at=began,
        tables=tables,
        stores={},
        exported=tuple(exported.edition for _, exported in latest_manifests(where)),
    )


@contextmanager
def _at_one_moment(where: Location, on_wait: Callable[[str], None] | None) -> Iterator[Any]:
    """A connection that sees the warehouse as it is now, whoever writes meanwhile. It migrates
    nothing, so it can be used before an update."""
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True) as connection:
            connection.execute("BEGIN")
            yield connection
        return
    assert isinstance(where, DuckDBFile)
    with (
        own(where.path, on_wait=on_wait),
        connect(where.path, read_only=True) as connection,
    ):
        yield connection


def _table(connection: Any, name: str, file: Path) -> StoredTable:
    sql = f"COPY (SELECT * FROM {name}) TO {quoted(str(file))} (FORMAT parquet, COMPRESSION zstd)"
    (rows,) = connection.execute(sql).fetchone()
    return StoredTable(rows=rows, **_stored(file).model_dump())


def _list(connection: Any, file: Path, table: str | None) -> None:
    """What a table names in its store, sorted; nothing in a warehouse older than the table."""
    sql = f"SELECT DISTINCT sha FROM {table} WHERE sha IS NOT NULL ORDER BY 1"
    shas = [sha for (sha,) in connection.execute(sql).fetchall()] if table else []
    file.write_text("".join(f"{sha}\n" for sha in shas), "ascii")


def _bytes(
    where: Location, manifest: BackupManifest, store: Store, making: Making, on_progress: OnProgress
) -> tuple[BackupManifest, int]:
    """Copy what the tables name in a store and no earlier backup has brought; how many that was."""
    listed = making.scratch / f"{store}.txt"
    shas = listed.read_text("ascii").split()
    folder, there, lost = where.beside(store), [], []
    copied = n_bytes = 0
    for n, sha in enumerate(shas):
        on_progress(store, n, len(shas))
        name = stored_name(store, sha)
        path = folder / name.removeprefix(f"{store}/")
        size = path.stat().st_size if path.is_file() else None
        if size is not None and not making.has(name, size):
            with path.open("rb") as file:
                is_whole = digest_of_stored(store, file) == sha
            if is_whole:
                making.keep(name, path)
                copied += 1
            else:
                size = None
        if size is None:
            lost.append(name)
        else:
            there.append(sha)
            n_bytes += size
    listed.write_text("".join(f"{sha}\n" for sha in there), "ascii")
    kept = StoredBytes(count=len(there), total_bytes=n_bytes, **_stored(listed).model_dump())
    changed = {"stores": {**manifest.stores, store: kept}, "missing": (*manifest.missing, *lost)}
    return manifest.model_copy(update=changed), copied


def _stored(file: Path) -> Stored:
    with file.open("rb") as opened:
        return digest_of(opened)


def _check_same(making: Making, identity: str) -> None:
    """A folder's backups are all of one warehouse: the newest is what is restored."""
    if not isinstance(making, FolderMaking):
        return
    for dated in dated_backups(making.place.parent)[-1:]:
        other = FolderBackup(dated).manifest
        if other.warehouse_id != identity:
            raise BackupError(
                f"{making.place.parent} holds backups of another warehouse ({other.warehouse}, id "
                f"{other.warehouse_id}). Choose another folder."
            )


def _remove_all_but(keep: int, folder: Path) -> list[Path]:
    """Older backups go; the pages and files that they share stay."""
    removed = dated_backups(folder)[:-keep]
    for dated in removed:
        leaving = dated.with_name(f".{dated.name}{MAKING}")
        dated.rename(leaving)
        shutil.rmtree(leaving)
    return removed


def _said(to: Path, error: Exception) -> BaseException:
    if isinstance(error, OSError):
        return BackupError(
            f"{to}: the backup could not be written ({error.strerror or error}). Nothing was "
            "changed; free some space or fix the permissions, then try again."
        )
    return explained(error)
