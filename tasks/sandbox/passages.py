"""Splitting of a page's text into passages, which are indexed and returned as snippets."""

import re
from collections.abc import Iterator

from tasks.judges.text import collapse_whitespace

_WORD = re.compile(r"\S{1,60}")
"""A longer run counts as several words, so that a page without spaces has passages too."""
_SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]{0,3}\Z")
_MAX_SHORTENING = 4
"""A passage may be shortened by up to 1/n of its words, to end with a sentence."""


def split_passages(text: str, n_words: int) -> Iterator[str]:
    """Yield passages of similar length and at most `n_words` words in order, each on one line.

    A passage ends with a sentence if one ends nearby. Together the passages are the whole text.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    start = 0
    while start < len(words):
        left = len(words) - start
        size = -(-left // -(-left // n_words))  # the rest in equal parts, rounded up
        end = start + size
        if end < len(words):
            end = _find_sentence_end(text, words, end, end - size // _MAX_SHORTENING)
        yield collapse_whitespace(text[words[start][0] : words[end - 1][1]])
        start = end


def _find_sentence_end(text: str, words: list[tuple[int, int]], end: int, least: int) -> int:
    """Return the last sentence end after `least` and up to `end`; else `end`."""
    for place in range(end, least, -1):
        first, last = words[place - 1]
        if _SENTENCE_END.search(text[first:last]):
            return place
    return end
