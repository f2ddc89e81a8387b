"""What can go wrong with the warehouse, each saying what to do."""

from tasks.errors import ExpectedError


def first_line(said: BaseException | str) -> str:
    """What went wrong, without what stands below it; the error's name where it says nothing.
    At most 500 characters."""
    text = str(said).strip() or type(said).__name__
    return text.splitlines()[0][:500]


class WarehouseError(ExpectedError):
    """The warehouse cannot be used as asked; the message names the file and the way out."""


class DamagedWarehouse(WarehouseError):
    """The file is not a readable DuckDB database."""


class ForeignWarehouse(WarehouseError):
    """A DuckDB database, but not one of ours."""


class NewerWarehouse(WarehouseError):
    """Written by a newer Evergreen or DuckDB than this one."""


class UnwritableWarehouse(WarehouseError):
    """No permission, a read-only disk, or a full one."""


class WarehouseBusy(WarehouseError):
    """Another process owns the warehouse and we were asked not to wait."""

    def __init__(self, line: str) -> None:
        super().__init__(f"{line}. Wait for it to end, or choose another file with --warehouse.")
        self.line = line
        """Who owns it."""


class LostWarehouse(WarehouseError):
    """The writer has stopped; nothing more can be committed in this process."""
