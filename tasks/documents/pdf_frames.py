"""Tell the frames around words of a sentence, such as code, from the cells of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdfplumber.page import Page

from tasks.documents.pdf_words import PdfWord

MAX_HEIGHT = 2.0
MAX_GAP = 1.2
"""In multiples of the letters' size: how high the frame of a word is at most, and how far from it
the next word. Cells are larger."""
MAX_FRAMES = 2_000
"""Frames looked at on one page; a drawing has more."""

_Box = tuple[float, float, float, float]
"""x0, top, x1, bottom."""


def set_word_frames_apart(page: Page, words: Sequence[PdfWord]) -> tuple[Page, list[PdfWord]]:
    """Return the page without the frames that hold a part of one line, and its words, with those
    in such frames marked.

    Such a frame is as high as its words, has text beside it, and none of the same width adjoins it
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
    """Return the indices of the words in a box of one line with words beside it; else none."""
    x0, top, x1, bottom = box
    inside = [at for at, word in enumerate(words) if word.is_within(box)]
    size = max((words[at].size for at in inside), default=0.0)
    if bottom - top > MAX_HEIGHT * size:
        return []
    gap = MAX_GAP * size
    near = [w for w in words if w.x1 >= x0 - gap and w.x0 <= x1 + gap]
    n_near = sum(top <= (word.top + word.bottom) / 2 <= bottom for word in near)
    return inside if n_near > len(inside) else []
