"""What languages do differently: letters without blanks between words, marks that end sentences."""

import re
from collections.abc import Iterator

WORD = re.compile(r"[^\W\d_]")
"""A letter."""
_WORD_RUN = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""A character of Chinese or Japanese, which set no blanks between words."""
_WIDE_END = re.compile(r"[。！？]+[”’」』）)]*(?!\s*[a-z,.;:)\]、，；：」』）])")
_OTHER_END = re.compile(r"[।॥؟۔።]+[”’\")]*\s")
"""Ends of sentences in Hindi and its kin, Arabic, Urdu and Amharic."""
WIDE_LETTERS = 2
"""Characters of Chinese or Japanese that count as one word."""
MIN_WIDE = 0.3
"""The share of such characters from which a text is in one of these languages."""
UNSPLIT = {
    "Thai": r"[\u0e00-\u0e7f]", "Lao": r"[\u0e80-\u0eff]", "Burmese": r"[\u1000-\u109f]",
    "Khmer": r"[\u1780-\u17ff]", "Tibetan": r"[\u0f00-\u0fff]",
}  # fmt: skip
"""Languages whose sentences end without a mark, and their letters."""
MAX_UNSPLIT = 0.3
"""The share of such letters from which a text cannot be split into sentences."""


def count_words(text: str) -> int:
    """Count words; two characters of Chinese or Japanese are one."""
    n_wide = len(_WIDE.findall(text))
    spaced = _WIDE.sub(" ", text) if n_wide else text
    return len(_WORD_RUN.findall(spaced)) + n_wide // WIDE_LETTERS


def is_wide(text: str) -> bool:
    """Whether a text is in Chinese or Japanese."""
    return len(_WIDE.findall(text)) > MIN_WIDE * len(WORD.findall(text))


def find_unsplit_language(text: str) -> str | None:
    """Return the language of a text whose sentences cannot be told apart; None for others."""
    n_letters = len(WORD.findall(text)) or 1
    shares = {name: len(re.findall(p, text)) / n_letters for name, p in UNSPLIT.items()}
    return next((name for name, share in shares.items() if share > MAX_UNSPLIT), None)


def split_at_marks(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a span's parts up to the marks that end sentences in other than European languages."""
    for pattern in (_WIDE_END, _OTHER_END):
        for mark in pattern.finditer(plain, start, end):
            if plain[mark.end() : end].strip():
                yield start, mark.end()
                start = mark.end()
    yield start, end
