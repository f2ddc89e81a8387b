"""Look for keys in what is backed up. A backup changes nothing, so others' texts stay as they are:
the keys in them are counted."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl

from tasks.backup.manifest import Store
from tasks.secrecy.guard import KEYS, KeyGuard
from tasks.warehouse.sql import table_names


def check_tables(connection: Any, guard: KeyGuard) -> None:
    """Check every text of every table.

    Raises:
        LeakedKey: one holds a key; the message names table, row and field.
    """
    for table in table_names(connection):
        described = connection.execute(f"DESCRIBE {table}").fetchall()
        for name in (name for name, kind, *_ in described if kind == "VARCHAR"):
            columns = ", ".join(f'"{each}"' for each in dict.fromkeys((*KEYS.get(table, ()), name)))
            found: pl.DataFrame = connection.execute(
                f'SELECT {columns} FROM {table} WHERE regexp_matches("{name}", $1)',
                [guard.pattern],
            ).pl()
            for row in found.iter_rows(named=True):
                guard.check_value(row, table, name)


def check_stored(store: Store, path: Path, name: str, guard: KeyGuard) -> None:
    """Check the bytes of a page or file for our keys.

    Raises:
        LeakedKey: they hold one.
    """
    data = path.read_bytes()
    guard.check_bytes(gzip.decompress(data) if store == "pages" else data, name)
