"""Convert a rendered wiki page to clean Markdown: the article's content and nothing else.

Kept:

- Prose, headings, lists, quotations, verse and preformatted text. Links and emphasis become plain
  text, as in the published reference articles: their density would tell a human's article from
  an agent's.
- Data tables (class `wikitable`, or with a header cell), wherever they stand, with their captions
  in bold above; a spanning cell is repeated in every cell it covers, as published. Columns with
  references only are dropped. Layout tables dissolve into blocks.
- Pull quotes, definition lists (the term in bold), formulas as `$TeX$`, exponents as 10⁶.
- A short paragraph all in bold stays bold: it serves as a heading.

Dropped (the lists are in `dom.py`):

- Citation markers, references, bibliographies and their sections.
- Infoboxes, sidebars, navigation, hatnotes, maintenance remarks: they repeat the article or are
  about the page. The published articles have none of them.
- Pictures, galleries, maps and their captions: a report has no pictures, and the published
  articles keep no captions. Sound and hidden elements go too.
- Headings with nothing below them, such as those of galleries.
"""

from dataclasses import dataclass, field
from itertools import takewhile

from tasks.extraction.headings import is_reference_heading
from tasks.wikipedia.dom import Element, Walk, parse_html, split_names
from tasks.wikipedia.inline import InlineText, escape_lines, escape_words, strip_invisible
from tasks.wikipedia.markdown_blocks import (
    BOLD_LINE_LEVEL,
    REMARK_LEVEL,
    LinePrefix,
    WikiBlock,
    drop_empty_headings,
    join_blocks,
)
from tasks.wikipedia.tables import is_data_table, is_inline, read_table

CONVERTER_VERSION = 1
"""Increase it when the output changes: articles of different versions are not comparable."""

MAX_PREFIXES = 8
"""Nested lists and quotations that are shown by indentation; deeper ones stay at 8."""
_LONGEST_BOLD_LINE = 80
"""Characters; a longer bold paragraph is an emphasised sentence, not a heading."""
_HEADINGS = {f"h{level}": max(level, 2) for level in range(1, 7)}
_QUOTES = split_names("quotebox pullquote")


def to_markdown(html: str, title: str) -> str:
    """Convert an article to Markdown: its title as the first heading, a blank line between blocks.

    The same HTML and title always give the same text, in Unicode NFC.

    Raises:
        UnreadableHtml: the HTML is too large or too deeply nested (see `dom.parse_html`).
    """
    heading = InlineText()
    heading.add(title)
    first = f"# {_escape_heading(heading.to_text())}".rstrip()
    text = join_blocks(drop_empty_headings(_WikiWriter().read_blocks(html)))
    return f"{first}\n\n{text}".rstrip()


@dataclass
class _WikiWriter:
    """Walks a page from top to bottom and collects its blocks."""

    _blocks: list[WikiBlock] = field(default_factory=list)
    _inline: InlineText = field(default_factory=InlineText)
    _prefixes: list[LinePrefix] = field(default_factory=list)
    _counters: list[int | None] = field(default_factory=list)
    """For each open list the number of its next item; None for bullets."""
    _n_lists: int = 0
    _n_bold: int = 0
    _heading: Element | None = None
    """The open heading; everything in it counts as inline."""
    _term: bool = False
    _references_level: int | None = None
    """Level of the references heading above; everything below it is dropped."""

    def read_blocks(self, html: str) -> list[WikiBlock]:
        body = parse_html(html).body
        if body is None:
            return []
        walk = Walk(body)
        for event in walk:
            if event[0] == "text":
                self._inline.add(event[1], bold=self._n_bold > 0)
            elif event[0] == "leave":
                self._leave(event[1])
            elif not self._write_whole(event[1]):
                self._enter(event[1])
            else:
                walk.skip()
        self._flush()
        return self._blocks

    def _write_whole(self, element: Element) -> bool:
        """Write an element that is one block; return False if it must be entered instead."""
        if self._heading is not None:
            return False
        if element.tag == "table" and is_data_table(element):
            self._flush()
            table = read_table(element.node)
            if table.lines:
                if table.caption and not is_reference_heading(table.caption):
                    self._add_bold(table.caption)
                self._add(table.lines)
        elif element.tag == "pre":
            self._flush()
            self._add(_fence(_read_verbatim(element)))
        else:
            return False
        return True

    def _enter(self, element: Element) -> None:
        tag = element.tag
        if is_inline(tag):
            self._n_bold += tag in ("b", "strong")
            if tag == "sup":
                self._inline.begin_superscript()
            elif tag == "q":
                self._inline.add("“")
        elif tag == "br":
            if self._heading is None:
                self._inline.add_line_break()
            else:
                self._inline.add(" ")
        elif self._heading is None:
            self._flush()
            self._open(element)

    def _open(self, element: Element) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._heading = element
        elif tag in ("ul", "ol"):
            if not self._counters:
                self._n_lists += 1
            start = element.int_attribute("start", 0, 999_999)
            self._counters.append(start if tag == "ol" else None)
        elif tag == "li":
            self._prefixes.append(self._item_prefix(element))
        elif tag == "dt":
            self._term = True
        elif _is_quote(element):
            prefix = "" if "quotebox-quote" in element.classes else "> "  # its box has one
            self._prefixes.append(LinePrefix(prefix, prefix, None))

    def _leave(self, element: Element) -> None:
        tag = element.tag
        if is_inline(tag):
            self._n_bold -= tag in ("b", "strong")
            if tag == "sup":
                self._inline.end_superscript()
            elif tag == "q":
                self._inline.add("”")
        elif tag == "br":
            pass
        elif self._heading is not None:
            if element is self._heading:
                self._close_heading(_HEADINGS[tag])
        else:
            self._flush()
            self._close(element)

    def _close(self, element: Element) -> None:
        tag = element.tag
        if tag in ("ul", "ol"):
            self._counters.pop()
        elif tag == "dt":
            self._term = False
        elif tag == "li" or _is_quote(element):
            self._prefixes.pop()

    def _item_prefix(self, element: Element) -> LinePrefix:
        number = self._counters[-1] if self._counters else None
        if number is None:
            return LinePrefix("- ", "  ", self._n_lists)
        number = element.int_attribute("value", 0, 999_999, default=number)
        self._counters[-1] = number + 1
        prefix = f"{number}. "
        return LinePrefix(prefix, " " * len(prefix), self._n_lists)

    def _close_heading(self, level: int) -> None:
        inline, self._inline, self._heading = self._inline, InlineText(), None
        words = inline.to_text()
        if self._references_level is not None and level <= self._references_level:
            self._references_level = None
        if words and self._references_level is None:
            if is_reference_heading(words):
                self._references_level = level
            else:
                self._add((f"{'#' * level} {_escape_heading(words)}",), level)

    def _flush(self) -> None:
        """End the paragraph."""
        if self._inline.is_empty:
            return
        inline, self._inline = self._inline, InlineText()
        text = inline.to_text()
        if not text:
            return
        is_line = "\n" not in text and len(text) <= _LONGEST_BOLD_LINE
        if is_line and is_reference_heading(text):
            remark = escape_lines(text.rstrip(" :"))
            self._add((remark,), None if self._prefixes else REMARK_LEVEL)
        elif is_line and (self._term or (inline.all_bold and not self._prefixes)):
            self._add_bold(text)
        else:
            self._add(tuple(map(_strip_announcement, escape_lines(text).split("\n"))))

    def _add_bold(self, text: str) -> None:
        words = text.strip("*").replace("\n", " ").strip()
        if words:
            self._add((f"**{escape_words(words)}**",), BOLD_LINE_LEVEL)

    def _add(self, lines: tuple[str, ...], level: int | None = None) -> None:
        if self._references_level is not None or not lines:
            return
        prefixes = tuple(self._prefixes[:MAX_PREFIXES])
        if len(self._prefixes) > MAX_PREFIXES:
            prefixes = (*prefixes[:-1], self._prefixes[-1])
        first = "".join(prefix.rest if prefix.is_written else prefix.first for prefix in prefixes)
        rest = "".join(prefix.rest for prefix in prefixes)
        begins_item = bool(prefixes) and not prefixes[-1].is_written
        for prefix in prefixes:
            prefix.is_written = True
        written = [(first if n == 0 else rest) + line for n, line in enumerate(lines)]
        lines = tuple(line.rstrip() for line in written)
        self._blocks.append(WikiBlock(lines, prefixes, level, begins_item))


def _strip_announcement(line: str) -> str:
    """Drop a line's colon if the line would be taken for a heading of references."""
    return line.rstrip(" :") if line.endswith(":") and is_reference_heading(line) else line


def _is_quote(element: Element) -> bool:
    return element.tag == "blockquote" or not _QUOTES.isdisjoint(element.classes)


def _escape_heading(words: str) -> str:
    """Escape a heading's text; a `#` at its end would be taken for a closing mark."""
    text = escape_words(words)
    return f"{text[:-1]}\\#" if text.endswith("#") else text


def _read_verbatim(element: Element) -> list[str]:
    """Return the lines of preformatted text."""
    pieces = []
    for event in Walk(element.node):
        if event[0] == "text":
            pieces.append(event[1])
        elif event[0] == "enter" and event[1].tag == "br":
            pieces.append("\n")
    return [strip_invisible(line).rstrip() for line in "".join(pieces).splitlines()]


def _fence(lines: list[str]) -> tuple[str, ...]:
    """Put preformatted lines between fences longer than any within."""
    if not any(lines):
        return ()
    longest = max(len(list(takewhile("`".__eq__, line.lstrip()))) for line in lines)
    fence = "`" * max(3, longest + 1)
    return (fence, *lines, fence)
