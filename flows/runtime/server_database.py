"""The SQLite database of a local server: made from a template, written without refusals."""

import asyncio
import os
import sqlite3
from contextlib import AbstractAsyncContextManager, closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock


def create_database(database: Path) -> None:
    """Create a home's database, if missing, from the template of this Prefect version.

    Prefect's migrations take seconds. The first server of a version runs them and saves the result
    in the user's cache folder; if that is not writable, each home runs them itself.
    """
    if database.exists():
        return
    template = cache_folder() / f"prefect-{version('prefect')}.db"
    try:
        template.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(template.with_suffix(".lock"), fallback_to_soft=False):
            if not template.exists():
                migrate()
                _copy(database, template)
                return
        _copy(template, database)
    except (OSError, sqlite3.DatabaseError) as error:
        # Prefect runs missing migrations on start; the next home creates a new template.
        if getattr(error, "sqlite_errorcode", None) in (
            sqlite3.SQLITE_CORRUPT,
            sqlite3.SQLITE_NOTADB,
        ):
            template.unlink(missing_ok=True)


def cache_folder() -> Path:
    """The user's cache folder for Evergreen, by the XDG specification."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "evergreen"


def migrate() -> None:
    """Create the tables of the installed Prefect in this process's database."""
    from prefect.server.database import provide_database_interface

    asyncio.run(provide_database_interface().create_db())


def _copy(source: Path, target: Path) -> None:
    """Copy a database in one step: a reader of `target` sees all of it or none."""
    draft = target.with_suffix(f".{os.getpid()}")
    try:
        with closing(sqlite3.connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(draft),))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_immediately() -> None:
    """Begin each of Prefect's transactions with the write lock (`BEGIN IMMEDIATE`).

    Prefect begins most as readers and writes later. If another connection has written in between,
    SQLite fails at once, without waiting: `database is locked`, a 503 for the client.
    """
    from prefect.server.database.configurations import AioSqliteConfiguration

    begin = AioSqliteConfiguration.begin_transaction

    def begin_transaction(
        self: AioSqliteConfiguration, session: Any, with_for_update: bool = False
    ) -> AbstractAsyncContextManager[Any]:
        return begin(self, session, with_for_update=True)

    AioSqliteConfiguration.begin_transaction = begin_transaction  # type: ignore[method-assign,assignment]
