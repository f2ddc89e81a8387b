"""The bytes of web pages, kept for ever beside the warehouse: packed, each under its sha-256."""

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
from tasks.warehouse.location import Where, location

PACKING = 3
"""gzip's level: pages of text become a fifth; more takes longer than the network."""
GZIP = 31
"""zlib's word for gzip's form, whose header then holds no time: the same bytes make one file."""
_NUMBERS = count()


def pages_folder(warehouse: Where) -> Path:
    """Where the pages of a warehouse lie: `pages/<its name>` beside it."""
    return location(warehouse).beside("pages")


class PageStore:
    """Keeps bytes that come in pieces; the same bytes are kept once, whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def receive(self) -> "Receiving":
        """A page that is about to come.

        Raises:
            UnwritableWarehouse: the folder cannot be written.
        """
        return Receiving(self._folder)

    def sweep(self) -> None:
        """Remove what runs that were killed have left half-written. For whoever owns the
        warehouse."""
        for left in self._folder.glob(".*-*-*"):
            left.unlink(missing_ok=True)

    def get(self, sha: str) -> bytes:
        """The bytes kept under `sha`.

        Raises:
            DamagedWarehouse: they are not there, or not what they were.
        """
        path = packed_path(self._folder, sha)
        try:
            content = gzip.decompress(path.read_bytes())
        except FileNotFoundError:
            raise DamagedWarehouse(
                f"{path}: the bytes of a page are missing. Restore them from a copy; the folder "
                "belongs to the warehouse."
            ) from None
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedWarehouse(
                f"{path} cannot be unpacked ({error}). Restore it from a copy."
            ) from error
        if sha256(content).hexdigest() != sha:
            raise DamagedWarehouse(f"{path} is not what it was. Restore it from a copy.")
        return content


class Receiving:
    """One page in the making: write pieces, then `keep`. Left without, it is gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fresh = folder / f".{os.getpid()}-{threading.get_ident()}-{next(_NUMBERS)}"
        self._digest = sha256()
        self.n_bytes = 0
        try:
            self._raw = _opened(self._fresh)
        except OSError as error:
            raise _unwritable(folder, error) from error
        self._packer = zlib.compressobj(PACKING, wbits=GZIP)

    def write(self, piece: bytes) -> None:
        """Add bytes.

        Raises:
            UnwritableWarehouse: the disk is full, or the like.
        """
        self._digest.update(piece)
        self.n_bytes += len(piece)
        try:
            self._raw.write(self._packer.compress(piece))
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def keep(self) -> str:
        """The sha-256 under which the page is kept. On disk when this returns.

        Raises:
            UnwritableWarehouse: as `write`.
        """
        sha = self._digest.hexdigest()
        path = packed_path(self._folder, sha)
        try:
            self._raw.write(self._packer.flush())
            self._raw.flush()
            os.fsync(self._raw.fileno())
            self._raw.close()
            try:
                self._fresh.replace(path)
            except FileNotFoundError:  # the first page whose sha begins so
                path.parent.mkdir(exist_ok=True)
                self._fresh.replace(path)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        return sha

    def __enter__(self) -> "Receiving":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._raw.close()
        self._fresh.unlink(missing_ok=True)


def packed_path(folder: Path, sha: str) -> Path:
    """The file of the page with this sha."""
    return folder / sha[:2] / f"{sha}.gz"


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except FileNotFoundError:  # the first page of this warehouse
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")


def _unwritable(folder: Path, error: OSError) -> UnwritableWarehouse:
    return UnwritableWarehouse(
        f"{folder}: a page could not be kept ({error.strerror or error}). Free some space or fix "
        "the permissions, then run again."
    )
