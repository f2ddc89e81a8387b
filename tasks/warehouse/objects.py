"""What is in a database: only the tables and views of the schema, or it is no warehouse.

A warehouse may come from a stranger. In the place of a table it may have a view, or beside it a
macro with the name of a function that our queries call: whatever reads it would run them.
"""

from collections.abc import Mapping

import duckdb

from tasks.warehouse.errors import ForeignWarehouse

Objects = Mapping[tuple[str, str], frozenset[str]]
"""Kinds and names, with the definition: a table's columns in any order, or a view's SQL."""
_KINDS = {
    "schema": "schema_name, '' FROM duckdb_schemas() WHERE schema_name <> 'main'",
    "table": "table_name, sql FROM duckdb_tables() WHERE true",
    "view": "view_name, sql FROM duckdb_views() WHERE true",
    "macro": "function_name, '' FROM duckdb_functions() WHERE true",
    "type": "type_name, '' FROM duckdb_types() WHERE NOT internal",
    "sequence": "sequence_name, '' FROM duckdb_sequences() WHERE true",
    "index": "index_name, '' FROM duckdb_indexes() WHERE true",
}
"""What to ask of each kind. Not whether it is internal: that a file says itself."""


def list_objects(connection: duckdb.DuckDBPyConnection) -> Objects:
    """List all that a database holds, without running any of it."""
    found = {}
    for kind, rest in _KINDS.items():
        rows = connection.execute(
            f"SELECT schema_name, {rest} AND database_name = current_database()"
        ).fetchall()
        for schema, name, sql in rows:
            whole = name if schema == "main" else f"{schema}.{name}"
            found[kind, whole] = _split(name, sql) if kind == "table" else frozenset([sql])
    return found


def _split(name: str, sql: str) -> frozenset[str]:
    """Split a table's SQL into its columns: those of an upgraded one come in another order."""
    plain = sql.replace(" DEFAULT(NULL)", "")  # which lakes add
    return frozenset(plain.removeprefix(f"CREATE TABLE {name}(").removesuffix(");").split(", "))


def check_objects(found: Objects, own: Objects, where: object, *, older: bool = False) -> None:
    """Check that a database holds what an empty warehouse of ours holds, and nothing else.

    Args:
        own: the objects of an empty warehouse.
        older: it is of an earlier schema: tables and columns may be missing, and its views, which
            an upgrade replaces unread, may have any definition.

    Raises:
        ForeignWarehouse: it holds something else.
    """
    for (kind, name), definition in found.items():
        expected = own.get((kind, name))
        if older and kind == "view" and ("table", name) not in own:
            continue
        if expected is None:
            problem = f"the {kind} {name[:80]!r}, which no warehouse has"
        elif not (definition <= expected if older else definition == expected):
            problem = f"the {kind} {name!r} with another definition than Evergreen's"
        else:
            continue
        raise _make_error(where, f"holds {problem}")
    missing = sorted(name for _, name in own.keys() - found.keys())
    if missing and not older:
        raise _make_error(where, f"lacks {', '.join(missing[:5])}")


def _make_error(where: object, problem: str) -> ForeignWarehouse:
    return ForeignWarehouse(
        f"{where} {problem}. It was changed by something other than Evergreen, so none of it was "
        "read. Use a warehouse that you trust, or remove what is not Evergreen's with DuckDB."
    )
