"""The stores of bytes beside the warehouse, each under its sha-256: pages and report files."""

import gzip
import os
import re
import threading
import zlib
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, ClassVar

from tasks.files.opening import open_file
from tasks.warehouse.errors import DamagedWarehouse, UnwritableWarehouse
from tasks.warehouse.location import LocationLike, parse_location

SHA = re.compile("[0-9a-f]{64}")
GZIP_LEVEL = 3
"""Shrinks text pages to a fifth; higher levels would take longer than the network."""
GZIP_WBITS = 31
"""Makes zlib write gzip files. Their header has no time, so equal pages give equal files."""
_NUMBERS = count()


def pages_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's pages: `pages/<its name>` beside it."""
    return parse_location(warehouse).subfolder("pages")


def files_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's report files: `files/<its name>` beside it."""
    return parse_location(warehouse).subfolder("files")


class ContentStore:
    """Keeps bytes for ever; equal ones are kept once."""

    unwritable: ClassVar[str]
    """The message if the folder cannot be written; `folder` and `why` are filled in."""
    missing: ClassVar[str]
    """The message if a file is missing; `path` is filled in."""
    is_packed: ClassVar[bool]
    """Whether it is kept as gzip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha: str) -> Path:
        """Return the path of the bytes with this sha.

        Raises:
            DamagedWarehouse: it is not a sha-256, so it may be a path to another place.
        """
        if not SHA.fullmatch(sha):
            raise DamagedWarehouse(
                f"{self.folder}: {sha[:80]!r} is not a sha-256, so there is no such file. Restore "
                "the warehouse from a backup."
            )
        return self.folder / sha[:2] / (f"{sha}.gz" if self.is_packed else sha)

    def create(self) -> "ContentWriter":
        """Start to keep bytes that come in pieces.

        Raises:
            UnwritableWarehouse: the folder cannot be written.
        """
        return ContentWriter(self)

    def put(self, content: bytes) -> str:
        """Keep `content` and return its sha-256. The file is on disk when this returns.

        Raises:
            UnwritableWarehouse: the folder cannot be written.
        """
        with self.create() as writer:
            writer.write(content)
            return writer.keep()

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under `sha`.

        Raises:
            DamagedWarehouse: the file is missing or has changed.
        """
        path = self.path(sha)
        try:
            with open_file(path, within=self.folder) as file:
                content = file.read()
            if self.is_packed:
                content = gzip.decompress(content)
        except FileNotFoundError:
            raise DamagedWarehouse(self.missing.format(path=path)) from None
        except (OSError, EOFError, zlib.error) as error:
            how = "unpacked" if self.is_packed else "read"
            raise DamagedWarehouse(
                f"{path} cannot be {how} ({error}). Restore it from a copy."
            ) from error
        if sha256(content).hexdigest() != sha:
            raise DamagedWarehouse(f"{path} has changed since it was kept. Restore it from a copy.")
        return content

    def remove_partial_files(self) -> None:
        """Remove the partial files of killed runs. Only the warehouse's owner may call this."""
        for left in self.folder.glob(".*-*-*"):
            left.unlink(missing_ok=True)


class PageStore(ContentStore):
    """Keeps the bodies of fetched pages."""

    unwritable = (
        "{folder}: a page could not be kept ({why}). Free some space or fix the permissions, then "
        "run again."
    )
    missing = (
        "{path}: a page is missing. Restore it from a copy; the folder belongs to the warehouse."
    )
    is_packed = True


class FileStore(ContentStore):
    """Keeps report files and the images in them."""

    unwritable = (
        "{folder}: a file could not be kept ({why}). Free some space or fix the permissions, then "
        "run again."
    )
    missing = (
        "{path}: a report's file is missing. Restore it from a copy; the folder belongs to the "
        "warehouse."
    )
    is_packed = False

    def put(self, content: bytes) -> str:
        """Keep `content` as above; a file that is there already is not written again."""
        sha = sha256(content).hexdigest()
        path = self.path(sha)
        if path.exists() and path.stat().st_size == len(content):
            return sha
        return super().put(content)


class ContentWriter:
    """Keeps bytes: call `write` for each piece, then `keep`. Without `keep` they are discarded."""

    def __init__(self, store: ContentStore) -> None:
        self._store = store
        name = f".{os.getpid()}-{threading.get_ident()}-{next(_NUMBERS)}"
        self._fresh = store.folder / name
        self._digest = sha256()
        self.n_bytes = 0
        self._packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_WBITS) if store.is_packed else None
        try:
            self._raw = _open(self._fresh)
        except OSError as error:
            raise self._unwritable_error(error) from error

    def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises:
            UnwritableWarehouse: the file cannot be written.
        """
        self._digest.update(piece)
        self.n_bytes += len(piece)
        try:
            self._raw.write(self._packer.compress(piece) if self._packer else piece)
        except OSError as error:
            raise self._unwritable_error(error) from error

    def keep(self) -> str:
        """Keep the bytes and return their sha-256. The file is on disk when this returns.

        Raises:
            UnwritableWarehouse: the file cannot be written.
        """
        sha = self._digest.hexdigest()
        path = self._store.path(sha)
        try:
            if self._packer:
                self._raw.write(self._packer.flush())
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
            try:
                self._fresh.replace(path)
            except FileNotFoundError:  # the first one in this subfolder
                path.parent.mkdir(exist_ok=True)
                self._fresh.replace(path)
        except OSError as error:
            raise self._unwritable_error(error) from error
        return sha

    def __enter__(self) -> "ContentWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._raw.close()
        self._fresh.unlink(missing_ok=True)

    def _unwritable_error(self, error: OSError) -> UnwritableWarehouse:
        why = error.strerror or error
        return UnwritableWarehouse(
            self._store.unwritable.format(folder=self._store.folder, why=why)
        )


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except FileNotFoundError:  # the first one of this warehouse
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
