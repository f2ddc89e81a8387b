"""Five lexical features of a claim and the sentences that could support it.

Every feature is a share 0-1 that grows with agreement. Terms are weighted by their inverse
document frequency in a fixed background, and looked for in passages of fixed length, so that a
longer text does not agree more by its length alone. Sums run in sorted order, so that the last bits
do not depend on the hash seed.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import compress, pairwise
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tasks.judges.offline.vetoes import denies, exchanges_numbers, find_all_numbers
from tasks.judges.offline.weights import load_background
from tasks.judges.text import extract_entities, extract_numbers, extract_terms, split_into_grams

T = TypeVar("T")

SUBJECT_WEIGHT = 0.5
"""Weight of the words of the subject beside others: they stand in any text about it, or a pronoun
stands for them."""
PASSAGE = 12
"""Consecutive sentences in a passage."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of the offline judge; all are shares 0-1."""

    passage: float
    """Share of the claim's terms (idf-weighted) found in the best passage."""
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
        return (self.passage, self.characters, self.bigrams, self.entities, self.numbers)


FEATURE_NAMES = tuple(field.name for field in fields(Features))


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """The comparison of a claim with its evidence."""

    features: Features
    best: int | None
    """Index of the sentence with most of the claim's terms; None if no sentence has any."""
    other: int | None
    """Index of another sentence, with a number of the claim that the best one lacks; None if there
    is none."""
    veto: str | None
    """Why the evidence does not say the claim, although it shares its words; None if it may."""


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

    def compare(self, claim: str, retrieved: Sequence[int], subject: str = "") -> ClaimComparison:
        """Compare a claim with the pool.

        retrieved: indices of its evidence, best first.
        subject: what the claim is about; its words count less.
        """
        wanted = sorted(set(extract_terms(claim)))
        about, background = frozenset(extract_terms(subject)), load_background()
        idf = [background.idf(term) * (SUBJECT_WEIGHT if term in about else 1.0) for term in wanted]
        ten = tuple(retrieved[:10])
        best = self._find_best(wanted, idf, ten)
        return ClaimComparison(
            Features(self._best_passage(wanted, idf), **self._closeness(claim, best)),
            best=best,
            other=None if best is None else self._find_other(claim, best, ten),
            veto=None if best is None else self._find_veto(claim, best, ten),
        )

    def _find_best(
        self, wanted: Sequence[str], idf: Sequence[float], ten: Sequence[int]
    ) -> int | None:
        """Return the sentence with most of the claim; the best rank of equals."""
        held = [sum(compress(idf, map(self._sets[index].__contains__, wanted))) for index in ten]
        most = max(held, default=0.0)
        return ten[held.index(most)] if most > 0 else None

    def _best_passage(self, wanted: Sequence[str], idf: Sequence[float]) -> float:
        """Return the largest share of the idf found in one passage."""
        held = np.zeros(len(self._sentences) + PASSAGE - 1)
        for term, weight in zip(wanted, idf, strict=True):
            if term in self._places:
                held[self._windows_of(term)] += weight
        total = sum(idf)
        return float(held.max(initial=0.0)) / total if total else 0.0

    def _windows_of(self, term: str) -> NDArray[np.intp]:
        """Return the passages with a term, numbered by their last sentence."""
        if term not in self._windows:
            held = np.zeros(len(self._sentences) + PASSAGE - 1, dtype=np.bool_)
            for place in self._places[term]:
                held[place : place + PASSAGE] = True
            self._windows[term] = held.nonzero()[0]
        return self._windows[term]

    def _find_other(self, claim: str, best: int, ten: Sequence[int]) -> int | None:
        """Return the sentence with most of the numbers that the best one lacks."""
        lacking = extract_numbers(claim) - find_all_numbers(self._sentences[best])
        held = [len(lacking & find_all_numbers(self._sentences[index])) for index in ten]
        most = max(held)
        return ten[held.index(most)] if most else None

    def _find_veto(self, claim: str, best: int, ten: Sequence[int]) -> str | None:
        claimed, sentence = extract_numbers(claim), self._sentences[best]
        said = frozenset[str]().union(*(find_all_numbers(self._sentences[i]) for i in ten))
        if missing := sorted(claimed - said):
            return f"number {', '.join(missing[:5])} missing"
        if exchanges_numbers(claim, sentence):
            return "the sentence has another number"
        return "one of the two denies it" if denies(claim, sentence) else None

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
            "numbers": _share_held(extract_numbers(claim), find_all_numbers(sentence), if_none=1.0),
        }


def _share_held(wanted: Set[T], found: Set[T], if_none: float = 0.0) -> float:
    return len(wanted & found) / len(wanted) if wanted else if_none


def _character_cosine(left: str, right: str) -> float:
    """Return the cosine of the counts of character 4-grams, ignoring case."""
    (few, few_norm), (many, many_norm) = _count_grams(left), _count_grams(right)
    dot = sum(few[gram] * many[gram] for gram in few if gram in many)
    norms = few_norm * many_norm
    return dot / sqrt(norms) if norms else 0.0


@lru_cache(maxsize=4_096)
def _count_grams(text: str) -> tuple[dict[str, int], int]:
    """Return the counts of the 4-grams and their squared norm."""
    counts = Counter(split_into_grams(text))
    return counts, sum(count * count for count in counts.values())
