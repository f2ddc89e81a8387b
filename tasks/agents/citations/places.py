"""Where citation markers may stand in a report, so that they break nothing and are read.

A marker belongs into a statement: a paragraph, list item or table row as the extractor reads
them, outside reference sections; not into a link, an address, code, an image or a tag. What
agents say about places is untrusted: a place that is none leads to no marker, never to an error.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from tasks.extraction.blocks import Block, Outline, outline
from tasks.extraction.citations import Marker, find_markers, merged_markers
from tasks.extraction.references import References, find_references
from tasks.extraction.urls import normalise_url

MIN_RESOLVED = 0.5
"""A text has a list of its own where at least this share of its numbers leads to a URL."""
LOOK = 1_000
"""Characters of blanks that are skipped to find the text before a place."""

_TOKEN = re.compile("\ue200[^\ue200\ue201]{0,300}\ue201")
"""What some models write in place of a link: words between characters for private use."""
_CLOSED = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}\)"  # image
    r"|(?<!`)(`{1,3})(?!`)[^`\n]{1,500}(?<!`)\1(?!`)"
    r"|</?[A-Za-z][^<>\n]{0,200}>"
)
_REST_OF_WORD = re.compile(
    r"(?:[^\W_\u2e80-\u9fff\uac00-\ud7af]|[\u0300-\u036f]|['’‑-](?=[^\W_])|(?<=\d)[.,](?=\d)){0,60}"
)
"""From the middle of a word to its end. Where words are not set apart (Chinese, Japanese) a place
is taken as it is."""
_BLANKS = " \t\r\n\u00a0"
_ONLY_A_MARK = re.compile(r"[\s()\[\],;.·-]*")


class Ground:
    """A text, and where markers may stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = (Marker(*found.span(), found.group()) for found in _TOKEN.finditer(text))
        self.markers = merged_markers(find_markers(text), tokens)
        self._outline: Outline = outline(text)
        self._blocks: list[Block] = sorted(
            (block for block in self._outline.blocks if not block.apparatus),
            key=lambda block: block.start,
        )
        self._starts = [block.start for block in self._blocks]
        self._marker_ends = [marker.end for marker in self.markers]
        self._closed = _joined(
            [
                *((marker.start, marker.end) for marker in self.markers),
                *(found.span() for found in _CLOSED.finditer(text)),
            ]
        )
        self._closed_starts = [start for start, _ in self._closed]

    def place(self, start: int | None, end: int | None) -> int | None:
        """Where the marker of what stands from `start` to `end` goes; None where nowhere.

        At the end of the span: after the last character of a statement in it that is no blank,
        not within a word, a link or a table's bars.
        """
        start = start or 0
        if end is None or not 0 <= start <= end <= len(self.text):
            return None
        block = self._block_before(end)
        if block is None:
            return None
        at = min(end, block.end)
        if at <= start and self.text[at : min(end, at + LOOK)].strip():
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

    def markup(self, start: int | None, end: int | None, key: str) -> list[Marker]:
        """The markup of a citation that stands at `start` to `end`; empty where prose does.

        key: the normalised URL it leads to.
        """
        if start is None or end is None or not 0 <= start < end <= len(self.text):
            return []
        first = bisect_right(self._marker_ends, start)
        found = []
        for marker in self.markers[first : first + LOOK]:
            if marker.start >= end:
                break
            found.append(marker)
        leading = [m for m in found if m.url and normalise_url(m.url) == key]
        if leading or end - start > LOOK * 10:
            return [marker for marker in leading if self.in_statement(marker)]
        pieces = zip(
            [start, *(marker.end for marker in found)],
            [*(marker.start for marker in found), end],
            strict=True,
        )
        if found and all(_ONLY_A_MARK.fullmatch(self.text[a:b]) for a, b in pieces if a < b):
            return [marker for marker in found if not marker.url and self.in_statement(marker)]
        return []

    def in_statement(self, marker: Marker) -> bool:
        block = self._block_before(marker.end)
        return block is not None and block.start <= marker.start and marker.end <= block.end

    def begins_statement(self, at: int) -> bool:
        """Whether a paragraph, list item or row begins at an offset."""
        place = bisect_left(self._starts, at)
        return place < len(self._starts) and self._starts[place] == at

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number that the text uses by itself, in its body or in lists."""
        used = {number for marker in self.markers for number in marker.numbers}
        return frozenset(used | self._references.urls.keys())

    @cached_property
    def is_numbered(self) -> bool:
        """Whether statements cite by number."""
        return bool(self._cited)

    @cached_property
    def has_own_list(self) -> bool:
        """Whether a list in the text says what its numbers stand for."""
        known = self._references.urls
        resolved = sum(1 for m in self._cited if any(number in known for number in m.numbers))
        return bool(self._cited) and resolved >= MIN_RESOLVED * len(self._cited)

    @cached_property
    def _cited(self) -> list[Marker]:
        """Numbers without an address, in statements outside all lists."""
        entries = find_references(self.text, self._outline.references).entries
        starts = [start for start, _ in entries]
        found = []
        for marker in self.markers:
            if marker.numbers and not marker.url and self.in_statement(marker):
                entry = bisect_right(starts, marker.start) - 1
                if entry < 0 or marker.start >= entries[entry][1]:
                    found.append(marker)
        return found

    @cached_property
    def _references(self) -> References:
        cited = {number for marker in self._cited for number in marker.numbers}
        return find_references(self.text, self._outline.references, cited)

    def _block_before(self, at: int) -> Block | None:
        """The last statement that begins before an offset."""
        number = bisect_left(self._starts, at) - 1
        return self._blocks[number] if number >= 0 else None

    def _back_over_blanks(self, block: Block, at: int) -> int | None:
        """The end of what stands before `at` in a block; None where nothing does."""
        skipped = _BLANKS + "|" if block.kind == "row" else _BLANKS
        lowest = max(block.start, at - LOOK)
        while at > lowest and self.text[at - 1] in skipped:
            at -= 1
        return (
            at if at > lowest or (at > block.start and self.text[at - 1] not in skipped) else None
        )


def _joined(spans: Iterable[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Spans in order, those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
