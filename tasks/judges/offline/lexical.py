"""Eight lexical features of a claim and the sentences that could support it.

Every feature is a share 0-1 that grows with agreement. Terms are weighted by their inverse
document frequency in the pool, so a rare name counts more than a common verb. Sums run in sorted
order, so that the last bits do not depend on the hash seed.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from itertools import compress, pairwise
from math import log, sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tasks.judges.text import (
    extract_entities,
    extract_numbers,
    extract_spelled_numbers,
    extract_terms,
)

T = TypeVar("T")

WINDOW = 3
"""Consecutive sentences that form one passage."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of the offline judge; all are shares 0-1."""

    whole: float
    """Share of the claim's terms (idf-weighted) found anywhere in the evidence text."""
    top_10: float
    """The same, in the ten best sentences."""
    top_3: float
    """The same, in the three best sentences."""
    window: float
    """The same, in the best three consecutive sentences."""
    characters: float
    """Cosine of character 4-grams with the best sentence."""
    bigrams: float
    """Share of the claim's adjacent term pairs that are adjacent in the best sentence."""
    entities: float
    """Share of the claim's capitalised terms found in the best sentence."""
    numbers: float
    """Share of the claim's numbers found in the best sentence; 1 if the claim has none."""

    def row(self) -> tuple[float, ...]:
        """Return the values in the order of `FEATURE_NAMES`."""
        return astuple(self)


FEATURE_NAMES = tuple(field.name for field in fields(Features))


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """The comparison of a claim with its evidence."""

    features: Features
    best: int | None
    """Index of the sentence with most of the claim's terms; None if nothing was retrieved."""
    missing_numbers: tuple[str, ...]
    """The claim's numbers missing from the ten best sentences, sorted."""


class SentencePool:
    """The sentences of one text, prepared for comparison."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = tuple(sentences)
        self._terms = [extract_terms(sentence) for sentence in self._sentences]
        self._sets = [frozenset(found) for found in self._terms]
        places: dict[str, list[int]] = {}
        for index, found in enumerate(self._sets):
            for term in found:
                places.setdefault(term, []).append(index)
        self._places = places
        self._windows: dict[str, NDArray[np.intp]] = {}

    def __len__(self) -> int:
        return len(self._sentences)

    def __getitem__(self, index: int) -> str:
        return self._sentences[index]

    def compare(self, claim: str, retrieved: Sequence[int]) -> ClaimComparison:
        """Compare a claim with the pool; `retrieved` are indices of its evidence, best first."""
        wanted = sorted(set(extract_terms(claim)))
        idf = [self._idf(term) for term in wanted]
        ten = tuple(retrieved[:10])
        held = [[term in self._sets[index] for term in wanted] for index in ten]
        best = _find_best(idf, held)
        features = Features(
            whole=_weighted_share(idf, [term in self._places for term in wanted]),
            top_10=_weighted_share(idf, _any_holds(held)),
            top_3=_weighted_share(idf, _any_holds(held[:3])),
            window=self._best_window(wanted, idf),
            **self._closeness(claim, None if best is None else ten[best]),
        )
        return ClaimComparison(
            features,
            best=None if best is None else ten[best],
            missing_numbers=self._missing_numbers(claim, ten),
        )

    def _idf(self, term: str) -> float:
        count = len(self._places.get(term, ()))
        return log(1 + (len(self._sentences) - count + 0.5) / (count + 0.5))

    def _best_window(self, wanted: list[str], idf: list[float]) -> float:
        """Return the largest share of the idf found in `WINDOW` consecutive sentences."""
        held = np.zeros(len(self._sentences) + WINDOW - 1)
        for term, weight in zip(wanted, idf, strict=True):
            if term in self._places:
                held[self._windows_of(term)] += weight
        total = sum(idf)
        return float(held.max(initial=0.0)) / total if total else 0.0

    def _windows_of(self, term: str) -> NDArray[np.intp]:
        """Return the windows with a term, numbered by their last sentence."""
        if term not in self._windows:
            places = self._places[term]
            self._windows[term] = np.array(
                sorted({place + shift for place in places for shift in range(WINDOW)}),
                dtype=np.intp,
            )
        return self._windows[term]

    def _closeness(self, claim: str, best: int | None) -> dict[str, float]:
        if best is None:
            return {"characters": 0.0, "bigrams": 0.0, "entities": 0.0, "numbers": 0.0}
        sentence = self._sentences[best]
        claimed = extract_terms(claim)
        found = self._terms[best]
        pairs = set(pairwise(claimed))
        return {
            "characters": _character_cosine(claim, sentence),
            "bigrams": _share_held(pairs, set(pairwise(found))),
            "entities": _share_held(extract_entities(claim), self._sets[best]),
            "numbers": _share_held(
                extract_numbers(claim), _find_all_numbers(sentence), if_none=1.0
            ),
        }

    def _missing_numbers(self, claim: str, ten: Sequence[int]) -> tuple[str, ...]:
        claimed = extract_numbers(claim)
        if not claimed:
            return ()
        said = frozenset().union(*(_find_all_numbers(self._sentences[index]) for index in ten))
        return tuple(sorted(claimed - said))


def _any_holds(held: Sequence[Sequence[bool]]) -> list[bool]:
    """Return for each term whether any of the sentences has it."""
    return [any(column) for column in zip(*held, strict=True)]


def _weighted_share(idf: Sequence[float], held: Sequence[bool]) -> float:
    total = sum(idf)
    return sum(compress(idf, held)) / total if total else 0.0


def _find_best(idf: Sequence[float], held: Sequence[Sequence[bool]]) -> int | None:
    """Return the rank of the sentence with most of the claim; the best rank of equals."""
    return max(range(len(held)), key=lambda rank: sum(compress(idf, held[rank])), default=None)


@lru_cache(maxsize=16_384)
def _find_all_numbers(sentence: str) -> frozenset[str]:
    return extract_numbers(sentence) | extract_spelled_numbers(sentence)


def _share_held(wanted: Set[T], found: Set[T], if_none: float = 0.0) -> float:
    return len(wanted & found) / len(wanted) if wanted else if_none


def _character_cosine(left: str, right: str) -> float:
    """Return the cosine of the counts of character 4-grams, ignoring case."""
    (few, few_norm), (many, many_norm) = sorted(
        (_count_grams(left), _count_grams(right)), key=_n_grams
    )
    dot = sum(count * many.get(gram, 0) for gram, count in few.items())
    norms = few_norm * many_norm
    return dot / sqrt(norms) if norms else 0.0


def _n_grams(grams: tuple[dict[str, int], int]) -> int:
    return len(grams[0])


@lru_cache(maxsize=4_096)
def _count_grams(text: str) -> tuple[dict[str, int], int]:
    """Return the counts of the 4-grams and their squared norm."""
    text = f" {' '.join(text.lower().split())} "
    counts = Counter(text[start : start + 4] for start in range(len(text) - 3))
    return counts, sum(count * count for count in counts.values())
