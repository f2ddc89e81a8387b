"""Read-only access: the warehouse if it is free, else its latest snapshots, with a notice."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import duckdb
import polars as pl

from tasks.warehouse.errors import UpgradableWarehouse, WarehouseBusy, WarehouseError
from tasks.warehouse.file_lock import lock_warehouse, read_holder
from tasks.warehouse.lake import connect_lake, lake_exists
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, LocationLike, parse_location
from tasks.warehouse.schema import check_file, connect, has_schema
from tasks.warehouse.sql import restrict

READING_STATEMENTS = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN})


@dataclass(frozen=True)
class ReadOnlyWarehouse:
    """A warehouse opened for reading, or its snapshots."""

    connection: duckdb.DuckDBPyConnection
    notice: str | None
    """A message to the user if this reads snapshots instead of the warehouse."""

    def frame(self, sql: str, parameters: Sequence[object] = ()) -> pl.DataFrame:
        """Return the result of a query as a Polars frame."""
        return self.connection.sql(sql, params=list(parameters)).pl()


def check_exists(where: LocationLike) -> None:
    """Raise WarehouseError if there is no warehouse, or a lake's catalog does not answer."""
    where = parse_location(where)
    if not (lake_exists(where) if isinstance(where, DuckLake) else where.path.exists()):
        raise WarehouseError(
            f"{where}: there is no warehouse yet. Run `evergreen demo`, or collect or import "
            "an edition first, or name another file with --warehouse."
        )


@contextmanager
def open_for_reading(where: LocationLike) -> Iterator[ReadOnlyWarehouse]:
    """Open the warehouse for reading, without making any writer wait.

    A warehouse of an earlier Evergreen is upgraded first, if it can be.

    Raises:
        WarehouseError: there is no warehouse, or it is busy and has no snapshot.
    """
    where = parse_location(where)
    check_exists(where)
    with ExitStack() as stack:
        try:
            source = stack.enter_context(_open_as_it_is(where))
        except UpgradableWarehouse:
            _upgrade(where)
            source = stack.enter_context(_open_as_it_is(where))
        yield source


def _upgrade(where: DuckDBFile | DuckLake) -> None:
    from tasks.warehouse.store import open_warehouse  # reading needs no writer otherwise

    with open_warehouse(where, wait_seconds=0):
        pass


@contextmanager
def _open_as_it_is(where: DuckDBFile | DuckLake) -> Iterator[ReadOnlyWarehouse]:
    """Open the warehouse or, while another process owns it, its snapshots."""
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True) as connection:
            yield _check(connection, where)
        return
    check_file(where.path)
    try:
        with (
            lock_warehouse(where.path, wait_seconds=0),
            connect(where.path, read_only=True) as connection,
        ):
            yield _check(connection, where)
    except WarehouseBusy:
        from tasks.warehouse.snapshot import open_snapshot  # loads every table's model

        connection, exported_at = open_snapshot(where)
        with connection:
            restrict(connection)
            yield ReadOnlyWarehouse(
                connection,
                f"{where} is in use by {read_holder(where.path) or 'another process'}; reading its "
                f"snapshot of {exported_at:%Y-%m-%d %H:%M:%S} UTC instead.",
            )


def _check(connection: duckdb.DuckDBPyConnection, where: Location) -> ReadOnlyWarehouse:
    if not has_schema(connection, where):
        raise WarehouseError(f"{where} is empty. Import or collect an edition first.")
    return ReadOnlyWarehouse(connection, None)


def run_query(path: LocationLike, sql: str) -> tuple[pl.DataFrame, str | None]:
    """Run one SELECT; return its result, and the notice if snapshots were read.

    Raises:
        WarehouseError: not a single reading statement, or DuckDB refuses it.
    """
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise WarehouseError(f"The SQL cannot be parsed: {error}") from error
    if len(statements) != 1 or statements[0].type not in READING_STATEMENTS:
        raise WarehouseError(
            "`evergreen sql` reads only: one SELECT (or DESCRIBE, SHOW, EXPLAIN) at a time."
        )
    with open_for_reading(path) as source:
        try:
            return source.frame(sql), source.notice
        except duckdb.Error as error:
            raise WarehouseError(f"The query failed: {error}") from error
