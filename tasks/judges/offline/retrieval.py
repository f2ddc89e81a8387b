"""Retrieval of the sentences that may be evidence for a claim: BM25 over stemmed terms."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tasks.judges.text import extract_terms


class Bm25:
    """An index over the sentences of one text (method `lucene`, k1 1.5, b 0.75).

    Results are the same in every process: scores are summed in the query's order, and ties go to
    the earlier sentence.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        vocabulary: dict[str, int] = {}
        documents = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in extract_terms(sentence)]
            for sentence in sentences
        ]
        self._vocabulary = vocabulary
        self._index: Any = None
        if vocabulary:
            self._index = _import_bm25s().BM25()
            self._index.index(
                (documents, vocabulary), create_empty_token=False, show_progress=False
            )

    def top(self, query: str, k: int) -> tuple[int, ...]:
        """Return the indices of the best sentences that share a term, at most k, best first."""
        known = [
            self._vocabulary[term] for term in extract_terms(query) if term in self._vocabulary
        ]
        if self._index is None or not known or k < 1:
            return ()
        scores = self._index.get_scores_from_ids(known)
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(int(index) for index in order if scores[index] > 0)

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """Return `top` for each query, in order."""
        return tuple(self.top(query, k) for query in queries)


@cache
def _import_bm25s() -> Any:
    import bm25s  # imported here: it loads SciPy

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index it builds
    return bm25s
