"""Bring a warehouse of an earlier Evergreen to this schema, where only additions lie between."""

import duckdb

from tasks.warehouse.columns import build_table_sql, list_columns

OLDEST_UPGRADABLE = 12
"""The oldest schema version that differs from this one by new tables, new columns that may be null,
and views only."""


def upgrade_schema(connection: duckdb.DuckDBPyConnection, version: int, views: str) -> None:
    """Add the tables and columns that are missing, make the views anew and set the version, in one
    transaction. Stored rows have null in the new columns.

    Args:
        version: The schema version that the warehouse gets.
        views: The SQL that makes all views.
    """
    from tasks.warehouse.tables import TABLES  # every row's model, which few commands need

    connection.execute("BEGIN")
    there: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall():
        there.setdefault(table, set()).add(column)
    for model in TABLES:
        if model.table not in there:
            connection.execute(build_table_sql(model))
            continue
        for name, kind, _ in list_columns(model):
            if name not in there[model.table]:
                connection.execute(f'ALTER TABLE {model.table} ADD COLUMN "{name}" {kind}')
    connection.execute("ALTER TABLE warehouse_info ADD COLUMN IF NOT EXISTS writes BIGINT")
    for (view,) in connection.execute(
        "SELECT view_name FROM duckdb_views() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    connection.execute(views)
    connection.execute("UPDATE warehouse_info SET schema_version = $1", [version])
    connection.execute("COMMIT")
