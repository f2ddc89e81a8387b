"""Connections to a DuckLake: catalog in Postgres, rows as Parquet, writers on several hosts.

DuckDB's extensions are installed as wheels, so nothing is downloaded at run time.
"""

import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import duckdb

from tasks.credentials import ADDRESSES, refuse_credentials
from tasks.warehouse.errors import (
    LakeNotInstalled,
    UnwritableWarehouse,
    WarehouseError,
    first_line,
)
from tasks.warehouse.location import DuckLake
from tasks.warehouse.sql import NO_EXTENSIONS, quote_literal, restrict

if TYPE_CHECKING:
    import psycopg

ALIAS = "lake"
"""The lake's name inside DuckDB. Every cursor uses it, so the SQL names no catalog."""
INLINED_ROWS = 100
"""Smaller inserts stay in the catalog until they are flushed, to avoid too many small files."""
RETRIES = 40
"""Retries of a commit that conflicts with another one; DuckLake waits longer each time."""
CONNECT_SECONDS = 10
EXTENSIONS = ("ducklake", "httpfs", "postgres_scanner")
SCHEMA_LOCK = "pg_advisory_lock(hashtextextended('evergreen makes the schema ' || %s, 0))"


def connect_lake(
    lake: DuckLake,
    *,
    read_only: bool = False,
    folders: Sequence[Path] = (),
    memory_bytes: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Connect to the lake; an empty database becomes a lake.

    folders: the only ones, beside the lake's rows, in which its SQL may read and write.
    memory_bytes: as in `restrict`.

    Raises:
        WarehouseError: the catalog does not answer, or is not a lake's.
        UnwritableWarehouse: the folder cannot be made.
    """
    with connect_catalog(lake):
        pass  # gives a clearer error than DuckDB if Postgres does not answer
    if "://" not in lake.data:
        _make_folder(Path(lake.data))
    connection = duckdb.connect(config=NO_EXTENSIONS)
    try:
        for name in ("ducklake", "postgres_scanner", *(["httpfs"] if "://" in lake.data else [])):
            connection.execute(f"LOAD {quote_literal(str(extension_path(name)))}")
        if lake.data.startswith("s3://"):
            connection.execute(_object_store_secret(os.environ))
        connection.execute(f"SET ducklake_max_retry_count = {RETRIES}")
        connection.execute(
            f"ATTACH {quote_literal(f'ducklake:postgres:{lake.catalog}')} AS {ALIAS} "
            f"(DATA_PATH {quote_literal(lake.data)}, METADATA_SCHEMA {quote_literal(lake.schema)}, "
            f"{'READ_ONLY, ' if read_only else ''}DATA_INLINING_ROW_LIMIT {INLINED_ROWS})"
        )
    except duckdb.Error as error:
        connection.close()
        raise WarehouseError(
            f"{lake}: the lake cannot be opened ({first_line(error)}). Check the "
            "address, that its user may write, and that `files` is the folder it was made with."
        ) from error
    restrict(connection, [*folders, lake.data], memory_bytes)
    return use_lake(connection)


def use_lake(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Make the lake the default catalog of a connection."""
    connection.execute(f"USE {ALIAS}")
    return connection


def lake_exists(lake: DuckLake) -> bool:
    """Return whether the lake exists: an empty database is no lake yet.

    Raises:
        WarehouseError: its Postgres does not answer.
    """
    with connect_catalog(lake) as connection:
        row = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL", [f"{lake.schema}.ducklake_metadata"]
        ).fetchone()
    return bool(row and row[0])


@contextmanager
def connect_catalog(lake: DuckLake) -> Iterator["psycopg.Connection"]:
    """Connect to the catalog's database in autocommit mode.

    Raises:
        WarehouseError: it does not answer, or refuses the connection or a query in the block.
    """
    import psycopg  # libpq, which only lakes need

    try:
        connection = psycopg.connect(lake.catalog, autocommit=True, connect_timeout=CONNECT_SECONDS)
    except psycopg.Error as error:
        raise WarehouseError(
            f"{lake}: the catalog does not answer ({first_line(error)}). Start its Postgres, "
            "correct the address, or give the password in PGPASSWORD."
        ) from error
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        raise WarehouseError(
            f"{lake}: its catalog cannot be read ({first_line(error)}). Check that the "
            "warehouse exists and that the schema is right."
        ) from error


@contextmanager
def schema_lock(lake: DuckLake) -> Iterator[None]:
    """Let one process at a time make a lake's schema; the others wait."""
    with connect_catalog(lake) as connection:
        connection.execute(f"SELECT {SCHEMA_LOCK}", [lake.url])
        yield


def extension_path(name: str) -> Path:
    """Return the file of a DuckDB extension inside its wheel.

    Raises:
        LakeNotInstalled: it is not there, or for another version of DuckDB.
    """
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.exists():
            return file
    raise LakeNotInstalled(
        f"duckdb-extension-{name.replace('_', '-')} for DuckDB {duckdb.__version__}"
    )


def load_extensions() -> dict[str, str]:
    """Load the extensions that a lake needs and return their versions.

    Raises:
        WarehouseError: one is not installed for this DuckDB, or cannot be loaded.
    """
    with duckdb.connect() as connection:
        for name in EXTENSIONS:
            try:
                connection.execute(f"LOAD {quote_literal(str(extension_path(name)))}")
            except duckdb.Error as error:
                raise WarehouseError(
                    f"DuckDB's extension {name} cannot be loaded ({first_line(error)})."
                ) from error
        rows = connection.execute(
            "SELECT extension_name, extension_version FROM duckdb_extensions() "
            "WHERE loaded AND list_contains($1, extension_name) ORDER BY 1",
            [list(EXTENSIONS)],
        ).fetchall()
    return dict(rows)


def _object_store_secret(environ: Mapping[str, str]) -> str:
    """Return the SQL of the object store's secret, from the usual AWS variables; AWS_ENDPOINT_URL
    names a store that is not Amazon's."""
    options = {
        "KEY_ID": environ.get("AWS_ACCESS_KEY_ID"),
        "SECRET": environ.get("AWS_SECRET_ACCESS_KEY"),
        "SESSION_TOKEN": environ.get("AWS_SESSION_TOKEN"),
        "REGION": environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"),
    }
    if not (options["KEY_ID"] and options["SECRET"]):
        raise WarehouseError(
            "The rows of this lake are in an object store: set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY."
        )
    if endpoint := environ.get("AWS_ENDPOINT_URL"):
        refuse_credentials(endpoint, "AWS_ENDPOINT_URL", ADDRESSES["AWS_ENDPOINT_URL"])
        url = urlsplit(endpoint)
        options |= {"ENDPOINT": url.netloc, "URL_STYLE": "path"}
        options |= {"USE_SSL": "false"} if url.scheme == "http" else {}
    settings = ", ".join(f"{key} {quote_literal(value)}" for key, value in options.items() if value)
    return f"CREATE SECRET rows (TYPE s3, {settings})"


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableWarehouse(
            f"{folder}: cannot make the folder ({error.strerror or error}). Mount it, or name "
            "another one with ?files=FOLDER."
        ) from error
