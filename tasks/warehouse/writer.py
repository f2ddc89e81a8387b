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

from tasks.warehouse.columns import list_columns
from tasks.warehouse.errors import LostWarehouse, UnwritableWarehouse, first_line
from tasks.warehouse.rows import Row
from tasks.warehouse.write_counter import WriteCounter

if TYPE_CHECKING:
    import pyarrow as pa

GATHER_SECONDS = 0.01
"""Time that a commit waits for more changes: short beside a commit, enough for a burst."""
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

    def __post_init__(self) -> None:
        if self.model.append_only and self.replacing:
            raise ValueError(f"Rows of {self.model.table} are never removed.")


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
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="warehouse-writer", daemon=True)
        self._thread.start()

    def submit(self, changes: Sequence[Change]) -> Future[None]:
        """Queue changes for one transaction; the future is done when they are committed."""
        done: Future[None] = Future()
        if self._closed:
            done.set_exception(LostWarehouse("The warehouse is closed; nothing was written."))
            return done
        self._queue.put(_Unit(changes, done))
        return done

    def close(self) -> None:
        """Commit the queued changes and stop the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            units, stop = self._gather(first)
            self._commit(units)
            if stop:
                return

    def _gather(self, first: _Unit) -> tuple[list[_Unit], bool]:
        units, rows = [first], first.n_rows
        while rows < MAX_ROWS:
            try:
                unit = self._queue.get(timeout=GATHER_SECONDS)
            except queue.Empty:
                break
            if unit is None:
                return units, True
            units.append(unit)
            rows += unit.n_rows
        return units, False

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
                        self._apply(change)
            for model, rows in appended.items():
                self._insert(model, rows)
            if self._counter:
                self._counter.commit(self._connection, len(units))
            else:
                self._connection.execute("COMMIT")
        except Exception:
            with suppress(duckdb.Error):  # the failed statement may have ended it already
                self._connection.execute("ROLLBACK")
            raise

    def _apply(self, change: Change) -> None:
        table = change.model.table
        if change.replacing:
            where = " AND ".join(f'"{column}" = ?' for column in change.replacing)
            self._connection.execute(
                f"DELETE FROM {table} WHERE {where}", list(change.replacing.values())
            )
            self._insert(change.model, change.rows)
        else:
            self._insert(change.model, change.rows, _merge_sql(change.model, change.only_new))

    def _insert(self, model: type[Row], rows: Sequence[Row], sql: str | None = None) -> None:
        if not rows:
            return
        self._connection.register("incoming", arrow_table(model, rows))
        self._connection.execute(sql or f"INSERT INTO {model.table} BY NAME SELECT * FROM incoming")
        self._connection.unregister("incoming")


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
    text = str(error).strip()
    if isinstance(error, duckdb.IOException | duckdb.FatalException):
        return UnwritableWarehouse(
            f"The warehouse could not be written ({first_line(text)}). What was "
            "acknowledged is safe; free some space or fix the permissions, then run again."
        )
    return error
