"""Pieces of SQL that no parameter can stand for."""

import duckdb


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def table_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables of the warehouse that is open, sorted; a lake's catalog has others of its own."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() "
        "WHERE database_name = current_database() AND NOT internal ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]
