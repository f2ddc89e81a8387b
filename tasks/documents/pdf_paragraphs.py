"""Join the lines of a PDF into paragraphs: rejoin hyphenated words and broken URLs."""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import groupby

from tasks.documents.pdf_marks import is_citation
from tasks.documents.pdf_words import RAISED_NUMBER, PdfLine, PdfWord
from tasks.extraction.marker_forms import is_exponent
from tasks.wikipedia.inline import escape_words

ENDS_IN_ADDRESS = re.compile(r"(?:https?://|www\.)\S*$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S*", re.IGNORECASE)
_BEGINS_ADDRESS = re.compile(r"<?https?://", re.IGNORECASE)
_MAY_BREAK_AFTER = frozenset("-/?&=_.%#:~+,")
_ONLY_IN_ADDRESSES = re.compile(r"[=&%_?#~]\w|\w/\w|\w\.\w+$")
_OF_AN_ADDRESS = re.compile(r"[/=&%_?#~]|\w[-.]\w|\d")
_ENDS_HYPHENATED = re.compile(r"([^\W\d_]{2,})-$")
_FIRST_LETTERS = re.compile(r"([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\uff00-\uffef]")
_STOPS = re.compile(r"[,.;:!?)\]”’]+")
"""Follow a word without a blank, whatever room a frame or a raised number takes between them."""
MAX_SMALL = 0.9
"""Raised letters are at most this many times as large as the line's."""
MIN_HYPHENATED = 2
"""Hyphenated words that occur whole elsewhere, from which a document counts as hyphenated."""
SOFT_HYPHEN = "\u00ad"


@dataclass(slots=True)
class PdfPiece:
    """A word of the Markdown."""

    text: str
    url: str | None
    glued: bool
    """Whether no space precedes it."""
    citation: bool = False
    """Whether it is a number with a link, which is a link of its own."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The unbroken words of the document, which tell how to join broken ones."""

    words: Set[str]
    hyphenates: bool
    """Whether the document hyphenates words at line ends at all."""

    @classmethod
    def from_lines(cls, lines: Iterable[PdfLine]) -> "Vocabulary":
        known: set[str] = set()
        parted: set[tuple[str, str]] = set()
        last: PdfLine | None = None
        for line in lines:
            known.update(word.casefold() for word in _WORD.findall(_ADDRESS.sub(" ", line.text)))
            if last is not None and (
                halves := _split_halves(last.words[-1].text, line.words[0].text)
            ):
                parted.add(halves)
            last = line
        joined = sum(a + b in known for a, b in parted)
        hyphenated = sum(f"{a}-{b}" in known for a, b in parted)
        hyphenates = joined >= MIN_HYPHENATED and joined > hyphenated
        return cls(frozenset(known), hyphenates)

    def is_whole_word(self, first: str, second: str) -> bool:
        """Return whether the halves make one word without a hyphen."""
        if f"{first}-{second}" in self.words:
            return False
        return first + second in self.words or self.hyphenates


def join_lines(lines: Iterable[PdfLine], vocabulary: Vocabulary) -> str:
    """Join the lines of a paragraph into one line of Markdown."""
    pieces: list[PdfPiece] = []
    for line in lines:
        for number, piece in enumerate(_split_pieces(line)):
            if number == 0 and pieces:
                _join(pieces, piece, vocabulary)
            else:
                pieces.append(piece)
    return "".join(_format_pieces(pieces)).strip()


def _split_pieces(line: PdfLine) -> Iterator[PdfPiece]:
    last: PdfWord | None = None
    size, bottom = line.size, line.bottom
    only_citations = all(map(is_citation, line.words))
    cited = False
    for word in line.words:
        text = word.text
        stop = _STOPS.match(text)
        glued = last is not None and (
            word.x0 - last.x1 < 0.15 * min(word.size, last.size)
            or (stop is not None and (last.framed or stop[0] == text))
        )
        small = word.size <= MAX_SMALL * size
        raised = small and word.bottom < bottom - 0.2 * size
        follows = last is not None and (cited or not is_exponent(last.text, text))
        cited = raised and follows and RAISED_NUMBER.fullmatch(text) is not None
        if cited:
            text = f"[{text.strip('[](),;')}]"
        within_link = last is not None and last.url == word.url and not is_citation(last)
        cites = is_citation(word) and (small or only_citations or text[0] == "[")
        yield PdfPiece(text, word.url, glued, cites and not within_link)
        last = word


def _join(pieces: list[PdfPiece], piece: PdfPiece, vocabulary: Vocabulary) -> None:
    """Add the first word of a line to the words of the line before."""
    last = pieces[-1]
    if last.text.endswith(SOFT_HYPHEN):
        last.text = last.text.rstrip(SOFT_HYPHEN) + piece.text
    elif _is_broken_address(last, piece):
        last.text += piece.text
        last.url = last.url or piece.url
    elif last.url == piece.url and (halves := _split_halves(last.text, piece.text)):
        whole = vocabulary.is_whole_word(*halves)
        last.text = (last.text[:-1] if whole else last.text) + piece.text
    else:
        ideographs = _IDEOGRAPH.match(last.text[-1:]) and _IDEOGRAPH.match(piece.text[:1])
        parted = last.text.endswith("-") and len(last.text) > 1
        piece.glued = bool(ideographs) or parted
        pieces.append(piece)


def _is_broken_address(last: PdfPiece, piece: PdfPiece) -> bool:
    if not ENDS_IN_ADDRESS.search(last.text):
        return False
    if piece.text[:1] in "[(<" or _BEGINS_ADDRESS.match(piece.text):
        return False
    if last.url or piece.url:
        whole = ENDS_IN_ADDRESS.search(last.text + piece.text)
        url = last.url or piece.url or ""
        return (
            last.url == piece.url
            and whole is not None
            and (
                _strip_scheme(whole[0]) in _strip_scheme(url)
                or _strip_scheme(url) in _strip_scheme(whole[0])
            )
        )
    end = last.text[-1]
    if end in "-_=?&%":
        return True
    sure = _ONLY_IN_ADDRESSES.search(piece.text) is not None
    return sure or (end in _MAY_BREAK_AFTER and _OF_AN_ADDRESS.search(piece.text) is not None)


def _strip_scheme(address: str) -> str:
    return address.casefold().removeprefix("https://").removeprefix("http://").strip(".,;)]/")


def _split_halves(end: str, begin: str) -> tuple[str, str] | None:
    """Return the halves of a word that may have been hyphenated."""
    first, second = _ENDS_HYPHENATED.search(end), _FIRST_LETTERS.match(begin)
    if first is None or second is None or not second[1][0].islower():
        return None
    return first[1].casefold(), second[1].casefold()


def _format_pieces(pieces: list[PdfPiece]) -> Iterator[str]:
    for (url, _), group in groupby(pieces, key=lambda p: (p.url, p.citation and id(p))):
        linked = list(group)
        text = "".join(("" if p.glued else " ") + p.text for p in linked)
        words = text.strip()
        if url is None:
            yield escape_words(text) if "](" in text or "<" in text else text
            continue
        yield "" if linked[0].glued else " "
        yield (
            f"<{url}>"
            if _strip_scheme(words) == _strip_scheme(url)
            else f"[{_link_text(words)}]({_link_target(url)})"
        )


def _link_text(words: str) -> str:
    """Format a link's text; drop brackets around a lone number: `[1](…)`, not `[[1]](…)`."""
    bare = words.strip("[]")
    return bare if bare.isdigit() else words.replace("[", "\\[").replace("]", "\\]")


def _link_target(url: str) -> str:
    safe = url.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    if safe.count("(") != safe.count(")"):
        safe = safe.replace("(", "%28").replace(")", "%29")
    return safe
