"""Opening of files that may come from strangers: no link out of their folder, nothing that waits;
and small files with a secret of ours, which only their owner may read.

Imports nothing of the project: it is part of the lightweight `supervisor`.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

# O_PATH, which only Linux has, opens folders that may be entered but not listed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe that nobody writes to waits forever.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
MAX_SECRET_CHARS = 1000


class OutsideFile(OSError):
    """A link leads out of the folder; the message is the reason, without the file's name."""


class SpecialFile(OSError):
    """It is a pipe, a device or a socket; the message is the reason, without its name."""


def open_file(path: Path, within: Path | None) -> BufferedReader:
    """Open a regular file for reading.

    Args:
        within: the folder that the user named: links in it may lead to files in it, not elsewhere.
            None: the user named the file itself, wherever it leads.

    Raises:
        OutsideFile: a link leads out of the folder.
        SpecialFile: it is a pipe, a device or a socket.
        OSError: it does not exist, is a folder, or cannot be opened.
    """
    try:
        opened = os.open(path, _FILE) if within is None else _open_within(path, within)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise SpecialFile("it is not a regular file") from None
        raise
    try:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise SpecialFile("it is not a regular file")
        return os.fdopen(opened, "rb")
    except BaseException:
        os.close(opened)
        raise


def resolve_within(path: Path, within: Path) -> Path:
    """Follow all links of a path in a folder, which must exist.

    Raises:
        OutsideFile: a link leads out of the folder.
        OSError: it does not exist, or its links go in a circle.
    """
    try:
        real = path.resolve(strict=True)
    except RuntimeError:  # of Python until 3.12
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    if not real.is_relative_to(within.resolve()):
        raise OutsideFile("it leads out of its folder")
    return real


def list_files(folder: Path) -> list[Path]:
    """List what is not a folder and not hidden, sorted; special files and dead links too, which
    `open_file` refuses with a reason."""
    return sorted(p for p in folder.iterdir() if not p.is_dir() and not p.name.startswith("."))


def _open_within(path: Path, within: Path) -> int:
    """Open a file one folder after the other: a link that comes in meanwhile is refused too."""
    real = resolve_within(path, within)
    home = within.resolve()
    *folders, name = real.relative_to(home).parts or (".",)
    here = os.open(home, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(name, _FILE | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


def read_or_make(path: Path, made: str) -> tuple[str, bool]:
    """Return the text of a file, and whether it is for us alone; make the file if there is none.

    Whoever comes second gets what the first made: a file is there with its text or not at all.

    Raises:
        OSError: it is a link, or cannot be read or made.
    """
    if not os.path.lexists(path):
        _make_private(path, made)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        private = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077
        return file.read(MAX_SECRET_CHARS).strip(), private and stat.S_ISREG(status.st_mode)


def _make_private(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(text)
        with suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink()
