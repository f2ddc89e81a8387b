"""Read-only access: the warehouse if it is free, else its latest snapshots, with a notice."""

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa

from tasks.warehouse.errors import (
    UnwritableWarehouse,
    UpgradableWarehouse,
    WarehouseBusy,
    WarehouseError,
)
from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.lake import connect_lake, lake_exists
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.query_check import check_query
from tasks.warehouse.schema import check_file, connect, has_schema
from tasks.warehouse.sql import restrict
from tasks.warehouse.write_counter import WriteCounter

BATCH_ROWS = 10_000
"""Rows that are fetched before their memory is counted."""
SLICE_SECONDS = 0.2
STUCK_SECONDS = 1.0
"""How long an interrupted query may take to end."""
SPARE_BYTES = 256 << 20
"""What the process may take beside DuckDB's own count: for threads, and the rows it hands over."""


@dataclass(frozen=True)
class QueryLimits:
    """What a query from outside may take."""

    seconds: float = 60
    memory_gb: float = 2

    @property
    def memory_bytes(self) -> int:
        return int(self.memory_gb * 1e9)


@dataclass(frozen=True)
class ReadOnlyWarehouse:
    """A warehouse opened for reading, or its snapshots."""

    connection: duckdb.DuckDBPyConnection
    notice: str | None
    """A message to the user if this reads snapshots instead of the warehouse."""
    lost: str | None = None
    """What was said if committed writes are missing."""

    def frame(self, sql: str, parameters: Sequence[object] = ()) -> pl.DataFrame:
        """Return the result of a query as a Polars frame."""
        return self.connection.sql(sql, params=list(parameters)).pl()


def check_exists(where: LocationLike) -> None:
    """Raise WarehouseError if there is no warehouse, or a lake's catalog does not answer."""
    where = parse_location(where)
    if not (lake_exists(where) if isinstance(where, DuckLake) else where.path.exists()):
        raise WarehouseError(
            f"{where}: there is no warehouse yet. Run `evergreen demo`, or collect or import "
            "an edition first; or go to your project's folder, or name another file (--warehouse)."
        )


@contextmanager
def open_for_reading(
    where: LocationLike, limits: QueryLimits | None = None
) -> Iterator[ReadOnlyWarehouse]:
    """Open the warehouse for reading, without making any writer wait.

    A warehouse of an earlier Evergreen is upgraded first, if it can be. A file is also read in a
    folder that cannot be written to.

    Args:
        limits: how much memory DuckDB may take; with limits it writes no temporary files.

    Raises:
        WarehouseError: there is no warehouse, or it is busy and has no snapshot.
    """
    where = parse_location(where)
    check_exists(where)
    with ExitStack() as stack:
        try:
            source = stack.enter_context(_open_as_it_is(where, limits))
        except UpgradableWarehouse:
            _upgrade(where)
            source = stack.enter_context(_open_as_it_is(where, limits))
        yield source


def _upgrade(where: DuckDBFile | DuckLake) -> None:
    from tasks.warehouse.store import open_warehouse  # reading needs no writer otherwise

    try:
        with open_warehouse(where, wait_seconds=0):
            pass
    except UnwritableWarehouse as error:
        raise UnwritableWarehouse(
            f"{where} has an older schema and cannot be written to, so it cannot be upgraded. Copy "
            "it, with its folder, to where you may write, and name the copy with --warehouse."
        ) from error


@contextmanager
def _open_as_it_is(
    where: DuckDBFile | DuckLake, limits: QueryLimits | None
) -> Iterator[ReadOnlyWarehouse]:
    """Open the warehouse or, while another process has it open, its snapshots."""
    memory_bytes = limits.memory_bytes if limits else None
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True, memory_bytes=memory_bytes) as connection:
            yield _check(connection, where)
        return
    check_file(where.path)
    with ExitStack() as stack:
        try:
            stack.enter_context(lock_warehouse(where.path, wait_seconds=0, only_reads=True))
            connection = connect(where.path, read_only=True, memory_bytes=memory_bytes)
            source = _check(stack.enter_context(connection), where)
        except WarehouseBusy as busy:
            stack.close()
            from tasks.warehouse.snapshot import open_snapshot  # loads every table's model

            connection, exported_at = open_snapshot(where, busy.line)
            restrict(stack.enter_context(connection), memory_bytes=memory_bytes)
            source = ReadOnlyWarehouse(
                connection,
                f"{busy.line}; reading its snapshot of {exported_at:%Y-%m-%d %H:%M:%S} UTC "
                "instead.",
            )
        yield source


def _check(connection: duckdb.DuckDBPyConnection, where: Location) -> ReadOnlyWarehouse:
    if not has_schema(connection, where):
        raise WarehouseError(f"{where} is empty. Import or collect an edition first.")
    lost = WriteCounter(where.path, connection).lost if isinstance(where, DuckDBFile) else None
    return ReadOnlyWarehouse(connection, None, lost)


def run_query(
    path: LocationLike,
    sql: str,
    limits: QueryLimits = QueryLimits(),
    on_stuck: Callable[[], None] = lambda: None,
) -> tuple[pl.DataFrame, str | None]:
    """Run one SELECT; return its result, and the notice if snapshots were read.

    Args:
        on_stuck: called if the query is to end, but computes a single value and does not listen.

    Raises:
        WarehouseError: `check_query` or DuckDB refuses it, or it exceeds a limit.
    """
    check_query(sql)
    with open_for_reading(path, limits) as source:
        try:
            return _fetch_within(source.connection, sql, limits, on_stuck), source.notice
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise _make_memory_error(limits) from error
        except duckdb.Error as error:
            raise WarehouseError(f"The query failed: {error}") from error


def _fetch_within(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    limits: QueryLimits,
    on_stuck: Callable[[], None],
) -> pl.DataFrame:
    """Fetch a query's result in a thread of its own, so that Ctrl-C and the limit interrupt it."""
    with ThreadPoolExecutor(1) as pool:
        fetching: Future[pl.DataFrame] | None = None
        try:
            fetching = pool.submit(_fetch, connection, sql, limits)
            deadline = time.monotonic() + limits.seconds
            # In slices: a Ctrl-C that arrives just before a wait begins is seen at its end.
            while not fetching.done() and (left := deadline - time.monotonic()) > 0:
                wait_for([fetching], timeout=min(left, SLICE_SECONDS))
            if not fetching.done():
                raise WarehouseError(
                    f"The query did not end within {limits.seconds:g} seconds. Ask for less, or "
                    "give it more with --seconds."
                )
            return fetching.result()
        finally:
            if fetching:
                _interrupt(connection, fetching, on_stuck)


def _fetch(connection: duckdb.DuckDBPyConnection, sql: str, limits: QueryLimits) -> pl.DataFrame:
    batches, n_bytes = [], 0
    with (
        _bound_memory(limits.memory_bytes + SPARE_BYTES),
        connection.sql(sql).to_arrow_reader(BATCH_ROWS) as reader,
    ):
        for batch in reader:
            batches.append(batch)
            n_bytes += batch.nbytes  # DuckDB does not count what it has handed over
            if n_bytes > limits.memory_bytes:
                raise _make_memory_error(limits)
        schema = reader.schema
    frame = pl.from_arrow(pa.Table.from_batches(batches, schema))
    assert isinstance(frame, pl.DataFrame)
    return frame


@contextmanager
def _bound_memory(n_bytes: int) -> Iterator[None]:
    """Let this process take at most so much more memory: DuckDB does not count long texts."""
    import pyarrow.dataset  # noqa: F401  # DuckDB loads it, and at the limit nothing can be loaded

    if sys.platform != "linux":  # nothing else says how much is used
        yield
        return
    used = int(Path("/proc/self/statm").read_text("ascii").split()[5]) * resource.getpagesize()
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = used + n_bytes
    if before != resource.RLIM_INFINITY:
        allowed = min(allowed, before)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _interrupt(
    connection: duckdb.DuckDBPyConnection,
    fetching: Future[pl.DataFrame],
    on_stuck: Callable[[], None],
) -> None:
    began = time.monotonic()
    while not fetching.done():  # again, as a query that has not begun ignores it
        connection.interrupt()
        wait_for([fetching], timeout=0.1)
        if not fetching.done() and time.monotonic() - began > STUCK_SECONDS:
            on_stuck()


def _make_memory_error(limits: QueryLimits) -> WarehouseError:
    return WarehouseError(
        f"The query needs more than {limits.memory_gb:g} GB of memory. Ask for less, or give it "
        "more with --memory."
    )
