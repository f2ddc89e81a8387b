"""LanceDB, of the extra `sandbox`: one folder holds the pages and their passages."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from tasks.base import Frozen
from tasks.configuration.errors import ConfigurationError
from tasks.sandbox.embedding import DIMENSION

PAGES = "pages"
PASSAGES = "passages"
SAID = "said"
"""The column of a passage's text, under its page's title."""
CURRENT = "current.json"
"""Which versions of the two tables belong together: what readers open. Written last, in one
step, so that they see the index before a build or after it."""


class Current(Frozen):
    """A finished build."""

    pages_version: int
    passages_version: int
    n_pages: int
    n_passages: int
    built_at: datetime
    """Of the last build that changed anything."""


def read_current(folder: Path) -> Current | None:
    """The index in a folder; None where none has been finished."""
    try:
        return Current.model_validate_json((folder / CURRENT).read_bytes())
    except (OSError, ValueError):
        return None


async def connected(folder: Path) -> Any:
    """The database in a folder.

    Raises:
        ConfigurationError: LanceDB is not installed.
    """
    try:
        import lancedb
    except ImportError:
        raise ConfigurationError(
            "The sandbox needs an extra: .venv/bin/pip install -e '.[sandbox]'."
        ) from None
    return await lancedb.connect_async(folder)


def page_schema() -> pa.Schema:
    return pa.schema(
        [
            ("url", pa.string()),
            ("sha", pa.string()),
            ("title", pa.string()),
            ("text", pa.large_string()),
            ("language", pa.string()),
            ("final_url", pa.string()),
            ("day", pa.date32()),
            ("encyclopedia", pa.bool_()),
            ("copies", pa.list_(pa.string())),
        ]
    )


def passage_schema(*, vectors: bool) -> pa.Schema:
    fields = [
        ("url", pa.string()),
        ("number", pa.int32()),
        ("said", pa.string()),
        ("day", pa.date32()),
        ("encyclopedia", pa.bool_()),
    ]
    return pa.schema(
        [*fields, *([("vector", pa.list_(pa.float32(), DIMENSION))] if vectors else [])]
    )


def words(query: str) -> Any:
    """A search for any of a text's words in what passages say; nothing in it is syntax."""
    from lancedb.query import MatchQuery

    match: Any = MatchQuery
    return match(query, SAID)


def is_one_of(column: str, values: list[str]) -> str:
    """A condition on a column; values are foreign."""
    return f"{column} IN ({', '.join(_quoted(value) for value in values)})"


def until(day: date) -> str:
    return f"day <= date '{day.isoformat()}'"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
