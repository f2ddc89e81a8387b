"""Tell the frames around words of a sentence, such as code, from the cells of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdfplumber.page import Page

from tasks.documents.pdf_words import PdfWord

MAX_HEIGHT = 2.0
MAX_GAP = 1.2
"""In multiples of the letters' size: how high the frame of a word is at most, and the blank to its
words and to the next ones. Cells are larger."""
MAX_FRAMES = 2_000
"""Frames looked at on one page; a drawing has more."""

_Box = tuple[float, float, float, float]
"""x0, top, x1, bottom."""


def set_word_frames_apart(page: Page, words: Sequence[PdfWord]) -> tuple[Page, list[PdfWord]]:
    """Return the page without the frames that hold a part of one line, and its words, with those
    in such frames marked.

    Such a frame fits its words closely, has text beside it, and none of the same width adjoins it
    above or below, as the cells of a column do.
    """
    boxes = dict.fromkeys(_box(shape) for shape in [*page.rects, *page.curves][:MAX_FRAMES])
    held = {box: inside for box in boxes if (inside := _find_held(box, words))}
    frames = {box for box in held if not any(_is_above(box, o) or _is_above(o, box) for o in boxes)}
    if not frames:
        return page, list(words)
    framed = {at for box in frames for at in held[box]}
    marked = [replace(w, framed=True) if at in framed else w for at, w in enumerate(words)]
    return page.filter(lambda shape: _box(shape) not in frames), marked


def _box(shape: Mapping[str, Any]) -> _Box:
    return shape["x0"], shape["top"], shape["x1"], shape["bottom"]


def _is_above(box: _Box, other: _Box) -> bool:
    alike = abs(box[0] - other[0]) < 1 and abs(box[2] - other[2]) < 1
    return alike and -1 <= other[1] - box[3] <= 3


def _find_held(box: _Box, words: Sequence[PdfWord]) -> list[int]:
    """Return the indices of the words that a box closely fits; none if it is no frame of words."""
    x0, top, x1, bottom = box
    line = [at for at, w in enumerate(words) if top <= (w.top + w.bottom) / 2 <= bottom]
    inside = [at for at in line if x0 <= (words[at].x0 + words[at].x1) / 2 <= x1]
    if not inside:
        return []
    size = max(words[at].size for at in inside)
    gap = MAX_GAP * size
    padding = max(words[inside[0]].x0 - x0, x1 - words[inside[-1]].x1)
    fits = bottom - top <= MAX_HEIGHT * size and padding <= gap
    beside = (words[at] for at in set(line).difference(inside))
    return inside if fits and any(w.x1 >= x0 - gap and w.x0 <= x1 + gap for w in beside) else []
