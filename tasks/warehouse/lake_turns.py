"""Turns of several processes at one DuckLake: advisory locks in its catalog's Postgres.

Commits take turns too. DuckLake lets the slower of two that touch the same table fail, and replaced
rows always do; since a commit holds all that has gathered meanwhile, waiting costs little.
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
NOTICED_SECONDS = 60
"""How soon Postgres notices that a host is gone without a word, and ends its turns."""
HOLDER = """
SELECT a.application_name FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32) | l.objid::bigint = %s
"""


class LakeTurns:
    """Of a process that shares a lake with others."""

    shared = True

    def __init__(self, lake: DuckLake, identity: str) -> None:
        self._lake, self._identity = lake, identity
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._connection: psycopg.Connection | None = None
        self._commits: psycopg.Connection | None = None
        """Of the thread that writes: it waits in the database."""

    def take(self, key: str) -> bool:
        """Take the turn if nobody has it, neither another process nor another task of this one.

        Raises:
            LostWarehouse: the catalog is gone, and with it all turns of this process.
        """
        with self._lock:
            if key in self._held:
                return False
            if not self._ask("SELECT pg_try_advisory_lock(%s)", key):
                return False
            self._held.add(key)
            return True

    def leave(self, key: str) -> None:
        """Give it back; where the catalog is gone it was lost before."""
        with self._lock:
            self._held.discard(key)
            try:
                self._ask("SELECT pg_advisory_unlock(%s)", key)
            except LostWarehouse:
                self._connection = None

    def holder(self, key: str) -> str:
        """Who has it: host, pid and command, as their connection says."""
        with self._lock:
            if key in self._held:
                return "another task of this process"
            return str(self._ask(HOLDER, key) or "another process")

    @contextmanager
    def committing(self) -> Iterator[None]:
        """The block is the only one of all processes that commits. For one thread alone.

        Raises:
            LostWarehouse: the catalog is gone; the next block asks for it anew.
        """
        number = [turn_number(self._identity, COMMITS)]
        try:
            self._commits = self._commits or _connected(self._lake)
            self._commits.execute("SELECT pg_advisory_lock(%s)", number)
        except psycopg.Error as error:
            self._commits = None
            raise self._lost(error) from error
        try:
            yield
        finally:
            try:
                self._commits.execute("SELECT pg_advisory_unlock(%s)", number)
            except psycopg.Error:  # with the connection the turn is gone, too
                self._commits = None

    def close(self) -> None:
        """Give all back, now: Postgres sees only a while later that a connection was closed."""
        with self._lock:
            if self._connection is not None and self._held:
                with suppress(psycopg.Error):
                    self._connection.execute("SELECT pg_advisory_unlock_all()")
            for connection in (self._connection, self._commits):
                if connection is not None:
                    with suppress(psycopg.Error):
                        connection.close()
            self._held.clear()
            self._connection = self._commits = None

    def _ask(self, sql: str, key: str) -> Any:
        try:
            if self._connection is None:
                if self._held:
                    raise LostWarehouse(f"{self._lake}: the turns of this process are lost.")
                self._connection = _connected(self._lake)
            row = self._connection.execute(
                sql.encode(), [turn_number(self._identity, key)]
            ).fetchone()
        except psycopg.Error as error:
            raise self._lost(error) from error
        return row[0] if row else None

    def _lost(self, error: psycopg.Error) -> LostWarehouse:
        return LostWarehouse(
            f"{self._lake}: the catalog went away ({first_line(error)}). What was "
            "acknowledged is kept; start its Postgres, then run again."
        )


def turn_number(identity: str, key: str) -> int:
    """The advisory lock of a turn: 63 bits, so that databases with other locks hardly meet it."""
    digest = sha256(f"evergreen {identity} {key}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 1


def _connected(lake: DuckLake) -> psycopg.Connection:
    return psycopg.connect(
        lake.catalog,
        autocommit=True,
        connect_timeout=10,
        application_name=f"evergreen pid {os.getpid()} on {socket.gethostname()}"[:63],
        options=f"-c tcp_keepalives_idle={NOTICED_SECONDS // 2} -c tcp_keepalives_interval=10 "
        "-c tcp_keepalives_count=3",
    )
