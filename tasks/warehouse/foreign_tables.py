"""What a backup's table must be: DuckDB would convert types, and take keys that come twice."""

from pathlib import Path
from typing import Any

import duckdb

from tasks.base import format_count
from tasks.warehouse.errors import first_line
from tasks.warehouse.schema import SCHEMA_VERSION
from tasks.warehouse.sql import quote_literal, quote_name
from tasks.warehouse.tables import TABLES

DatabaseError = duckdb.Error
INFO = "warehouse_info"
KEYS = {INFO: ("warehouse_id",), **{model.table: model.key for model in TABLES}}


def find_problem(connection: Any, file: Path, rows: int, identity: str) -> str | None:
    """Return why a table, `NAME.parquet`, cannot be restored; None if it can.

    rows, identity: what the manifest says. connection: to an empty warehouse.
    """
    table, source = file.stem, f"read_parquet({quote_literal(str(file))})"
    try:
        if problem := _find_wrong_column(connection, table, source):
            return problem
        info = f"SELECT warehouse_id, schema_version FROM {source} LIMIT 2"
        if table == INFO and connection.execute(info).fetchall() != [(identity, SCHEMA_VERSION)]:
            return "is of another warehouse than manifest.json"
        return _find_wrong_rows(connection, table, source, rows)
    except DatabaseError as error:
        return f"cannot be read ({first_line(error).replace(str(file), file.name)})"


def _find_wrong_column(connection: Any, table: str, source: str) -> str | None:
    expected, found = (
        {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE FROM {each}").fetchall()}
        for each in (quote_name(table), source)
    )
    for name in (*expected, *found):
        if (kind := found.get(name, "missing")) != (right := expected.get(name, "no column")):
            return f"does not fit: {first_line(name)} is {first_line(kind)}; expected {right}"
    return None


def _find_wrong_rows(connection: Any, table: str, source: str, rows: int) -> str | None:
    columns = connection.execute(f"DESCRIBE {quote_name(table)}").fetchall()
    key = ", ".join(KEYS[table])
    filled = ", ".join(f"count({quote_name(name)})" for name, *_ in columns)  # reads all of it
    sql = f"SELECT count(*), count(DISTINCT ({key})), {filled} FROM {source}"
    n, n_keys, *counts = connection.execute(sql).fetchone()
    if n != rows:
        return f"has {format_count(n, 'row')}; manifest.json lists {rows:,}"
    for (name, _, null, *_), count in zip(columns, counts, strict=True):
        if null == "NO" and count != n:
            return f"has nulls in {name}; expected none"
    twice = f"has {format_count(n, 'row')} with {format_count(n_keys, 'key')} ({key})"
    return twice if n_keys != n else None
