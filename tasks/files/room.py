"""Free disk space: how much stays free, and which errors say that there is none."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from tasks.errors import ExpectedError

RESERVE_VARIABLE = "EVERGREEN_FREE_SPACE"
"""Sets how much space stays free, as in `2 GB` or `300 kB`."""
DEFAULT_RESERVE = "500 MB"
ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The disk is full, or what this user may fill of it, or the largest file that it may make."""
WORDS = (*map(os.strerror, sorted(ERRORS)), "database or disk is full")
"""What libraries quote of the operating system, and what SQLite says."""
LIBRARIES = {"_duckdb", "polars", "pyarrow"}
"""Their errors are no OSErrors. What others quote may be a server's trouble, not ours."""


class InvalidReserve(ExpectedError):
    """The variable EVERGREEN_FREE_SPACE holds no amount of bytes."""


def load_reserve() -> int:
    """Return how many bytes stay free on each disk that Evergreen writes to.

    Raises:
        InvalidReserve: the variable holds something else.
    """
    from pydantic import ByteSize, TypeAdapter, ValidationError

    setting = os.environ.get(RESERVE_VARIABLE) or DEFAULT_RESERVE
    try:
        return int(TypeAdapter(ByteSize).validate_python(setting))
    except ValidationError:
        raise InvalidReserve(
            f"{RESERVE_VARIABLE}={setting!r} is no amount of bytes. Write, for example, 500 MB."
        ) from None


class DiskRoom:
    """The space on the disks that a run writes to.

    Args:
        folders: they may not exist yet.
        reserve: bytes that stay free; as the variable says if None.
    """

    def __init__(self, folders: Iterable[Path], reserve: int | None = None) -> None:
        self._folders = [find_existing(folder) for folder in folders]
        self._reserve = load_reserve() if reserve is None else reserve

    def find_shortage(self, n_bytes: int) -> str | None:
        """Return a sentence about the disk that lacks room for so many bytes; None if none does."""
        for folder in self._folders:
            free, needed = shutil.disk_usage(folder).free, self._reserve + n_bytes
            if free < needed:
                return (
                    f"{folder} has {_format(free)} free and needs {_format(needed)}, of which "
                    f"{_format(self._reserve)} stay free ({RESERVE_VARIABLE}). Nothing more is "
                    "bought, because answers could not be kept; those under way are kept. Make "
                    "room, then run again."
                )
        return None


def _format(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes >= 10_000_000 else f"{n_bytes / 1e3:,.0f} kB"


def find_existing(folder: Path) -> Path:
    """Return the nearest folder above that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def find_full_disk(error: BaseException) -> str | None:
    """Return what an error, or one that it was made from, says of a full disk; None if nothing."""
    for part in _walk(error, set()):
        text = str(part)
        if isinstance(part, OSError) and part.errno in ERRORS:
            return f"{part.filename}: {part.strerror}" if part.filename else str(part.strerror)
        ours = isinstance(part, OSError | sqlite3.Error)
        ours = ours or type(part).__module__.partition(".")[0] in LIBRARIES
        if ours and any(words in text for words in WORDS):
            return text.strip().splitlines()[0][:500]
    return None


def _walk(error: BaseException | None, seen: set[int]) -> Iterator[BaseException]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    yield error
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _walk(part, seen)
    yield from _walk(error.__cause__, seen)
    yield from _walk(error.__context__, seen)
