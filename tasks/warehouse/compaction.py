"""Compaction of a warehouse: of a lake's small files, rows in the catalog and old lake snapshots,
or of a file's log.

Every commit to a lake leaves a file, or rows in the catalog, and a DuckLake snapshot. It merges
files, expires old snapshots, and deletes files that no snapshot needs. The tables' contents stay
the same, even while others write: each step is a commit of its own under `LakeLocks.commit_lock`,
like every other commit. Without that lock DuckLake refuses commits that meet a compaction, and
some that it accepts bring replaced rows back.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from tasks.warehouse.file_lock import lock_warehouse, wait_until_free
from tasks.warehouse.lake import ALIAS, connect_catalog, connect_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, LocationLike, parse_location
from tasks.warehouse.reader import check_exists
from tasks.warehouse.rows import utc_now
from tasks.warehouse.schema import check_file, connect, has_schema, read_warehouse_id
from tasks.warehouse.sql import table_names
from tasks.warehouse.write_counter import WriteCounter

if TYPE_CHECKING:
    import psycopg

    from tasks.warehouse.lake_locks import LakeLocks

KEPT_DAYS = 7.0
"""How long a lake's earlier snapshots are kept."""
MIN_UNUSED = timedelta(days=1)
"""Files that have been unused for this long may be deleted: no query or commit takes longer."""
SMALL_BYTES = 10_000_000
"""Smaller files are merged; DuckLake aims at 512 MB."""
DELETED_SHARE = 0.25
"""A file is rewritten once this share of its rows has been deleted."""
TRIES = 5
"""Attempts at a step that DuckLake refuses, e.g. because a program other than Evergreen writes."""
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
INLINED = "SELECT count(*) FROM {} WHERE end_snapshot IS NULL"


@dataclass(frozen=True)
class LakeSize:
    """The size of a lake's parts."""

    files: int
    """Data files with current rows."""
    small_files: int
    """Of these, files small enough to be merged."""
    bytes: int
    """Bytes of the data files with current rows."""
    delete_files: int
    """Files that list deleted rows of data files."""
    inlined_rows: int
    """Rows in the catalog that have not been flushed yet."""
    snapshots: int
    old_files: int
    """Files that only earlier snapshots need, or none; a compaction deletes them in time."""
    old_bytes: int
    """Bytes of the files that earlier snapshots need; the others' sizes are unknown."""


@dataclass(frozen=True)
class CompactionStep:
    """One step of a compaction, done or refused by DuckLake."""

    what: str
    table: str
    n: int
    """Rows, files or snapshots."""
    error: str | None = None
    """Why DuckLake refused it; None if it was done."""


@dataclass(frozen=True)
class CompactionResult:
    """The result of a compaction."""

    before: dict[str, int]
    """Counts of files, rows and bytes, by name."""
    after: dict[str, int]
    left_out: tuple[CompactionStep, ...] = ()
    """The steps that DuckLake refused; the next compaction retries them."""


def compact_warehouse(
    where: LocationLike,
    *,
    keep_days: float = KEPT_DAYS,
    on_wait: Callable[[str], None] | None = None,
    on_progress: Callable[[CompactionStep], None] = lambda step: None,
) -> CompactionResult:
    """Compact a warehouse; what its tables hold stays the same.

    Args:
        keep_days: how long a lake's earlier snapshots are kept.
        on_wait: called once, with one line that names the process that owns the file. A lake can
            be compacted while others write.
        on_progress: called with each step in a lake.

    Raises:
        WarehouseError: there is no warehouse, or it cannot be opened.
    """
    where = parse_location(where)
    check_exists(where)
    if isinstance(where, DuckLake):
        before = _measure_lake(where)
        steps = compact_lake(where, keep_days=keep_days, on_progress=on_progress)
        left_out = tuple(step for step in steps if step.error)
        return CompactionResult(before, _measure_lake(where), left_out)
    check_file(where.path)
    with lock_warehouse(where.path, on_wait=on_wait):
        before = _measure_file(where)
        with wait_until_free(partial(connect, where.path), None, on_wait) as connection:
            has_schema(connection, where)  # raises if it is not a warehouse of this schema
            WriteCounter(where.path, connection)  # warns if writes are missing
            connection.execute("CHECKPOINT")
            size = connection.sql("SELECT * FROM pragma_database_size()").pl().row(0, named=True)
        after = _measure_file(where) | {
            "free bytes in it": size["free_blocks"] * size["block_size"]
        }
    return CompactionResult(before, after)


def measure_lake(lake: DuckLake) -> LakeSize:
    """Measure a lake by its catalog.

    Raises:
        WarehouseError: the catalog does not answer, or has no lake.
    """
    from psycopg import sql  # libpq, which only lakes need

    with connect_catalog(lake) as connection:
        path = sql.SQL("SET search_path TO {}").format(sql.Identifier(lake.schema))
        connection.execute(path)
        files, small, n_bytes, old, old_bytes = _row(connection, DATA_FILES, [SMALL_BYTES])
        deleting, snapshots, waiting = _row(connection, OTHERS)
        inlined = sum(
            _row(connection, sql.SQL(INLINED).format(sql.Identifier(name)))[0]
            for (name,) in connection.execute(INLINED_TABLES).fetchall()
        )
    return LakeSize(files, small, n_bytes, deleting, inlined, snapshots, old + waiting, old_bytes)


def compact_lake(
    lake: DuckLake,
    *,
    keep_days: float = KEPT_DAYS,
    min_unused: timedelta = MIN_UNUSED,
    on_progress: Callable[[CompactionStep], None] = lambda step: None,
) -> list[CompactionStep]:
    """Merge a lake's files, expire snapshots older than `keep_days`, and delete files that have
    been unused for `min_unused`.

    Returns:
        The steps done and those refused, which the next compaction retries.

    Raises:
        WarehouseError: the lake cannot be opened.
    """
    from tasks.warehouse.lake_locks import LakeLocks  # libpq, which only lakes need

    steps = []
    with (
        connect_lake(lake) as connection,
        closing(LakeLocks(lake, read_warehouse_id(connection))) as locks,
    ):
        for arguments in _list_steps(connection, timedelta(days=keep_days), min_unused):
            step = _run_step(locks, connection, *arguments)
            if step.n or step.error:
                steps.append(step)
                on_progress(step)
    return steps


def _list_steps(
    connection: duckdb.DuckDBPyConnection, kept: timedelta, min_unused: timedelta
) -> Iterator[tuple[str, str, str, int | None]]:
    """Yield the arguments of `_run_step` for each step."""
    for table in table_names(connection):
        lake_table = f"'{ALIAS}', table_name => '{table}'"
        yield "rows flushed", f"ducklake_flush_inlined_data({lake_table})", table, 2
        rewrite = f"ducklake_rewrite_data_files('{ALIAS}', '{table}'"
        share = f"delete_threshold => {DELETED_SHARE}"
        yield "files rewritten", f"{rewrite}, {share})", table, 2
        yield "files merged", f"ducklake_merge_adjacent_files('{ALIAS}', '{table}')", table, 2
    for what, function, age in (
        ("snapshots expired", "ducklake_expire_snapshots", kept),
        ("files deleted", "ducklake_cleanup_old_files", min_unused),
        ("stray files deleted", "ducklake_delete_orphaned_files", min_unused),
    ):
        before = f"TIMESTAMPTZ '{utc_now() - age:%Y-%m-%d %H:%M:%S.%f+00}'"
        yield what, f"{function}('{ALIAS}', older_than => {before})", "", None


def _run_step(
    locks: "LakeLocks",
    connection: duckdb.DuckDBPyConnection,
    what: str,
    call: str,
    table: str,
    column: int | None,
) -> CompactionStep:
    """Run one step. column: the column of its result to sum; None counts the rows."""
    error = ""
    for tries in range(TRIES):
        time.sleep(tries)
        try:
            with locks.commit_lock():
                rows = connection.execute(f"CALL {call}").fetchall()
            n = len(rows) if column is None else sum(row[column] for row in rows)
            return CompactionStep(what, table, n)
        except duckdb.Error as refused:
            error = str(refused).strip().splitlines()[-1]
    return CompactionStep(what, table, 0, error)


def _row(
    connection: "psycopg.Connection", query: Any, values: Sequence[Any] = ()
) -> tuple[Any, ...]:
    row = connection.execute(query, values).fetchone()
    assert row is not None, "an aggregate returns a row"
    return row


def _measure_lake(lake: DuckLake) -> dict[str, int]:
    size = measure_lake(lake)
    return {
        "files": size.files,
        "files below 10 MB": size.small_files,
        "bytes": size.bytes,
        "files that say what is deleted": size.delete_files,
        "rows in the catalog": size.inlined_rows,
        "earlier states": max(0, size.snapshots - 1),
        "files of earlier states": size.old_files,
    }


def _measure_file(where: DuckDBFile) -> dict[str, int]:
    unwritten = where.path.with_name(f"{where.path.name}.wal")
    return {
        "bytes": where.path.stat().st_size,
        "bytes beside it, not yet in it": unwritten.stat().st_size if unwritten.exists() else 0,
    }
