"""Warehouse locations: one setting for a DuckDB file, or a DuckLake that several hosts share.

    data/warehouse.duckdb                    a file; duckdb:///absolute/path says the same
    ducklake:postgres:host=db dbname=evergreen user=evergreen?files=/srv/evergreen
                                             the catalog in Postgres, as a libpq connection string;
                                             rows as Parquet, and everything else, in `files`

With `&data=s3://bucket/folder` a lake keeps its rows in an object store instead of `files`, and
`&schema=NAME` keeps several warehouses in one database. The setting never contains a password,
because it is printed in many places. libpq reads PGPASSWORD and ~/.pgpass itself.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tasks.warehouse.errors import LakeNotInstalled, WarehouseError

DEFAULT_LOCATION: Any = "data/warehouse.duckdb"
"""The default of `--warehouse`."""
FILE, LAKE = "duckdb:", "ducklake:"
POSTGRES = "postgres:"
SETTINGS = {"files", "data", "schema"}
SECRETS = {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
"""What libpq accepts in an address, and is nothing that may be printed."""
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Location:
    """A warehouse's address."""

    url: str
    """The normalised address, equal in all processes; used as a key and in deployments."""
    name: str
    """The name of its subfolders and deployments."""
    root: Path = field(compare=False)
    """The folder of its pages, files and exports."""
    original: str = field(compare=False)
    """The address as the user gave it, for messages."""

    def subfolder(self, kind: str) -> Path:
        """Return its folder for one kind of files, such as `pages`, `files` or `exports`."""
        return self.root / kind / self.name

    def __str__(self) -> str:
        return self.original


@dataclass(frozen=True)
class DuckDBFile(Location):
    """A DuckDB file, which one process owns at a time."""

    path: Path = field(compare=False)


@dataclass(frozen=True)
class DuckLake(Location):
    """A catalog in Postgres and Parquet files; processes on several hosts may write."""

    catalog: str = field(compare=False)
    """The libpq connection string of the catalog."""
    data: str = field(compare=False)
    """The place of the Parquet files: a folder, or an object store's prefix."""
    schema: str = field(compare=False)
    """The catalog's schema in its database."""


LocationLike = str | Path | Location
"""A location, or a setting to parse."""


def parse_location(where: LocationLike) -> DuckDBFile | DuckLake:
    """Parse a warehouse setting.

    Raises:
        WarehouseError: unknown kind of warehouse, or a part of the address is missing or wrong.
    """
    if isinstance(where, Location):
        assert isinstance(where, DuckDBFile | DuckLake), "there is no other kind"
        return where
    if isinstance(where, str):
        if where.startswith(LAKE):
            return _parse_lake(where)
        if where.startswith(FILE):
            return _parse_file(_parse_file_url(where), where)
        if re.match(r"[\w.+-]{2,}://|postgres\w*:", where):
            raise WarehouseError(
                f"{where.split(':')[0]} is not a kind of warehouse. Give a file's path, "
                "duckdb:///PATH, or ducklake:postgres:host=… dbname=…?files=FOLDER."
            )
    return _parse_file(Path(where), str(where))


def _parse_file(path: Path, original: str) -> DuckDBFile:
    path = path.resolve()
    return DuckDBFile(url=str(path), name=path.stem, root=path.parent, original=original, path=path)


def _parse_file_url(url: str) -> Path:
    rest = url.removeprefix(FILE)
    if not rest.startswith("///") or not rest.strip("/"):
        raise WarehouseError("duckdb:…: expected duckdb:///absolute/path.duckdb, or a plain path.")
    return Path("/" + rest.lstrip("/"))


def _parse_lake(url: str) -> DuckLake:
    try:
        from psycopg.conninfo import make_conninfo  # libpq, which only lakes need
    except ImportError:
        raise LakeNotInstalled("psycopg") from None

    rest = url.removeprefix(LAKE)
    if not rest.startswith(POSTGRES):
        raise WarehouseError(
            "A lake's catalog must be a Postgres database: "
            "ducklake:postgres:host=… dbname=… user=…?files=FOLDER"
        )
    # Split at the last one: libpq's address may have settings of its own.
    conninfo, _, query = rest.removeprefix(POSTGRES).rpartition("?")
    if not conninfo:
        conninfo, query = query, ""
    parts = _parse_conninfo(conninfo)
    settings = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(settings) - SETTINGS):
        raise WarehouseError(f"A lake has no setting {unknown[0]!r}; it has files, data, schema.")
    schema = settings.get("schema", "public")
    if not _SCHEMA.fullmatch(schema):
        raise WarehouseError(f"schema={schema}: expected a lower-case Postgres name.")
    files = settings.get("files")
    if not files:
        raise WarehouseError(
            "A lake needs ?files=FOLDER: a folder that all hosts share under this path, for rows "
            "as Parquet, pages and exports."
        )
    root = Path(files).resolve()
    name = parts["dbname"] if schema == "public" else f"{parts['dbname']}-{schema}"
    data = settings.get("data") or str(root / "rows" / name)
    if "://" not in data:
        data = str(Path(data).resolve())
    elif not data.startswith("s3://"):
        raise WarehouseError(
            f"data={data.split(':')[0]}://…: expected a folder, or s3://bucket/folder."
        )
    elif "@" in data:
        raise WarehouseError(
            "data=s3://…: keys in the warehouse's address would appear in runs and "
            "logs. Put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    address = f"{LAKE}{POSTGRES}{make_conninfo(**dict(sorted(parts.items())))}?files={root}"
    address += f"&data={data}" if settings.get("data") else ""
    address += f"&schema={schema}" if schema != "public" else ""
    return DuckLake(
        url=address,
        name=name,
        root=root,
        original=address,
        catalog=make_conninfo(**parts),
        data=data.rstrip("/") + "/",
        schema=schema,
    )


def _parse_conninfo(conninfo: str) -> dict[str, str]:
    """Parse and check a libpq connection string."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(conninfo).items()}
    except ProgrammingError as error:
        # libpq's message quotes what it cannot read.
        why = "" if re.search("password|secret|key|@", conninfo) else f" ({str(error).strip()})"
        raise WarehouseError(
            f"The catalog's address cannot be parsed{why}. Expected a libpq connection string, "
            "e.g. host=db port=5432 dbname=evergreen user=evergreen."
        ) from None
    if SECRETS & parts.keys():
        raise WarehouseError(
            "A password in the warehouse's address would appear in runs and logs. Put it into "
            "PGPASSWORD, or into ~/.pgpass, and remove it from the address."
        )
    if not parts.get("dbname"):
        raise WarehouseError("The catalog's address names no database: add dbname=…")
    return parts
