"""The only place that opens a warehouse for writing: a DuckDB file, or a DuckLake."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import duckdb
import polars as pl

from tasks.warehouse.errors import UnwritableWarehouse, WarehouseError
from tasks.warehouse.lake import connect_lake, migrating, use
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, Where, location
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import connect, migrate
from tasks.warehouse.rows import Row
from tasks.warehouse.sql import quoted
from tasks.warehouse.turns import OwnTurns
from tasks.warehouse.writer import Change, Writer, explained

if TYPE_CHECKING:
    from tasks.warehouse.lake_turns import LakeTurns

RowT = TypeVar("RowT", bound=Row)


class Readable(Protocol):
    """What answers queries: the open warehouse, or a read-only look at it."""

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """The result of a query as a Polars frame."""


class Warehouse:
    """An open warehouse: read from any thread, write through the one writer."""

    def __init__(
        self, where: Location, connection: duckdb.DuckDBPyConnection, identity: str
    ) -> None:
        self.location = where
        self.url = where.url
        """How another task of this process, or another process, reaches it."""
        self.id = identity
        """A uuid made when it was: part of every cache key, so caches never cross warehouses."""
        self.turns = _turns(where, identity)
        """For work that other processes may be at, too."""
        self._connection = connection
        self._writer = Writer(self._new_cursor(), self.turns.committing)
        self._local = threading.local()

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """The result of a query as a Polars frame."""
        return self._cursor().sql(sql, params=list(parameters)).pl()

    def rows(self, model: type[RowT], where: str, parameters: Sequence[Any] = ()) -> list[RowT]:
        """Records of one table, typed, in key order."""
        order = ", ".join(f'"{column}"' for column in model.key)
        sql = f"SELECT * FROM {model.table} WHERE {where} ORDER BY {order}"
        return [model.model_validate(record) for record in self.frame(sql, parameters).to_dicts()]

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The single value of a one-row, one-column query; None if there is no row."""
        row = self._cursor().sql(sql, params=list(parameters)).fetchone()
        return row[0] if row else None

    def copy_to(self, file: Path, select: str, parameters: Sequence[Any] = ()) -> int:
        """Write the result of a query as one Parquet file; how many rows it has."""
        sql = f"COPY ({select}) TO {quoted(str(file))} (FORMAT parquet, COMPRESSION zstd)"
        row = self._cursor().execute(sql, list(parameters)).fetchone()
        return int(row[0]) if row else 0

    def write(self, *changes: Change) -> None:
        """Write changes together; returns once they are committed."""
        self._writer.submit(changes).result()

    async def write_async(self, *changes: Change) -> None:
        """As `write`, without holding up the event loop."""
        await asyncio.wrap_future(self._writer.submit(changes))

    def close(self) -> None:
        self._writer.close()
        self.turns.close()
        self._connection.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._new_cursor()
        cursor: duckdb.DuckDBPyConnection = self._local.cursor
        return cursor

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._connection.cursor()
        return use(cursor) if isinstance(self.location, DuckLake) else cursor


_open: dict[str, Warehouse] = {}


@contextmanager
def open_warehouse(
    where: Where,
    *,
    wait_seconds: float | None = None,
    on_wait: Callable[[str], None] | None = None,
    doing: str | None = None,
) -> Iterator[Warehouse]:
    """Open (or make) a warehouse; a file is waited for while another process owns it.

    Opening it again inside the same process gives the one that is open: a flow that runs
    inside another flow shares it. Nobody owns a lake: there, work takes turns (see `turns`).

    doing: what those who wait are told we do; this process's command unless given.

    Raises:
        WarehouseError: damaged, foreign, newer, unwritable, or busy (see `errors`).
    """
    where = location(where)
    if where.url in _open:
        yield _open[where.url]
        return
    with _owned(where, wait_seconds, on_wait, doing):
        connection = connect_lake(where) if isinstance(where, DuckLake) else _file(where)
        try:
            with migrating(where) if isinstance(where, DuckLake) else nullcontext():
                identity = migrate(connection, where)
            warehouse = Warehouse(where, connection, identity)
        except BaseException as error:
            connection.close()
            raise explained(error) from error
        _open[where.url] = warehouse
        try:
            yield warehouse
        finally:
            del _open[where.url]
            warehouse.close()


def get_open_warehouse(where: Where) -> Warehouse:
    """The warehouse that this process has open there: how a task reaches it by key."""
    try:
        return _open[location(where).url]
    except KeyError:
        raise WarehouseError(f"{where} is not open in this process; run inside a flow.") from None


def _turns(where: Location, identity: str) -> "OwnTurns | LakeTurns":
    if not isinstance(where, DuckLake):
        return OwnTurns()
    from tasks.warehouse.lake_turns import LakeTurns  # who has a file needs no libpq

    return LakeTurns(where, identity)


def _owned(
    where: Location,
    wait_seconds: float | None,
    on_wait: Callable[[str], None] | None,
    doing: str | None,
) -> AbstractContextManager[None]:
    if not isinstance(where, DuckDBFile):
        return nullcontext()
    _make_folder(where.path)
    return own(where.path, wait_seconds=wait_seconds, on_wait=on_wait, doing=doing)


def _file(where: Location) -> duckdb.DuckDBPyConnection:
    assert isinstance(where, DuckDBFile)
    return connect(where.path)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableWarehouse(
            f"{path.parent}: cannot make the folder ({error.strerror or error}). "
            "Choose another place with --warehouse."
        ) from error
