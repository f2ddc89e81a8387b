"""What a program wrote, kept within bounds and without the secrets it was given.

Imports nothing of the project: it is part of what watches a program (`supervise`).
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAX_REPORT_BYTES = 16 * 1024 * 1024
"""Of what a program may give as its report, or in `answer.json`."""
TAIL_BYTES = 4096
LEAST_SECRET = 8
"""Bytes; shorter values (`1`, `en_GB`) are switches, and stand in any text."""
HIDDEN = b"[hidden]"
SHOWN = frozenset({"EVERGREEN_SANDBOX"})
"""Variables that hold an address that people need to see; one with a password in it is hidden."""


def given_secrets(variables: Mapping[str, str]) -> tuple[bytes, ...]:
    """What of these variables must not be shown."""
    return secrets_of(v for name, v in variables.items() if name not in SHOWN or "@" in v)


def secrets_of(values: Iterable[str]) -> tuple[bytes, ...]:
    """What must not be shown, the longest first: one may hold another."""
    found = {value.strip().encode("utf-8", "surrogateescape") for value in values}
    return tuple(sorted((v for v in found if len(v) >= LEAST_SECRET), key=lambda v: (-len(v), v)))


def without_secrets(data: bytes, secrets: Iterable[bytes]) -> bytes:
    for secret in secrets:
        data = data.replace(secret, HIDDEN)
    return data


class Captured:
    """A stream of a program: its first 16 MB in a file, its last 4 kB in memory."""

    def __init__(self, file: BinaryIO, secrets: tuple[bytes, ...]) -> None:
        self._file = file
        self._secrets = secrets
        self._room = MAX_REPORT_BYTES
        self._held_back = b""
        """The end of what came: a secret may have begun in it."""
        self.tail = b""
        self.overfull = False

    @classmethod
    @contextmanager
    def to(cls, path: Path, secrets: tuple[bytes, ...]) -> Iterator["Captured"]:
        with path.open("wb", buffering=0) as file:
            yield cls(file, secrets)

    def add(self, data: bytes) -> None:
        text = without_secrets(self._held_back + data, self._secrets)
        cut = max(0, len(text) - max((len(s) - 1 for s in self._secrets), default=0))
        self._held_back = text[cut:]
        self._write(text[:cut])

    def finish(self) -> None:
        """Nothing more will come."""
        self._write(self._held_back)
        self._held_back = b""

    def _write(self, text: bytes) -> None:
        self.tail = (self.tail + text)[-TAIL_BYTES:]
        self._file.write(text[: self._room])
        self.overfull = self.overfull or len(text) > self._room
        self._room -= min(self._room, len(text))


class Unusable(Exception):
    """A file that a program left cannot be taken; the message says why."""


def file_in(home: Path, name: str) -> bytes | None:
    """The content of a file that a program left in its folder; None where there is none.

    Raises:
        Unusable: it lies outside the folder, is no regular file, or is too large.
    """
    try:
        path = (home / name).resolve()
        if not path.is_relative_to(home.resolve()):
            raise Unusable(f"{name} leads out of the program's folder")
        # Not blocking: opening a pipe that nobody writes to would never return.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError, ValueError) as error:
        raise Unusable(f"{name} cannot be read ({error})") from None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise Unusable(f"{name} is not a regular file")
        content = file.read(MAX_REPORT_BYTES + 1)
    if len(content) > MAX_REPORT_BYTES:
        raise Unusable(f"{name} is larger than {MAX_REPORT_BYTES // 2**20} MB")
    return content


def as_text(content: bytes, name: str) -> str:
    """
    Raises:
        Unusable: it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(
            f"{name} is not UTF-8 (byte {error.start} is {content[error.start]:#04x}); the "
            "program must write UTF-8"
        ) from None
