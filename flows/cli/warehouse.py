"""Open an existing warehouse for writing."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.display.console import print_message
from tasks.editions.names import check_edition
from tasks.warehouse.location import Location
from tasks.warehouse.reader import check_exists
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
