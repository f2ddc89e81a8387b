"""Valid positions for citation markers in a report.

A marker belongs into a statement (a paragraph, list item or table row as the extractor reads
them) outside reference sections, and not into a link, an address, code, an image or a tag.
Positions from agents are untrusted: an invalid one yields no marker, never an error.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from tasks.extraction.blocks import MarkdownBlock
from tasks.extraction.citations import Marker
from tasks.extraction.reading import read_citations
from tasks.extraction.urls import normalise_url

MIN_RESOLVED = 0.5
"""A text has its own list if at least this share of its cited numbers resolves to a URL."""
LOOK_AROUND = 1_000
"""The most blanks skipped to find the text before a position, and markers searched in a span."""

_CLOSED = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}\)"  # image
    r"|(?<!`)(`{1,3})(?!`)[^`\n]{1,500}(?<!`)\1(?!`)"
    r"|</?[A-Za-z][^<>\n]{0,200}>"
)
_REST_OF_WORD = re.compile(
    r"(?:[^\W_\u2e80-\u9fff\uac00-\ud7af]|[\u0300-\u036f]|['’‑-](?=[^\W_])|(?<=\d)[.,](?=\d)){0,60}"
)
"""From the middle of a word to its end; empty where words are not separated (Chinese, Japanese)."""
_BLANKS = " \t\r\n\u00a0"
_ONLY_A_MARK = re.compile(r"[\s()\[\],;.·-]*")


class CitableText:
    """A text and the positions where markers may be inserted."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._cited_text = read_citations(text)
        self.markers = self._cited_text.markers
        self._blocks: list[MarkdownBlock] = sorted(
            (block for block in self._cited_text.outline.blocks if not block.apparatus),
            key=lambda block: block.start,
        )
        self._starts = [block.start for block in self._blocks]
        self._marker_ends = [marker.end for marker in self.markers]
        self._closed = _merge_spans(
            [
                *((marker.start, marker.end) for marker in self.markers),
                *(match.span() for match in _CLOSED.finditer(text)),
            ]
        )
        self._closed_starts = [start for start, _ in self._closed]

    def marker_position(self, start: int | None, end: int | None) -> int | None:
        """Return the marker position for the span from `start` to `end`; None if there is none.

        It follows the last non-blank character of the span's last statement, and is not within a
        word, a link or a table's bars.
        """
        start = start or 0
        if end is None or not 0 <= start <= end <= len(self.text):
            return None
        block = self._block_before(end)
        if block is None:
            return None
        at = min(end, block.end)
        if at <= start and self.text[at : min(end, at + LOOK_AROUND)].strip():
            return None
        last = self._back_over_blanks(block, at)
        if last is None:
            return None
        at = last
        if self.text[at - 1].isalnum() and (rest := _REST_OF_WORD.match(self.text, at, block.end)):
            at = rest.end()
        closed = bisect_left(self._closed_starts, at) - 1
        if closed >= 0 and at < self._closed[closed][1]:
            at = self._closed[closed][1]
        return at if at <= block.end else None

    def find_markup(self, start: int | None, end: int | None, key: str) -> list[Marker]:
        """Return the citation markup in the span from `start` to `end`; empty if it is prose.

        key: the normalised URL of the citation.
        """
        if start is None or end is None or not 0 <= start < end <= len(self.text):
            return []
        first = bisect_right(self._marker_ends, start)
        found = []
        for marker in self.markers[first : first + LOOK_AROUND]:
            if marker.start >= end:
                break
            found.append(marker)
        matching = [m for m in found if m.url and normalise_url(m.url) == key]
        if matching or end - start > LOOK_AROUND * 10:
            return [marker for marker in matching if self.is_in_statement(marker)]
        pieces = zip(
            [start, *(marker.end for marker in found)],
            [*(marker.start for marker in found), end],
            strict=True,
        )
        if found and all(_ONLY_A_MARK.fullmatch(self.text[a:b]) for a, b in pieces if a < b):
            return [marker for marker in found if not marker.url and self.is_in_statement(marker)]
        return []

    def is_in_statement(self, marker: Marker) -> bool:
        block = self._block_before(marker.end)
        return block is not None and block.start <= marker.start and marker.end <= block.end

    def begins_statement(self, at: int) -> bool:
        """Whether a paragraph, list item or row begins at an offset."""
        index = bisect_left(self._starts, at)
        return index < len(self._starts) and self._starts[index] == at

    @cached_property
    def used_numbers(self) -> frozenset[str]:
        """All citation numbers that the text itself uses, in its body or in lists."""
        used = {number for marker in self.markers for number in marker.numbers}
        return frozenset(used | self._cited_text.references.keys)

    @cached_property
    def is_numbered(self) -> bool:
        """Whether any statement cites by number."""
        return bool(self._cited)

    @cached_property
    def has_own_list(self) -> bool:
        """Whether a list in the text resolves its citation numbers."""
        known = self._cited_text.references.keys
        resolved = sum(1 for m in self._cited if any(number in known for number in m.numbers))
        return bool(self._cited) and resolved >= MIN_RESOLVED * len(self._cited)

    @cached_property
    def _cited(self) -> list[Marker]:
        """Citation numbers without an address, in statements outside all lists."""
        inside = (marker for _, markers in self._cited_text.blocks for marker in markers)
        return [marker for marker in inside if marker.numbers and not marker.url]

    def _block_before(self, at: int) -> MarkdownBlock | None:
        """Return the last statement that begins before an offset."""
        number = bisect_left(self._starts, at) - 1
        return self._blocks[number] if number >= 0 else None

    def _back_over_blanks(self, block: MarkdownBlock, at: int) -> int | None:
        """Return the end of the non-blank text before `at` in a block; None if there is none."""
        skipped = _BLANKS + "|" if block.kind == "row" else _BLANKS
        lowest = max(block.start, at - LOOK_AROUND)
        while at > lowest and self.text[at - 1] in skipped:
            at -= 1
        return (
            at if at > lowest or (at > block.start and self.text[at - 1] not in skipped) else None
        )


def _merge_spans(spans: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Sort spans and merge those that overlap."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
