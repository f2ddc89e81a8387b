"""The locks of processes that share a DuckLake: advisory locks in its catalog's Postgres.

Commits are locked too. Of two commits to the same table DuckLake fails the slower one, always so if
rows are replaced. Waiting costs little, because a commit takes all changes queued meanwhile.
"""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Any

import psycopg

from tasks.warehouse.errors import LostWarehouse, first_line
from tasks.warehouse.location import DuckLake

COMMITS = "commits"
KEEPALIVE_SECONDS = 60
"""After this time Postgres drops the locks of a host that has vanished."""
HOLDER_SQL = """
SELECT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32) | l.objid::bigint = %s
"""


class LakeLocks:
    """The locks of a process that shares a lake with others."""

    shared = True

    def __init__(self, lake: DuckLake, identity: str) -> None:
        self._lake, self._identity = lake, identity
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._connection: psycopg.Connection | None = None
        self._commit_connection: psycopg.Connection | None = None
        """The writing thread's own connection, because it waits inside the database."""

    def acquire(self, key: str) -> bool:
        """Acquire the lock if no process holds it, nor another task of this one.

        Raises:
            LostWarehouse: the catalog is gone, and with it all locks of this process.
        """
        with self._lock:
            if key in self._held:
                return False
            if not self._fetch_value("SELECT pg_try_advisory_lock(%s)", key):
                return False
            self._held.add(key)
            return True

    def release(self, key: str) -> None:
        """Release the lock. If the catalog is gone, so is the lock."""
        with self._lock:
            self._held.discard(key)
            try:
                self._fetch_value("SELECT pg_advisory_unlock(%s)", key)
            except LostWarehouse:
                self._connection = None

    def describe_holder(self, key: str) -> str:
        """Return the holder's pid and host, which it gave to Postgres when connecting."""
        with self._lock:
            if key in self._held:
                return "another task of this process"
            return str(self._fetch_value(HOLDER_SQL, key) or "another process")

    @contextmanager
    def commit_lock(self) -> Iterator[None]:
        """Keep other processes from committing. Only the writing thread may use this.

        Raises:
            LostWarehouse: the catalog is gone; the next call connects again.
        """
        number = [lock_number(self._identity, COMMITS)]
        try:
            self._commit_connection = self._commit_connection or _connect(self._lake)
            self._commit_connection.execute("SELECT pg_advisory_lock(%s)", number)
        except psycopg.Error as error:
            self._commit_connection = None
            raise self._lost_error(error) from error
        try:
            yield
        finally:
            try:
                self._commit_connection.execute("SELECT pg_advisory_unlock(%s)", number)
            except psycopg.Error:  # the lock went with the connection
                self._commit_connection = None

    def close(self) -> None:
        """Release all locks now: Postgres notices a closed connection only after a while."""
        with self._lock:
            if self._connection is not None and self._held:
                with suppress(psycopg.Error):
                    self._connection.execute("SELECT pg_advisory_unlock_all()")
            for connection in (self._connection, self._commit_connection):
                if connection is not None:
                    with suppress(psycopg.Error):
                        connection.close()
            self._held.clear()
            self._connection = self._commit_connection = None

    def _fetch_value(self, sql: str, key: str) -> Any:
        try:
            if self._connection is None:
                if self._held:
                    raise LostWarehouse(f"{self._lake}: the locks of this process are lost.")
                self._connection = _connect(self._lake)
            row = self._connection.execute(
                sql.encode(), [lock_number(self._identity, key)]
            ).fetchone()
        except psycopg.Error as error:
            raise self._lost_error(error) from error
        return row[0] if row else None

    def _lost_error(self, error: psycopg.Error) -> LostWarehouse:
        return LostWarehouse(
            f"{self._lake}: the catalog went away ({first_line(error)}). What was "
            "acknowledged is kept; start its Postgres, then run again."
        )


def lock_number(identity: str, key: str) -> int:
    """Return the lock's number in Postgres: 63 bits, so that collisions are unlikely."""
    digest = sha256(f"evergreen {identity} {key}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 1


def _connect(lake: DuckLake) -> psycopg.Connection:
    return psycopg.connect(
        lake.catalog,
        autocommit=True,
        connect_timeout=10,
        application_name=f"evergreen pid {os.getpid()} on {socket.gethostname()}"[:63],
        options=f"-c tcp_keepalives_idle={KEEPALIVE_SECONDS // 2} -c tcp_keepalives_interval=10 "
        "-c tcp_keepalives_count=3",
    )
