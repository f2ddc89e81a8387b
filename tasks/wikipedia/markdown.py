"""A rendered wiki page as clean Markdown: what the article says, and nothing around it.

What stays, and how:

- Prose, headings, lists, quotations, verse and preformatted text, in plain words. Links and
  emphasis leave their text only, as in the published reference articles: their density would
  tell the human's article from the agent's.
- Tables of data (class `wikitable`, or with a header cell), wherever they stand, with their
  captions in bold above; a spanning cell is repeated in every place it covers, as published.
  Columns that held only references go. Tables that arrange the page dissolve into blocks.
- Pulled quotes, definition lists (the term in bold), formulas as `$TeX$`, exponents as 10⁶.
- A short paragraph wholly in bold stays bold: it is a heading in all but name.

What goes (the lists are in `noise.py`):

- Citation markers, references, bibliographies and the sections that hold them.
- Infoboxes, sidebars, navigation, hatnotes, maintenance remarks: they repeat the article or are
  about the page. The published articles have none of them.
- Pictures, galleries, maps and their captions: a report has no pictures, and the published
  articles keep no captions. Sound and what readers do not see go too.
- Headings with nothing below them, such as those of galleries.
"""

from dataclasses import dataclass, field
from itertools import takewhile

from tasks.extraction.blocks import is_reference_heading
from tasks.wikipedia.dom import Element, Walk, parse
from tasks.wikipedia.inline import Run, escaped, escaped_words, visible
from tasks.wikipedia.noise import names
from tasks.wikipedia.tables import is_data, is_inline, read_table
from tasks.wikipedia.written import (
    BOLD_LINE_LEVEL,
    REMARK_LEVEL,
    Block,
    Mark,
    joined,
    with_content_below,
)

CONVERTER_VERSION = 1
"""Raise it when the output changes: articles frozen under another version are not comparable."""

MAX_MARKS = 8
"""Lists and quotations within each other that are shown by indentation; deeper ones stay at 8."""
_LONGEST_BOLD_LINE = 80
"""Characters. A longer paragraph in bold is an emphasised sentence, not a heading."""
_HEADINGS = {f"h{level}": max(level, 2) for level in range(1, 7)}
_QUOTES = names("quotebox pullquote")


def to_markdown(html: str, title: str) -> str:
    """The article as Markdown: its title as the first heading, one blank line between blocks.

    The same HTML and title always give the same text, in Unicode NFC.

    Raises:
        UnreadableHtml: the HTML is too large or too entangled (see `dom.parse`).
    """
    heading = Run()
    heading.text(title)
    first = f"# {_escaped_heading(heading.taken())}".rstrip()
    text = joined(with_content_below(_Writer().blocks(html)))
    return f"{first}\n\n{text}".rstrip()


@dataclass
class _Writer:
    """Reads a page from top to bottom and writes its blocks."""

    _blocks: list[Block] = field(default_factory=list)
    _run: Run = field(default_factory=Run)
    _marks: list[Mark] = field(default_factory=list)
    _counters: list[int | None] = field(default_factory=list)
    """For each open list the number of its next item; None where it has bullets."""
    _n_lists: int = 0
    _n_bold: int = 0
    _heading: Element | None = None
    """The heading that is open; all in it counts as inline."""
    _term: bool = False
    _apparatus: int | None = None
    """Level of the heading of references we are under: nothing there is kept."""

    def blocks(self, html: str) -> list[Block]:
        body = parse(html).body
        if body is None:
            return []
        walk = Walk(body)
        for event in walk:
            if event[0] == "text":
                self._run.text(event[1], bold=self._n_bold > 0)
            elif event[0] == "leave":
                self._leave(event[1])
            elif not self._whole(event[1]):
                self._enter(event[1])
            else:
                walk.skip()
        self._flush()
        return self._blocks

    def _whole(self, element: Element) -> bool:
        """Write an element that is one block; False if it is to be entered."""
        if self._heading is not None:
            return False
        if element.tag == "table" and is_data(element):
            self._flush()
            table = read_table(element.node)
            if table.lines:
                if table.caption and not is_reference_heading(table.caption):
                    self._add_bold(table.caption)
                self._add(table.lines)
        elif element.tag == "pre":
            self._flush()
            self._add(_fenced(_verbatim(element)))
        else:
            return False
        return True

    def _enter(self, element: Element) -> None:
        tag = element.tag
        if is_inline(tag):
            self._n_bold += tag in ("b", "strong")
            if tag == "sup":
                self._run.raised()
            elif tag == "q":
                self._run.text("“")
        elif tag == "br":
            self._break()
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
            start = element.number("start", 0, 999_999)
            self._counters.append(start if tag == "ol" else None)
        elif tag == "li":
            self._marks.append(self._item_mark(element))
        elif tag == "dt":
            self._term = True
        elif _is_quote(element):
            mark = "" if "quotebox-quote" in element.classes else "> "  # its box has one
            self._marks.append(Mark(mark, mark, None))

    def _leave(self, element: Element) -> None:
        tag = element.tag
        if is_inline(tag):
            self._n_bold -= tag in ("b", "strong")
            if tag == "sup":
                self._run.lowered()
            elif tag == "q":
                self._run.text("”")
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
            self._marks.pop()

    def _item_mark(self, element: Element) -> Mark:
        number = self._counters[-1] if self._counters else None
        if number is None:
            return Mark("- ", "  ", self._n_lists)
        number = element.number("value", 0, 999_999, default=number)
        self._counters[-1] = number + 1
        mark = f"{number}. "
        return Mark(mark, " " * len(mark), self._n_lists)

    def _break(self) -> None:
        if self._heading is None:
            self._run.line_break()
        else:
            self._run.text(" ")

    def _close_heading(self, level: int) -> None:
        run, self._run, self._heading = self._run, Run(), None
        words = run.taken()
        if self._apparatus is not None and level <= self._apparatus:
            self._apparatus = None
        if words and self._apparatus is None:
            if is_reference_heading(words):
                self._apparatus = level
            else:
                self._add((f"{'#' * level} {_escaped_heading(words)}",), level)

    def _flush(self) -> None:
        """End the paragraph."""
        if self._run.is_empty:
            return
        run, self._run = self._run, Run()
        text = run.taken()
        if not text:
            return
        is_line = "\n" not in text and len(text) <= _LONGEST_BOLD_LINE
        if is_line and is_reference_heading(text):
            remark = escaped(text.rstrip(" :"))
            self._add((remark,), None if self._marks else REMARK_LEVEL)
        elif is_line and (self._term or (run.all_bold and not self._marks)):
            self._add_bold(text)
        else:
            self._add(tuple(map(_no_announcement, escaped(text).split("\n"))))

    def _add_bold(self, text: str) -> None:
        words = text.strip("*").replace("\n", " ").strip()
        if words:
            self._add((f"**{escaped_words(words)}**",), BOLD_LINE_LEVEL)

    def _add(self, lines: tuple[str, ...], level: int | None = None) -> None:
        if self._apparatus is not None or not lines:
            return
        marks = tuple(self._marks[:MAX_MARKS])
        if len(self._marks) > MAX_MARKS:
            marks = (*marks[:-1], self._marks[-1])
        first = "".join(mark.rest if mark.shown else mark.first for mark in marks)
        rest = "".join(mark.rest for mark in marks)
        begins_item = bool(marks) and not marks[-1].shown
        for mark in marks:
            mark.shown = True
        written = [(first if n == 0 else rest) + line for n, line in enumerate(lines)]
        self._blocks.append(
            Block(tuple(line.rstrip() for line in written), marks, level, begins_item)
        )


def _no_announcement(line: str) -> str:
    """The line; without its colon if it would be taken for a heading of references."""
    return line.rstrip(" :") if line.endswith(":") and is_reference_heading(line) else line


def _is_quote(element: Element) -> bool:
    return element.tag == "blockquote" or not _QUOTES.isdisjoint(element.classes)


def _escaped_heading(words: str) -> str:
    """Heading text; a `#` at its end would be taken for the end of the heading."""
    text = escaped_words(words)
    return f"{text[:-1]}\\#" if text.endswith("#") else text


def _verbatim(element: Element) -> list[str]:
    """The lines of preformatted text."""
    pieces = []
    for event in Walk(element.node):
        if event[0] == "text":
            pieces.append(event[1])
        elif event[0] == "enter" and event[1].tag == "br":
            pieces.append("\n")
    return [visible(line).rstrip() for line in "".join(pieces).splitlines()]


def _fenced(lines: list[str]) -> tuple[str, ...]:
    """Preformatted lines between fences longer than any within."""
    if not any(lines):
        return ()
    longest = max(len(list(takewhile("`".__eq__, line.lstrip()))) for line in lines)
    fence = "`" * max(3, longest + 1)
    return (fence, *lines, fence)
