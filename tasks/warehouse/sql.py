"""SQL fragments that cannot be passed as parameters, and what SQL may reach."""

from collections.abc import Iterable
from pathlib import Path

import duckdb

NO_EXTENSIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""Settings to connect with: else DuckDB downloads and loads what a file seems to need, such as
SQLite's, before `restrict` can forbid it."""


def restrict(
    connection: duckdb.DuckDBPyConnection,
    places: Iterable[Path | str] = (),
    memory_bytes: int | None = None,
) -> None:
    """Keep all SQL from the network, extensions, Python's variables, the settings, and files that
    are neither the database's own nor in these places: folders, or prefixes of an object store.

    memory_bytes: how much memory DuckDB may take; with it, it writes no temporary files.
    """
    if memory_bytes is not None:
        connection.execute(f"SET memory_limit = '{memory_bytes}B'")
        connection.execute("SET temp_directory = ''")
    listed = [quote_literal(str(p if isinstance(p, str) else p.resolve())) for p in places]
    connection.execute(f"SET allowed_directories = [{', '.join(listed)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def quote_literal(text: str) -> str:
    """Quote a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """Quote the name of a table or column."""
    return '"' + name.replace('"', '""') + '"'


def table_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the warehouse's tables, sorted, without those of a lake's catalog."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() "
        "WHERE database_name = current_database() AND NOT internal ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]
