"""What can go wrong with the warehouse file, each saying what to do."""


class WarehouseError(Exception):
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


class LostWarehouse(WarehouseError):
    """The writer has stopped; nothing more can be committed in this process."""
