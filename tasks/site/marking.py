"""Find the passages of a report's claims and how to mark them."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from tasks.extraction.blocks import parse_outline
from tasks.extraction.sentences import split_block
from tasks.site.prose import MarkedPassage
from tasks.site.wording import MARKS, Tone

ATTENTION: tuple[Tone, ...] = ("bad", "poor", "open", "good", "none")
"""A passage with several claims gets the first of these tones that any of them has."""
_TRAILING = " \t\r\n*_`|"
_SOURCES = re.compile(r"(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\](?!\()\s*)+")


def find_passages(
    title: str, text: str, claims: Sequence[tuple[int, int | None, str]]
) -> list[MarkedPassage]:
    """Return the sentences that contain claims.

    Args:
        claims: number, offset in the text (None: unknown) and outcome of each claim.
    """
    starts, spans = _find_sentences(title, text)
    within: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, position, outcome in claims:
        place = bisect_right(starts, position) - 1 if position is not None else -1
        if place >= 0 and position is not None and position < spans[place][1]:
            within[place].append((number, outcome))
    return [_build_passage(*spans[place], group) for place, group in sorted(within.items())]


def _build_passage(start: int, end: int, claims: Sequence[tuple[int, str]]) -> MarkedPassage:
    marks = [(number, MARKS[outcome]) for number, outcome in claims]
    tones = {mark.tone for _, mark in marks}
    tone = next(each for each in ATTENTION if each in tones)
    return MarkedPassage(start, end, tuple((n, mark.tone, mark.word) for n, mark in marks), tone)


def _find_sentences(title: str, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return all sentences' starts, in order, and the span to mark of each: up to the next sentence
    or the block's end, including source marks before the next sentence's words."""
    found = []
    for block in parse_outline(text, title).blocks:
        starts = [sentence.start for sentence in split_block(text, block)]
        words = [*starts[:1], *(_skip_sources(text, at, block.end) for at in starts[1:])]
        for begin, start, end in zip(starts, words, [*words[1:], block.end], strict=False):
            trimmed = start + len(text[start:end].rstrip(_TRAILING))
            if trimmed > start:
                found.append((begin, start, trimmed))
    found.sort()
    return [begin for begin, _, _ in found], [(start, end) for _, start, end in found]


def _skip_sources(text: str, start: int, end: int) -> int:
    """Return where a sentence's words begin: `[1]` after a full stop belongs to the one before."""
    sources = _SOURCES.match(text, start, end)
    return sources.end() if sources else start
