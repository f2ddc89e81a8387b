"""The store of page bodies, beside the warehouse: compressed, each under its sha-256."""

import gzip
import os
import threading
import zlib
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from tasks.warehouse.errors import DamagedWarehouse, UnwritableWarehouse
from tasks.warehouse.location import LocationLike, parse_location

GZIP_LEVEL = 3
"""Shrinks text pages to a fifth; higher levels would take longer than the network."""
GZIP_WBITS = 31
"""Makes zlib write gzip files. Their header has no time, so equal pages give equal files."""
_NUMBERS = count()


def pages_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's pages: `pages/<its name>` beside it."""
    return parse_location(warehouse).subfolder("pages")


class PageStore:
    """Keeps pages for ever; equal pages are kept once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self) -> "PageWriter":
        """Start a new page.

        Raises:
            UnwritableWarehouse: the folder cannot be written.
        """
        return PageWriter(self._folder)

    def remove_partial_files(self) -> None:
        """Remove the partial files of killed runs. Only the warehouse's owner may call this."""
        for left in self._folder.glob(".*-*-*"):
            left.unlink(missing_ok=True)

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under `sha`.

        Raises:
            DamagedWarehouse: the page is missing or has changed.
        """
        path = page_path(self._folder, sha)
        try:
            content = gzip.decompress(path.read_bytes())
        except FileNotFoundError:
            raise DamagedWarehouse(
                f"{path}: a page is missing. Restore it from a copy; the folder belongs to the "
                "warehouse."
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedWarehouse(
                f"{path} cannot be unpacked ({error}). Restore it from a copy."
            ) from error
        if sha256(content).hexdigest() != sha:
            raise DamagedWarehouse(f"{path} has changed since it was kept. Restore it from a copy.")
        return content


class PageWriter:
    """Writes one page: call `write` for each piece, then `keep`. Without `keep` it is discarded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fresh = folder / f".{os.getpid()}-{threading.get_ident()}-{next(_NUMBERS)}"
        self._digest = sha256()
        self.n_bytes = 0
        try:
            self._raw = _open(self._fresh)
        except OSError as error:
            raise _unwritable_error(folder, error) from error
        self._packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_WBITS)

    def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises:
            UnwritableWarehouse: the file cannot be written.
        """
        self._digest.update(piece)
        self.n_bytes += len(piece)
        try:
            self._raw.write(self._packer.compress(piece))
        except OSError as error:
            raise _unwritable_error(self._folder, error) from error

    def keep(self) -> str:
        """Keep the page and return its sha-256. The page is on disk when this returns.

        Raises:
            UnwritableWarehouse: the file cannot be written.
        """
        sha = self._digest.hexdigest()
        path = page_path(self._folder, sha)
        try:
            self._raw.write(self._packer.flush())
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
            try:
                self._fresh.replace(path)
            except FileNotFoundError:  # the first page in this subfolder
                path.parent.mkdir(exist_ok=True)
                self._fresh.replace(path)
        except OSError as error:
            raise _unwritable_error(self._folder, error) from error
        return sha

    def __enter__(self) -> "PageWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._raw.close()
        self._fresh.unlink(missing_ok=True)


def page_path(folder: Path, sha: str) -> Path:
    """Return the path of the page with this sha."""
    return folder / sha[:2] / f"{sha}.gz"


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except FileNotFoundError:  # the first page of this warehouse
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")


def _unwritable_error(folder: Path, error: OSError) -> UnwritableWarehouse:
    return UnwritableWarehouse(
        f"{folder}: a page could not be kept ({error.strerror or error}). Free some space or fix "
        "the permissions, then run again."
    )
