"""Errors in reading published editions.

EditionError          the whole edition cannot be read: the import ends, nothing is written
UnreadableFileError   one file cannot be read: it is listed, and the rest is imported
"""

from tasks.errors import ExpectedError


class EditionError(ExpectedError):
    """The edition cannot be read. The message names the path, what was expected, what to do."""


class UnreadableFileError(Exception):
    """One file cannot be used; `kind` is the kind of the import issue."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
