"""Reading for people: the warehouse if it is free, else its last export, and saying which."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from tasks.warehouse.errors import WarehouseBusy, WarehouseError
from tasks.warehouse.lock import holder_of, own
from tasks.warehouse.migrate import check_schema, connect, migrations
from tasks.warehouse.snapshot import open_snapshot

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


def check_there(path: Path) -> None:
    """Raise WarehouseError where there is no warehouse: for commands that begin none."""
    if not path.exists():
        raise WarehouseError(
            f"{path}: there is no warehouse yet. Run `evergreen demo`, or collect or import "
            "an edition first, or name another file with --warehouse."
        )


@contextmanager
def reading(path: Path) -> Iterator[Reading]:
    """Open the warehouse for reading without ever holding up a flow that writes.

    Raises:
        WarehouseError: there is no warehouse, or it is busy and was never exported.
    """
    check_there(path)
    try:
        with own(path, wait_seconds=0):
            connection = connect(path, read_only=True)
            with connection:
                if check_schema(connection, path) < migrations()[-1][0]:
                    raise WarehouseError(
                        f"{path} has an older schema; run `evergreen evaluate` or `evergreen "
                        "import` once, which brings it up to date."
                    )
                _lock_down(connection)
                yield Reading(connection, None)
    except WarehouseBusy:
        connection, exported_at = open_snapshot(path)
        with connection:
            _lock_down(connection)
            yield Reading(
                connection,
                f"{path} is in use by {holder_of(path) or 'another process'}: this is its last "
                f"export, of {exported_at:%Y-%m-%d %H:%M:%S} UTC.",
            )


def query(path: Path, sql: str) -> tuple[pl.DataFrame, str | None]:
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


def _lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    """No files, no network, no changed settings from inside a query."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
