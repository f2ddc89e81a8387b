"""The only place that opens DuckDB for writing."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb
import polars as pl

from tasks.warehouse.errors import UnwritableWarehouse, WarehouseError
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import connect, migrate
from tasks.warehouse.rows import Row
from tasks.warehouse.writer import Change, Writer, explained

RowT = TypeVar("RowT", bound=Row)
DEFAULT_PATH = Path("data/warehouse.duckdb")


class Readable(Protocol):
    """What answers queries: the open warehouse, or a read-only look at it."""

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """The result of a query as a Polars frame."""


class Warehouse:
    """An open warehouse: read from any thread, write through the one writer."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection, identity: str) -> None:
        self.path = path
        self.id = identity
        """A uuid made when the file was: part of every cache key, so caches never cross files."""
        self._connection = connection
        self._writer = Writer(connection.cursor())
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
        quoted = str(file).replace("'", "''")
        sql = f"COPY ({select}) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)"
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
        self._connection.close()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._connection.cursor()
        cursor: duckdb.DuckDBPyConnection = self._local.cursor
        return cursor


_open: dict[Path, Warehouse] = {}


@contextmanager
def open_warehouse(
    path: Path,
    *,
    wait_seconds: float | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[Warehouse]:
    """Open (or make) the warehouse at `path`, waiting while another process owns it.

    Opening it again inside the same process gives the one that is open: a flow that runs
    inside another flow shares it.

    Raises:
        WarehouseError: damaged, foreign, newer, unwritable, or busy (see `errors`).
    """
    path = path.resolve()
    if path in _open:
        yield _open[path]
        return
    _make_folder(path)
    with own(path, wait_seconds=wait_seconds, on_wait=on_wait):
        connection = connect(path)
        try:
            warehouse = Warehouse(path, connection, migrate(connection, path))
        except BaseException as error:
            connection.close()
            raise explained(error) from error
        _open[path] = warehouse
        try:
            yield warehouse
        finally:
            del _open[path]
            warehouse.close()


def opened(path: str | Path) -> Warehouse:
    """The warehouse that this process has open at `path`: how a task reaches it by key."""
    try:
        return _open[Path(path).resolve()]
    except KeyError:
        raise WarehouseError(f"{path} is not open in this process; run inside a flow.") from None


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableWarehouse(
            f"{path.parent}: cannot make the folder ({error.strerror or error}). "
            "Choose another place with --warehouse."
        ) from error
