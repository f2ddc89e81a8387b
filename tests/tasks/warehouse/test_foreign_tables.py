"""What the table of a backup may be: exactly what a warehouse could hold."""

from collections.abc import Iterator
from pathlib import Path
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def empty(folder: Path) -> Iterator[Any]:
    """An empty warehouse."""
    with connect(folder / "empty.duckdb", folders=[folder]) as connection:
        connection.execute(load_schema())
        yield connection


@pytest.fixture(scope="module")
def foreign() -> Iterator[Any]:
    """A database of somebody who writes Parquet."""
    with duckdb.connect() as connection:
        connection.execute(load_schema())
        for name, rows in TABLES.items():
            connection.execute(f"INSERT INTO {name} {rows}")
        yield connection


def written(foreign: Any, folder: Path, table: str, sql: str = "") -> Path:
    """A table as Parquet, after `sql` has changed it as the table t."""
    file = folder / f"{table}.parquet"
    foreign.execute(f"CREATE OR REPLACE TABLE t AS FROM {table}; {sql}; COPY t TO '{file}'")
    return file


def problem(empty: Any, file: Path, rows: int | None = None) -> str | None:
    """The problem of a file; by default it has as many rows as it should."""
    if rows is None:
        [(rows,)] = duckdb.execute(f"SELECT count(*) FROM '{file}'").fetchall()
    return find_problem(empty, file, rows, ID)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_a_warehouse_has_no_problem(
    empty: Any, foreign: Any, folder: Path, table: str
) -> None:
    assert problem(empty, written(foreign, folder, table)) is None


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
    empty: Any, foreign: Any, folder: Path, table: str, sql: str, found: str
) -> None:
    assert found in str(problem(empty, written(foreign, folder, table, sql)))


@pytest.mark.parametrize("rows", [0, 4, 10**12])
def test_a_table_has_as_many_rows_as_it_should(
    empty: Any, foreign: Any, folder: Path, rows: int
) -> None:
    said = problem(empty, written(foreign, folder, "facts"), rows)
    assert said == f"has 5 rows; manifest.json lists {rows:,}"


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
    empty: Any, foreign: Any, folder: Path, spoil: Any
) -> None:
    file = written(foreign, folder, "facts")
    file.write_bytes(spoil(file.read_bytes()))
    said = str(problem(empty, file, 5))
    assert said.startswith("cannot be read (")
    assert str(folder) not in said
