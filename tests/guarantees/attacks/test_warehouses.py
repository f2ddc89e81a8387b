"""Someone who hands us a warehouse to open."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from tasks.backup import creation, restoration
from tasks.backup.creation import create_backup
from tasks.backup.manifest import open_backup
from tasks.backup.restoration import restore_backup
from tasks.publishing.site import build_site
from tasks.warehouse.compaction import compact_warehouse
from tasks.warehouse.errors import DamagedWarehouse, ForeignWarehouse, WarehouseError
from tasks.warehouse.file_lock import lock_path, lock_warehouse
from tasks.warehouse.reader import open_for_reading, run_query
from tasks.warehouse.rows import Edition
from tasks.warehouse.snapshot import export_edition, exports_folder
from tasks.warehouse.sql import quote_literal
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change

pytestmark = pytest.mark.file_only

SECRET = "hunter2"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "w.duckdb"
    with open_warehouse(path) as store:
        store.write(Change(Edition, [Edition(edition="e", source="test")]))
    return path


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that only this machine's user may read."""
    (tmp_path / "secret.csv").write_text(f"edition,source\n{SECRET},x\n")
    return tmp_path / "secret.csv"


@pytest.fixture
def given(template: Path, tmp_path: Path, secret: Path) -> Path:
    """A warehouse that a stranger may have changed."""
    (tmp_path / "given").mkdir()
    shutil.copyfile(template, tmp_path / "given" / "w.duckdb")
    return tmp_path / "given" / "w.duckdb"


def spoil(path: Path, sql: str, secret: Path) -> None:
    """Change a warehouse with DuckDB itself; SECRET in the SQL stands for the path of the file."""
    with duckdb.connect(str(path)) as connection:
        for statement in sql.replace("SECRET", quote_literal(str(secret))).split(";"):
            connection.execute(statement)


def read(path: Path) -> None:
    with open_for_reading(path) as source:
        source.frame("SELECT * FROM editions")


def write(path: Path) -> None:
    with open_warehouse(path) as store:
        store.rows(Edition, "true")


def publish(path: Path) -> None:
    with open_warehouse(path) as store:
        build_site(store, SECRET, path.parent / "site")


OPENERS: dict[str, Callable[[Path], Any]] = {
    "read": read,
    "write": write,
    "publish": publish,
    "sql": lambda path: run_query(path, "SELECT * FROM editions"),
    "back up": lambda path: create_backup(path, path.parent / "backups"),
    "compact": compact_warehouse,
}
VIEW = "CREATE VIEW {0} AS SELECT * FROM read_csv(SECRET)"
CHANGES = {
    "a view in the place of a table": f"DROP TABLE editions; {VIEW.format('editions')}",
    "a view in the place of the table of the id": (
        "DROP TABLE warehouse_info; CREATE VIEW warehouse_info AS SELECT content AS warehouse_id, "
        "15 AS schema_version, now() AS created_at FROM read_text(SECRET)"
    ),
    "a generated column of the id": (
        "DROP TABLE warehouse_info; CREATE TABLE warehouse_info (schema_version INTEGER, "
        "warehouse_id VARCHAR AS ('x'), created_at TIMESTAMP)"
    ),
    "one of our views with another definition": (
        f"DROP VIEW current_verdicts; {VIEW.format('current_verdicts')}"
    ),
    "a view of its own": VIEW.format("more"),
    "a table of its own": "CREATE TABLE more (a INTEGER)",
    "a macro that hides a function": "CREATE MACRO max(x) AS 1",
    "a table macro that hides a function": (
        "CREATE MACRO range(x) AS TABLE SELECT * FROM read_csv(SECRET)"
    ),
    "a generated column": (
        "DROP TABLE editions; CREATE TABLE editions (edition VARCHAR NOT NULL, source VARCHAR NOT "
        "NULL, title VARCHAR AS (upper(edition)), imported_at TIMESTAMP NOT NULL)"
    ),
    "a default that runs something": "ALTER TABLE editions ALTER title SET DEFAULT upper('x')",
    "a column of its own": "ALTER TABLE editions ADD COLUMN more VARCHAR",
    "a column of another type": "ALTER TABLE editions ALTER title TYPE BLOB",
    "a column less": "ALTER TABLE editions DROP title",
    "a table less": "DROP TABLE human_labels",
    "a view less": "DROP VIEW current_verdicts",
    "a check": (
        "DROP TABLE editions; CREATE TABLE editions (edition VARCHAR NOT NULL, source VARCHAR NOT "
        "NULL, title VARCHAR, imported_at TIMESTAMP NOT NULL, CHECK (length(title) > 0))"
    ),
    "a schema that hides ours": (
        "CREATE SCHEMA other; CREATE TABLE other.editions AS FROM editions"
    ),
    "a schema with the name of a table": (
        "CREATE SCHEMA editions; CREATE TABLE editions.editions AS FROM main.editions"
    ),
    "a type": "CREATE TYPE mood AS ENUM ('a')",
    "a sequence": "CREATE SEQUENCE numbers",
    "an index on an expression": "CREATE INDEX i ON editions (upper(edition))",
}
"""What a stranger may have put into a warehouse, and its SQL."""


@pytest.mark.parametrize("opener", OPENERS)
def test_no_view_is_read_in_the_place_of_a_table(given: Path, secret: Path, opener: str) -> None:
    """A warehouse with a view in the place of a table is refused, whoever opens it."""
    spoil(given, CHANGES["a view in the place of a table"], secret)
    with pytest.raises(ForeignWarehouse, match="holds the view 'editions'") as caught:
        OPENERS[opener](given)
    assert SECRET not in str(caught.value)
    assert SECRET not in "".join(
        path.read_text("utf-8", "replace") for path in given.parent.rglob("*.html")
    )


@pytest.mark.parametrize("what", CHANGES)
def test_a_warehouse_holds_nothing_but_ours(given: Path, secret: Path, what: str) -> None:
    """A warehouse is refused if it holds anything but the tables and views of this program."""
    spoil(given, CHANGES[what], secret)
    with pytest.raises(ForeignWarehouse) as caught:
        read(given)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "what", ["a view in the place of a table", "a generated column", "a table of its own",
             "a default that runs something", "a macro that hides a function"],
)  # fmt: skip
@pytest.mark.parametrize("opener", ["read", "write"])
def test_an_older_warehouse_holds_nothing_but_ours(
    given: Path, secret: Path, what: str, opener: str
) -> None:
    """A warehouse of an earlier schema is checked before it is upgraded."""
    spoil(given, "UPDATE warehouse_info SET schema_version = 14", secret)
    spoil(given, CHANGES[what], secret)
    before = given.read_bytes()
    with pytest.raises(ForeignWarehouse):
        OPENERS[opener](given)
    assert given.read_bytes() == before


def test_an_upgrade_makes_all_views_anew(given: Path, secret: Path) -> None:
    """An upgrade replaces a view of ours that has another definition, without running it."""
    spoil(given, "UPDATE warehouse_info SET schema_version = 14", secret)
    spoil(given, CHANGES["one of our views with another definition"], secret)
    read(given)
    assert run_query(given, "SELECT * FROM current_verdicts")[0].height == 0


@pytest.mark.parametrize("sql", ["CREATE MACRO max(x) AS 1", "CREATE SCHEMA other"])
def test_a_database_without_tables_may_still_hold_something(
    tmp_path: Path, secret: Path, sql: str
) -> None:
    """No warehouse is made in a database that holds a macro or a schema."""
    spoil(tmp_path / "given.duckdb", sql, secret)
    with pytest.raises(ForeignWarehouse):
        write(tmp_path / "given.duckdb")


REACHING = {
    "a file": "SELECT * FROM read_text(SECRET)",
    "a table file": "SELECT * FROM read_csv(SECRET)",
    "the list of a folder": "SELECT * FROM glob('/etc/*')",
    "the environment": "SELECT * FROM read_blob('/proc/self/environ')",
    "another database": "ATTACH '/tmp/other.duckdb'",
    "the network": "SELECT * FROM 'http://127.0.0.1:9/x.csv'",
    "an extension": "INSTALL httpfs",
    "a setting": "SET enable_external_access = true",
    "a variable of Python": "SELECT * FROM secret_frame",
}


@pytest.fixture(params=["read", "write", "snapshot"])
def run(request: pytest.FixtureRequest, given: Path) -> Iterator[Callable[[str], Any]]:
    """Runs SQL as the program does: on the warehouse for reading or writing, or on snapshots."""
    if request.param == "write":
        with open_warehouse(given) as store:
            yield store._cursor().execute
        return
    if request.param == "read":
        with open_for_reading(given) as source:
            yield source.connection.execute
        return
    with open_warehouse(given) as store:
        export_edition(store, "e")
    with lock_warehouse(given), open_for_reading(given) as source:
        assert source.notice
        yield source.connection.execute


def test_sql_reaches_nothing_outside(run: Callable[[str], Any], secret: Path) -> None:
    """No SQL on a warehouse reads another file or the network, or changes a setting."""
    secret_frame = pl.DataFrame({"a": [SECRET]})
    for sql in REACHING.values():
        with pytest.raises(duckdb.Error, match=r"disabled|locked|not exist|Cannot access"):
            run(sql.replace("SECRET", quote_literal(str(secret))))
    assert not secret_frame.is_empty()


def test_no_file_makes_duckdb_download_an_extension(tmp_path: Path) -> None:
    """A file of another database makes DuckDB download no extension."""
    path = tmp_path / "w.duckdb"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE editions (edition)")
    lock_path(path).touch()  # then only DuckDB looks at the file
    for open_it in (read, write):
        with pytest.raises(DamagedWarehouse) as caught:
            open_it(path)
        assert "download" not in str(caught.value)


def test_sql_writes_only_exports(given: Path, tmp_path: Path) -> None:
    """A warehouse that is open for writing writes no file but into the folder of its exports."""
    (exports_folder(given) / "e").mkdir(parents=True)
    (exports_folder(given) / "out").symlink_to(tmp_path)
    with open_warehouse(given) as store:
        store.copy_to(exports_folder(given) / "e" / "x.parquet", "SELECT 1")
        for place in (tmp_path, exports_folder(given) / "..", exports_folder(given) / "out"):
            with pytest.raises(duckdb.PermissionException):
                store.copy_to(place / "y.parquet", "SELECT 1")
    assert list(tmp_path.rglob("y.parquet")) == []


@pytest.mark.parametrize("what", ["back up", "restore"])
def test_backups_reach_only_their_folder(
    given: Path, tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The SQL of a backup and of a restore reaches no file but the backup's own."""
    create_backup(given, tmp_path / "backups")
    part = {"back up": (creation, "_write_tables"), "restore": (restoration, "_insert_rows")}[what]
    seen = []

    def look(connection: Any, *_: object) -> None:
        with pytest.raises(duckdb.PermissionException):
            connection.execute(f"SELECT * FROM read_csv({quote_literal(str(secret))})")
        seen.append(what)
        raise WarehouseError("seen")

    monkeypatch.setattr(*part, look)
    with open_backup(tmp_path / "backups") as backup, suppress(WarehouseError):
        create_backup(given, tmp_path / "more")
        restore_backup(backup, tmp_path / "new.duckdb")
    assert seen == [what]


@pytest.mark.parametrize("what", ["manifest.json", "editions.parquet", "."])
def test_no_snapshot_is_read_elsewhere(given: Path, tmp_path: Path, what: str) -> None:
    """A snapshot that is a link to another place is not read in the place of a busy warehouse."""
    with open_warehouse(given) as store:
        made = export_edition(store, "e")
    (made / what).resolve().rename(tmp_path / "elsewhere")
    (made / what).symlink_to(tmp_path / "elsewhere")
    with (
        lock_warehouse(given),
        pytest.raises(WarehouseError, match="leads out of its folder"),
        open_for_reading(given),
    ):
        pass


@pytest.mark.parametrize("suffix", [".lock", ".holder.json"])
def test_no_link_beside_a_warehouse_is_written_through(
    given: Path, secret: Path, suffix: str
) -> None:
    """A link in the place of a file beside the warehouse does not overwrite another file."""
    before = secret.read_text()
    given.with_name(given.name + suffix).symlink_to(secret)
    with suppress(WarehouseError):
        read(given)
    assert secret.read_text() == before
