"""Tables are made from their rows: a changed model must not change a table unnoticed."""

import re
from pathlib import Path

import duckdb
import pytest

from tasks.warehouse.columns import build_table_sql
from tasks.warehouse.rows import Row
from tasks.warehouse.schema import SCHEMA_VERSION, load_schema, strip_column_comments
from tasks.warehouse.tables import TABLES

GIVEN = Path(__file__).with_name("tables.sql").read_text("utf-8")


def columns(sql: str) -> list[tuple[str, ...]]:
    with duckdb.connect() as empty:
        empty.execute(sql)
        return empty.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()


def test_the_tables_are_those_of_this_schema_version() -> None:
    assert columns("\n".join(map(build_table_sql, TABLES))) == columns(GIVEN)
    assert f"schema version {SCHEMA_VERSION}," in GIVEN


def test_a_field_without_an_sql_type_is_no_column() -> None:
    class Listed(Row):
        table = "listed"
        key = ()

        names: list[str]

    with pytest.raises(KeyError, match="list"):
        build_table_sql(Listed)


def test_a_lake_gets_no_comment_on_a_column_however_it_is_written() -> None:
    assert "COMMENT ON COLUMN" in load_schema()
    assert "COMMENT ON COLUMN" not in strip_column_comments(load_schema())


def test_a_view_is_stored_in_the_same_words_by_every_process() -> None:
    """DuckDB keeps the names of EXCLUDE in the order of a hash."""
    lists = re.findall(r"EXCLUDE \(([^)]*)\)", load_schema())
    assert [names for names in lists if "," in names] == []
