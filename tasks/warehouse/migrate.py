"""Opening the database file: ours, damaged, foreign, older or newer, told apart."""

import re
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

import duckdb

from tasks.warehouse.errors import (
    DamagedWarehouse,
    ForeignWarehouse,
    NewerWarehouse,
    UnwritableWarehouse,
    first_line,
)
from tasks.warehouse.location import DuckLake, Where, location
from tasks.warehouse.rows import utc_now

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_COMMENT = re.compile(r"^COMMENT ON COLUMN [^']*'(?:[^']|'')*'\s*;", re.M)


def migrations() -> list[tuple[int, str]]:
    """(number, SQL) of every migration file, in order."""
    folder = files("tasks.warehouse") / "sql"
    found = [(m, item) for item in folder.iterdir() if (m := _NAME.fullmatch(item.name))]
    return sorted((int(m[1]), item.read_text("utf-8")) for m, item in found)


def connect(path: Path, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open the file at `path`, without touching what is in it.

    Raises:
        DamagedWarehouse, NewerWarehouse, UnwritableWarehouse: naming the file and what to do.
    """
    options: dict[str, str | bool | int | float | list[str]] = {}
    if not read_only:
        options["storage_compatibility_version"] = "latest"
    try:
        return duckdb.connect(str(path), read_only=read_only, config=options)
    except (duckdb.IOException, duckdb.SerializationException) as error:
        raise _explained(path, error) from error
    except duckdb.Error as error:
        raise DamagedWarehouse(_damaged(path, error)) from error


def migrate(connection: duckdb.DuckDBPyConnection, where: Where) -> str:
    """Bring an open database to the newest schema; a new file gets it whole.

    Returns:
        The warehouse's id (a uuid made once, when the file was).

    Raises:
        ForeignWarehouse: there are tables, but not ours.
        NewerWarehouse: its schema is newer than this code.
    """
    where = location(where)
    present = check_schema(connection, where)
    pending = [(number, sql) for number, sql in migrations() if number > present]
    for number, sql in pending:
        connection.execute("BEGIN")
        connection.execute(_for_lake(sql) if isinstance(where, DuckLake) else sql)
        if number == 1:
            connection.execute(
                "INSERT INTO warehouse_info VALUES ($1, 1, $2)",
                [str(uuid4()), utc_now().replace(tzinfo=None)],
            )
        connection.execute("UPDATE warehouse_info SET schema_version = $1", [number])
        connection.execute("COMMIT")
    if pending and not isinstance(where, DuckLake):  # a lake's is all of its maintenance
        connection.execute("CHECKPOINT")
    return warehouse_id(connection)


def _for_lake(sql: str) -> str:
    """A lake has no comments on the columns of views; where they are read, they are read from these
    files."""
    return _COMMENT.sub("", sql)


def check_schema(connection: duckdb.DuckDBPyConnection, path: Where) -> int:
    """The schema version of an open database: 0 for an empty one."""
    tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    if not tables:
        return 0
    if "warehouse_info" not in tables:
        raise ForeignWarehouse(
            f"{path} is a DuckDB database, but not an Evergreen warehouse (it holds "
            f"{', '.join(sorted(tables)[:5])}). Nothing was changed; choose another file "
            "with --warehouse."
        )
    row = connection.execute("SELECT schema_version FROM warehouse_info").fetchone()
    version = int(row[0]) if row else 0
    newest = migrations()[-1][0]
    if version > newest:
        raise NewerWarehouse(
            f"{path} has schema version {version}; this Evergreen knows up to {newest}. "
            "Nothing was changed; update Evergreen, or choose another file with --warehouse."
        )
    return version


def warehouse_id(connection: duckdb.DuckDBPyConnection) -> str:
    row = connection.execute("SELECT warehouse_id FROM warehouse_info").fetchone()
    if row is None:
        raise DamagedWarehouse("warehouse_info is empty: the warehouse has no id. Restore a copy.")
    return str(row[0])


def _explained(path: Path, error: duckdb.Error) -> Exception:
    text = str(error)
    if "version number" in text or "newer version of DuckDB" in text:
        return NewerWarehouse(
            f"{path} was written by another DuckDB version ({first_line(text)}). "
            "Nothing was changed; install the locked dependencies again, or update Evergreen."
        )
    if re.search(r"permission denied|read-only file|no space left|cannot open file", text, re.I):
        return UnwritableWarehouse(
            f"{path} cannot be opened for writing ({first_line(text)}). Check the folder's "
            "permissions and free space, or choose another file with --warehouse."
        )
    return DamagedWarehouse(_damaged(path, error))


def _damaged(path: Path, error: duckdb.Error) -> str:
    return (
        f"{path} is not a readable warehouse ({first_line(error)}). It was left as it is; "
        "restore a copy, or choose another file with --warehouse."
    )
