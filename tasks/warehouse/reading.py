"""Reading for people: the warehouse if it is free, else its last export, and saying which."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from tasks.warehouse.errors import WarehouseBusy, WarehouseError
from tasks.warehouse.lake import connect_lake, is_made
from tasks.warehouse.location import DuckDBFile, DuckLake, Location, Where, location
from tasks.warehouse.lock import holder_of, own
from tasks.warehouse.migrate import check_schema, connect, migrations
from tasks.warehouse.sql import quoted

READING_STATEMENTS = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN})


@dataclass(frozen=True)
class Reading:
    """A read-only look at the warehouse."""

    connection: duckdb.DuckDBPyConnection
    notice: str | None
    """Said to the reader when this is a snapshot instead of the live warehouse."""

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """The result of a query as a Polars frame."""
        return self.connection.sql(sql, params=list(parameters)).pl()


def check_there(where: Where) -> None:
    """Raise WarehouseError where there is no warehouse: for commands that begin none. Of a lake its
    catalog must answer."""
    where = location(where)
    assert isinstance(where, DuckDBFile | DuckLake)
    if not (is_made(where) if isinstance(where, DuckLake) else where.path.exists()):
        raise WarehouseError(
            f"{where}: there is no warehouse yet. Run `evergreen demo`, or collect or import "
            "an edition first, or name another file with --warehouse."
        )


@contextmanager
def reading(where: Where) -> Iterator[Reading]:
    """Open the warehouse for reading without ever holding up a flow that writes.

    Raises:
        WarehouseError: there is no warehouse, or it is busy and was never exported.
    """
    where = location(where)
    check_there(where)
    if isinstance(where, DuckLake):
        with connect_lake(where, read_only=True) as connection:
            yield _current(connection, where)
        return
    assert isinstance(where, DuckDBFile)
    try:
        with (
            own(where.path, wait_seconds=0),
            connect(where.path, read_only=True) as connection,
        ):
            yield _current(connection, where)
    except WarehouseBusy:
        from tasks.warehouse.snapshot import open_snapshot  # needs every table's model

        connection, exported_at = open_snapshot(where)
        with connection:
            _lock_down(connection)
            yield Reading(
                connection,
                f"{where} is in use by {holder_of(where.path) or 'another process'}: this is its "
                f"last export, of {exported_at:%Y-%m-%d %H:%M:%S} UTC.",
            )


def _current(connection: duckdb.DuckDBPyConnection, where: Location) -> Reading:
    if check_schema(connection, where) < migrations()[-1][0]:
        raise WarehouseError(
            f"{where} has an older schema; run `evergreen evaluate` or `evergreen import` once, "
            "which brings it up to date."
        )
    _lock_down(connection, where.data if isinstance(where, DuckLake) else None)
    return Reading(connection, None)


def query(path: Where, sql: str) -> tuple[pl.DataFrame, str | None]:
    """Answer one SELECT; also the notice, if the answer is from a snapshot.

    Raises:
        WarehouseError: not a single reading statement, or SQL that DuckDB refuses.
    """
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise WarehouseError(f"The SQL cannot be parsed: {error}") from error
    if len(statements) != 1 or statements[0].type not in READING_STATEMENTS:
        raise WarehouseError(
            "`evergreen sql` reads only: one SELECT (or DESCRIBE, SHOW, EXPLAIN) at a time."
        )
    with reading(path) as source:
        try:
            return source.frame(sql), source.notice
        except duckdb.Error as error:
            raise WarehouseError(f"The query failed: {error}") from error


def _lock_down(connection: duckdb.DuckDBPyConnection, rows: str | None = None) -> None:
    """No files but those of its `rows`, no network, no changed settings from inside a query."""
    if rows:
        connection.execute(f"SET allowed_directories = [{quoted(rows)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
