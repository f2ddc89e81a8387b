"""The format of backups, and access to their files.

A folder holds any number of backups, each named after its start time, and one store of pages and
files that they share: existing bytes are not copied again.

    backups/
      20261122T220000.123456Z/
        SHA256SUMS            the sha-256 of each file here, for `sha256sum -c` and for signing
        manifest.json         which warehouse, when, and how many rows
        tables/*.parquet      every table
        pages.txt files.txt   the pages and reports' files that its tables name, by sha-256
      pages/ab/abcd….gz       their bytes, each named after the sha-256 of its content
      files/ab/abcd…

A file (`backup.tar`) holds one backup with its pages and files. Both get their final name only when
everything is on disk, so a backup with its final name is complete. The tables are plain Parquet:
either kind of warehouse can be restored from them, and any tool can read them.

In backups of format 1 the manifest has the sha-256 of each file, and may be signed.
"""

import json
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, get_args

from pydantic import AwareDatetime, Field, ValidationError

from tasks.base import Frozen
from tasks.files.checksums import SUMS, parse_sums
from tasks.files.opening import open_file
from tasks.warehouse.contents import SHA
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.foreign_tables import DatabaseError
from tasks.warehouse.operations import UNCOUNTED

FORMAT = 2
"""The newest format that this program knows, in which it writes."""
MANIFEST = "manifest.json"
TABLES = "tables"
Store = Literal["pages", "files"]
STORES: tuple[Store, ...] = get_args(Store)
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

    bytes: Count
    sha256: str = Field(default="", exclude=True)
    """Only in format 1."""


class StoredTable(StoredFile):
    rows: Count


class StoredBytes(StoredFile):
    """The list of this backup's pages or files, with their number and size."""

    count: Count
    total_bytes: Count
    """Bytes on disk of all that the list names."""


class BackupManifest(Frozen):
    """The contents of a backup."""

    format: Literal[1, 2] = 2
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
    signature: str = Field(default="", exclude=True)
    """Only in format 1: the id of the key that signs this manifest, or `none`."""

    @property
    def rows(self) -> int:
        return sum(table.rows for name, table in self.tables.items() if name not in UNCOUNTED)

    @property
    def parts(self) -> dict[str, StoredFile]:
        """Tables and lists by their names in the backup."""
        tables = {f"{TABLES}/{name}.parquet": table for name, table in self.tables.items()}
        return {**tables, **{f"{store}.txt": listed for store, listed in self.stores.items()}}

    @property
    def bytes(self) -> int:
        """The bytes on disk, including the pages and files shared with other backups."""
        shared = sum(store.total_bytes for store in self.stores.values())
        return sum(part.bytes for part in self.parts.values()) + shared


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
            manifest = file.read(LARGEST_MANIFEST)
        self.manifest = _parse_manifest(manifest, place if tar else place / MANIFEST)
        self.manifest_sha = sha256(manifest).hexdigest()
        self.sums = self._load_sums()
        """By name, the sha-256 of the manifest and of each part, as they were read once."""

    def _load_sums(self) -> dict[str, str]:
        if self.manifest.format == 1:
            parts = {name: part.sha256 for name, part in self.manifest.parts.items()}
            return {MANIFEST: self.manifest_sha, **parts}
        with self.read(SUMS) as file:
            try:
                return parse_sums(file.read(LARGEST_MANIFEST))
            except ValueError as error:
                raise self.make_error(SUMS, f"is not a list of files ({error})") from None

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
                raise BackupError(f"{self._path_of(name)} is missing. Take another backup.")
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

    def make_error(self, name: str, problem: str) -> BackupError:
        """Return the error of one of its files."""
        return BackupError(
            f"{self._path_of(name)} {problem}. Use another backup; the warehouse is unchanged."
        )

    def _path_of(self, name: str) -> str:
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
        BackupError: the list was changed, or holds anything but shas, which become file names.
    """
    name, count = f"{store}.txt", backup.manifest.stores[store].count
    with backup.read(name) as file:
        data = file.read()
    if sha256(data).hexdigest() != backup.sums.get(name):
        raise backup.make_error(name, CHANGED)
    listed = data.decode("ascii", "replace").split()
    if len(set(listed)) != count or not all(map(SHA.fullmatch, listed)):
        raise backup.make_error(name, f"is not a list of sha-256 ({count:,} of them)")
    return listed


def format_stored_name(store: Store, sha: str) -> str:
    """Return the name of stored bytes in a backup, which is the same as in the warehouse."""
    return f"{store}/{sha[:2]}/{sha}{'.gz' if store == 'pages' else ''}"


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
