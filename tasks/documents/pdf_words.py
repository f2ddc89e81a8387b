"""Extract the words of a PDF page in text order, and group them into lines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pdfplumber.page import Page

from tasks.documents.pdf_tags import TagPlace

MARGIN = 0.09
"""Share of a page's height, at top and bottom, that may hold running heads and page numbers."""
MIN_REPEATED = 0.5
"""A line in the margin on this share of the pages (at least two) is a running head."""
ARTIFACT = -1
"""Marked content id of what belongs to the page, not to the text."""
MAX_WORDS = 20_000
"""Words read of one page; a page in small print has 1,500."""

UNKNOWN = "\ufffd"
"""Stands for an undecodable letter."""

BULLETS = r"•◦▪▫‣⁃●○■□·∙\uf0b7\uf0a7\uf0d8\ufffd"
"""Includes those of Word's own fonts, and undecodable letters, which stand alone like bullets."""

RAISED_NUMBER = re.compile(r"[\[(]?\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*[\])]?[,;]?")

_BOLD = re.compile(r"bold|black|heavy|semib|demi", re.IGNORECASE)
_RULE = r"[-–—|\s]*"
_PAGE_NUMBER = re.compile(
    rf"{_RULE}(?:page|seite|p\.)?\s*\d{{1,4}}(?:\s*(?:/|of|von)\s*\d{{1,4}})?{_RULE}", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_NO_CHARACTER = re.compile(r"\(cid:\d+\)|[\ufffd\x00-\x08\x0b\x0e-\x1f]")


Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class PdfWord:
    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    """Font size in points."""
    bold: bool
    url: str | None
    """URL of the link on it."""
    place: TagPlace | None
    framed: bool = False
    """Whether a frame holds it within its line, such as code."""

    def is_within(self, box: tuple[float, float, float, float]) -> bool:
        """Return whether its middle lies in a box: x0, top, x1, bottom."""
        x0, top, x1, bottom = box
        return x0 <= (self.x0 + self.x1) / 2 <= x1 and top <= (self.top + self.bottom) / 2 <= bottom


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Words of one line."""

    page: int
    words: tuple[PdfWord, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @property
    def top(self) -> float:
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @property
    def size(self) -> float:
        """Font size of most of its letters, but those of links if it has others."""
        return measure_size([word for word in self.words if word.url is None] or self.words)

    @property
    def bold(self) -> bool:
        return all(word.bold for word in self.words)

    @property
    def place(self) -> TagPlace | None:
        return self.words[0].place


def measure_size(parts: Iterable[PdfWord | PdfLine]) -> float:
    """Return the font size of most letters; 0 if there are none."""
    sizes: Counter[float] = Counter()
    for part in parts:
        sizes[part.size] += len(part.text)
    return max(sizes, key=lambda size: sizes[size], default=0.0)


def extract_words(page: Page, tagged: Mapping[int, TagPlace]) -> list[PdfWord]:
    """Extract the words of a page in text order, without artifacts and rotated text."""
    _annotate_letters(page)
    found = page.extract_words(
        use_text_flow=True, x_tolerance_ratio=0.2, extra_attrs=["fontname", "size", "mcid", "url"]
    )
    return [
        PdfWord(
            text=_NO_CHARACTER.sub(UNKNOWN, word["text"]),
            x0=float(word["x0"]),
            x1=float(word["x1"]),
            top=float(word["top"]),
            bottom=float(word["bottom"]),
            size=round(float(word["size"]) * 2) / 2,
            bold=_BOLD.search(str(word["fontname"])) is not None,
            url=word["url"],
            place=tagged.get(word["mcid"]) if word["mcid"] is not None else None,
        )
        for word in found[:MAX_WORDS]
        if word["mcid"] != ARTIFACT and word["upright"]
    ]


def count_unknown(words: Iterable[PdfWord]) -> int:
    """Count the undecodable letters; lone ones are bullets and do not count."""
    return sum(word.text.count(UNKNOWN) for word in words if word.text != UNKNOWN)


def group_lines(number: int, words: Sequence[PdfWord]) -> Iterator[PdfLine]:
    """Group the words of page `number` into lines."""
    current: list[PdfWord] = []
    for word in words:
        if current and not _continues_line(current[-1], word):
            yield PdfLine(number, tuple(current))
            current = []
        current.append(word)
    if current:
        yield PdfLine(number, tuple(current))


def drop_running_heads(
    pages: Mapping[int, Sequence[PdfLine | Part]], heights: Mapping[int, float]
) -> list[PdfLine | Part]:
    """Return the parts of all pages, without running heads, feet and page numbers."""
    margins = [
        [part for part in parts if isinstance(part, PdfLine) and _in_margin(part, heights[number])]
        for number, parts in pages.items()
    ]
    seen = Counter(key for lines in margins for key in {_head_key(line) for line in lines})
    enough = max(2, MIN_REPEATED * len(pages))
    dropped = {
        id(line)
        for lines in margins
        for line in lines
        if seen[_head_key(line)] >= enough or _PAGE_NUMBER.fullmatch(line.text)
    }
    return [part for parts in pages.values() for part in parts if id(part) not in dropped]


def _annotate_letters(page: Page) -> None:
    """Annotate each letter with its marked content id and the URL of the link on it, without the
    passage of the page that the link marks."""
    links = [
        (link["x0"] - 1, link["x1"] + 1, link["top"] - 1, link["bottom"] + 1, link["uri"])
        for link in page.hyperlinks
        if isinstance(link["uri"], str) and link["uri"].lower().startswith(("http://", "https://"))
    ]
    marked: int | None = None
    for letter in page.chars:
        # Marked content may be nested (a ligature, a formula). What follows the inner passage is
        # reported as unmarked, but still belongs to the outer one.
        if letter["tag"] == "Artifact":
            letter["mcid"] = ARTIFACT
        elif letter["mcid"] is None and marked != ARTIFACT:
            letter["mcid"] = marked
        marked = letter["mcid"]
        x = (letter["x0"] + letter["x1"]) / 2
        y = (letter["top"] + letter["bottom"]) / 2
        letter["url"] = next(
            (
                uri.partition("#:~:")[0]
                for x0, x1, top, bottom, uri in links
                if x0 <= x <= x1 and top <= y <= bottom
            ),
            None,
        )


def _continues_line(last: PdfWord, word: PdfWord) -> bool:
    """Return whether a word is in the same line as the one before it."""
    if last.place is not None and word.place is not None and last.place.block != word.place.block:
        return False
    overlap = min(last.bottom, word.bottom) - max(last.top, word.top)
    lower = min(last.bottom - last.top, word.bottom - word.top)
    return overlap >= 0.5 * lower and word.x0 >= last.x1 - max(last.size, word.size)


def _in_margin(line: PdfLine, height: float) -> bool:
    return line.bottom < MARGIN * height or line.top > (1 - MARGIN) * height


def _head_key(line: PdfLine) -> tuple[str, int, int]:
    """Return what a running head has in common on all pages: words, font size and height."""
    return _DIGITS.sub("#", line.text).casefold(), round(line.size), round(line.top / 2)
