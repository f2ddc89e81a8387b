"""The files of a program's job; its output is limited in size and without the secrets it was given.

Of the project it imports little: it is part of the lightweight `supervisor`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tasks.files.opening import OutsideFile, SpecialFile, open_file
from tasks.masking import SecretMask

MAX_REPORT_BYTES = 16 * 1024 * 1024
"""The largest report, or `answer.json`, that is accepted from a program."""
TAIL_BYTES = 4096
MIN_SECRET_BYTES = 8
"""Shorter values (`1`, `en_GB`) are settings, and occur in any text."""
VISIBLE_VARIABLES = frozenset({"EVERGREEN_SANDBOX"})
"""Variables with an address that people need to see; it is hidden if it contains a password."""


def mask_variables(variables: Mapping[str, str]) -> SecretMask:
    """Return the mask of the values of these variables that must be hidden."""
    values = {
        value.strip()
        for name, value in variables.items()
        if name not in VISIBLE_VARIABLES or "@" in value
    }
    return SecretMask(value for value in values if len(os.fsencode(value)) >= MIN_SECRET_BYTES)


class CapturedStream:
    """An output stream of a program: its first 16 MB in a file, its last 4 kB in memory."""

    def __init__(self, file: BinaryIO, secrets: SecretMask) -> None:
        self._file = file
        self._secrets = secrets
        self._bytes_left = MAX_REPORT_BYTES
        self._held_back = b""
        """The end of the data so far, which may be the beginning of a secret."""
        self.tail = b""
        self.truncated = False

    @classmethod
    @contextmanager
    def open(cls, path: Path, secrets: SecretMask) -> Iterator["CapturedStream"]:
        with path.open("wb", buffering=0) as file:
            yield cls(file, secrets)

    def add(self, data: bytes) -> None:
        text = self._secrets.hide_in_bytes(self._held_back + data)
        cut = max(0, len(text) - max(0, self._secrets.n_bytes - 1))
        self._held_back = text[cut:]
        self._write(text[:cut])

    def finish(self) -> None:
        """Write the data held back; call at the end of the stream."""
        self._write(self._held_back)
        self._held_back = b""

    def _write(self, text: bytes) -> None:
        self.tail = (self.tail + text)[-TAIL_BYTES:]
        self._file.write(text[: self._bytes_left])
        self.truncated = self.truncated or len(text) > self._bytes_left
        self._bytes_left -= min(self._bytes_left, len(text))


class UnusableOutput(Exception):
    """An output file of a program cannot be used; the message says why."""


def read_program_file(home: Path, name: str) -> bytes | None:
    """Read a file that a program left in its folder; None if it does not exist.

    Raises:
        UnusableOutput: it is outside the folder, not a regular file, or too large.
    """
    try:
        with open_file(home / name, within=home) as file:
            content = file.read(MAX_REPORT_BYTES + 1)
    except FileNotFoundError:
        return None
    except OutsideFile:
        raise UnusableOutput(f"{name} is outside the program's folder") from None
    except SpecialFile:
        raise UnusableOutput(f"{name} is not a regular file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UnusableOutput(f"{name} cannot be read ({error})") from None
    if len(content) > MAX_REPORT_BYTES:
        raise UnusableOutput(f"{name} is larger than {MAX_REPORT_BYTES // 2**20} MB")
    return content


def decode_text(content: bytes, name: str) -> str:
    """Decode UTF-8.

    Raises:
        UnusableOutput: the content is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableOutput(
            f"{name} is not UTF-8 (byte {error.start} is {content[error.start]:#04x}); the "
            "program must write UTF-8"
        ) from None


def write_atomically(path: Path, text: str) -> None:
    """Write a file of a job's folder, which another process may be reading."""
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    with fresh.open("w", encoding="utf-8", errors="replace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
