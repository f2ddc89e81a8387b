"""Create a backup: a consistent snapshot of the tables, then the pages and files that they name.

The warehouse stores pages and files before the rows that name them and never changes them, so it is
locked only while the tables are written. A backup changes nothing, so others' texts stay as they
are: the keys in them are counted. See `tasks.backup.manifest` for the format.

A backup gets its final name when everything is on disk. The remains of a killed one have another
name, and are removed by the next.
"""

import os
import shutil
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tasks.backup.manifest import (
    MANIFEST,
    STAMP,
    TABLES,
    Backup,
    BackupError,
    BackupManifest,
    OnProgress,
    Store,
    StoredBytes,
    StoredTable,
    explain_errors,
    find_backups,
    format_stored_name,
)
from tasks.configuration.secrets import refuse_signing
from tasks.files.checksums import SUMS, format_sums, hash_files
from tasks.files.locks import hold_lock
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.contents import ContentStore, FileStore, PageStore
from tasks.warehouse.errors import DamagedWarehouse, WarehouseError
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

CONTENTS: dict[Store, tuple[type[ContentStore], str]] = {
    "pages": (PageStore, "fetches"),
    "files": (FileStore, "report_files"),
}
"""Store → how it keeps its contents, and the table whose column `sha` names them."""
UNFINISHED_SUFFIX = ".making"
"""The suffix of unfinished backups."""


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
    guard: KeyGuard | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_progress: OnProgress = lambda what, done, total: None,
) -> MadeBackup:
    """Back a warehouse up into a folder, or into one file if `to` ends in `.tar`.

    Args:
        keep: keep only this many of the newest backups in the folder; None: all.
        guard: looks for keys; one that knows those of the environment if None.
        on_wait: called once with the process we wait for, if another one owns the warehouse.

    Raises:
        WarehouseError: the warehouse is missing or damaged, or the backup cannot be written.
        BackupError: the folder holds another warehouse's backups, or the file exists.
        LeakedKey: it would hold a key.
        ConfigurationError: the environment names a key to sign with.
    """
    refuse_signing()
    guard = guard or KeyGuard()
    where = parse_location(where)
    check_exists(where)
    if to.suffix == ".tar" and keep is not None:
        raise BackupError(f"{to} is one file, which holds one backup: --keep is for folders.")
    advice = "Nothing was changed; free some space or fix the permissions, then try again."
    with explain_errors(to, "written", advice), _open_writer(to, guard, on_progress) as writer:
        with _connect_snapshot(where, writer.scratch, on_wait) as connection:
            if not has_schema(connection, where):
                raise BackupError(f"{where} is empty: there is nothing to back up yet.")
            began, identity = utc_now(), read_warehouse_id(connection)
            if not writer.is_tar:
                _check_same_warehouse(to, identity)
            _check_keys(connection, guard)
            tables = _write_tables(connection, writer.scratch, on_progress)
            named: dict[Store, list[str]] = {}
            for store, (_, table) in CONTENTS.items():
                sql = f"SELECT DISTINCT sha FROM {table} WHERE sha IS NOT NULL ORDER BY 1"
                named[store] = [sha for (sha,) in connection.execute(sql).fetchall()]
            exported = tuple(each.edition for _, each in load_latest_manifests(where))
        manifest = BackupManifest(
            warehouse_id=identity,
            warehouse=str(where),
            schema_version=SCHEMA_VERSION,
            created_at=began,
            tables=tables,
            stores={store: writer.add_all(store, where, shas) for store, shas in named.items()},
            missing=tuple(writer.missing),
            exported=exported,
            keys=guard.n_masked,
        )
        writer.finish(manifest)
        removed = _remove_old(keep, to) if keep is not None else []
    return MadeBackup(writer.place, manifest, writer.copied, removed)


class BackupWriter:
    """Writes into a folder of dated backups, or into one tar file."""

    def __init__(self, place: Path, is_tar: bool, guard: KeyGuard, on_progress: OnProgress) -> None:
        """place: the final path."""
        self.place, self.is_tar, self._guard, self._on_progress = place, is_tar, guard, on_progress
        self.copied: dict[Store, int] = {}
        """Pages and files that no earlier backup contains."""
        self.missing: list[str] = []
        """Names of pages and files that are missing or damaged in the warehouse."""
        self.scratch = place.with_name(f".{place.name}.tables{UNFINISHED_SUFFIX}")
        """A folder for tables and lists, which becomes part of the backup."""
        (self.scratch / TABLES).mkdir(parents=True)
        self._fresh = place.with_name(f".{place.name}{UNFINISHED_SUFFIX}")
        self._tar = (
            tarfile.open(self._fresh, "w", format=tarfile.PAX_FORMAT)  # noqa: SIM115
            if is_tar
            else None
        )

    def add_all(self, store: Store, where: Location, shas: Sequence[str]) -> StoredBytes:
        """Add what the tables name in a store, except what earlier backups contain.

        Raises:
            LeakedKey: a page or file holds a key.
        """
        contents = CONTENTS[store][0](where.subfolder(store))
        self.copied[store] = total_bytes = 0
        found = []
        for n, sha in enumerate(shas):
            self._on_progress(store, n, len(shas))
            name = format_stored_name(store, sha)
            try:
                path = contents.path(sha)
                n_bytes = path.stat().st_size
                is_new = not self._has(name, n_bytes)
                if is_new:
                    self._guard.check_bytes(contents.get(sha), name)
            except (DamagedWarehouse, FileNotFoundError):
                self.missing.append(name)
                continue
            if is_new:
                self._add(name, path)
                self.copied[store] += 1
            found.append(sha)
            total_bytes += n_bytes
        data = "".join(f"{sha}\n" for sha in found).encode()
        (self.scratch / f"{store}.txt").write_bytes(data)
        return StoredBytes(bytes=len(data), count=len(found), total_bytes=total_bytes)

    def finish(self, manifest: BackupManifest) -> None:
        """Flush everything to disk, then give the backup its final name."""
        (self.scratch / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
        sums = hash_files(self.scratch)
        (self.scratch / SUMS).write_bytes(format_sums(sums))
        if self._tar:
            for name in sorted([SUMS, *sums]):
                self._add(name, self.scratch / name)
            self._tar.close()
        os.sync()
        (self._fresh if self._tar else self.scratch).rename(self.place)
        os.sync()
        if self._tar:
            shutil.rmtree(self.scratch)

    def _has(self, name: str, n_bytes: int) -> bool:
        """Return whether an earlier backup contains these bytes."""
        path = self.place.parent / name
        # The size differs if the machine failed while the file was written.
        return not self.is_tar and path.is_file() and path.stat().st_size == n_bytes

    def _add(self, name: str, path: Path) -> None:
        if self._tar:
            self._tar.add(path, name, recursive=False, filter=_drop_owner)
            return
        target = self.place.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}{UNFINISHED_SUFFIX}")
        fresh.unlink(missing_ok=True)  # a link there would be written through
        shutil.copyfile(path, fresh)
        fresh.replace(target)


def _drop_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the owner, which has no meaning on other machines."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


@contextmanager
def _open_writer(to: Path, guard: KeyGuard, on_progress: OnProgress) -> Iterator[BackupWriter]:
    """Open a backup for writing, one at a time, after removing the remains of killed ones.

    Raises:
        BackupError: the file exists.
    """
    is_tar = to.suffix == ".tar"
    if is_tar and to.exists():
        raise BackupError(f"{to} exists. Choose another name: backups are never overwritten.")
    folder = to.parent if is_tar else to
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / (f".{to.name}.lock" if is_tar else ".lock")
    with hold_lock(lock):
        for left in folder.glob(f".{to.name if is_tar else ''}*{UNFINISHED_SUFFIX}"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        place = to if is_tar else folder / utc_now().strftime(STAMP)
        yield BackupWriter(place, is_tar, guard, on_progress)
    if is_tar:
        lock.unlink(missing_ok=True)


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
        written[name] = StoredTable(bytes=file.stat().st_size, rows=rows)
    return written


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


def _check_keys(connection: Any, guard: KeyGuard) -> None:
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
