"""Open a warehouse for a command: to write, or only to read."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.display.console import print_message
from tasks.editions.names import check_edition
from tasks.warehouse.location import Location
from tasks.warehouse.reader import ReadOnlyWarehouse, check_exists, open_for_reading
from tasks.warehouse.store import Warehouse, open_warehouse


@contextmanager
def open_existing_warehouse(where: Location, *editions: str) -> Iterator[Warehouse]:
    """Open a warehouse that has these editions; wait while another process owns it.

    A misspelt name is refused and creates no file. Commands that create a warehouse (`collect`,
    `refresh`, `demo`, imports of editions) call `open_warehouse`.

    Raises:
        WarehouseError: there is no warehouse.
        UnknownName: it has no such edition.
    """
    check_exists(where)
    with open_warehouse(where, on_wait=print_message) as store:
        for edition in editions:
            check_edition(store, edition)
        yield store


@contextmanager
def open_to_read(where: Location, *editions: str | None) -> Iterator[ReadOnlyWarehouse]:
    """Open a warehouse that has these editions, also while a flow runs; say if its last export is
    read.

    Raises:
        WarehouseError: there is no warehouse.
        UnknownName: it has no such edition.
    """
    with open_for_reading(where) as source:
        if source.notice:
            print_message(source.notice, style="yellow")
        for edition in filter(None, editions):
            check_edition(source, edition)
        yield source
