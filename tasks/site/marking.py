"""Where the claims of a report stand in its text, and how each passage is marked."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from tasks.extraction.blocks import outline
from tasks.extraction.sentences import block_sentences
from tasks.site.prose import Passage
from tasks.site.wording import MARKS, Tone

ATTENTION: tuple[Tone, ...] = ("bad", "poor", "open", "good", "none")
"""A passage with several claims is marked for the first of these that any of them has."""
_TRAILING = " \t\r\n*_`|"
_SOURCES = re.compile(r"(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\](?!\()\s*)+")


def passages(title: str, text: str, claims: Sequence[tuple[int, int | None, str]]) -> list[Passage]:
    """The sentences that claims stand in.

    Args:
        claims: of each its number, its offset in the text (None: unknown) and its outcome.
    """
    starts, spans = _sentences(title, text)
    within: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, position, outcome in claims:
        place = bisect_right(starts, position) - 1 if position is not None else -1
        if place >= 0 and position is not None and position < spans[place][1]:
            within[place].append((number, outcome))
    return [_passage(*spans[place], held) for place, held in sorted(within.items())]


def _passage(start: int, end: int, held: Sequence[tuple[int, str]]) -> Passage:
    marks = [(number, MARKS[outcome]) for number, outcome in held]
    tones = {mark.tone for _, mark in marks}
    tone = next(each for each in ATTENTION if each in tones)
    return Passage(start, end, tuple((n, mark.tone, mark.word) for n, mark in marks), tone)


def _sentences(title: str, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Where all sentences start, in order, and what is marked of each: to the next one's start or
    its block's end, with the marks of sources that stand before the next one's words."""
    found = []
    for block in outline(text, title).blocks:
        starts = [sentence.start for sentence in block_sentences(text, block)]
        words = [*starts[:1], *(_beyond_sources(text, at, block.end) for at in starts[1:])]
        for begun, start, end in zip(starts, words, [*words[1:], block.end], strict=False):
            trimmed = start + len(text[start:end].rstrip(_TRAILING))
            if trimmed > start:
                found.append((begun, start, trimmed))
    found.sort()
    return [begun for begun, _, _ in found], [(start, end) for _, start, end in found]


def _beyond_sources(text: str, start: int, end: int) -> int:
    """Where a sentence's own words begin: `[1]` after a full stop is the source of what it ends."""
    sources = _SOURCES.match(text, start, end)
    return sources.end() if sources else start
