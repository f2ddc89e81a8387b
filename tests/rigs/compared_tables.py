"""What two warehouses hold, compared, without what says when and how it came."""

from collections.abc import Collection
from pathlib import Path

import duckdb

OF_THE_RUN = (
    "backups", "calls", "fetched_editions", "publications", "refreshes", "warehouse_info",
)  # fmt: skip
"""Tables that say what was done when, and how long a question took."""
MADE_AT = ("imported_at", "finished_at", "called_at", "fetched_at")
Tables = dict[str, list[tuple[object, ...]]]
"""Rows by table."""


def contents(
    warehouse: Path, left_out: Collection[str] = OF_THE_RUN, without: Collection[str] = MADE_AT
) -> Tables:
    """Every table's rows, sorted.

    left_out: tables. without: columns, by name or as `table.column`.
    """
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        query = "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() " \
            "USING (table_name) ORDER BY table_name, column_index"  # fmt: skip
        columns: dict[str, list[str]] = {}
        for table, column in connection.execute(query).fetchall():
            if table not in left_out and not {column, f"{table}.{column}"} & {*without}:
                columns.setdefault(table, []).append(f'"{column}"')
        return {
            table: connection.execute(
                f"SELECT {', '.join(kept)} FROM {table} ORDER BY ALL"
            ).fetchall()
            for table, kept in columns.items()
        }


def differences(one: Tables, other: Tables) -> list[str]:
    """What differs, in words; empty if nothing does."""
    found = []
    for table in sorted({*one, *other}):
        left, right = one.get(table, []), other.get(table, [])
        if left != right:
            odd = sorted(map(str, {*left} ^ {*right}))
            found.append(
                f"{table}: {len(left)} rows against {len(right)}, {len(odd)} in one of them only, "
                f"e.g. {odd[:1]}"[:600]
            )
    return found
