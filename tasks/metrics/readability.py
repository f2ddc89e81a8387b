"""Flesch reading ease, with syllables by hyphenation.

Source: Flesch, "A new readability yardstick", Journal of Applied Psychology 32 (1948). Words and
sentences are counted and rounded as textstat 0.7.4 does it, so that figures can be compared with
those of other pipelines that use it.
"""

import re
from functools import cache, lru_cache
from math import copysign, floor

from pyphen import Pyphen

_PUNCTUATION = re.compile(r"[^\w\s]")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
SHORTEST_SENTENCE = 3
"""Words; what is shorter (headings, abbreviations) counts as part of another sentence."""


def flesch_reading_ease(text: str) -> float:
    """Return 206.835 - 1.015 words/sentence - 84.6 syllables/word: about 0 (hard) to 100 (easy).

    A text without words has 206.835, as both means then are 0.
    """
    words = _words(text)
    sentences = sum(
        len(_words(sentence)) >= SHORTEST_SENTENCE for sentence in _SENTENCE.findall(text)
    )
    syllables = sum(count_syllables(word.lower()) for word in words)
    words_per_sentence = _round(len(words) / max(1, sentences), 1)
    syllables_per_word = _round(syllables / len(words), 1) if words else 0.0
    return _round(206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word, 2)


@lru_cache(100_000)
def count_syllables(word: str) -> int:
    """Count the places where the word may be hyphenated in US English, and one."""
    return len(_hyphenation().positions(word)) + 1


@cache
def _hyphenation() -> Pyphen:
    return Pyphen(lang="en_US")


def _words(text: str) -> list[str]:
    return _PUNCTUATION.sub("", text).split()


def _round(number: float, digits: int) -> float:
    """Round half away from zero."""
    factor = 10.0**digits
    return floor(number * factor + copysign(0.5, number)) / factor
