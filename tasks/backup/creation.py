"""Create a backup: a consistent snapshot of the tables, then the pages and files that they name.

The warehouse stores pages and files before the rows that name them and never changes them, so it is
locked only while the tables are written. See `tasks.backup.manifest` for the format. A backup
changes nothing, so others' texts stay as they are: the keys in them are counted.
"""

import gzip
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tasks.backup.manifest import (
    TABLES,
    Backup,
    BackupError,
    BackupManifest,
    OnProgress,
    Store,
    StoredBytes,
    StoredFile,
    StoredTable,
    digest_file,
    explain_errors,
    find_backups,
    format_stored_name,
    is_intact,
)
from tasks.backup.targets import UNFINISHED_SUFFIX, BackupWriter, open_writer
from tasks.secrecy.guard import KeyGuard
from tasks.signing.keys import Signer
from tasks.signing.signatures import UNSIGNED
from tasks.warehouse.contents import SHA
from tasks.warehouse.errors import WarehouseError
from tasks.warehouse.file_lock import lock_warehouse, wait_until_free
from tasks.warehouse.lake import connect_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.operations import KnownBackup
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
from tasks.warehouse.sql import quote_literal, quote_name, table_names
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

NAMED_BY: dict[Store, str] = {"pages": "fetches", "files": "report_files"}
"""The table whose column `sha` names the contents of each store."""


@dataclass
class MadeBackup:
    """A backup that was created."""

    place: Path
    manifest: BackupManifest
    copied: dict[Store, int]
    """Pages and files copied, which earlier backups did not contain."""
    removed: list[Path]
    """Older backups that were removed."""


def create_backup(
    where: LocationLike,
    to: Path,
    *,
    keep: int | None = None,
    signer: Signer | None = None,
    guard: KeyGuard | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> MadeBackup:
    """Back a warehouse up into a folder, or into one file if `to` ends in `.tar`.

    Args:
        keep: keep only this many of the newest backups in the folder; None: all.
        signer: signs the manifest; None: it says that it is not signed.
        guard: looks for keys; one that knows those of the environment if None.
        on_wait: called once with the process we wait for, if another one owns the warehouse.

    Raises:
        WarehouseError: the warehouse is missing or damaged, or the backup cannot be written.
        BackupError: the folder holds another warehouse's backups, or the file exists.
        LeakedKey: it would hold a key.
    """
    guard = guard or KeyGuard()
    where = parse_location(where)
    check_exists(where)
    if to.suffix == ".tar" and keep is not None:
        raise BackupError(f"{to} is one file, which holds one backup: --keep is for folders.")
    advice = "Nothing was changed; free some space or fix the permissions, then try again."
    with explain_errors(to, "written", advice), open_writer(to) as writer:
        with _connect_snapshot(where, writer.scratch, on_wait) as connection:
            if not has_schema(connection, where):
                raise BackupError(f"{where} is empty: there is nothing to back up yet.")
            began, identity = utc_now(), read_warehouse_id(connection)
            if not writer.is_tar:
                _check_same_warehouse(to, identity)
            _check_keys_of_tables(connection, guard)
            tables = _write_tables(connection, writer.scratch, on_progress)
            named = {store: _find_shas(connection, table) for store, table in NAMED_BY.items()}
            exported = tuple(each.edition for _, each in load_latest_manifests(where))
        parts = {
            store: _copy_bytes(where.subfolder(store), store, shas, writer, guard, on_progress)
            for store, shas in named.items()
        }
        manifest = BackupManifest(
            warehouse_id=identity,
            warehouse=str(where),
            schema_version=SCHEMA_VERSION,
            created_at=began,
            tables=tables,
            stores={store: part.stored for store, part in parts.items()},
            missing=tuple(chain.from_iterable(part.missing for part in parts.values())),
            exported=exported,
            keys=guard.n_masked,
            signature=signer.key_id if signer else UNSIGNED,
        )
        writer.finish(manifest, signer)
        removed = _remove_old(keep, to) if keep is not None else []
    copied = {store: part.n_copied for store, part in parts.items()}
    return MadeBackup(writer.place, manifest, copied, removed)


def record_backup(where: Location, place: Path, manifest: BackupManifest) -> None:
    """Record where a backup of a warehouse file is, to be named if writes are missing one day. If
    another process has the file, it is not recorded."""
    if isinstance(where, DuckDBFile):
        backup = KnownBackup(began_at=manifest.created_at, place=str(place))
        with suppress(WarehouseError), open_warehouse(where, wait_seconds=0) as store:
            store.write(Change(KnownBackup, [backup]))


@contextmanager
def _connect_snapshot(
    where: Location, scratch: Path, on_wait: Callable[[str], None] | None
) -> Iterator[Any]:
    """Open a connection that sees the warehouse as it is now, despite concurrent writes, and may
    write into `scratch`."""
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True, folders=[scratch]) as connection:
            connection.execute("BEGIN")
            yield connection
        return
    assert isinstance(where, DuckDBFile)
    check_file(where.path)
    opening = partial(connect, where.path, read_only=True, folders=[scratch])
    with (
        lock_warehouse(where.path, on_wait=on_wait, only_reads=True),
        wait_until_free(opening, None, on_wait) as connection,
    ):
        yield connection


def _write_tables(
    connection: Any, scratch: Path, on_progress: OnProgress
) -> dict[str, StoredTable]:
    names, written = table_names(connection), {}
    for n, name in enumerate(names):
        on_progress("tables", n, len(names))
        file = scratch / TABLES / f"{name}.parquet"
        path = quote_literal(str(file))
        sql = (
            f"COPY (SELECT * FROM {quote_name(name)}) TO {path} (FORMAT parquet, COMPRESSION zstd)"
        )
        (rows,) = connection.execute(sql).fetchone()
        written[name] = StoredTable(rows=rows, **_describe_file(file).model_dump())
    return written


def _find_shas(connection: Any, table: str) -> list[str]:
    sql = f"SELECT DISTINCT sha FROM {table} WHERE sha IS NOT NULL ORDER BY 1"
    return [sha for (sha,) in connection.execute(sql).fetchall()]


@dataclass
class CopiedBytes:
    """The part of a store that is in a backup."""

    stored: StoredBytes
    n_copied: int
    missing: list[str]
    """Names of pages or files that are missing or damaged in the warehouse."""


def _copy_bytes(
    folder: Path,
    store: Store,
    shas: Sequence[str],
    writer: BackupWriter,
    guard: KeyGuard,
    on_progress: OnProgress,
) -> CopiedBytes:
    """Copy what the tables name in a store, except what earlier backups contain."""
    found, missing = [], []
    n_copied = n_bytes = 0
    for n, sha in enumerate(shas):
        on_progress(store, n, len(shas))
        name = format_stored_name(store, sha)
        path = folder / name.removeprefix(f"{store}/")
        size = path.stat().st_size if SHA.fullmatch(sha) and path.is_file() else None
        is_new = size is None or not writer.has(name, size)
        if size is None or (is_new and not is_intact(store, sha, path)):
            missing.append(name)
            continue
        if is_new:
            _check_keys_of_bytes(store, path, name, guard)
            writer.add(name, path)
            n_copied += 1
        found.append(sha)
        n_bytes += size
    listed = writer.scratch / f"{store}.txt"
    listed.write_text("".join(f"{sha}\n" for sha in found), "ascii")
    about = _describe_file(listed).model_dump()
    return CopiedBytes(
        StoredBytes(count=len(found), total_bytes=n_bytes, **about), n_copied, missing
    )


def _describe_file(file: Path) -> StoredFile:
    with file.open("rb") as opened:
        return digest_file(opened)


def _check_same_warehouse(folder: Path, identity: str) -> None:
    """Raise BackupError if the folder's newest backup is of another warehouse: restoring from the
    folder takes the newest."""
    for dated in find_backups(folder)[-1:]:
        other = Backup(dated).manifest
        if other.warehouse_id != identity:
            raise BackupError(
                f"{folder} holds backups of another warehouse ({other.warehouse}, id "
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


def _check_keys_of_tables(connection: Any, guard: KeyGuard) -> None:
    """Check every text of every table.

    Raises:
        LeakedKey: one holds a key; the message names table, row and field.
    """
    for table in table_names(connection):
        described = connection.execute(f"DESCRIBE {quote_name(table)}").fetchall()
        texts = ", ".join(quote_name(name) for name, kind, *_ in described if kind == "VARCHAR")
        found = connection.execute(
            f"SELECT * FROM {quote_name(table)} WHERE regexp_matches(concat_ws('\n', {texts}), $1)",
            [guard.pattern],
        ).pl()
        guard.check_frame(found, table)


def _check_keys_of_bytes(store: Store, path: Path, name: str, guard: KeyGuard) -> None:
    """Check the bytes of a page or file for our keys.

    Raises:
        LeakedKey: they hold one.
    """
    data = path.read_bytes()
    guard.check_bytes(gzip.decompress(data) if store == "pages" else data, name)
