"""What stops the reading of an edition.

EditionError          the folder as a whole cannot be read: the import ends, nothing is written
UnreadableFileError   one file cannot be read: it is listed, and the rest goes in
"""

from tasks.errors import ExpectedError


class EditionError(ExpectedError):
    """The folder is not a readable edition. Says which path, what was expected, what to do."""


class UnreadableFileError(Exception):
    """One file cannot be used; `kind` names the reason for the list of import issues."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
