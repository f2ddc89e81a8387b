"""SQL fragments that cannot be passed as parameters."""

import duckdb


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
