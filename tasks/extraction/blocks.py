"""Parse Markdown into blocks of prose, each with its offsets and heading path.

markdown-it reads the block structure (headings, lists, quotes, tables, code). Inline Markdown
stays as written, so that offsets into a block are offsets into the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from tasks.extraction.headings import HEADING, is_reference_heading, strip_heading_markup
from tasks.extraction.links import find_links

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE_END = re.compile(r"\r\n|\r|\n")
_WRAPPED = range(50, 121)
"""Line lengths of a paragraph that was wrapped by hand or by an editor."""
_BOLD_LINE = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,80}[^*_\n.!?])\1:?|\*\*[^*\n]{1,80}:\*\*")
_REFERENCE_LINE = re.compile(rf"[*_\s]*(?P<text>{HEADING})[*_]*[:：][*_\s.\d]*", re.I)
_URL = re.compile(r"[\[<(]{0,2}https?://", re.IGNORECASE)
_ENTRY_BELOW = re.compile(
    r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|\\?\[\^?\w{1,20}\\?\]:?)\s[^\n]{0,2000}?https?://|\[[^\n]{1,300}\]\(https?:|"
    r"<?https?://)",
    re.IGNORECASE,
)
"""A list's first entry, right below."""
_CITING = re.compile(
    r"(?!\W*\d)(?:[^\s\[\]]+\s+){6}[^\n]*?(?:[.!?。]\s?(?:\\?\[\^?\d{1,3}\\?\]\s?)+|\[\^?\d{1,3}\\?\][.。])\s*"
)
"""A paragraph that states something and cites a number."""
MIN_CITING = 3
"""So many of them in a row end a list of references that stands under a line without `#`."""
_BOLD_HEADING_LEVEL = 7
"""Level of a bold line used as a heading: below every real heading."""


@cache
def _get_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # not needed to recognise headings

    return (
        MarkdownIt("commonmark")
        .enable("table")
        # Reports indent prose, underline nothing and use `[1]: url` as a reference list.
        .disable(["inline", "reference", "code", "html_block", "lheading"])
    )


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A paragraph, list item or table row; `text[start:end]` is its Markdown."""

    kind: Literal["prose", "item", "row"]
    start: int
    end: int
    section: tuple[str, ...]
    """Headings above it, outermost first, without the article's title."""
    apparatus: bool
    """Whether its section holds references, notes or links instead of statements."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A text's blocks in order, and the spans of its reference sections."""

    blocks: tuple[MarkdownBlock, ...]
    references: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...] = ()
    """The spans of code blocks, in order."""

    def is_code(self, at: int) -> bool:
        """Whether an offset is within a code block."""
        block = bisect_right(self.code, (at, len(self.code) and self.code[-1][1] + 1)) - 1
        return block >= 0 and at < self.code[block][1]


def parse_outline(markdown: str, title: str = "") -> Outline:
    """Parse a text's blocks. `title` is the heading that names the text, not a section."""
    reader = _OutlineReader(markdown, title)
    for token in _get_parser().parse(markdown):
        reader.read(token)
    return reader.finish()


@dataclass
class _OutlineReader:
    markdown: str
    title: str
    _blocks: list[MarkdownBlock] = field(default_factory=list)
    _references: list[tuple[int, int]] = field(default_factory=list)
    _code: list[tuple[int, int]] = field(default_factory=list)
    _path: list[tuple[int, str]] = field(default_factory=list)
    _references_from: int | None = None
    _heading_level: int | None = None
    _titled: bool = False
    _depth: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = [(m.start(), m.end()) for m in _LINE_END.finditer(self.markdown)]
        starts = [0, *(end for _, end in ends)]
        self._lines = list(
            zip(starts, [*(start for start, _ in ends), len(self.markdown)], strict=True)
        )

    def read(self, token: "Token") -> None:
        name, _, edge = token.type.rpartition("_")
        if edge in ("open", "close"):
            self._depth[name] = self._depth.get(name, 0) + (1 if edge == "open" else -1)
        if token.type == "heading_open":
            self._heading_level = int(token.tag[1])
        elif token.type == "tr_open" and not self._depth.get("thead"):
            if token.map and token.map[0] < len(self._lines):
                self._add("row", *self._lines[token.map[0]])
        elif token.type == "fence" and token.map:
            last = min(token.map[1], len(self._lines)) - 1
            self._code.append((self._lines[token.map[0]][0], self._lines[last][1]))
        elif token.type == "inline" and not self._depth.get("table"):
            self._read_inline(token)

    def finish(self) -> Outline:
        self._close_references(len(self.markdown))
        return Outline(tuple(self._blocks), tuple(self._references), tuple(self._code))

    def _read_inline(self, token: "Token") -> None:
        if token.map is None:
            return
        if self._heading_level is not None:
            start, end = self._lines[token.map[0]]
            self._open_section(self._heading_level, token.content, start, end)
            self._heading_level = None
            return
        kind: Literal["prose", "item"] = "item" if self._depth.get("list_item") else "prose"
        lines = list(_join_open_links(self.markdown, list(self._line_spans(token))))
        for start, end in _join_wrapped_lines(lines):
            line = self.markdown[start:end]
            heading = _match_line_heading(line) if kind == "prose" or ":" in line[-4:] else None
            if heading is None and kind == "prose" and self._heads_list(line, end):
                heading = (line, len(line))
            if heading is not None:
                words, length = heading
                self._open_section(_BOLD_HEADING_LEVEL, words, start, start + length)
                if start + length < end:
                    self._add(kind, start + length, end)
            else:
                self._add(kind, start, end)

    def _heads_list(self, line: str, end: int) -> bool:
        """Whether a plain line is a reference heading above a list."""
        listed = _ENTRY_BELOW.match(self.markdown, end) is not None
        return listed and len(line) < 80 and is_reference_heading(line)

    def _line_spans(self, token: "Token") -> Iterator[tuple[int, int]]:
        """Yield the spans of a paragraph's lines, without list or quote markers."""
        assert token.map is not None
        for number, content in enumerate(token.content.split("\n"), start=token.map[0]):
            if number >= len(self._lines) or not content.strip():
                continue
            start, end = self._lines[number]
            at = self.markdown.find(content.strip(), start, end)
            start = at if at >= 0 else start
            yield start, min(end, start + len(content.strip()))

    def _open_section(self, level: int, text: str, start: int, end: int) -> None:
        words = strip_heading_markup(text)
        if self._is_title(level, words):
            return
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, words))
        if not any(is_reference_heading(title) for _, title in self._path):
            self._close_references(start)
        elif self._references_from is None:
            self._references_from = end

    def _is_title(self, level: int, words: str) -> bool:
        first = level == 1 and not self._titled and not self._blocks and not self._path
        named = level == 1 and bool(self.title) and words.casefold() == self.title.casefold()
        if (first or named) and not is_reference_heading(words):
            self._titled = True
            self._path.clear()
            self._close_references(0)
            return True
        return False

    def _close_references(self, end: int) -> None:
        if self._references_from is not None:
            self._references.append((self._references_from, max(end, self._references_from)))
            self._references_from = None

    def _add(self, kind: Literal["prose", "item", "row"], start: int, end: int) -> None:
        section = tuple(words for _, words in self._path if words)
        self._blocks.append(
            MarkdownBlock(kind, start, end, section, self._references_from is not None)
        )
        if self._references_from is not None and self._path[-1][0] == _BOLD_HEADING_LEVEL:
            self._go_on_after_references()

    def _go_on_after_references(self) -> None:
        last = self._blocks[-MIN_CITING:]
        texts = [self.markdown[block.start : block.end] for block in last if block.kind == "prose"]
        citing = [text for text in texts if "http" not in text and _CITING.fullmatch(text[:5000])]
        if len(citing) == MIN_CITING and all(block.apparatus for block in last):
            self._close_references(last[0].start)
            self._path.pop()
            section = tuple(words for _, words in self._path if words)
            self._blocks[-MIN_CITING:] = [
                replace(block, section=section, apparatus=False) for block in last
            ]


def _match_line_heading(line: str) -> tuple[str, int] | None:
    """Return text and length of a heading without `#`: `**Cast**`, `Sources: https…`."""
    match = _REFERENCE_LINE.match(line)
    if match and (match.end() == len(line) or _URL.match(line, match.end())):
        return match["text"], match.end()
    if len(line) <= 90 and (match := _BOLD_LINE.fullmatch(line)):
        return match["text"] or line, len(line)
    return None


def _join_open_links(text: str, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a paragraph's lines, as one where a link's words go over several."""
    start = lines[0][0] if lines else 0
    links = find_links(text[start : lines[-1][1]]) if len(lines) > 1 else iter(())
    spans = [(start + link.start, start + link.end) for link in links if link.label]
    for number, (low, high) in enumerate(lines):
        while spans and spans[0][1] <= high:
            spans.pop(0)
        if number + 1 < len(lines) and spans and spans[0][0] < high:
            lines[number + 1] = (low, lines[number + 1][1])
        else:
            yield low, high


def _join_wrapped_lines(pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield one span if the lines are one wrapped paragraph, else a span per line.

    Reports and reference articles write one paragraph per line without blank lines between.
    """
    lengths = [end - start for start, end in pieces[:-1]]
    if lengths and all(length in _WRAPPED for length in lengths):
        yield pieces[0][0], pieces[-1][1]
    else:
        yield from pieces
