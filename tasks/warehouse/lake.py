"""A DuckLake: the catalog in Postgres, rows as Parquet; several processes on several hosts write.

DuckDB's extensions come as wheels, so nothing is downloaded at run time.
"""

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import duckdb

from tasks.warehouse.errors import UnwritableWarehouse, WarehouseError, first_line
from tasks.warehouse.location import DuckLake
from tasks.warehouse.sql import quoted

if TYPE_CHECKING:
    import psycopg

ALIAS = "lake"
"""What the lake is called inside DuckDB; every cursor uses it, so the SQL names no catalog."""
INLINED_ROWS = 100
"""Smaller inserts lie in the catalog until they are flushed: a file for each would be too many."""
RETRIES = 40
"""Of a commit that another process was faster than; DuckLake waits longer each time."""
CONNECT_SECONDS = 10
MIGRATING = "pg_advisory_lock(hashtextextended('evergreen migrates ' || %s, 0))"


def connect_lake(lake: DuckLake, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection whose tables are the lake's; an empty database becomes a lake.

    Raises:
        WarehouseError: the catalog does not answer, or is none.
        UnwritableWarehouse: the folder cannot be made.
    """
    with catalog(lake):
        pass  # said in our words where it does not answer
    if "://" not in lake.data:
        _make(Path(lake.data))
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    try:
        for name in ("ducklake", "postgres_scanner", *(["httpfs"] if "://" in lake.data else [])):
            connection.execute(f"LOAD {quoted(str(extension(name)))}")
        if lake.data.startswith("s3://"):
            connection.execute(_object_store(os.environ))
        connection.execute(f"SET ducklake_max_retry_count = {RETRIES}")
        connection.execute(
            f"ATTACH {quoted(f'ducklake:postgres:{lake.catalog}')} AS {ALIAS} "
            f"(DATA_PATH {quoted(lake.data)}, METADATA_SCHEMA {quoted(lake.schema)}, "
            f"{'READ_ONLY, ' if read_only else ''}DATA_INLINING_ROW_LIMIT {INLINED_ROWS})"
        )
    except duckdb.Error as error:
        connection.close()
        raise WarehouseError(
            f"{lake}: the lake cannot be opened ({first_line(error)}). Check the "
            "address, that its user may write, and that `files` is the folder it was made with."
        ) from error
    return use(connection)


def use(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Make the lake what names without a catalog mean."""
    connection.execute(f"USE {ALIAS}")
    return connection


def is_made(lake: DuckLake) -> bool:
    """Whether somebody has made the lake: an empty database is none yet.

    Raises:
        WarehouseError: its Postgres does not answer.
    """
    with catalog(lake) as connection:
        found = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL", [f"{lake.schema}.ducklake_metadata"]
        ).fetchone()
    return bool(found and found[0])


@contextmanager
def catalog(lake: DuckLake) -> Iterator["psycopg.Connection"]:
    """A connection to the catalog's database, outside any transaction.

    Raises:
        WarehouseError: it does not answer, or refuses us.
    """
    import psycopg  # who has a file needs no libpq

    try:
        connection = psycopg.connect(lake.catalog, autocommit=True, connect_timeout=CONNECT_SECONDS)
    except psycopg.Error as error:
        raise WarehouseError(
            f"{lake}: the catalog does not answer ({first_line(error)}). Start its Postgres, "
            "correct the address, or give the password in PGPASSWORD."
        ) from error
    with connection:
        yield connection


@contextmanager
def migrating(lake: DuckLake) -> Iterator[None]:
    """One process at a time brings a lake's tables up to date; the others wait."""
    with catalog(lake) as connection:
        connection.execute(f"SELECT {MIGRATING}", [lake.url])
        yield


def extension(name: str) -> Path:
    """The file of one of DuckDB's extensions, out of its wheel."""
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (found.submodule_search_locations or ()) if found else ():
        file = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.exists():
            return file
    raise WarehouseError(
        f"DuckDB's extension {name} is not there for version {duckdb.__version__}: install the "
        f"locked dependencies again (duckdb-extension-{name.replace('_', '-')})."
    )


def _object_store(environ: Mapping[str, str]) -> str:
    """How DuckDB reaches the store, from the variables that its clients have: keys, region, and
    `AWS_ENDPOINT_URL` for one that is not Amazon's."""
    said = {
        "KEY_ID": environ.get("AWS_ACCESS_KEY_ID"),
        "SECRET": environ.get("AWS_SECRET_ACCESS_KEY"),
        "SESSION_TOKEN": environ.get("AWS_SESSION_TOKEN"),
        "REGION": environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"),
    }
    if not (said["KEY_ID"] and said["SECRET"]):
        raise WarehouseError(
            "The rows of this lake lie in an object store: set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        )
    if endpoint := environ.get("AWS_ENDPOINT_URL"):
        url = urlsplit(endpoint)
        said |= {"ENDPOINT": url.netloc, "URL_STYLE": "path"}
        said |= {"USE_SSL": "false"} if url.scheme == "http" else {}
    settings = ", ".join(f"{key} {quoted(value)}" for key, value in said.items() if value)
    return f"CREATE SECRET rows (TYPE s3, {settings})"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableWarehouse(
            f"{folder}: cannot make the folder ({error.strerror or error}). Mount it, or name "
            "another one with ?files=…"
        ) from error
