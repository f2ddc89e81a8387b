"""Compaction: a lake's small files are put together, a file's changes written into it."""

from collections.abc import Callable
from dataclasses import dataclass

from tasks.warehouse.lake_maintenance import KEPT_DAYS, Step, compact, measured
from tasks.warehouse.location import DuckDBFile, DuckLake, Where, location
from tasks.warehouse.lock import own
from tasks.warehouse.migrate import check_schema, connect
from tasks.warehouse.reading import check_there


@dataclass(frozen=True)
class Compacted:
    """What a compaction did."""

    before: dict[str, int]
    """By name, how much of what there was: files, rows, bytes."""
    after: dict[str, int]
    left_out: tuple[Step, ...] = ()
    """What DuckLake refused; the next compaction does it."""


def compact_warehouse(
    where: Where,
    *,
    keep_days: float = KEPT_DAYS,
    on_wait: Callable[[str], None] | None = None,
    on_progress: Callable[[Step], None] = lambda step: None,
) -> Compacted:
    """Compact a warehouse; what its tables hold stays the same.

    Args:
        keep_days: how long a lake's earlier states are kept.
        on_wait: told once whom we wait for, where another process owns the file. A lake is
            compacted while others write.
        on_progress: called with each step in a lake.

    Raises:
        WarehouseError: there is none, or it cannot be opened.
    """
    where = location(where)
    check_there(where)
    if isinstance(where, DuckLake):
        before = _of_lake(where)
        steps = compact(where, keep_days=keep_days, on_progress=on_progress)
        left_out = tuple(step for step in steps if step.error)
        return Compacted(before, _of_lake(where), left_out)
    assert isinstance(where, DuckDBFile)
    with own(where.path, on_wait=on_wait):
        before = _on_disk(where)
        with connect(where.path) as connection:
            check_schema(connection, where)
            connection.execute("CHECKPOINT")
            size = connection.sql("SELECT * FROM pragma_database_size()").pl().row(0, named=True)
        after = _on_disk(where) | {"free bytes in it": size["free_blocks"] * size["block_size"]}
    return Compacted(before, after)


def _of_lake(lake: DuckLake) -> dict[str, int]:
    size = measured(lake)
    return {
        "files": size.files,
        "files below 10 MB": size.small_files,
        "bytes": size.bytes,
        "files that say what is deleted": size.delete_files,
        "rows in the catalog": size.inlined_rows,
        "earlier states": max(0, size.snapshots - 1),
        "files of earlier states": size.old_files,
    }


def _on_disk(where: DuckDBFile) -> dict[str, int]:
    unwritten = where.path.with_name(f"{where.path.name}.wal")
    return {
        "bytes": where.path.stat().st_size,
        "bytes beside it, not yet in it": unwritten.stat().st_size if unwritten.exists() else 0,
    }
