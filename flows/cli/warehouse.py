"""How a command opens a warehouse to write to that must be there already."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.display.console import remark
from tasks.editions.names import check_edition
from tasks.warehouse.location import Location
from tasks.warehouse.reading import check_there
from tasks.warehouse.store import Warehouse, open_warehouse


@contextmanager
def existing_warehouse(where: Location, *editions: str) -> Iterator[Warehouse]:
    """Open a warehouse that has these editions; wait while another process owns it.

    A misspelt name is refused before a file is made of it. Commands that begin a warehouse
    (`collect`, `refresh`, `demo`, imports of editions) call `open_warehouse`.

    Raises:
        WarehouseError: there is no warehouse.
        UnknownName: it has no such edition.
    """
    check_there(where)
    with open_warehouse(where, on_wait=remark) as store:
        for edition in editions:
            check_edition(store, edition)
        yield store
