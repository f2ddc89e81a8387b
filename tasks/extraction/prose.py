"""The prose of a text: whole, without its scholarly apparatus."""

from collections.abc import Iterable, Iterator

from tasks.extraction.blocks import is_reference_heading, outline
from tasks.extraction.citations import find_markers

_BLANKS = " \t"
_BETWEEN_MARKERS = " \t,;"


def without_apparatus(markdown: str) -> str:
    """The article without citation markers and reference-like sections, Markdown kept.

    What judges compare: citation styles must not tell the two articles apart. Source: Wiki
    Live Challenge, cleaning before the writing comparison.
    """
    cuts = [(_heading_start(markdown, s), e) for s, e in outline(markdown).references]
    markers = []
    for marker in find_markers(markdown):
        if marker.label is None:
            markers.append((marker.start, marker.end))
        else:  # a link within the sentence: its words stay
            cuts += [(marker.start, marker.label[0]), (marker.label[1], marker.end)]
    cuts += _with_surroundings(markdown, markers)
    kept, last = [], 0
    for start, end in sorted(cuts):
        kept.append(markdown[last : max(last, start)])
        last = max(last, end)
    return ("".join(kept) + markdown[last:]).rstrip()


def _with_surroundings(text: str, markers: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Markers in a row as one span, with the brackets around and the blanks before them.

    What markers leave behind (`a word .`, `in 1698 ( ).`) would show where they were.
    """
    for row in _rows(text, markers):
        start, end = row
        before, after = left_of(text, start), right_of(text, end)
        if text[before - 1 : before] == "(" and text[after : after + 1] == ")":
            start, end = before - 1, after + 1
            before = left_of(text, start)
        begins_line = before == 0 or text[before - 1] in "\r\n"
        would_glue = text[end : end + 1].isalnum()
        yield (start if begins_line or would_glue else before), end


def _rows(text: str, markers: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    row: tuple[int, int] | None = None
    for start, end in markers:
        if row and not text[row[1] : start].strip(_BETWEEN_MARKERS):
            row = (row[0], end)
        else:
            if row:
                yield row
            row = (start, end)
    if row:
        yield row


def left_of(text: str, place: int) -> int:
    """Where the blanks before a place begin."""
    while place > 0 and text[place - 1] in _BLANKS:
        place -= 1
    return place


def right_of(text: str, place: int) -> int:
    """Where the blanks from a place on end."""
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place


def _heading_start(markdown: str, start: int) -> int:
    """Where the heading right above a reference section begins, or `start` without one."""
    above = markdown[:start].rstrip()
    line = max(above.rfind("\n"), above.rfind("\r")) + 1
    return line if is_reference_heading(above[line:].lstrip("# ")) else start
