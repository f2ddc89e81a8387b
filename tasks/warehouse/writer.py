"""The writing thread: queued changes share commits, and a finished future means committed.

Changes that arrive during a commit go into the next transaction together (group commit). If a
shared transaction fails, each of its changes is retried alone.
"""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import duckdb

from tasks.files.room import find_full_disk
from tasks.warehouse.columns import list_columns
from tasks.warehouse.errors import LostWarehouse, NoRoom, UnwritableWarehouse, first_line
from tasks.warehouse.rows import Row
from tasks.warehouse.write_counter import WriteCounter

if TYPE_CHECKING:
    import pyarrow as pa

GATHER_SECONDS = 0.01
"""Time that a commit waits for more changes: short beside a commit, enough for a burst."""
UNWRITTEN = "Failed to commit: Could not"
"""What DuckDB says if the log cannot be written, in an error that conflicts have, too."""
MAX_ROWS = 20_000
"""The most rows in one transaction, to bound what a crash loses and the memory in use."""


@dataclass(frozen=True)
class Change:
    """Rows to write to one table. Rows that match `replacing` are deleted first."""

    model: type[Row]
    rows: Sequence[Row]
    replacing: dict[str, str] = field(default_factory=dict)
    only_new: bool = False
    """Leave existing rows with the same key unchanged."""
    appending: bool = False
    """Do not look for existing rows: the caller knows that there are none with these keys. A
    transaction inserts all appended rows of a table at once."""


@dataclass(frozen=True)
class _Unit:
    """Changes that are committed atomically."""

    changes: Sequence[Change]
    done: Future[None]

    @property
    def n_rows(self) -> int:
        return sum(len(change.rows) for change in self.changes)


class Writer:
    """Owns the writing connection; any thread may call `submit`.

    commit_lock: the context of every transaction, if other processes write too.
    counter: commits the transactions of a file.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        commit_lock: Callable[[], AbstractContextManager[None]] = nullcontext,
        counter: WriteCounter | None = None,
    ) -> None:
        self._connection = connection
        self._commit_lock = commit_lock
        self._counter = counter
        self._queue: queue.SimpleQueue[_Unit | None] = queue.SimpleQueue()
        self._taken: list[_Unit] = []
        """What the thread has taken out of the queue and not settled yet."""
        self._lock = threading.Lock()
        self._closed = False
        self._ending: BaseException | None = None
        """What ended the thread before it was closed."""
        self._thread = threading.Thread(target=self._run, name="warehouse-writer", daemon=True)
        self._thread.start()

    def submit(self, changes: Sequence[Change]) -> Future[None]:
        """Queue changes for one transaction; the future is done when they are committed.

        Once queued they are written: cancelling the future does nothing, since an answer that has
        been paid for may be among them.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()
        with self._lock:
            if not self._closed:
                self._queue.put(_Unit(changes, done))
                return done
        done.set_exception(self._make_lost_error())
        return done

    def close(self) -> None:
        """Commit the queued changes and stop the thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._gather():
                self._commit(self._taken)
        except BaseException as error:  # of no single change, or it would be that change's
            self._ending = error
        with self._lock:
            self._closed = True
        while not self._queue.empty():
            if unit := self._queue.get():
                self._taken.append(unit)
        for unit in self._taken:
            if not unit.done.done():
                unit.done.set_exception(self._make_lost_error())

    def _make_lost_error(self) -> LostWarehouse:
        if self._ending is None:
            return LostWarehouse("The warehouse is closed; nothing was written.")
        lost = LostWarehouse(
            f"Writing to the warehouse ended ({first_line(self._ending)}); this was not written. "
            "What was acknowledged is safe; run again."
        )
        lost.__cause__ = self._ending
        return lost

    def _gather(self) -> bool:
        """Take what is queued, for one transaction; return whether there is anything."""
        self._taken = []
        unit, rows = self._queue.get(), 0
        while unit is not None:
            self._taken.append(unit)
            rows += unit.n_rows
            if rows >= MAX_ROWS:
                break
            try:
                unit = self._queue.get(timeout=GATHER_SECONDS)
            except queue.Empty:
                break
        else:
            self._queue.put(None)  # the end: found again, once these are committed
        return bool(self._taken)

    def _commit(self, units: list[_Unit]) -> None:
        try:
            with self._commit_lock():
                self._execute(units)
        except Exception as error:
            if len(units) == 1:
                units[0].done.set_exception(translate_error(error))
                return
            for unit in units:
                self._commit([unit])
            return
        for unit in units:
            unit.done.set_result(None)

    def _execute(self, units: list[_Unit]) -> None:
        self._connection.execute("BEGIN")
        try:
            appended: dict[type[Row], list[Row]] = {}
            for unit in units:
                for change in unit.changes:
                    if change.appending:
                        appended.setdefault(change.model, []).extend(change.rows)
                    else:
                        apply_change(self._connection, change)
            for model, rows in appended.items():
                apply_change(self._connection, Change(model, rows, appending=True))
            if self._counter:
                self._counter.commit(self._connection, len(units))
            else:
                self._connection.execute("COMMIT")
        except Exception:
            with suppress(duckdb.Error):  # the failed statement may have ended it already
                self._connection.execute("ROLLBACK")
            raise


def apply_change(connection: duckdb.DuckDBPyConnection, change: Change) -> None:
    """Apply a change within a connection's transaction."""
    table = change.model.table
    sql = f"INSERT INTO {table} BY NAME SELECT * FROM incoming"
    if change.replacing:
        where = " AND ".join(f'"{column}" = ?' for column in change.replacing)
        connection.execute(f"DELETE FROM {table} WHERE {where}", list(change.replacing.values()))
    elif not change.appending:
        sql = _merge_sql(change.model, change.only_new)
    if change.rows:
        connection.register("incoming", arrow_table(change.model, change.rows))
        connection.execute(sql)
        connection.unregister("incoming")


def arrow_table(model: type[Row], rows: Sequence[Row]) -> "pa.Table":
    """Return rows as an Arrow table with the columns and types of the warehouse's table."""
    import pyarrow as pa  # only writing needs it

    types = {
        "VARCHAR": pa.string(),
        "BOOLEAN": pa.bool_(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us"),
    }
    return pa.table(
        {
            name: pa.array([getattr(row, name) for row in rows], type=types[kind])
            for name, kind, _ in list_columns(model)
        }
    )


@lru_cache
def _merge_sql(model: type[Row], only_new: bool) -> str:
    """Return the SQL that merges rows by key and leaves equal ones unchanged."""
    on = " AND ".join(f't."{column}" = i."{column}"' for column in model.key)
    others = [name for name in model.model_fields if name not in model.key]
    differs = " OR ".join(f't."{name}" IS DISTINCT FROM i."{name}"' for name in others)
    update = (
        ""
        if only_new or not others
        else f" WHEN MATCHED AND ({differs}) THEN UPDATE SET "
        + ", ".join(f'"{name}" = i."{name}"' for name in others)
    )
    return (
        f"MERGE INTO {model.table} AS t USING incoming AS i ON {on}"
        f"{update} WHEN NOT MATCHED THEN INSERT BY NAME"
    )


def translate_error(error: BaseException) -> BaseException:
    """Turn disk errors into an UnwritableWarehouse; return other errors as they are."""
    if problem := find_full_disk(error):
        return NoRoom.met(problem)
    text = str(error).strip()
    if isinstance(error, duckdb.IOException | duckdb.FatalException) or UNWRITTEN in text:
        return UnwritableWarehouse(
            f"The warehouse could not be written ({first_line(text)}). What was "
            "acknowledged is safe; free some space or fix the permissions, then run again."
        )
    return error
