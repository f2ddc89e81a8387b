"""The prose of a text without its scholarly apparatus."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from tasks.extraction.headings import is_reference_heading
from tasks.extraction.reading import read_citations

_BLANKS = " \t"
_BETWEEN_MARKERS = " \t,;"


# Each criterion's category compares the same two texts, and other reports the same article.
@lru_cache(maxsize=128)
def strip_apparatus(markdown: str) -> str:
    """Remove citation markers, reference lists and what a reader does not see; keep the Markdown.

    Judges compare these texts, so that citation styles do not tell the two articles apart. Source:
    Wiki Live Challenge, cleaning before the writing comparison.
    """
    cited = read_citations(markdown)
    text = cited.text
    cuts = [(_heading_start(text, start), end) for start, end in cited.outline.references]
    cuts += cited.references.entries
    markers = []
    for marker in cited.markers:
        if marker.label is None:
            markers.append((marker.start, marker.end))
        else:  # a link within the sentence: its words stay
            cuts += [(marker.start, marker.label[0]), (marker.label[1], marker.end)]
    cuts += _widen_markers(text, markers)
    kept, last = [], 0
    for start, end in sorted(cuts):
        kept.append(text[last : max(last, start)])
        last = max(last, end)
    return ("".join(kept) + text[last:]).rstrip()


def _widen_markers(text: str, markers: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield adjacent markers as one span, with the brackets around and the blanks before them.

    Leftovers (`a word .`, `in 1698 ( ).`) would show where markers were.
    """
    for row in _join_adjacent(text, markers):
        start, end = row
        before, after = find_blanks_start(text, start), find_blanks_end(text, end)
        if text[before - 1 : before] == "(" and text[after : after + 1] == ")":
            start, end = before - 1, after + 1
            before = find_blanks_start(text, start)
        begins_line = before == 0 or text[before - 1] in "\r\n"
        would_glue = text[end : end + 1].isalnum()
        yield (start if begins_line or would_glue else before), end


def _join_adjacent(text: str, markers: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
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


def find_blanks_start(text: str, place: int) -> int:
    """Return where the blanks before a position begin."""
    while place > 0 and text[place - 1] in _BLANKS:
        place -= 1
    return place


def find_blanks_end(text: str, place: int) -> int:
    """Return where the blanks from a position on end."""
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place


def _heading_start(markdown: str, start: int) -> int:
    """Return where the heading right above a reference section begins, or `start` without one."""
    above = markdown[:start].rstrip()
    line = max(above.rfind("\n"), above.rfind("\r")) + 1
    return line if is_reference_heading(above[line:].lstrip("# ")) else start
