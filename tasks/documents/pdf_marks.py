"""Bring the marks that a PDF draws apart from its text to the line beside which they stand.

Some programs draw what is raised, floated or in a box before or after all text of a page: citation
numbers, labels of a list's entries, bullets. Only the place on the page then tells their line.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from tasks.documents.pdf_words import BULLETS, RAISED_NUMBER, PdfWord, group_lines, measure_size

MAX_SMALL = 0.8
"""A mark's letters are at most this many times as large as those of the text."""
MAX_GAP = 2.5
MAX_RAISED_GAP = 0.8
"""Most blank between a mark and its text, in multiples of the letters' size. Numbers without a link
stand closer: others count the lines of a page."""
MAX_WORD_GAP = 1.5
"""A larger blank within a line parts columns."""
_LABEL = re.compile(rf"[{BULLETS}]|\d{{1,3}}[.)]")
MAX_MARKS = 1_000
"""Marks brought to their lines on one page; a report's has a hundred."""


def is_citation(word: PdfWord) -> bool:
    """Return whether a word is a number with a link."""
    return word.url is not None and RAISED_NUMBER.fullmatch(word.text) is not None


def place_marks(words: Sequence[PdfWord]) -> list[PdfWord]:
    """Return a page's words with each mark next to the word that it stands beside.

    Marks that are drawn with their line keep their place, and so do those beside no text.
    """
    body = measure_size(words)
    marks: list[PdfWord] = []
    segments: list[Sequence[PdfWord]] = []
    for line in group_lines(1, words):
        if all(_is_mark(word, body) for word in line.words):
            marks += line.words
        else:
            segments += _split(line.words, MAX_WORD_GAP * body)
    if not 0 < len(marks) <= MAX_MARKS:
        return list(words)
    places = {id(word): float(at) for at, word in enumerate(words)}
    moved: dict[int, tuple[float, PdfWord]] = {}
    marks.sort(key=lambda word: (round(word.bottom), word.x0))
    for run in _split(marks, MAX_GAP * body):
        if (found := _find_neighbour(run, segments)) is not None:
            neighbour, behind = found
            at = places[id(neighbour)] + (0.5 if behind else -0.5)
            moved |= {id(word): (at, replace(word, place=neighbour.place)) for word in run}
    kept = [(places[id(word)], word) for word in words if id(word) not in moved]
    return [word for _, word in sorted([*kept, *moved.values()], key=itemgetter(0))]


def _is_mark(word: PdfWord, body: float) -> bool:
    small, linked = word.size <= MAX_SMALL * body, word.url is not None
    if RAISED_NUMBER.fullmatch(word.text):
        return small or linked
    return not linked and _LABEL.fullmatch(word.text) is not None


def _split(words: Sequence[PdfWord], gap: float) -> Iterator[Sequence[PdfWord]]:
    """Split words where the next is on another line, or further away than so many points."""
    starts = [
        n
        for n, (last, word) in enumerate(pairwise(words), start=1)
        if not (_is_beside(last, word) and -word.size <= word.x0 - last.x1 <= gap)
    ]
    for start, end in pairwise([0, *starts, len(words)]):
        yield words[start:end]


def _is_beside(one: PdfWord, other: PdfWord) -> bool:
    """Return whether two words stand at the same height."""
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap >= 0.5 * min(one.bottom - one.top, other.bottom - other.top)


def _find_neighbour(
    run: Sequence[PdfWord], segments: Sequence[Sequence[PdfWord]]
) -> tuple[PdfWord, bool] | None:
    """Find the word that marks belong to, and whether they stand behind it."""
    first, last = run[0], run[-1]
    label, linked = _LABEL.fullmatch(first.text) is not None, first.url is not None
    reach = MAX_GAP if label or linked else MAX_RAISED_GAP
    slack = 0.3 * first.size
    near = [word for segment in segments for word in segment if _is_beside(word, first)]
    left = max((w for w in near if w.x1 <= first.x0 + slack), key=lambda w: w.x1, default=None)
    right = min((w for w in near if w.x0 >= last.x1 - slack), key=lambda w: w.x0, default=None)
    to_left = first.x0 - left.x1 if left else float("inf")
    to_right = right.x0 - last.x1 if right else float("inf")
    if left and not label and to_left <= min(reach * left.size, max(to_right, left.size)):
        return left, True
    if right and to_right <= min(reach * right.size, to_left):
        return right, False
    return _find_above(first, segments) if linked and not label else None


def _find_above(
    mark: PdfWord, segments: Sequence[Sequence[PdfWord]]
) -> tuple[PdfWord, bool] | None:
    """Find the end of the line below which a mark stands that did not fit into it."""
    above = [
        words[-1]
        for words in segments
        if -0.4 * words[-1].size <= mark.top - words[-1].bottom <= 1.2 * words[-1].size
        and words[0].x0 - MAX_GAP * words[0].size <= mark.x0 <= words[-1].x1
    ]
    return (max(above, key=lambda word: word.bottom), True) if above else None
