"""A new warehouse; and what an example of Hypothesis would otherwise load, which times it."""

from collections.abc import Iterator
from pathlib import Path

import bm25s.stopwords  # noqa: F401
import markdown_it  # noqa: F401
import nupunkt  # noqa: F401
import pytest

from tasks.warehouse.store import Warehouse, open_warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """With nothing in it."""
    with open_warehouse(tmp_path / "warehouse.duckdb") as opened:
        yield opened
