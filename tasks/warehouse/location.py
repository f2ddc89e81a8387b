"""Where a warehouse is: one setting, a DuckDB file or a DuckLake that several hosts share.

    data/warehouse.duckdb                    a file; duckdb:///absolute/path says the same
    ducklake:postgres:host=db dbname=evergreen user=evergreen?files=/srv/evergreen
                                             the catalog in Postgres, in libpq's own words; rows as
                                             Parquet and everything else in the folder `files`

With `&data=s3://bucket/folder` the rows of a lake lie in an object store instead of `files`, and
`&schema=NAME` keeps several warehouses in one database. A password never stands in the setting:
it would be shown wherever the setting is. libpq reads PGPASSWORD and ~/.pgpass itself.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tasks.warehouse.errors import WarehouseError

DEFAULT: Any = "data/warehouse.duckdb"
"""Where the warehouse is unless somebody says."""
FILE, LAKE = "duckdb:", "ducklake:"
POSTGRES = "postgres:"
SETTINGS = {"files", "data", "schema"}
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class Location:
    """A warehouse's address."""

    url: str
    """The same for every process that means this warehouse: a key, and what deployments carry."""
    name: str
    """What its folders are called, and its deployments."""
    root: Path = field(compare=False)
    """The folder that everything else of it lies in."""
    said: str = field(compare=False)
    """As a person gave it: what people are shown."""

    def beside(self, kind: str) -> Path:
        """The folder of what belongs to it but is no table, such as `pages`, `files`, `exports`."""
        return self.root / kind / self.name

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True)
class DuckDBFile(Location):
    """One file that one process owns at a time."""

    path: Path = field(compare=False)


@dataclass(frozen=True)
class DuckLake(Location):
    """A catalog in Postgres and Parquet files: several processes write, on several hosts."""

    catalog: str = field(compare=False)
    """How libpq reaches the catalog."""
    data: str = field(compare=False)
    """Where the Parquet files lie: a folder, or an object store's prefix."""
    schema: str = field(compare=False)
    """The catalog's schema in its database."""


Where = str | Path | Location
"""A setting, or what it means already."""


def location(where: Where) -> Location:
    """What a setting means.

    Raises:
        WarehouseError: no such kind of warehouse, or a part of the address is missing or wrong.
    """
    if isinstance(where, Location):
        return where
    if isinstance(where, str):
        if where.startswith(LAKE):
            return _lake(where)
        if where.startswith(FILE):
            return _file(_path_of(where), where)
        if re.match(r"\w{2,}://|postgres\w*:", where):
            raise WarehouseError(
                f"{where.split(':')[0]}: is no kind of warehouse. Give a file's path, "
                "duckdb:///PATH, or ducklake:postgres:host=… dbname=…?files=FOLDER."
            )
    return _file(Path(where), str(where))


def _file(path: Path, said: str) -> DuckDBFile:
    path = path.resolve()
    return DuckDBFile(url=str(path), name=path.stem, root=path.parent, said=said, path=path)


def _path_of(url: str) -> Path:
    rest = url.removeprefix(FILE)
    if not rest.startswith("///") or not rest.strip("/"):
        raise WarehouseError(f"{url}: expected duckdb:///absolute/path.duckdb, or a plain path.")
    return Path("/" + rest.lstrip("/"))


def _lake(url: str) -> DuckLake:
    from psycopg.conninfo import make_conninfo  # only who has a lake loads libpq

    rest = url.removeprefix(LAKE)
    if not rest.startswith(POSTGRES):
        raise WarehouseError(
            f"{_unsecret(url)}: a lake's catalog is a Postgres database: "
            "ducklake:postgres:host=… dbname=… user=…?files=FOLDER"
        )
    # The last one: an address of libpq's may have settings of its own.
    words, _, query = rest.removeprefix(POSTGRES).rpartition("?")
    if not words:
        words, query = query, ""
    parts = _parts(words)
    settings = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := sorted(set(settings) - SETTINGS):
        raise WarehouseError(f"A lake has no setting {unknown[0]!r}; it has files, data, schema.")
    schema = settings.get("schema", "public")
    if not _SCHEMA.fullmatch(schema):
        raise WarehouseError(f"schema={schema}: expected a lower-case name of Postgres.")
    files = settings.get("files")
    if not files:
        raise WarehouseError(
            "A lake needs ?files=FOLDER: a folder that every host sees under this path, for rows "
            "as Parquet, pages and exports."
        )
    root = Path(files).resolve()
    name = parts["dbname"] if schema == "public" else f"{parts['dbname']}-{schema}"
    data = settings.get("data") or str(root / "rows" / name)
    if "://" not in data:
        data = str(Path(data).resolve())
    elif not data.startswith("s3://"):
        raise WarehouseError(f"data={_unsecret(data)}: expected a folder, or s3://bucket/folder.")
    elif "@" in data:
        raise WarehouseError(
            f"data={_unsecret(data)}: keys in the warehouse's address would be shown in runs and "
            "logs. Put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    address = f"{LAKE}{POSTGRES}{make_conninfo(**dict(sorted(parts.items())))}?files={root}"
    address += f"&data={data}" if settings.get("data") else ""
    address += f"&schema={schema}" if schema != "public" else ""
    return DuckLake(
        url=address,
        name=name,
        root=root,
        said=address,
        catalog=make_conninfo(**parts),
        data=data.rstrip("/") + "/",
        schema=schema,
    )


def _parts(words: str) -> dict[str, str]:
    """libpq's keywords, checked."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(words).items()}
    except ProgrammingError as error:
        # libpq's message shows the words it cannot read.
        why = "" if re.search("password|@", words) else f" ({str(error).strip()})"
        raise WarehouseError(
            f"The catalog's address cannot be read{why}. Expected libpq's words, "
            "e.g. host=db port=5432 dbname=evergreen user=evergreen."
        ) from None
    if "password" in parts:
        raise WarehouseError(
            "A password in the warehouse's address would be shown in runs and logs. Put it into "
            "PGPASSWORD, or into ~/.pgpass, and take it out of the address."
        )
    if not parts.get("dbname"):
        raise WarehouseError("The catalog's address names no database: add dbname=…")
    return parts


def _unsecret(url: str) -> str:
    return re.sub(r"(password=)('[^']*'|\S+)|(://[^:/@]*:)[^@]*(?=@)", r"\1\3…", url)
