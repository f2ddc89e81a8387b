"""Look for keys in what is backed up. A backup changes nothing, so others' texts stay as they are:
the keys in them are counted."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl

from tasks.backup.manifest import Store
from tasks.secrecy.guard import KeyGuard
from tasks.warehouse.sql import quote_name, table_names


def check_tables(connection: Any, guard: KeyGuard) -> None:
    """Check every text of every table.

    Raises:
        LeakedKey: one holds a key; the message names table, row and field.
    """
    for table in table_names(connection):
        described = connection.execute(f"DESCRIBE {quote_name(table)}").fetchall()
        texts = ", ".join(quote_name(name) for name, kind, *_ in described if kind == "VARCHAR")
        found: pl.DataFrame = connection.execute(
            f"SELECT * FROM {quote_name(table)} WHERE regexp_matches(concat_ws('\n', {texts}), $1)",
            [guard.pattern],
        ).pl()
        guard.check_frame(found, table)


def check_stored(store: Store, path: Path, name: str, guard: KeyGuard) -> None:
    """Check the bytes of a page or file for our keys.

    Raises:
        LeakedKey: they hold one.
    """
    data = path.read_bytes()
    guard.check_bytes(gzip.decompress(data) if store == "pages" else data, name)
