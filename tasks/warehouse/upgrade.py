"""Bring a warehouse of an earlier Evergreen to this schema, where only additions lie between."""

from collections.abc import Mapping

import duckdb

from tasks.warehouse.columns import build_table_sql, list_columns

OLDEST_UPGRADABLE = 12
"""The oldest schema version that differs from this one by new tables, new columns that may be null,
and views only."""
RENAMED_METRICS: Mapping[int, Mapping[tuple[str, str], str | None]] = {
    18: {
        ("wiki_fact", "ref_acc"): "ref_acc_readable",
        ("wiki_fact", "ref_acc_strict"): "ref_acc_claims",
        ("wiki_fact", "ref_acc_pairs"): None,
        ("research_gym", "citation_precision"): "citation_precision_readable",
        ("research_gym", "citation_precision_strict"): None,
    },
}
"""Schema version → metrics that have another name from then on, or none, because a name came to
mean another figure: no stored figure keeps a name that means something else. What has a new
definition comes with the next evaluation."""


def upgrade_schema(connection: duckdb.DuckDBPyConnection, version: int, views: str) -> None:
    """Add the tables and columns that are missing, rename stored figures, make the views anew and
    set the version, in one transaction. Stored rows have null in the new columns.

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
    rename_metrics(connection)
    connection.execute("ALTER TABLE warehouse_info ADD COLUMN IF NOT EXISTS writes BIGINT")
    for (view,) in connection.execute(
        "SELECT view_name FROM duckdb_views() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    connection.execute(views)
    connection.execute("UPDATE warehouse_info SET schema_version = $1", [version])
    connection.execute("COMMIT")


def rename_metrics(connection: duckdb.DuckDBPyConnection) -> None:
    """Give stored figures of an earlier schema the names that they have now."""
    row = connection.execute("SELECT schema_version FROM warehouse_info").fetchone()
    stored = row[0] if row else 0
    for since, renamed in sorted(RENAMED_METRICS.items()):
        for (protocol, metric), name in renamed.items() if stored < since else ():
            for table in ("scores", "leaderboard", "agent_pairs"):
                change = "DELETE FROM" if name is None else "UPDATE"
                new_name = "" if name is None else f" SET metric = '{name}'"
                connection.execute(
                    f"{change} {table}{new_name} WHERE protocol = $1 AND metric = $2",
                    [protocol, metric],
                )
