"""Retrieval of the sentences that may be evidence for a claim: BM25 over stemmed terms, and over
parts of words where no terms are shared."""

import logging
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from tasks.judges.text import extract_terms, split_into_grams


class Bm25:
    """An index over the sentences of one text (method `lucene`, k1 1.5, b 0.75).

    Results are the same in every process: scores are summed in the query's order, and ties go to
    the earlier sentence.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        split: Callable[[str], Sequence[str]] = extract_terms,
    ) -> None:
        """split: splits a text into what is searched for."""
        vocabulary: dict[str, int] = {}
        documents = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in split(sentence)]
            for sentence in sentences
        ]
        self._split = split
        self._vocabulary = vocabulary
        self._index: Any = None
        if vocabulary:
            self._index = _import_bm25s().BM25()
            self._index.index(
                (documents, vocabulary), create_empty_token=False, show_progress=False
            )

    def top(self, query: str, k: int) -> tuple[int, ...]:
        """Return the indices of the best sentences that share a term, at most k, best first."""
        known = [self._vocabulary[term] for term in self._split(query) if term in self._vocabulary]
        if self._index is None or not known or k < 1:
            return ()
        scores = self._index.get_scores_from_ids(known)
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(int(index) for index in order if scores[index] > 0)

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


@cache
def _import_bm25s() -> Any:
    import bm25s  # imported here: it loads SciPy

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index it builds
    return bm25s
