"""Bring a warehouse of an earlier Evergreen to this schema, where only additions lie between."""

from collections.abc import Mapping

import duckdb

from tasks.warehouse.columns import build_table_sql, list_columns
from tasks.warehouse.operations import REPORTS_SHA

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

UNAUDITED_IN = 19
CARRY_OVER = f"""
INSERT INTO publications (edition, published_at, folder, judges, is_written)
SELECT edition, began_at, given ->> 'to' AS folder,
    coalesce((given -> 'judge')::VARCHAR, (given -> 'judges')::VARCHAR, '[]'), outcome = 'ok'
FROM (SELECT *, try_cast(parameters AS JSON) AS given FROM audit)
WHERE name = 'publish' AND outcome IN ('ok', 'incomplete') AND edition IS NOT NULL
    AND folder IS NOT NULL;

INSERT INTO refreshes (edition, began_at, options, outcome)
SELECT coalesce(edition, ''), began_at, parameters,
    CASE WHEN outcome IN ('ok', 'incomplete') THEN outcome ELSE 'begun' END
FROM audit WHERE name = 'refresh';

INSERT INTO fetched_editions (edition, ended_at, reports_sha)
WITH reported AS (SELECT edition, {REPORTS_SHA} AS sha FROM reports GROUP BY edition),
came AS (
    SELECT edition, max(began_at) AS last_at FROM audit
    WHERE name LIKE 'import %' OR name IN ('ask', 'refresh') GROUP BY edition
)
SELECT edition, max(a.ended_at), coalesce(any_value(r.sha), '')
FROM audit AS a LEFT JOIN came AS c USING (edition) LEFT JOIN reported AS r USING (edition)
WHERE a.name = 'fetch' AND a.ended_at IS NOT NULL AND edition IS NOT NULL
    AND a.began_at > coalesce(c.last_at, TIMESTAMP 'epoch')
GROUP BY edition;

INSERT INTO backups (began_at, place)
SELECT began_at, any_value(try_cast(parameters AS JSON) ->> 'to') AS place
FROM audit WHERE name = 'backup' AND outcome IN ('ok', 'incomplete')
GROUP BY began_at HAVING place IS NOT NULL;
"""
"""What the audit, which versions before that kept, says of sites, months, fetches and backups."""


def upgrade_schema(connection: duckdb.DuckDBPyConnection, version: int, views: str) -> None:
    """Add the tables and columns that are missing, fill the new tables, rename stored figures, make
    the views anew and set the version, in one transaction. Stored rows have null in the new
    columns.

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
    if stored < UNAUDITED_IN:
        connection.execute(CARRY_OVER)
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
