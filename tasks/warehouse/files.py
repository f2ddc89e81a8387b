"""Files kept as they came, beside the warehouse: each under the sha-256 of its bytes."""

import os
import threading
from hashlib import sha256
from pathlib import Path

from tasks.warehouse.errors import DamagedWarehouse, UnwritableWarehouse
from tasks.warehouse.location import Where, location


def files_folder(warehouse: Where) -> Path:
    """Where the files of a warehouse lie: `files/<its name>` beside it."""
    return location(warehouse).beside("files")


class FileStore:
    """Keeps bytes for ever; the same bytes are kept once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        """Keep `content`; its sha-256. On disk when this returns, whole or not at all.

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
        """The bytes kept under `sha`.

        Raises:
            DamagedWarehouse: they are not there, or not what they were.
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
            raise DamagedWarehouse(f"{path} is not what it was. Restore it from a copy.")
        return content

    def path(self, sha: str) -> Path:
        return self._folder / sha[:2] / sha
