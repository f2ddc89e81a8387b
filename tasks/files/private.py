"""Small files with a secret of ours, which only their owner may read.

Imports nothing of the project.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

MAX_CHARS = 1000


def read_or_make(path: Path, made: str) -> tuple[str, bool]:
    """Return the text of a file, and whether it is for us alone; make the file if there is none.

    Whoever comes second gets what the first made: a file is there with its text or not at all.

    Raises:
        OSError: it is a link, or cannot be read or made.
    """
    if not os.path.lexists(path):
        _make(path, made)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        private = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077
        return file.read(MAX_CHARS).strip(), private and stat.S_ISREG(status.st_mode)


def _make(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(text)
        with suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()
