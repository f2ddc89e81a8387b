"""What `evergreen sql` runs: one statement that reads tables, and calls only functions named here.

DuckDB's own lock on settings and files does not bind its extensions: on a lake, functions of theirs
connect to any Postgres, with our password, and run whatever its user may.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

from tasks.warehouse.errors import WarehouseError

TABLE_FUNCTIONS = {
    "duckdb_columns", "duckdb_constraints", "duckdb_functions", "duckdb_settings", "duckdb_tables",
    "duckdb_types", "duckdb_views", "generate_series", "json_each", "json_tree",
    "pragma_table_info", "range", "repeat", "repeat_row", "summary", "unnest",
}  # fmt: skip
"""The functions that may stand in a FROM: they reach nothing outside of the database."""
_CATALOG_OF_LAKE = "__ducklake"
"""The beginning of the name under which DuckLake attaches its catalog, a whole Postgres."""
_EXPLAIN = re.compile(r"\s*explain(\s+analyze\b)?(\s*\([^()]*\))?\s", re.I)


def check_query(sql: str) -> None:
    """Check that a text from outside is one statement that reads the warehouse and nothing else.

    Raises:
        WarehouseError: it is not; the message says what to do.
    """
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise WarehouseError(f"The SQL cannot be parsed: {error}") from error
    tree = _parse(_EXPLAIN.sub("", sql, count=1)) if len(statements) == 1 else None
    if tree is None:
        raise WarehouseError(
            "`evergreen sql` reads only: one SELECT (or DESCRIBE, SHOW, EXPLAIN) at a time."
        )
    for node in _walk(tree):
        if node.get("type") == "TABLE_FUNCTION":
            _check_function(node["function"]["function_name"])
        named = (node.get("catalog_name"), node.get("schema_name"))
        if any(str(name).lower().startswith(_CATALOG_OF_LAKE) for name in named):
            raise WarehouseError(
                "`evergreen sql` reads a lake's tables, not the catalog in which it keeps them. "
                "`evergreen schema` lists the tables and views."
            )


def _check_function(name: str) -> None:
    if name.lower() not in TABLE_FUNCTIONS:
        raise WarehouseError(
            f"`evergreen sql` reads the warehouse alone, and {name}() may reach something else. "
            "Read a table or view; `evergreen schema` lists them."
        )


def _parse(sql: str) -> Any:
    """Return the tree of a SELECT, as DuckDB parses it; None if it is something else."""
    with duckdb.connect() as parser:
        row = parser.execute("SELECT json_serialize_sql($1::VARCHAR)", [sql]).fetchone()
    assert row
    try:
        tree = json.loads(row[0])
    except RecursionError:
        raise WarehouseError("The SQL is nested too deeply. Ask in several steps.") from None
    return None if tree["error"] else tree


def _walk(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a tree."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
