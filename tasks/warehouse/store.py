"""The open warehouse, a DuckDB file or a DuckLake. Only this module opens one for writing."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import duckdb
import polars as pl

from tasks.warehouse.errors import UnwritableWarehouse
from tasks.warehouse.file_lock import lock_warehouse, wait_until_free
from tasks.warehouse.lake import connect_lake, schema_lock, use_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.locks import LocalLocks
from tasks.warehouse.rows import Row
from tasks.warehouse.schema import check_file, connect, ensure_schema
from tasks.warehouse.sql import quote_literal
from tasks.warehouse.write_counter import WriteCounter
from tasks.warehouse.writer import Change, Writer, apply_change, translate_error

if TYPE_CHECKING:
    from tasks.warehouse.lake_locks import LakeLocks

RowT = TypeVar("RowT", bound=Row)


class Readable(Protocol):
    """Something that answers queries: the open warehouse, or a read-only one."""

    def frame(self, sql: str, parameters: Sequence[object] = ()) -> pl.DataFrame:
        """Return the result of a query as a Polars frame."""


class Warehouse:
    """An open warehouse: any thread may read; one thread writes."""

    def __init__(
        self, where: Location, connection: duckdb.DuckDBPyConnection, identity: str
    ) -> None:
        self.location = where
        self.url = where.url
        """Its address, for other tasks and processes."""
        self.id = identity
        """The uuid made with the warehouse. It is part of every cache key."""
        self.locks = _make_locks(where, identity)
        """Locks against other processes that work in the same warehouse."""
        self.asked_agents: set[tuple[str, str]] = set()
        """The editions and agents that this process is asking for reports."""
        counter = WriteCounter(where.path, connection) if isinstance(where, DuckDBFile) else None
        self.lost = counter.lost if counter else None
        """What is said if committed writes are missing."""
        self._connection = connection
        self._writer = Writer(self._new_cursor(), self.locks.commit_lock, counter)
        self._local = threading.local()

    def frame(self, sql: str, parameters: Sequence[object] = ()) -> pl.DataFrame:
        """Return the result of a query as a Polars frame."""
        return self._cursor().sql(sql, params=list(parameters)).pl()

    def rows(self, model: type[RowT], where: str, parameters: Sequence[object] = ()) -> list[RowT]:
        """Return the rows of one table that match `where`, in key order."""
        order = ", ".join(f'"{column}"' for column in model.key)
        sql = f"SELECT * FROM {model.table} WHERE {where} ORDER BY {order}"
        return [model.model_validate(record) for record in self.frame(sql, parameters).to_dicts()]

    def value(self, sql: str, parameters: Sequence[object] = ()) -> Any:
        """Return the value of a one-row, one-column query; None if there is no row."""
        row = self._cursor().sql(sql, params=list(parameters)).fetchone()
        return row[0] if row else None

    def copy_to(self, file: Path, select: str, parameters: Sequence[object] = ()) -> int:
        """Write the result of a query to a Parquet file and return the number of rows."""
        sql = f"COPY ({select}) TO {quote_literal(str(file))} (FORMAT parquet, COMPRESSION zstd)"
        row = self._cursor().execute(sql, list(parameters)).fetchone()
        return int(row[0]) if row else 0

    def write(self, *changes: Change) -> None:
        """Write changes in one transaction; return once they are committed."""
        self._writer.submit(changes).result()

    async def write_async(self, *changes: Change) -> None:
        """Like `write`, without blocking the event loop."""
        await asyncio.wrap_future(self._writer.submit(changes))

    @contextmanager
    def pretend(self, changes: Sequence[Change]) -> Iterator[None]:
        """Let this thread read as if these changes were written; they are not."""
        cursor = self._cursor().begin()
        try:
            for change in changes:
                apply_change(cursor, change)
            yield
        finally:
            cursor.rollback()

    def close(self) -> None:
        self._writer.close()
        self.locks.close()
        self._connection.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._new_cursor()
        cursor: duckdb.DuckDBPyConnection = self._local.cursor
        return cursor

    def _new_cursor(self) -> duckdb.DuckDBPyConnection:
        cursor = self._connection.cursor()
        return use_lake(cursor) if isinstance(self.location, DuckLake) else cursor


_open: dict[str, Warehouse] = {}


@contextmanager
def open_warehouse(
    where: LocationLike,
    *,
    wait_seconds: float | None = None,
    on_wait: Callable[[str], None] | None = None,
    activity: str | None = None,
) -> Iterator[Warehouse]:
    """Open or create a warehouse; wait for a file while another process has it open.

    If this process has the warehouse open already, that one is returned, so a flow inside another
    flow shares it. A lake has no owner: there, single pieces of work are locked (see `locks`).

    Args:
        wait_seconds: None waits for ever, 0 does not wait.
        on_wait: called once, with one line that names the owner.
        activity: what waiting processes are told about this one; by default its command.

    Raises:
        WarehouseError: damaged, foreign, older, newer, unwritable, or busy (see `errors`).
    """
    where = parse_location(where)
    if where.url in _open:
        yield _open[where.url]
        return
    with _lock_file(where, wait_seconds, on_wait, activity):
        folders = [where.subfolder("exports")]
        connection = (
            connect_lake(where, folders=folders)
            if isinstance(where, DuckLake)
            else wait_until_free(
                partial(connect, where.path, folders=folders), wait_seconds, on_wait
            )
        )
        try:
            with schema_lock(where) if isinstance(where, DuckLake) else nullcontext():
                identity = ensure_schema(connection, where)
            warehouse = Warehouse(where, connection, identity)
        except BaseException as error:
            connection.close()
            raise translate_error(error) from error
        _open[where.url] = warehouse
        try:
            yield warehouse
        finally:
            del _open[where.url]
            warehouse.close()


def _make_locks(where: Location, identity: str) -> "LocalLocks | LakeLocks":
    if not isinstance(where, DuckLake):
        return LocalLocks()
    from tasks.warehouse.lake_locks import LakeLocks  # loads libpq, which only lakes need

    return LakeLocks(where, identity)


def _lock_file(
    where: DuckDBFile | DuckLake,
    wait_seconds: float | None,
    on_wait: Callable[[str], None] | None,
    activity: str | None,
) -> AbstractContextManager[None]:
    if isinstance(where, DuckLake):
        return nullcontext()
    check_file(where.path)
    _make_folder(where.path)
    return lock_warehouse(where.path, wait_seconds=wait_seconds, on_wait=on_wait, activity=activity)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableWarehouse(
            f"{path.parent}: cannot make the folder ({error.strerror or error}). "
            "Choose another place with --warehouse."
        ) from error
