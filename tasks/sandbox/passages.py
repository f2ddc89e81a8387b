"""A page's text in passages of about the same length: what is indexed and shown as a find."""

import re
from collections.abc import Iterator

from tasks.judges.text import one_line

_WORD = re.compile(r"\S{1,60}")
"""A longer run counts as several words: a page without spaces has passages too."""
_SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]{0,3}\Z")
_SHORTENED = 4
"""A passage may end up to this part of it earlier, with a sentence."""


def passages(text: str, n_words: int) -> Iterator[str]:
    """Passages in order, each on one line, of at most `n_words` words and much alike in length.

    They end with a sentence where one ends nearby. Together they are the text.
    """
    words = [match.span() for match in _WORD.finditer(text)]
    start = 0
    while start < len(words):
        left = len(words) - start
        size = -(-left // -(-left // n_words))  # as many as are left, in equal parts, rounded up
        end = start + size
        if end < len(words):
            end = _end_of_sentence(text, words, end, end - size // _SHORTENED)
        yield one_line(text[words[start][0] : words[end - 1][1]])
        start = end


def _end_of_sentence(text: str, words: list[tuple[int, int]], end: int, least: int) -> int:
    """The last place up to `end`, and after `least`, where a sentence ends; else `end`."""
    for place in range(end, least, -1):
        first, last = words[place - 1]
        if _SENTENCE_END.search(text[first:last]):
            return place
    return end
