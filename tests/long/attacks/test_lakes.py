"""Someone who hands us a lake to open, or shares its catalog."""

from pathlib import Path

import duckdb
import psycopg
import pytest

from tasks.warehouse.errors import ForeignWarehouse, WarehouseError
from tasks.warehouse.lake import connect_catalog, extension_path, lake_exists
from tasks.warehouse.location import DuckLake
from tasks.warehouse.reader import open_for_reading, run_query
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.sql import quote_literal
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.lakes import NEEDS_POSTGRES, lake_at
from tests.rigs.postgres import RunningPostgres

pytestmark = [*NEEDS_POSTGRES, pytest.mark.file_only]

CHANGES = {
    "a view in the place of a table": (
        "DROP TABLE editions; CREATE VIEW editions AS SELECT * FROM read_csv(SECRET)"
    ),
    "one of our views with another definition": (
        "DROP VIEW current_verdicts; CREATE VIEW current_verdicts AS SELECT * FROM read_csv(SECRET)"
    ),
    "a macro that hides a function": "CREATE MACRO max(x) AS 1",
    "a table macro": "CREATE MACRO range(x) AS TABLE SELECT * FROM read_csv(SECRET)",
    "a schema that hides ours": "CREATE SCHEMA other; CREATE TABLE other.editions (a INTEGER)",
    "a default": "ALTER TABLE editions ALTER title SET DEFAULT 'x'",
    "a table of its own": "CREATE TABLE more (a INTEGER)",
}


@pytest.fixture
def lake(postgres: RunningPostgres, tmp_path: Path) -> DuckLake:
    made = lake_at(postgres, tmp_path / "w.duckdb")
    with open_warehouse(made) as store:
        store.write(Change(Edition, [Edition(edition=f"e{n}", source="test") for n in range(200)]))
    assert lake_exists(made)
    return made


@pytest.fixture
def secret(tmp_path: Path) -> str:
    (tmp_path / "secret.csv").write_text("edition,source\nhunter2,x\n")
    return quote_literal(str(tmp_path / "secret.csv"))


@pytest.mark.parametrize("what", CHANGES)
def test_a_lake_holds_nothing_but_ours(lake: DuckLake, secret: str, what: str) -> None:
    """A lake is refused if it holds anything but the tables and views of this program."""
    with duckdb.connect() as connection:
        for name in ("ducklake", "postgres_scanner"):
            connection.execute(f"LOAD {quote_literal(str(extension_path(name)))}")
        catalog = quote_literal(f"ducklake:postgres:{lake.catalog}")
        schema = quote_literal(lake.schema)
        connection.execute(f"ATTACH {catalog} AS lake (METADATA_SCHEMA {schema})")
        connection.execute("USE lake")
        for statement in CHANGES[what].replace("SECRET", secret).split(";"):
            connection.execute(statement)
    with pytest.raises(ForeignWarehouse), open_for_reading(lake):
        pass
    with pytest.raises(ForeignWarehouse), open_warehouse(lake):
        pass


def test_sql_on_a_lake_reaches_its_rows_alone(lake: DuckLake, secret: str) -> None:
    """No SQL on a lake reaches another file, however it is opened; its own exports are written."""
    sql = f"SELECT * FROM read_csv({secret})"
    with open_for_reading(lake) as source, pytest.raises(duckdb.PermissionException):
        source.frame(sql)
    with open_warehouse(lake) as store:
        with pytest.raises(duckdb.PermissionException):
            store.frame(sql)
        assert len(store.rows(Edition, "true")) == 200
        export_edition(store, "e1")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM postgres_scan('CATALOG', 'pg_catalog', 'pg_authid')",
        "SELECT * FROM postgres_query('METADATA', 'SELECT pg_read_file(''/etc/passwd'')')",
        "SELECT * FROM METADATA.pg_catalog.pg_authid",
        "SELECT * FROM ducklake_cleanup_old_files('lake', cleanup_all => true)",
        "SELECT * FROM enable_logging(storage='file', storage_path='ROWSlogs')",
    ],
)
def test_a_query_reaches_no_postgres(lake: DuckLake, sql: str) -> None:
    """A query of `evergreen sql` reaches no Postgres, neither the catalog's nor another."""
    sql = sql.replace("CATALOG", lake.catalog).replace("ROWS", lake.data)
    with pytest.raises(WarehouseError, match="`evergreen sql` reads"):
        run_query(lake, sql.replace("METADATA", "__ducklake_metadata_lake"))
    assert run_query(lake, "SELECT count(*) AS n FROM editions")[0]["n"].to_list() == [200]


def test_a_row_file_elsewhere_is_not_read(lake: DuckLake, tmp_path: Path) -> None:
    """A file outside the lake's folder that its catalog names as rows is not read."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'hunter2' AS edition, 'x' AS source, 'x' AS title, "
            f"TIMESTAMP '2026-01-01' AS imported_at) TO '{tmp_path}/other.parquet'"
        )
    with connect_catalog(lake) as catalog:
        catalog.execute(
            psycopg.sql.SQL(
                "UPDATE {}.ducklake_data_file SET path = {}, path_is_relative = false"
            ).format(
                psycopg.sql.Identifier(lake.schema),
                psycopg.sql.Literal(f"{tmp_path}/other.parquet"),
            )
        )
    with open_for_reading(lake) as source, pytest.raises(duckdb.PermissionException):
        source.frame("SELECT * FROM editions")
