"""Bring a warehouse of an earlier Evergreen to this schema, where only additions lie between."""

from collections.abc import Mapping

import duckdb

from tasks.warehouse.columns import build_table_sql, list_columns

OLDEST_UPGRADABLE = 12
"""The oldest schema version that differs from this one by new tables, new columns that may be null,
and views only."""
RENAMED_IN = 18
RENAMED_METRICS: Mapping[tuple[str, str], str | None] = {
    ("wiki_fact", "ref_acc"): "ref_acc_readable",
    ("wiki_fact", "ref_acc_strict"): "ref_acc_claims",
    ("wiki_fact", "ref_acc_pairs"): None,
    ("research_gym", "citation_precision"): "citation_precision_readable",
    ("research_gym", "citation_precision_strict"): "citation_precision",
    ("rigorous", "rigorous_retrieval_index"): None,  # it had ranks
}
"""Metrics that have another name since that schema version, or none, in the order of renaming: no
stored figure keeps a name that means something else. What has a new definition comes with the next
evaluation."""


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
    [(stored,)] = connection.execute("SELECT schema_version FROM warehouse_info").fetchall()
    rename_metrics(connection, stored)
    connection.execute("ALTER TABLE warehouse_info ADD COLUMN IF NOT EXISTS writes BIGINT")
    for (view,) in connection.execute(
        "SELECT view_name FROM duckdb_views() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall():
        connection.execute(f'DROP VIEW "{view}"')
    connection.execute(views)
    connection.execute("UPDATE warehouse_info SET schema_version = $1", [version])
    connection.execute("COMMIT")


def rename_metrics(
    connection: duckdb.DuckDBPyConnection, stored: int, edition: str | None = None
) -> None:
    """Give figures of schema version `stored` the names that they have now; of one edition, or of
    all."""
    for (protocol, metric), name in RENAMED_METRICS.items() if stored < RENAMED_IN else ():
        for table in ("scores", "leaderboard", "agent_pairs"):
            change = f"UPDATE {table} SET metric = '{name}'" if name else f"DELETE FROM {table}"
            connection.execute(
                f"{change} WHERE protocol = $1 AND metric = $2 AND edition = coalesce($3, edition)",
                [protocol, metric, edition],
            )
