"""The errors of the warehouse; each message says what to do."""

from tasks.errors import ExpectedError
from tasks.files.locks import NoFileLocks


def first_line(error: BaseException | str) -> str:
    """The first line of an error's message, or its class name if the message is empty.
    At most 500 characters."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:500]


class WarehouseError(ExpectedError):
    """The warehouse cannot be used as requested."""


class LakeNotInstalled(WarehouseError):
    """A library that lakes need is not installed.

    Args:
        what: the library.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"A lake needs {what}, which is not installed: pip install 'evergreen-bench[lake]'."
        )


class DamagedWarehouse(WarehouseError):
    """The file is not a readable DuckDB database."""


class ForeignWarehouse(WarehouseError):
    """The file is a DuckDB database, but not a warehouse."""


class OlderWarehouse(WarehouseError):
    """The warehouse has an older schema, which this Evergreen does not read."""


class UpgradableWarehouse(OlderWarehouse):
    """The warehouse has an older schema; opening it for writing brings it to this one."""


class NewerWarehouse(WarehouseError):
    """The warehouse was written by a newer Evergreen or DuckDB than this one."""


class UnwritableWarehouse(WarehouseError):
    """The warehouse cannot be written: no permission, or a read-only or full disk."""


class NoRoom(UnwritableWarehouse):
    """A disk is full, or nearly: nothing more could be kept, so everything stops."""

    @classmethod
    def met(cls, problem: str) -> "NoRoom":
        """Make the error for what the operating system said of a full disk."""
        return cls(
            f"There is no room left on the disk ({problem}). What was acknowledged is safe. Free "
            "at least 500 MB, then run again."
        )


class LocklessWarehouse(NoFileLocks, WarehouseError):
    """The warehouse's file system has no file locks."""


class WarehouseBusy(WarehouseError):
    """Another process has the warehouse open, and the caller does not want to wait."""

    def __init__(self, line: str) -> None:
        super().__init__(f"{line}. Wait for it to end, or choose another file with --warehouse.")
        self.line = line
        """The owner, without the advice."""


class LostWarehouse(WarehouseError):
    """The writer has stopped; nothing more can be committed in this process."""
