"""What piles up in a lake: small files, rows in the catalog, snapshots that nobody looks at.

Every commit leaves a file, or rows in the catalog, and a snapshot. `compact` puts files together,
forgets snapshots after a while, and deletes what no snapshot needs any more. What the tables hold
is the same before and after, also while others write: each step is a commit of its own and waits
for its turn (`LakeTurns.committing`), as every other commit does. Without that DuckLake refuses
commits that meet a compaction, and some that it does not refuse bring replaced rows back.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import duckdb
import psycopg
from psycopg import sql

from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.lake import ALIAS, catalog, connect_lake, extension
from tasks.warehouse.lake_turns import LakeTurns
from tasks.warehouse.location import DuckLake
from tasks.warehouse.migrate import warehouse_id
from tasks.warehouse.rows import utc_now
from tasks.warehouse.sql import quoted, table_names

KEPT_DAYS = 7.0
"""How long a lake's earlier states are kept."""
SETTLED = timedelta(days=1)
"""No query, and no commit, takes longer: files that nothing has needed for so long may go."""
SMALL_BYTES = 10_000_000
"""Files below this are put together; DuckLake aims at 512 MB."""
DELETED_SHARE = 0.25
"""A file is written anew once so much of its rows is deleted."""
EXTENSIONS = ("ducklake", "httpfs", "postgres_scanner")
TRIES = 5
"""Of a step that DuckLake refuses, such as when something else than Evergreen writes."""
DATA_FILES = """
SELECT count(*) FILTER (WHERE end_snapshot IS NULL),
    count(*) FILTER (WHERE end_snapshot IS NULL AND file_size_bytes < %s),
    coalesce(sum(file_size_bytes) FILTER (WHERE end_snapshot IS NULL), 0)::bigint,
    count(*) FILTER (WHERE end_snapshot IS NOT NULL),
    coalesce(sum(file_size_bytes) FILTER (WHERE end_snapshot IS NOT NULL), 0)::bigint
FROM ducklake_data_file
"""
OTHERS = """
SELECT (SELECT count(*) FROM ducklake_delete_file WHERE end_snapshot IS NULL),
    (SELECT count(*) FROM ducklake_snapshot),
    (SELECT count(*) FROM ducklake_files_scheduled_for_deletion)
"""
INLINED_TABLES = "SELECT table_name FROM ducklake_inlined_data_tables"
INLINED = sql.SQL("SELECT count(*) FROM {} WHERE end_snapshot IS NULL")


@dataclass(frozen=True)
class LakeSize:
    """How much of what a lake is made of."""

    files: int
    """Data files that hold the rows of today."""
    small_files: int
    """Of them, those that could be put together."""
    bytes: int
    """In all of them."""
    delete_files: int
    """Files that say which rows of others are gone."""
    inlined_rows: int
    """Rows that lie in the catalog until they are flushed."""
    snapshots: int
    old_files: int
    """Files that only earlier states need, or nothing any more; deleted once they have settled."""
    old_bytes: int
    """Of those that earlier states need; of the others nobody has noted it."""


@dataclass(frozen=True)
class Step:
    """One thing that was done, or left out because DuckLake refused it again and again."""

    what: str
    table: str
    n: int
    """Rows, files or snapshots."""
    error: str | None = None
    """Why it was left out."""


def measured(lake: DuckLake) -> LakeSize:
    """How large a lake is, by its catalog alone.

    Raises:
        WarehouseError: the catalog does not answer, or holds no lake.
    """
    with catalog(lake) as connection:
        try:
            path = sql.SQL("SET search_path TO {}").format(sql.Identifier(lake.schema))
            connection.execute(path)
            files, small, n_bytes, old, old_bytes = _row(connection, DATA_FILES, [SMALL_BYTES])
            deleting, snapshots, waiting = _row(connection, OTHERS)
            inlined = sum(
                _row(connection, INLINED.format(sql.Identifier(name)))[0]
                for (name,) in connection.execute(INLINED_TABLES).fetchall()
            )
        except psycopg.Error as error:
            raise WarehouseError(
                f"{lake}: its catalog cannot be read ({first_line(error)}). Is "
                "there a warehouse yet, and is it in this schema?"
            ) from error
    return LakeSize(files, small, n_bytes, deleting, inlined, snapshots, old + waiting, old_bytes)


def compact(
    lake: DuckLake,
    *,
    keep_days: float = KEPT_DAYS,
    settled: timedelta = SETTLED,
    on_progress: Callable[[Step], None] = lambda step: None,
) -> list[Step]:
    """Put a lake's files together, forget its snapshots of more than `keep_days` ago, and delete
    files that nothing has needed for `settled`.

    Returns:
        What was done, and what was left out: the next compaction does that.

    Raises:
        WarehouseError: the lake cannot be opened.
    """
    steps = []
    with (
        connect_lake(lake) as connection,
        closing(LakeTurns(lake, warehouse_id(connection))) as turns,
    ):
        for step in _steps(turns, connection, timedelta(days=keep_days), settled):
            steps.append(step)
            on_progress(step)
    return steps


def loaded_extensions() -> dict[str, str]:
    """The versions of the extensions that a lake needs, loaded as it loads them.

    Raises:
        WarehouseError: one is not there for this DuckDB, or cannot be loaded.
    """
    with duckdb.connect() as connection:
        for name in EXTENSIONS:
            try:
                connection.execute(f"LOAD {quoted(str(extension(name)))}")
            except duckdb.Error as error:
                raise WarehouseError(
                    f"DuckDB's extension {name} cannot be loaded ({first_line(error)})."
                ) from error
        rows = connection.execute(
            "SELECT extension_name, extension_version FROM duckdb_extensions() "
            "WHERE loaded AND list_contains($1, extension_name) ORDER BY 1",
            [list(EXTENSIONS)],
        ).fetchall()
    return dict(rows)


def _steps(
    turns: LakeTurns,
    connection: duckdb.DuckDBPyConnection,
    kept: timedelta,
    settled: timedelta,
) -> Iterator[Step]:
    def done(what: str, call: str, table: str = "", column: int | None = None) -> Iterator[Step]:
        step = _done(turns, connection, what, call, table, column)
        if step.n or step.error:
            yield step

    for table in table_names(connection):
        named = f"'{ALIAS}', table_name => '{table}'"
        yield from done("rows flushed", f"ducklake_flush_inlined_data({named})", table, 2)
        rewrite = f"ducklake_rewrite_data_files('{ALIAS}', '{table}'"
        yield from done(
            "files rewritten", f"{rewrite}, delete_threshold => {DELETED_SHARE})", table, 2
        )
        merge = f"ducklake_merge_adjacent_files('{ALIAS}', '{table}')"
        yield from done("files put together", merge, table, 2)
    old = f"ducklake_expire_snapshots('{ALIAS}', older_than => {_ago(kept)})"
    yield from done("snapshots forgotten", old)
    for what, function in (
        ("files deleted", "ducklake_cleanup_old_files"),
        ("stray files deleted", "ducklake_delete_orphaned_files"),
    ):
        call = f"{function}('{ALIAS}', older_than => {_ago(settled)})"
        yield from done(what, call)


def _done(
    turns: LakeTurns,
    connection: duckdb.DuckDBPyConnection,
    what: str,
    call: str,
    table: str,
    column: int | None,
) -> Step:
    """column: of the call's answer, that which counts; None: its rows do."""
    error = ""
    for tries in range(TRIES):
        time.sleep(tries)
        try:
            with turns.committing():
                rows = connection.execute(f"CALL {call}").fetchall()
            n = len(rows) if column is None else sum(row[column] for row in rows)
            return Step(what, table, n)
        except duckdb.Error as refused:
            error = str(refused).strip().splitlines()[-1]
    return Step(what, table, 0, error)


def _row(connection: psycopg.Connection, query: Any, values: Sequence[Any] = ()) -> tuple[Any, ...]:
    row = connection.execute(query, values).fetchone()
    assert row is not None, "an aggregate has a row"
    return row


def _ago(span: timedelta) -> str:
    return f"TIMESTAMPTZ '{utc_now() - span:%Y-%m-%d %H:%M:%S.%f+00}'"
