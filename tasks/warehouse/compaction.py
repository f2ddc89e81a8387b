"""Compaction of a warehouse: merge a lake's small files, or write a file's log into it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tasks.warehouse.file_lock import lock_warehouse, wait_until_free
from tasks.warehouse.lake_maintenance import KEPT_DAYS, CompactionStep, compact_lake, measure_lake
from tasks.warehouse.location import DuckDBFile, DuckLake, LocationLike, parse_location
from tasks.warehouse.reader import check_exists
from tasks.warehouse.schema import check_file, connect, has_schema


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
            connection.execute("CHECKPOINT")
            size = connection.sql("SELECT * FROM pragma_database_size()").pl().row(0, named=True)
        after = _measure_file(where) | {
            "free bytes in it": size["free_blocks"] * size["block_size"]
        }
    return CompactionResult(before, after)


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
