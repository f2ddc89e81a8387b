"""The format of backups, and their verification.

A folder holds any number of backups, each named after its start time, and one store of pages and
files that they share: existing bytes are not copied again.

    backups/
      20261122T220000.123456Z/
        manifest.json         which warehouse, when, how many rows, and a sha-256 of each file
        manifest.json.minisig its signature, if it is signed
        tables/*.parquet      every table
        pages.txt files.txt   the pages and reports' files that its tables name, by sha-256
      pages/ab/abcd….gz       their bytes, each named after the sha-256 of its content
      files/ab/abcd…

A file (`backup.tar`) holds one backup with its pages and files. Both get their final name only when
everything is on disk, so a backup with its final name is complete. The tables are plain Parquet:
either kind of warehouse can be restored from them, and any tool can read them.
"""

import gzip
import json
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO, Literal, get_args

from pydantic import AwareDatetime, Field, ValidationError

from tasks.base import Frozen
from tasks.files.opening import SpecialFile, open_file
from tasks.signing.signatures import SUFFIX, UNSIGNED
from tasks.warehouse.contents import SHA
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.foreign_tables import KEYS, DatabaseError, find_problem
from tasks.warehouse.operations import UNCOUNTED
from tasks.warehouse.schema import SCHEMA_VERSION, connect, load_schema

FORMAT = 1
MANIFEST = "manifest.json"
SIGNATURE = f"{MANIFEST}{SUFFIX}"
TABLES = "tables"
Store = Literal["pages", "files"]
STORES: tuple[Store, ...] = get_args(Store)
RESTORING_SUFFIX = ".restoring"
CHANGED = "was changed after the backup was made"
STAMP = "%Y%m%dT%H%M%S.%fZ"
LARGEST_MANIFEST = 10_000_000
OnProgress = Callable[[str, int, int], None]
"""Called with what is being done ("tables", or a store), how much is done, and the total."""


class BackupError(WarehouseError):
    """A backup is missing, damaged or cannot be used; the message names the file."""


Count = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""The name of a table, safe in SQL and paths."""


class StoredFile(Frozen):
    """A file of a backup."""

    sha256: str
    bytes: Count


class StoredTable(StoredFile):
    rows: Count


class StoredBytes(StoredFile):
    """The list of this backup's pages or files, with their number and size."""

    count: Count
    total_bytes: Count
    """Bytes on disk of all that the list names."""


class BackupManifest(Frozen):
    """The contents of a backup."""

    format: Literal[1] = 1
    warehouse_id: str
    warehouse: str
    """The warehouse's location as given by the user, without password."""
    schema_version: Count
    created_at: AwareDatetime
    tables: dict[TableName, StoredTable]
    stores: Annotated[dict[Store, StoredBytes], Field(min_length=len(STORES))]
    missing: tuple[str, ...] = ()
    """Pages and files that the tables name but that were missing in the warehouse."""
    exported: tuple[str, ...] = ()
    """Editions that had a Parquet export; restoring exports them again."""
    keys: Count = 0
    """The number of texts of others that hold what looks like a key, and stay as they are."""
    signature: str = UNSIGNED
    """The id of the key that signs this manifest, or `none`."""

    @property
    def rows(self) -> int:
        return sum(table.rows for name, table in self.tables.items() if name not in UNCOUNTED)

    @property
    def bytes(self) -> int:
        """The bytes on disk, including the pages and files shared with other backups."""
        parts = [*self.tables.values(), *self.stores.values()]
        shared = sum(store.total_bytes for store in self.stores.values())
        return sum(part.bytes for part in parts) + shared


class Backup:
    """A backup: a dated folder next to others and to the stores that they share, or a tar file."""

    def __init__(self, place: Path, tar: tarfile.TarFile | None = None) -> None:
        """tar: the open file, if it is one."""
        self.place, self._tar = place, tar
        try:
            self._members = {member.name: member for member in tar or ()}
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            why = f"truncated, or not a tar file: {error}"
            raise _make_not_found_error(place, why) from None
        with self.read(MANIFEST) as file:
            self.manifest_bytes = file.read(LARGEST_MANIFEST)
        self.manifest = _parse_manifest(self.manifest_bytes, place if tar else place / MANIFEST)

    def has(self, name: str) -> bool:
        """Return whether it has a file of this name."""
        return name in self._members if self._tar else self._path(name).exists()

    def read(self, name: str) -> BinaryIO:
        """Open one of its files by its name in the backup, such as `tables/facts.parquet`.

        Raises:
            BackupError: the file is missing.
        """
        if self._tar:
            member = self._members.get(name)
            # A link names another member, which need not be listed; holes make a file of any size.
            plain = member is not None and member.isfile() and not member.issparse()
            found = self._tar.extractfile(member) if member and plain else None
            if found is None:
                raise BackupError(f"{self.path_of(name)} is missing. Take another backup.")
            return found  # type: ignore[return-value]
        try:
            return open_file(self._path(name), within=self.place.parent)
        except OSError as error:
            raise BackupError(
                f"{self._path(name)} of the backup {self.place} is missing or cannot be read "
                f"({error.strerror or error}). Take another backup."
            ) from None

    def list_names(self) -> set[str]:
        """Return the names of all its files, without those that it may share with others."""
        if self._tar:
            return {name for name, member in self._members.items() if not member.isdir()}
        return {
            str(path.relative_to(self.place))
            for path in self.place.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }

    def path_of(self, name: str) -> str:
        """Return a file's path for messages."""
        return f"{name} of {self.place}" if self._tar else str(self._path(name))

    def _path(self, name: str) -> Path:
        """Return the path of a file of a dated folder."""
        in_store = name.partition("/")[0] in STORES
        return (self.place.parent if in_store else self.place) / name


@contextmanager
def open_backup(where: Path) -> Iterator[Backup]:
    """Open a backup: a file, a dated folder, or the newest in a folder of dated folders.

    Raises:
        BackupError: there is none, or its manifest cannot be read.
    """
    if where.is_file():
        try:
            tar = tarfile.open(where, "r:")  # noqa: SIM115
        except (tarfile.TarError, OSError) as error:
            raise _make_not_found_error(where, str(error)) from None
        with tar:
            yield Backup(where, tar)
        return
    if (where / MANIFEST).is_file():
        yield Backup(where.resolve() if where.is_symlink() else where)
        return
    dated = find_backups(where)
    if not dated:
        raise _make_not_found_error(
            where, "no folder in it has a manifest" if where.is_dir() else ""
        )
    yield Backup(dated[-1])


def find_backups(folder: Path) -> list[Path]:
    """The whole backups in a folder, oldest first."""
    return sorted(found.parent for found in folder.glob(f"[0-9]*Z/{MANIFEST}"))


def read_shas(backup: Backup, store: Store) -> list[str]:
    """Read the shas of the pages or files that a backup's tables name.

    Raises:
        BackupError: the list holds anything but shas, which become file names.
    """
    with backup.read(f"{store}.txt") as file:
        listed = file.read().decode("ascii", "replace").split()
    count = backup.manifest.stores[store].count
    if len(set(listed)) != count or not all(map(SHA.fullmatch, listed)):
        raise make_error(backup, f"{store}.txt", f"is not a list of sha-256 ({count:,} of them)")
    return listed


def format_stored_name(store: Store, sha: str) -> str:
    """Return the name of stored bytes in a backup, which is the same as in the warehouse."""
    return f"{store}/{sha[:2]}/{sha}{'.gz' if store == 'pages' else ''}"


def verify(backup: Backup, on_progress: OnProgress = lambda what, done, total: None) -> None:
    """Read and check the whole backup.

    on_progress: called with "verified" and the number of bytes.

    Raises:
        BackupError: a file is missing, was changed, is not listed or no table that a restore
            would take; the message names it.
    """
    manifest, done = backup.manifest, 0
    parts: dict[str, StoredFile] = {
        **{f"{TABLES}/{name}.parquet": table for name, table in manifest.tables.items()},
        **{f"{store}.txt": listed for store, listed in manifest.stores.items()},
    }
    for name, part in parts.items():
        with backup.read(name) as file:
            found = digest_file(file)
        if found.sha256 != part.sha256:
            raise make_error(backup, name, CHANGED)
        done += found.bytes
        on_progress("verified", done, manifest.bytes)
    stored = {s: {format_stored_name(s, sha): sha for sha in read_shas(backup, s)} for s in STORES}
    _refuse_surplus(backup, {MANIFEST, SIGNATURE, *parts}.union(*stored.values()))
    if manifest.schema_version == SCHEMA_VERSION:
        _check_tables(backup)
    for store in STORES:
        for name, sha in stored[store].items():
            with backup.read(name) as file:
                if digest_stored(store, file) != sha:
                    raise make_error(backup, name, CHANGED)
                done += file.tell()
            on_progress("verified", done, manifest.bytes)


def _check_tables(backup: Backup) -> None:
    """Raise BackupError unless the tables are those of this schema and can be restored."""
    known, listed = set(KEYS), set(backup.manifest.tables)
    if wrong := sorted(listed - known or known - listed):
        found = f"`tables` {'lists' if listed - known else 'lacks'} {', '.join(wrong[:5])}"
        expected = f"expected the tables of schema version {SCHEMA_VERSION}"
        raise make_error(backup, MANIFEST, f"is wrong: {found}; {expected}")
    advice = "Free some space, or name another folder in TMPDIR."
    with (
        explain_errors(backup.place, "verified", advice),
        TemporaryDirectory(prefix="evergreen-") as work,
        connect(Path(work, "empty.duckdb"), folders=[Path(work)]) as connection,
    ):
        connection.execute(load_schema())
        for table, stored in backup.manifest.tables.items():
            file = copy_table(backup, table, Path(work))
            if problem := find_problem(connection, file, stored.rows, backup.manifest.warehouse_id):
                raise make_error(backup, f"{TABLES}/{file.name}", problem)
            file.unlink()


def _refuse_surplus(backup: Backup, listed: set[str]) -> None:
    if surplus := sorted(backup.list_names() - listed):
        raise make_error(backup, surplus[0], f"is not listed in {MANIFEST}")


def copy_table(backup: Backup, table: str, folder: Path) -> Path:
    """Copy a table out of the backup, since DuckDB cannot read a tar file; return the copy."""
    name, stored = f"{TABLES}/{table}.parquet", backup.manifest.tables[table]
    copy_out(backup, name, folder / f"{table}.parquet", partial(_has_digest, stored))
    return folder / f"{table}.parquet"


def copy_out(backup: Backup, name: str, target: Path, is_right: Callable[[Path], bool]) -> None:
    """Copy a file out of the backup; raise BackupError if it has changed since it was verified."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}{RESTORING_SUFFIX}")
    fresh.unlink(missing_ok=True)  # a link there would be written through
    with backup.read(name) as source, fresh.open("xb") as file:
        shutil.copyfileobj(source, file)
    if not is_right(fresh):
        fresh.unlink()
        raise make_error(backup, name, CHANGED)
    fresh.replace(target)


def _has_digest(stored: StoredFile, path: Path) -> bool:
    with path.open("rb") as file:
        return digest_file(file).sha256 == stored.sha256


def digest_file(file: BinaryIO) -> StoredFile:
    """Return the sha-256 and size of a file."""
    digest = file_digest(file, "sha256")  # type: ignore[arg-type]
    return StoredFile(sha256=digest.hexdigest(), bytes=file.tell())


def digest_stored(store: Store, file: BinaryIO) -> str | None:
    """Return the sha-256 of stored bytes; None if they cannot be unpacked."""
    try:
        with gzip.GzipFile(fileobj=file) if store == "pages" else nullcontext(file) as content:
            return file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        return None


def is_intact(store: Store, sha: str, path: Path) -> bool:
    """Return whether a page or file is there, as it was when its sha was taken."""
    try:
        with open_file(path, within=None) as file:
            return digest_stored(store, file) == sha
    except (FileNotFoundError, SpecialFile):
        return False


@contextmanager
def explain_errors(where: object, what: str, advice: str) -> Iterator[None]:
    """Turn what a disk or DuckDB raises into a sentence.

    what: what could not be done at `where`.
    """
    try:
        yield
    except (OSError, DatabaseError) as error:
        why = getattr(error, "strerror", None) or first_line(error)
        raise BackupError(f"{where}: the backup could not be {what} ({why}). {advice}") from error


def _parse_manifest(text: bytes, path: Path) -> BackupManifest:
    try:
        version = json.loads(text).get("format")
        if isinstance(version, int) and version > FORMAT:
            raise BackupError(
                f"{path} has format {version}; this Evergreen knows up to {FORMAT}. Update it."
            )
        return BackupManifest.model_validate_json(text)
    except (ValueError, AttributeError, RecursionError) as error:
        wrong = error.errors()[:3] if isinstance(error, ValidationError) else []
        why = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in wrong)
        raise BackupError(
            f"{path} is not a backup manifest ({first_line(why or error)})."
        ) from None


def _make_not_found_error(where: Path, why: str) -> BackupError:
    return BackupError(
        f"{where} is no backup{f' ({why})' if why else ': it does not exist'}. Give a folder or a "
        "file written by `evergreen backup --to`, or one of the dated folders in it."
    )


def make_error(backup: Backup, name: str, problem: str) -> BackupError:
    """Return the error of a file of a backup."""
    return BackupError(
        f"{backup.path_of(name)} {problem}. Use another backup; the warehouse is unchanged."
    )
