"""The schema, and opening databases: damaged, foreign, older and newer ones are told apart."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

import duckdb

from tasks.files.room import find_full_disk
from tasks.foreign_text import make_visible
from tasks.warehouse.columns import build_table_sql
from tasks.warehouse.errors import (
    DamagedWarehouse,
    ForeignWarehouse,
    LocklessWarehouse,
    NewerWarehouse,
    NoRoom,
    OlderWarehouse,
    UnwritableWarehouse,
    UpgradableWarehouse,
    WarehouseBusy,
    first_line,
)
from tasks.warehouse.file_lock import lock_path
from tasks.warehouse.location import DuckLake, LocationLike, parse_location
from tasks.warehouse.objects import Objects, check_objects, list_objects
from tasks.warehouse.rows import utc_now
from tasks.warehouse.sql import NO_EXTENSIONS, restrict
from tasks.warehouse.upgrade import OLDEST_UPGRADABLE, upgrade_schema

SCHEMA_VERSION = 19
"""Raise it with every change of a column or of sql/. Warehouses from OLDEST_UPGRADABLE on are
upgraded when they are opened, older ones are refused."""

IN_THIS_PROCESS = "already held in current process"
INFO = ("table", "warehouse_info")
_MAGIC, _MAGIC_OFFSET = b"DUCK", 8
"""The mark in a DuckDB file's header."""
_NO_LOCK = re.compile(r'Could not set lock on file "": (.*)', re.S)
"""What DuckDB says of a lock that it does not get: who holds it, or why there is none."""
_HOLDER = re.compile(r"Conflicting lock is held in (?:(.+) \(PID (\d+)\)|PID ([1-9]\d*))?", re.S)
"""What it says of the process that holds it. One of another host or container has no number."""
_COMMENT = re.compile(r"^COMMENT ON COLUMN [^']*(?:'(?:[^']|'')*'\s*)+;", re.M)
"""A comment on a column, of one or several string literals."""


@cache
def load_schema() -> str:
    """Return the SQL that makes every table and view."""
    from tasks.warehouse.tables import TABLES  # every row's model, which few commands need

    return "\n".join([_read_sql("info"), *map(build_table_sql, TABLES), _read_sql("views")])


@cache
def _own_objects() -> Objects:
    """Return what a new warehouse holds. Should a newer DuckDB word stored views otherwise, raise
    SCHEMA_VERSION: an upgrade makes them anew."""
    with duckdb.connect() as empty:
        empty.execute(load_schema())
        return list_objects(empty)


def _read_sql(name: str) -> str:
    return (files("tasks.warehouse") / "sql" / f"{name}.sql").read_text("utf-8")


def check_file(path: Path) -> None:
    """Check that `path` can be a warehouse, before a lock file is made beside it.

    Once there is a lock file nothing is read: closing the file would drop the lock that DuckDB
    holds if this process has it open.

    Raises:
        DamagedWarehouse: it is a folder, or a file but not a DuckDB database.
    """
    try:
        if not path.exists() or lock_path(path).exists():
            return
        if not path.is_file():
            raise DamagedWarehouse(_damage_message(path, "it is not a file"))
        with path.open("rb") as file:
            header = file.read(_MAGIC_OFFSET + len(_MAGIC))
    except OSError:
        return  # locking and opening explain it better
    if header[_MAGIC_OFFSET:] != _MAGIC:
        raise DamagedWarehouse(_damage_message(path, "it is not a DuckDB database"))


def connect(
    path: Path,
    *,
    read_only: bool = False,
    folders: Sequence[Path] = (),
    memory_bytes: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file, without looking at its schema.

    folders: the only ones, beside the file, in which its SQL may read and write. memory_bytes: as
    in `restrict`.

    Raises:
        DamagedWarehouse, NewerWarehouse, UnwritableWarehouse, LocklessWarehouse: the message names
            the file and what to do.
        WarehouseBusy: another program has it open.
    """
    options = {**NO_EXTENSIONS}
    if not read_only:
        options["storage_compatibility_version"] = "latest"
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=options)
    except duckdb.Error as error:
        raise _translate_error(path, error) from error
    restrict(connection, folders, memory_bytes)
    return connection


def ensure_schema(connection: duckdb.DuckDBPyConnection, where: LocationLike) -> str:
    """Make every table and view in an empty database, or what is missing in an older one.

    Returns:
        The warehouse's id.

    Raises:
        ForeignWarehouse: the database is not a warehouse.
        OlderWarehouse, NewerWarehouse: its schema is too old, or newer than this code's.
    """
    where = parse_location(where)
    prepare = strip_column_comments if isinstance(where, DuckLake) else str
    try:
        is_made = has_schema(connection, where)
    except UpgradableWarehouse:
        check_objects(list_objects(connection), _own_objects(), where, older=True)
        upgrade_schema(connection, SCHEMA_VERSION, prepare(_read_sql("views")))
        is_made = has_schema(connection, where)
    if not is_made:
        connection.execute("BEGIN")
        connection.execute(prepare(load_schema()))
        connection.execute(
            "INSERT INTO warehouse_info VALUES ($1, $2, $3, 0)",
            [str(uuid4()), SCHEMA_VERSION, utc_now().replace(tzinfo=None)],
        )
        connection.execute("COMMIT")
        if not isinstance(where, DuckLake):  # in a lake this would run all maintenance
            connection.execute("CHECKPOINT")
    return read_warehouse_id(connection)


def strip_column_comments(sql: str) -> str:
    """Remove comments on columns, which a lake's views cannot have; `load_descriptions` reads them
    from these files."""
    return _COMMENT.sub("", sql)


def has_schema(connection: duckdb.DuckDBPyConnection, path: LocationLike) -> bool:
    """Whether an open database is a warehouse; False if it is empty.

    Raises:
        ForeignWarehouse: the database is not a warehouse, or holds something else beside it.
        OlderWarehouse, NewerWarehouse: its schema is not this code's.
    """
    found = list_objects(connection)
    if not found:
        return False
    own = _own_objects()
    # Anything else would be run when it is read; an older one does not count its writes.
    if found.get(INFO) not in (own[INFO], own[INFO] - {"writes BIGINT"}):
        names = sorted(name for _, name in found)
        raise ForeignWarehouse(
            f"{path} is a DuckDB database, but not an Evergreen warehouse (it holds "
            f"{', '.join(names[:5])}). Nothing was changed; choose another file "
            "with --warehouse."
        )
    row = connection.execute("SELECT schema_version FROM main.warehouse_info").fetchone()
    _check_version(int(row[0]) if row else 0, path)
    check_objects(found, own, path)
    return True


def _check_version(version: int, path: object) -> None:
    """Check that a schema version is this code's.

    Raises:
        OlderWarehouse, NewerWarehouse: it is another one; the message says what to do.
    """
    if version > SCHEMA_VERSION:
        raise NewerWarehouse(
            f"{path} has schema version {version}; this Evergreen knows up to {SCHEMA_VERSION}. "
            "Nothing was changed; update Evergreen, or choose another file with --warehouse."
        )
    if OLDEST_UPGRADABLE <= version < SCHEMA_VERSION:
        raise UpgradableWarehouse(
            f"{path} has schema version {version}; this Evergreen needs {SCHEMA_VERSION}. Nothing "
            "was changed; run `evergreen status` with it once, which adds what is new."
        )
    if version < SCHEMA_VERSION:
        raise OlderWarehouse(
            f"{path} has schema version {version}; this Evergreen upgrades only from "
            f"{OLDEST_UPGRADABLE} on. Nothing was changed; make it anew in another file "
            "(--warehouse): import or collect its editions and evaluate them again, or read it "
            "with the Evergreen that wrote it."
        )


def read_warehouse_id(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the warehouse's id, a uuid made once."""
    row = connection.execute("SELECT warehouse_id FROM warehouse_info").fetchone()
    if row is None:
        raise DamagedWarehouse("warehouse_info is empty: the warehouse has no id. Restore a copy.")
    return str(row[0])


def _translate_error(path: Path, error: duckdb.Error) -> Exception:
    text = str(error).replace(f'"{path}"', '""')
    if found := _NO_LOCK.search(text):
        return _explain_lock(path, found[1].partition(". See also")[0])
    if isinstance(error, duckdb.ConnectionException) or "Unique file handle conflict" in text:
        return _explain_lock(path, IN_THIS_PROCESS)
    if "version number" in text or "newer version of DuckDB" in text:
        return NewerWarehouse(
            f"{path} was written by another DuckDB version ({first_line(text)}). "
            "Nothing was changed; install the locked dependencies again, or update Evergreen."
        )
    if problem := find_full_disk(error):
        return NoRoom.met(problem)
    if re.search(r"permission denied|read-only file|cannot open file", text, re.I):
        return UnwritableWarehouse(
            f"{path} cannot be opened ({first_line(error)}). Check the permissions of the file and "
            "its folder, or choose another file with --warehouse."
        )
    return DamagedWarehouse(_damage_message(path, first_line(error)))


def _explain_lock(path: Path, reason: str) -> Exception:
    """Tell who holds DuckDB's own lock on a file, or that there are no locks."""
    found = _HOLDER.search(reason)
    if not found and IN_THIS_PROCESS not in reason:
        return LocklessWarehouse.met(path.parent, reason)
    holder = "another DuckDB connection of this process"
    if found:
        program, *pids = found.groups()
        pid = pids[0] or pids[1]
        holder = f"pid {pid}" if pid else "another process, perhaps on another host"
        holder += f" ({make_visible(program, one_line=True)})" if program else ""
    return WarehouseBusy(f"{path} is in use by {holder}, which must close it")


def _damage_message(path: Path, reason: str) -> str:
    return (
        f"{path} is not a readable warehouse ({reason}). It was left as it is; restore a copy, or "
        "choose another file with --warehouse."
    )
