"""The count of writes, in a warehouse file and in a small file beside it: whether some are missing.

DuckDB opens a file whose write-ahead log was cut or removed as if nothing had happened. The count
beside it is written after each commit, so it may lag; if it leads, writes are missing. A lake's log
is its Postgres's: lakes are not counted.
"""

import logging
from contextlib import suppress
from pathlib import Path

import duckdb
from pydantic import Field, ValidationError

from tasks.base import Frozen
from tasks.files.opening import open_file
from tasks.foreign_text import make_visible
from tasks.warehouse.rows import UtcDatetime, utc_now

NEWEST_BACKUP = (
    "SELECT place, began_at FROM backups WHERE began_at <= $1 ORDER BY began_at DESC LIMIT 1"
)
"""The newest of the backups that may hold what is missing."""
TIME = "%Y-%m-%d %H:%M:%S UTC"


class WriteCount(Frozen):
    """What the file beside a warehouse says."""

    warehouse_id: str
    writes: int = 0
    missing: int = Field(default=0, ge=0)
    """Those that were found missing, until somebody removes the file."""
    last_at: UtcDatetime = Field(default_factory=utc_now)
    """When the last write was committed; of missing ones the last."""


class WriteCounter:
    """Commits the writes to a warehouse file, which the caller has locked, and counts them."""

    def __init__(self, warehouse: Path, connection: duckdb.DuckDBPyConnection) -> None:
        ((identity, writes), *_) = connection.execute(
            "SELECT warehouse_id, coalesce(writes, 0) FROM warehouse_info"
        ).fetchall()
        self._path = count_path(warehouse)
        kept = _read_count(self._path, identity)
        missing = kept.missing + max(0, kept.writes - writes)
        self._count = kept.model_copy(update={"writes": writes, "missing": missing})
        self.lost = _describe(warehouse, self._count, connection) if missing else None
        """A message to the user if writes are missing."""
        if self.lost:
            logging.getLogger("evergreen").warning(self.lost)

    def commit(self, connection: duckdb.DuckDBPyConnection, n_writes: int) -> None:
        """Commit a transaction; a count that cannot be kept beside it fails nothing."""
        writes = self._count.writes + n_writes
        connection.execute("UPDATE warehouse_info SET writes = $1", [writes])
        connection.execute("COMMIT")
        last_at = self._count.last_at if self.lost else utc_now()
        self._count = self._count.model_copy(update={"writes": writes, "last_at": last_at})
        fresh = self._path.with_suffix(".new")
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
            with fresh.open("x", encoding="utf-8") as file:  # follows no link
                file.write(self._count.model_dump_json())
            fresh.replace(self._path)


def count_path(warehouse: Path) -> Path:
    """Return the path of the count beside a warehouse file."""
    return warehouse.with_name(f"{warehouse.name}.writes.json")


def _read_count(path: Path, identity: str) -> WriteCount:
    """Read the count of this warehouse; another's, and what is no count, says nothing."""
    with suppress(OSError, ValidationError), open_file(path, within=path.parent) as file:
        count = WriteCount.model_validate_json(file.read(10_000))
        if count.warehouse_id == identity:
            return count
    return WriteCount(warehouse_id=identity)


def _describe(warehouse: Path, count: WriteCount, connection: duckdb.DuckDBPyConnection) -> str:
    found = connection.execute(NEWEST_BACKUP, [count.last_at.replace(tzinfo=None)]).fetchone()
    place, made = found or ("FOLDER", None)
    newest = f"the newest is of {made:{TIME}}" if made else "none is known"
    text = (
        f"{warehouse}: {count.missing:,} committed writes are missing, the last of "
        f"{count.last_at:{TIME}}. Its log, {warehouse.name}.wal, was cut or removed, or an older "
        "copy took the file's place. Paid answers may be among them, so nothing is bought until "
        f"you decide: restore a backup ({newest}: `evergreen backup restore {place} --replace "
        f"--warehouse {warehouse}`), or go on without them (remove {count_path(warehouse)})."
    )
    return make_visible(text, one_line=True)
