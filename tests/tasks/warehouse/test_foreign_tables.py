"""What the table of a backup may be: exactly what a warehouse could hold."""

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

from tasks.warehouse.foreign_tables import find_problem
from tasks.warehouse.schema import SCHEMA_VERSION, connect, load_schema

pytestmark = pytest.mark.file_only
ID = "the warehouse's"
TABLES = {
    "editions": "SELECT 'e' || i, 'test', CASE WHEN i > 2 THEN 'E' END, now() FROM range(5) r(i)",
    "facts": "SELECT 'e', 'a', i, 'A fact.', NULL, i, 'offline' FROM range(5) r(i)",
    "warehouse_info": f"SELECT $${ID}$$, {SCHEMA_VERSION}, now(), 5",
}
"""By name, the rows of a table that can be restored."""


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str | None]]:
    """Finds the problem of a table that somebody wrote as Parquet, for an empty warehouse."""
    folder = tmp_path_factory.mktemp("tables")
    with connect(folder / "empty.duckdb", folders=[folder]) as empty, duckdb.connect() as foreign:
        for connection in (empty, foreign):
            connection.execute(load_schema())
        for name, rows in TABLES.items():
            foreign.execute(f"INSERT INTO {name} {rows}")

        def find(
            table: str, sql: str = "", rows: int | None = None, spoil: Any = lambda content: content
        ) -> str | None:
            """sql: changes it before, as the table t. rows: as many as it should have; by default
            as it has. spoil: changes the file's content."""
            file = folder / f"{table}.parquet"
            foreign.execute(f"CREATE OR REPLACE TABLE t AS FROM {table}; {sql}; COPY t TO '{file}'")
            [(counted,)] = foreign.execute("SELECT count(*) FROM t").fetchall()
            file.write_bytes(spoil(file.read_bytes()))
            said = find_problem(empty, file, counted if rows is None else rows, ID)
            assert str(folder) not in str(said)
            return said

        yield find


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_a_warehouse_has_no_problem(problem: Any, table: str) -> None:
    assert problem(table) is None


@pytest.mark.parametrize(
    ("table", "sql", "found"),
    [
        ("facts", "INSERT INTO t FROM t LIMIT 1", "has 6 rows with 5 keys (edition, article, n"),
        ("editions", "INSERT INTO t SELECT edition, 'b', 'B', now() FROM t", "10 rows with 5 keys"),
        ("facts", "UPDATE t SET edition = NULL WHERE number = 3", "has nulls in edition;"),
        ("editions", "UPDATE t SET imported_at = NULL", "has nulls in imported_at;"),
        ("facts", "ALTER TABLE t ALTER number TYPE VARCHAR", "is VARCHAR; expected INTEGER"),
        ("facts", "ALTER TABLE t ALTER number TYPE DOUBLE", "is DOUBLE; expected INTEGER"),
        ("facts", "ALTER TABLE t ALTER number TYPE BIGINT", "is BIGINT; expected INTEGER"),
        ("editions", "ALTER TABLE t ALTER title TYPE BLOB", "title is BLOB; expected VARCHAR"),
        (
            "editions",
            "ALTER TABLE t ALTER imported_at TYPE TIMESTAMPTZ",
            "WITH TIME ZONE; expected",
        ),
        ("editions", "ALTER TABLE t ALTER imported_at TYPE DATE", "is DATE; expected TIMESTAMP"),
        ("facts", "ALTER TABLE t ADD extra INTEGER", "extra is INTEGER; expected no column"),
        ("editions", "ALTER TABLE t DROP title", "title is missing; expected VARCHAR"),
        ("editions", "ALTER TABLE t DROP edition", "edition is missing; expected VARCHAR"),
        ("editions", "ALTER TABLE t RENAME title TO Title", "title is missing; expected VARCHAR"),
        ("warehouse_info", "DELETE FROM t", "is of another warehouse than manifest.json"),
        ("warehouse_info", "INSERT INTO t FROM t", "is of another warehouse than manifest.json"),
        ("warehouse_info", "UPDATE t SET warehouse_id = 'x'", "is of another warehouse than"),
        ("warehouse_info", "UPDATE t SET created_at = NULL", "has nulls in created_at;"),
    ],
)
def test_what_no_warehouse_could_hold_is_named(
    problem: Any, table: str, sql: str, found: str
) -> None:
    assert found in str(problem(table, sql))


@pytest.mark.parametrize("rows", [0, 4, 10**12])
def test_a_table_has_as_many_rows_as_it_should(problem: Any, rows: int) -> None:
    assert problem("facts", rows=rows) == f"has 5 rows; manifest.json lists {rows:,}"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: content[:4],
        lambda content: content[:-8],
        lambda content: content[:4] + bytes(60) + content[64:],  # rows; the footer is read first
        lambda content: b"{" + content,
    ],
)
def test_what_cannot_be_read_is_named_without_the_copy_that_was_read(
    problem: Any, spoil: Any
) -> None:
    assert str(problem("facts", spoil=spoil)).startswith("cannot be read (")
