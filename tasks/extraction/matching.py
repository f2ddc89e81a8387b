"""Find the sentence that a statement was made from, by shared words weighted by rarity."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
_PREFIX_LETTERS = 6
"""Words with the same first six letters count as equal: a cheap stemmer for any language."""


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """A sentence and the share (0-1) of the statement's weight that it holds."""

    index: int
    share: float


class SentenceIndex:
    """Sentences of one text, searchable by shared words."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths: list[int] = []
        for number, sentence in enumerate(sentences):
            words = content_words(sentence)
            self._lengths.append(len(words))
            for word in words:
                self._postings[word].append(number)

    def find_best(self, statement: str, near: int = 0, pull: float = 0.0) -> SentenceMatch | None:
        """Return the sentence that holds most of a statement; None if none shares a word.

        Args:
            near: The sentence expected next, for statements in the order of the text.
            pull: The most that a sentence loses of its share by distance from `near` (half of it
                3 sentences ahead or 2 behind).
        """
        words = content_words(statement)
        weights = {word: self._weight(word) for word in words}
        total = sum(weights.values())
        held: Counter[int] = Counter()
        for word in words:
            for number in self._postings.get(word, ()):
                held[number] += weights[word]  # type: ignore[assignment]
        if not held or not total:
            return None
        index = max(held, key=lambda n: (self._adjust(n, held[n] / total, near, pull), -n))
        return SentenceMatch(index, held[index] / total)

    def _adjust(self, number: int, share: float, near: int, pull: float) -> float:
        distance = number - near if number >= near else 1.5 * (near - number)
        brevity = 0.02 / (1 + self._lengths[number])
        return share + brevity - pull * distance / (distance + 3)

    def _weight(self, word: str) -> float:
        """Return the inverse document frequency; an unknown word weighs as much as the rarest."""
        frequency = len(self._postings.get(word, ())) or 1
        return math.log(1 + len(self._lengths) / frequency)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, cut to their first six letters."""
    return frozenset(word[:_PREFIX_LETTERS] for word in _WORD.findall(text.casefold()))
