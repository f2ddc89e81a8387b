"""New warehouse files as copies of one: the migrations of each would take a fifth of a second.

What a file holds is looked at by whoever opens it, for half the time of opening it. Here one that
nobody wrote to since it was looked at is not looked at again. That a new file is migrated to the
same schema, and what is refused of a file, is for tests/tasks/warehouse to show.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import duckdb

from tasks.warehouse import reader, store
from tasks.warehouse.location import DuckDBFile, Location
from tasks.warehouse.schema import connect, ensure_schema, has_schema, read_warehouse_id
from tasks.warehouse.sql import NO_EXTENSIONS


@contextmanager
def copied_from_a_template(folder: Path) -> Iterator[None]:
    """Within the block a warehouse file that is not there begins as a copy, with an id of its own.

    folder: for the template.
    """
    template = folder / "template.duckdb"
    with store.open_warehouse(template):
        pass
    left: set[tuple[int, ...]] = set()
    """How this process left the files that it closed."""
    unchanged: set[Path] = set()
    """The files that were so when they were opened."""
    close = store.Warehouse.close

    def connect_or_copy(path: Path, **options: Any) -> duckdb.DuckDBPyConnection:
        if path.exists() or path.is_symlink():
            is_left = _identify(path) in left
            (unchanged.add if is_left else unchanged.discard)(path)
            return connect(path, **options)
        if options.get("read_only"):
            return connect(path, **options)
        shutil.copyfile(template, path)
        unchanged.add(path)
        connection = connect(path, **options)
        connection.execute("UPDATE warehouse_info SET warehouse_id = $1", [str(uuid4())])
        return connection

    def ensure_unless_unchanged(connection: duckdb.DuckDBPyConnection, where: Location) -> str:
        is_known = isinstance(where, DuckDBFile) and where.path in unchanged
        return read_warehouse_id(connection) if is_known else ensure_schema(connection, where)

    def is_unchanged_or_has_schema(connection: duckdb.DuckDBPyConnection, where: Location) -> bool:
        is_known = isinstance(where, DuckDBFile) and where.path in unchanged
        return is_known or has_schema(connection, where)

    def close_and_remember(warehouse: store.Warehouse) -> None:
        close(warehouse)
        if isinstance(warehouse.location, DuckDBFile):
            left.add(_identify(warehouse.location.path))

    with (
        patch.dict(NO_EXTENSIONS, threads=1),  # for some rows more cost more than they save
        patch.object(store, "connect", connect_or_copy),
        patch.object(reader, "connect", connect_or_copy),
        patch.object(store, "ensure_schema", ensure_unless_unchanged),
        patch.object(reader, "has_schema", is_unchanged_or_has_schema),
        patch.object(store.Warehouse, "close", close_and_remember),
    ):
        yield


def _identify(path: Path) -> tuple[int, ...]:
    """Tell a file from what it is once anything was written to it, or lies in its log."""
    files = [path, path.with_name(f"{path.name}.wal")]
    found = [file.stat() for file in files if file.exists()]
    return tuple(n for s in found for n in (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns))
