"""What a backup of a warehouse is, and whether one is whole.

A folder holds any number of them, each under the moment it was begun, over one store of pages and
files that they share: bytes that are there already are not copied again.

    backups/
      20261122T220000.123456Z/
        manifest.json         which warehouse, when, how many rows, and a sha-256 of each file
        tables/*.parquet      every table
        pages.txt files.txt   the pages and reports' files that its tables name, by their sha-256
      pages/ab/abcd….gz       their bytes, each under the sha-256 of its content
      files/ab/abcd…

One file (`backup.tar`) holds one backup with its pages and files. Either appears under its name
when all of it is on disk, never before, so what has a name is whole. The tables are plain Parquet:
one kind of warehouse can be restored from the backup of the other, and any tool can read them.
"""

import gzip
import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, Protocol, get_args

from pydantic import AwareDatetime, Field, NonNegativeInt, ValidationError

from tasks.base import Frozen
from tasks.warehouse.errors import WarehouseError, first_line

FORMAT = 1
MANIFEST = "manifest.json"
TABLES = "tables"
Store = Literal["pages", "files"]
STORES: tuple[Store, ...] = get_args(Store)
STAMP = "%Y%m%dT%H%M%S.%fZ"
SHA = re.compile("[0-9a-f]{64}")
BLOCK = 1 << 20
LARGEST_MANIFEST = 10_000_000


class BackupError(WarehouseError):
    """There is no such backup, or it is not what it was; the message names the file."""


TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""It becomes part of SQL and of paths."""


class Stored(Frozen):
    """A file of a backup."""

    sha256: str
    bytes: NonNegativeInt


class StoredTable(Stored):
    rows: NonNegativeInt


class StoredBytes(Stored):
    """The list of what a store holds for this backup, and how much that is."""

    count: NonNegativeInt
    total_bytes: NonNegativeInt
    """Of all it names, as they lie on disk."""


class BackupManifest(Frozen):
    """What a backup holds."""

    format: Literal[1] = 1
    warehouse_id: str
    warehouse: str
    """Where it was, as a person gave it; it holds no password."""
    schema_version: NonNegativeInt
    created_at: AwareDatetime
    tables: dict[TableName, StoredTable]
    stores: dict[Store, StoredBytes]
    missing: tuple[str, ...] = ()
    """Pages and files that the tables name, but that the warehouse had lost."""
    exported: tuple[str, ...] = ()
    """Editions of which there was a Parquet export; a restored warehouse makes them anew."""

    @property
    def rows(self) -> int:
        """In all tables."""
        return sum(table.rows for table in self.tables.values())

    @property
    def bytes(self) -> int:
        """On disk, with the pages and files that it shares with other backups."""
        parts = [*self.tables.values(), *self.stores.values()]
        shared = sum(store.total_bytes for store in self.stores.values())
        return sum(part.bytes for part in parts) + shared


class Backup(Protocol):
    """One backup, wherever it lies."""

    place: Path
    manifest: BackupManifest

    def read(self, name: str) -> BinaryIO:
        """A file of it, by its name in the manifest's terms, such as `tables/facts.parquet`.

        Raises:
            BackupError: it is missing.
        """

    def path_of(self, name: str) -> str:
        """How people find that file."""


class FolderBackup:
    """A dated folder beside others, over the stores they share."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.manifest = _manifest(self.read(MANIFEST).read(LARGEST_MANIFEST), place / MANIFEST)

    def read(self, name: str) -> BinaryIO:
        try:
            return self._path(name).open("rb")
        except OSError as error:
            raise BackupError(
                f"{self._path(name)} of the backup {self.place} is missing or cannot be read "
                f"({error.strerror or error}). Take another backup."
            ) from None

    def path_of(self, name: str) -> str:
        return str(self._path(name))

    def _path(self, name: str) -> Path:
        in_store = name.startswith(tuple(f"{store}/" for store in STORES))
        return (self.place.parent if in_store else self.place) / name


class TarBackup:
    """One file that holds everything."""

    def __init__(self, place: Path, tar: tarfile.TarFile) -> None:
        self.place, self._tar = place, tar
        try:
            self._members = {member.name: member for member in tar}
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise _no_backup(place, f"it ends too soon, or is no tar file: {error}") from None
        self.manifest = _manifest(self.read(MANIFEST).read(LARGEST_MANIFEST), place)

    def read(self, name: str) -> BinaryIO:
        member = self._members.get(name)
        found = self._tar.extractfile(member) if member else None
        if found is None:
            raise BackupError(f"{self.path_of(name)} is missing. Take another backup.")
        return found  # type: ignore[return-value]

    def path_of(self, name: str) -> str:
        return f"{name} of {self.place}"


@contextmanager
def opened_backup(where: Path) -> Iterator[Backup]:
    """The backup there: a file, a dated folder, or the newest of a folder of such.

    Raises:
        BackupError: there is none, or its manifest cannot be read.
    """
    if where.is_file():
        try:
            tar = tarfile.open(where, "r:")  # noqa: SIM115
        except (tarfile.TarError, OSError) as error:
            raise _no_backup(where, str(error)) from None
        with tar:
            yield TarBackup(where, tar)
        return
    if (where / MANIFEST).is_file():
        yield FolderBackup(where)
        return
    dated = dated_backups(where)
    if not dated:
        raise _no_backup(where, "no folder in it has a manifest" if where.is_dir() else "")
    yield FolderBackup(dated[-1])


def dated_backups(folder: Path) -> list[Path]:
    """The whole backups in a folder, oldest first."""
    return sorted(found.parent for found in folder.glob(f"[0-9]*Z/{MANIFEST}"))


def shas(backup: Backup, store: Store) -> list[str]:
    """The content that a backup's tables name in a store.

    Raises:
        BackupError: what stands there is no list of shas, which become names of files.
    """
    with backup.read(f"{store}.txt") as file:
        listed = file.read().decode("ascii", "replace").split()
    if not all(map(SHA.fullmatch, listed)):
        raise BackupError(f"{backup.path_of(f'{store}.txt')} is no list of sha-256.")
    return listed


def stored_name(store: Store, sha: str) -> str:
    """The name of kept bytes in a backup: that of the warehouse's own stores."""
    return f"{store}/{sha[:2]}/{sha}{'.gz' if store == 'pages' else ''}"


def verify(backup: Backup, on_progress: Callable[[int], None] = lambda n_bytes: None) -> None:
    """Read all of it.

    Args:
        on_progress: called with how many more bytes have been read.

    Raises:
        BackupError: a file is missing or is not what it was; names it.
    """
    manifest = backup.manifest
    parts: dict[str, Stored] = {
        **{f"{TABLES}/{name}.parquet": table for name, table in manifest.tables.items()},
        **{f"{store}.txt": listed for store, listed in manifest.stores.items()},
    }
    for name, part in parts.items():
        with backup.read(name) as file:
            found = digest_of(file)
        on_progress(found.bytes)
        if found.sha256 != part.sha256:
            raise _changed(backup, name)
    for store in manifest.stores:
        for sha in shas(backup, store):
            on_progress(_verify_stored(backup, store, sha))


def digest_of(file: BinaryIO) -> Stored:
    """What a file holds, by its sha-256."""
    digest, n_bytes = hashlib.sha256(), 0
    while block := file.read(BLOCK):
        digest.update(block)
        n_bytes += len(block)
    return Stored(sha256=digest.hexdigest(), bytes=n_bytes)


def digest_of_stored(store: Store, file: BinaryIO) -> str | None:
    """The sha-256 that kept bytes have; None where they cannot be unpacked."""
    try:
        if store == "files":
            return digest_of(file).sha256
        with gzip.GzipFile(fileobj=file) as packed:
            return digest_of(packed).sha256  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        return None


def _verify_stored(backup: Backup, store: Store, sha: str) -> int:
    """Bytes read, on disk."""
    name = stored_name(store, sha)
    with backup.read(name) as file:
        if digest_of_stored(store, file) != sha:
            raise _changed(backup, name)
        return file.tell()


def _manifest(text: bytes, path: Path) -> BackupManifest:
    try:
        version = json.loads(text).get("format")
        if isinstance(version, int) and version > FORMAT:
            raise BackupError(
                f"{path} is of format {version}; this Evergreen knows up to {FORMAT}. Update it."
            )
        return BackupManifest.model_validate_json(text)
    except (ValueError, AttributeError, ValidationError) as error:
        raise BackupError(f"{path} is no manifest of a backup ({first_line(error)}).") from None


def _no_backup(where: Path, why: str) -> BackupError:
    return BackupError(
        f"{where} is no backup{f' ({why})' if why else ': there is nothing'}. Give a folder that "
        "`evergreen backup --to` has written, one of the dated folders in it, or a file of it."
    )


def _changed(backup: Backup, name: str) -> BackupError:
    return BackupError(
        f"{backup.path_of(name)} is not what it was when the backup was made. Nothing was changed; "
        "use another backup."
    )
