"""Which sentences of a text could be evidence for a claim: BM25 over stemmed terms."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tasks.judges.text import terms


class Bm25:
    """An index over the sentences of one text (method `lucene`, k1 1.5, b 0.75).

    The same query on the same sentences gives the same answer in every process: scores are
    summed in the query's order and ties go to the earlier sentence.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        vocabulary: dict[str, int] = {}
        documents = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in terms(sentence)]
            for sentence in sentences
        ]
        self._vocabulary = vocabulary
        self._index: Any = None
        if vocabulary:
            self._index = _bm25s().BM25()
            self._index.index(
                (documents, vocabulary), create_empty_token=False, show_progress=False
            )

    def top(self, query: str, k: int) -> tuple[int, ...]:
        """Indices of the best sentences, best first: at most k, all sharing a term with it."""
        known = [self._vocabulary[term] for term in terms(query) if term in self._vocabulary]
        if self._index is None or not known or k < 1:
            return ()
        scores = self._index.get_scores_from_ids(known)
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(int(index) for index in order if scores[index] > 0)

    def top_many(self, queries: Sequence[str], k: int) -> tuple[tuple[int, ...], ...]:
        """`top` for each query, in order."""
        return tuple(self.top(query, k) for query in queries)


@cache
def _bm25s() -> Any:
    import bm25s  # loads SciPy: only for who searches

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it builds
    return bm25s
