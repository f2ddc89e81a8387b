"""Sentences of a block, with the citation markers that belong to each.

Markers and markup are lifted out before splitting, then put back by their offsets: a marker
belongs to the sentence whose last character stands before it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape

from nupunkt import PunktSentenceTokenizer

from tasks.extraction.blocks import Block
from tasks.extraction.citations import Marker

MIN_WORDS = 3
"""Shorter sentences are labels, not statements."""

_MARKUP = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^()\s]{0,2000}\)"  # image
    r"|</?[A-Za-z][^<>\n]{0,200}>"
    r"|\\(?=[!-/:-@\[-`{-~])"
    r"|\*{1,3}|`+|(?<!\w)_{1,3}|_{1,3}(?!\w)"
    r"|&\#?\w{2,8};"
    r"|\s+"
)
_CLOSERS = " \t\r\n*_`"
_LINK_END = re.compile(r"[\s.;,)\]*_]*(?=$|[A-Z\"“‘'(\[【0-9])")
_INITIALS = re.compile(r"(?:^|[\s(\"“‘'])(?!U\.[SKN]\.|D\.C\.|[ap]\.m\.)(?:[A-Z]\.){1,3}$")
"""Of a person's name: `A.J.`. (Countries often end a sentence.)"""
_ABBREVIATION = re.compile(
    r"\b(?:[Vv]ol|[Nn]os?|Bros|Mt|Ft|[Cc]h|pp?|[Ff]ig|[Ee]d|[Ss]t|vs?|ca?|"
    r"Drs?|Mrs?|Ms|Prof|Gen|Lt|Col|Sgt|Capt|Rev|Gov|Sen|Rep)\.$"
)
_WORD = re.compile(r"[^\W\d_]")
_PIECE = 5000
"""Characters; no real paragraph is longer."""
_SPACE_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")
_EMPTY_PARENTHESES = re.compile(r"\s?\([\s,;]*\)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in plain words; `start` is its offset in the whole text."""

    text: str
    start: int
    markers: tuple[Marker, ...]


def block_sentences(text: str, block: Block, markers: Sequence[Marker] = ()) -> list[Sentence]:
    """Sentences of a block; a table row is one, its cells set apart by semicolons."""
    if block.kind != "row":
        return split_sentences(text, block.start, block.end, markers)
    lifted = _lift(text, block.start, block.end, markers)
    cells = [_tidy(cell) for cell in lifted.plain.split("|")]
    words = "; ".join(cell for cell in cells if cell)
    return [Sentence(words, block.start, tuple(markers))] if words else []


def plain_text(text: str, block: Block, markers: Sequence[Marker] = ()) -> str:
    """A block's words without markup and markers, not split."""
    return _tidy(_lift(text, block.start, block.end, markers).plain)


def split_sentences(
    text: str, start: int, end: int, markers: Sequence[Marker] = ()
) -> list[Sentence]:
    """Sentences of `text[start:end]`; `markers` are those inside the span, in order."""
    lifted = _lift(text, start, end, markers)
    sentences: list[Sentence] = []
    spans = _spans(lifted.plain)
    ends = [span_end for _, span_end in spans]
    groups: list[list[Marker]] = [[] for _ in ends]
    for at, marker in lifted.markers:
        if ends:
            groups[min(bisect_right(ends, at), len(ends) - 1)].append(marker)
    for (low, high), group in zip(spans, groups, strict=True):
        piece = lifted.plain[low:high]
        first = low + len(piece) - len(piece.lstrip())
        sentences.append(Sentence(_tidy(piece), lifted.source(first), tuple(group)))
    return sentences


def _spans(plain: str) -> list[tuple[int, int]]:
    """Sentence spans; a cut after an abbreviation the model does not know is undone."""
    spans: list[tuple[int, int]] = []
    for low, high in _raw_spans(plain):
        if spans and _goes_on(plain[max(spans[-1][0], low - 24) : low], plain[low : low + 24]):
            spans[-1] = (spans[-1][0], high)
        else:
            spans.append((low, high))
    return spans


def _raw_spans(plain: str) -> Iterator[tuple[int, int]]:
    """The model's spans, piece by piece: its time grows with the square of the length."""
    start = 0
    while start < len(plain):
        space = plain.rfind(" ", start, start + _PIECE) if len(plain) > start + _PIECE else -1
        end = space + 1 if space > start else start + _PIECE
        piece = plain[start:end]
        if _WORD.search(piece):
            yield from ((start + a, start + b) for a, b in _tokenizer().span_tokenize(piece))
        elif not piece.isspace():
            yield start, start + len(piece)
        start = end


def _goes_on(before: str, after: str) -> bool:
    before, after = before.rstrip(), after.lstrip()
    if not before.endswith("."):
        return False
    return (
        after[:1].islower()
        or _INITIALS.search(before) is not None
        or (_ABBREVIATION.search(before) is not None and after[:1].isalnum())
    )


@cache
def _tokenizer() -> PunktSentenceTokenizer:
    return PunktSentenceTokenizer()


@dataclass
class _Lifted:
    """Plain text and where its pieces come from."""

    plain: str
    markers: list[tuple[int, Marker]]
    """Offset in `plain` of the last character before each marker that is no space."""
    plain_starts: list[int]
    source_starts: list[int]

    def source(self, at: int) -> int:
        piece = max(bisect_right(self.plain_starts, at) - 1, 0)
        if not self.plain_starts:
            return 0
        return self.source_starts[piece] + at - self.plain_starts[piece]


def _lift(text: str, start: int, end: int, markers: Sequence[Marker]) -> _Lifted:
    cuts = _cuts(text, start, end, markers)
    plain: list[str] = []
    lifted = _Lifted("", [], [], [])
    length, at, anchor = 0, start, 0
    for cut_start, cut_end, replacement, marker in cuts:
        for piece, source in ((text[at:cut_start], at), (replacement, cut_start)):
            if piece:
                lifted.plain_starts.append(length)
                lifted.source_starts.append(source)
                plain.append(piece)
                words = len(piece.rstrip(_CLOSERS))
                anchor = length + words - 1 if words else anchor
                length += len(piece)
        if marker is not None:
            lifted.markers.append((anchor, marker))
        at = cut_end
    if at < end:
        lifted.plain_starts.append(length)
        lifted.source_starts.append(at)
        plain.append(text[at:end])
    lifted.plain = "".join(plain)
    return lifted


Cut = tuple[int, int, str, Marker | None]


def _cuts(text: str, start: int, end: int, markers: Sequence[Marker]) -> list[Cut]:
    """What to take out or replace, in order: markers, then markup in between."""
    cuts: list[Cut] = []
    at = start
    for marker in markers:
        cuts += _markup(text, at, marker.start)
        if marker.label is not None and not _is_aside(text, start, end, marker):
            cuts.append((marker.start, marker.label[0], "", None))
            cuts += _markup(text, *marker.label)
            cuts.append((marker.label[1], marker.end, "", marker))
        else:
            cuts.append((marker.start, marker.end, "", marker))
        at = marker.end
    return cuts + _markup(text, at, end)


def _markup(text: str, start: int, end: int) -> list[Cut]:
    cuts: list[Cut] = []
    for match in _MARKUP.finditer(text, start, end):
        found = match.group()
        if found.isspace():
            if found != " ":
                cuts.append((*match.span(), " ", None))
        else:
            cuts.append((*match.span(), unescape(found) if found[0] == "&" else "", None))
    return cuts


def _is_aside(text: str, start: int, end: int, link: Marker) -> bool:
    """Whether a link only cites: it stands after a sentence's end or in parentheses."""
    before = text[max(start, link.start - 40) : link.start].rstrip(_CLOSERS)
    after = text[link.end : min(end, link.end + 40)]
    if before.endswith("(") and after.lstrip(_CLOSERS).startswith((")", ";", ",")):
        return True
    return before[-1:] in tuple('.!?…”"’]);') and _LINK_END.match(after) is not None


def _tidy(sentence: str) -> str:
    without = _EMPTY_PARENTHESES.sub("", sentence)
    return _SPACE_BEFORE_STOP.sub("", " ".join(without.split())).strip()
