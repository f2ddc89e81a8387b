"""The words of a PDF's page in the order they were written, and the lines they make."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pdfplumber.page import Page

from tasks.documents.pdf_tags import Place

MARGIN = 0.09
"""Share of a page's height, above and below, in which running heads and page numbers stand."""
MIN_REPEATED = 0.5
"""A line that stands there on this share of the pages (at least two) is a running head."""
ARTIFACT = -1
"""In place of the number of a marked passage: what belongs to the page, not to the text."""
MAX_WORDS = 20_000
"""Of one page; a page in small print has 1,500."""

UNKNOWN = "\ufffd"
"""Stands for a letter that cannot be told."""

_BOLD = re.compile(r"bold|black|heavy|semib|demi", re.IGNORECASE)
_RULE = r"[-–—|\s]*"
_PAGE_NUMBER = re.compile(
    rf"{_RULE}(?:page|seite|p\.)?\s*\d{{1,4}}(?:\s*(?:/|of|von)\s*\d{{1,4}})?{_RULE}", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_NO_CHARACTER = re.compile(r"\(cid:\d+\)|[\ufffd\x00-\x08\x0b\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    """Of its letters, in points."""
    bold: bool
    url: str | None
    """Where a link on it leads."""
    place: Place | None


@dataclass(frozen=True, slots=True)
class Line:
    """Words side by side."""

    page: int
    words: tuple[Word, ...]

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
        """Of most of its letters."""
        sizes: Counter[float] = Counter()
        for word in self.words:
            sizes[word.size] += len(word.text)
        return sizes.most_common(1)[0][0]

    @property
    def bold(self) -> bool:
        return all(word.bold for word in self.words)

    @property
    def place(self) -> Place | None:
        return self.words[0].place


def page_words(page: Page, tagged: Mapping[int, Place]) -> list[Word]:
    """The words of a page in the order in which they were written, without what is no text."""
    _put_marks(page)
    found = page.extract_words(
        use_text_flow=True,
        x_tolerance_ratio=0.2,
        extra_attrs=["fontname", "size", "mcid", "url"],
    )
    return [
        Word(
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


def n_unknown(words: Iterable[Word]) -> int:
    """Letters of words for which the file does not say which they are; lone ones are bullets."""
    return sum(word.text.count(UNKNOWN) for word in words if word.text != UNKNOWN)


def lines_of(number: int, words: Sequence[Word]) -> Iterator[Line]:
    """The words of page `number` as lines."""
    current: list[Word] = []
    for word in words:
        if current and not _goes_on(current[-1], word):
            yield Line(number, tuple(current))
            current = []
        current.append(word)
    if current:
        yield Line(number, tuple(current))


def without_running_heads(
    pages: Mapping[int, Sequence[Line]], heights: Mapping[int, float]
) -> list[Line]:
    """The lines of all pages, without heads, feet and page numbers."""
    seen: Counter[tuple[str, int, int]] = Counter()
    for number, lines in pages.items():
        seen.update({_head_key(x) for x in lines if _in_margin(x, heights[number])})
    enough = max(2, MIN_REPEATED * len(pages))
    return [
        line
        for number, lines in pages.items()
        for line in lines
        if not (
            _in_margin(line, heights[number])
            and (seen[_head_key(line)] >= enough or _PAGE_NUMBER.fullmatch(line.text))
        )
    ]


def _put_marks(page: Page) -> None:
    """Give each letter the marked passage it stands in and the address of the link on it."""
    links = [
        (link["x0"] - 1, link["x1"] + 1, link["top"] - 1, link["bottom"] + 1, link["uri"])
        for link in page.hyperlinks
        if isinstance(link["uri"], str) and link["uri"].lower().startswith(("http://", "https://"))
    ]
    marked: int | None = None
    for letter in page.chars:
        # Inside a marked passage another may stand (a ligature, a formula). What comes after it
        # is said to be unmarked, but is in the outer passage still.
        if letter["tag"] == "Artifact":
            letter["mcid"] = ARTIFACT
        elif letter["mcid"] is None and marked != ARTIFACT:
            letter["mcid"] = marked
        marked = letter["mcid"]
        x = (letter["x0"] + letter["x1"]) / 2
        y = (letter["top"] + letter["bottom"]) / 2
        letter["url"] = next(
            (uri for x0, x1, top, bottom, uri in links if x0 <= x <= x1 and top <= y <= bottom),
            None,
        )


def _goes_on(last: Word, word: Word) -> bool:
    """Whether a word stands in the same line as the one before it."""
    if last.place is not None and word.place is not None and last.place.block != word.place.block:
        return False
    overlap = min(last.bottom, word.bottom) - max(last.top, word.top)
    lower = min(last.bottom - last.top, word.bottom - word.top)
    return overlap >= 0.5 * lower and word.x0 >= last.x1 - max(last.size, word.size)


def _in_margin(line: Line, height: float) -> bool:
    return line.bottom < MARGIN * height or line.top > (1 - MARGIN) * height


def _head_key(line: Line) -> tuple[str, int, int]:
    """What is the same in a running head on every page: its words, their size, and its height."""
    return _DIGITS.sub("#", line.text).casefold(), round(line.size), round(line.top / 2)
