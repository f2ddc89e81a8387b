"""Open a warehouse for a command: to write, or only to read."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.display.console import print_message
from tasks.editions.names import HOW_TO_MAKE_ONE, UnknownName, check_edition, list_newest_first
from tasks.warehouse.location import Location
from tasks.warehouse.reader import ReadOnlyWarehouse, check_exists, open_for_reading
from tasks.warehouse.store import Warehouse, open_warehouse


def choose_edition(where: Location) -> str:
    """Return the newest edition, for commands that are given none; say which if there are several.
    While a flow runs, that of the last export.

    Raises:
        WarehouseError: there is no warehouse, or it is busy and was never exported.
        UnknownName: it has no edition.
    """
    with open_for_reading(where) as source:
        names = list_newest_first(source)
    if not names:
        raise UnknownName(f"{where} has no edition yet. {HOW_TO_MAKE_ONE}")
    if len(names) > 1 or source.notice:
        which = "the newest of the last export" if source.notice else f"the newest of {len(names)}"
        print_message(f"Edition {names[0]}, {which}; choose with --edition.", "dim")
    return names[0]


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
