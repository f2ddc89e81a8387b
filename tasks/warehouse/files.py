"""The store of report files, beside the warehouse: each file under the sha-256 of its bytes."""

import os
import threading
from hashlib import sha256
from pathlib import Path

from tasks.warehouse.errors import DamagedWarehouse, UnwritableWarehouse
from tasks.warehouse.location import LocationLike, parse_location


def files_folder(warehouse: LocationLike) -> Path:
    """Return the folder of a warehouse's files: `files/<its name>` beside it."""
    return parse_location(warehouse).subfolder("files")


class FileStore:
    """Keeps files for ever; equal files are kept once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        """Keep `content` and return its sha-256. The file is on disk when this returns.

        Raises:
            UnwritableWarehouse: the folder cannot be written.
        """
        sha = sha256(content).hexdigest()
        path = self.path(sha)
        if path.exists() and path.stat().st_size == len(content):
            return sha
        fresh = path.with_name(f".{sha}-{os.getpid()}-{threading.get_ident()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise UnwritableWarehouse(
                f"{self._folder}: a file could not be kept ({error.strerror or error}). Free some "
                "space or fix the permissions, then run again."
            ) from error
        return sha

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under `sha`.

        Raises:
            DamagedWarehouse: the file is missing or has changed.
        """
        path = self.path(sha)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DamagedWarehouse(
                f"{path}: a report's file is missing ({error.strerror or error}). Restore it from "
                "a copy; the folder belongs to the warehouse."
            ) from error
        if sha256(content).hexdigest() != sha:
            raise DamagedWarehouse(f"{path} has changed since it was kept. Restore it from a copy.")
        return content

    def path(self, sha: str) -> Path:
        """Return the path of the file with this sha."""
        return self._folder / sha[:2] / sha
