"""Split blocks into sentences, with the citation markers that belong to each.

Markers and markup are removed before splitting and reassigned by their offsets: a marker belongs to
the sentence of the character before it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import unescape
from typing import TYPE_CHECKING

from tasks.extraction.blocks import MarkdownBlock
from tasks.extraction.citations import LINK_END, Marker, find_markers
from tasks.extraction.languages import WORD, count_words, split_at_marks
from tasks.extraction.marker_forms import WORDS

if TYPE_CHECKING:
    from nupunkt import PunktSentenceTokenizer

MIN_WORDS = 3
"""Shorter sentences are labels, not statements."""

_MARKUP = re.compile(
    r"!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,2000}\)|\[[^\[\]\n]{0,60}\])"  # image
    r"|\\<br\s?/?\\?>"
    r"|(?P<escaped>\\[!-)+-/:-@\[-`{-~]|(?<=\S )\\\*(?= )|(?<=\w)\\\*(?=\w))|\\\*"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)[^`\n]{1,500}(?<!`)(?P=ticks)(?!`)"
    r"|</?[A-Za-z][^<>\n]{0,200}>"
    r"|\*{1,3}|`+|(?<!\w)_{1,3}|_{1,3}(?!\w)"
    r"|&\#?\w{2,8};"
    r"|\s+"
)
_BETWEEN_MARKERS = " \t\r\n,;、，；"
_CLOSERS = " \t\r\n*_`"
_INITIALS = re.compile(r"(?:^|[\s(\"“‘'])(?!U\.[SKN]\.|D\.C\.|[ap]\.m\.)(?:[A-Z]\.){1,3}$")
"""Initials of a person (`A.J.`), but not of countries (`U.S.`), which often end a sentence."""
_ABBREVIATION = re.compile(
    r"\b(?:[Vv]ol|[Nn]os?|Bros|Mt|Ft|[Cc]h|pp?|[Ff]ig|[Ee]d|[Ss]t|vs?|ca?|"
    r"Drs?|Mrs?|Ms|Prof|Gen|Lt|Col|Sgt|Capt|Rev|Gov|Sen|Rep)\.$"
)
_MAX_PIECE = 5000
"""Characters to split at a time; no real paragraph is longer."""
_SPACE_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?](?:\s|$)|[。，、；！？।])")
_EMPTY_BRACKETS = re.compile(r"\s?(?:\([\s,;]*\)|（[\s，；,;]*）|\[[\s,;]*\]|【\s*】)")
_SOURCE_WORD = re.compile(
    rf"^\W*(?:{WORDS}|evidence|links?|证据|依据|链接|数据链接|源头)\s?(?:[(（]\w{{1,9}}[)）])?\s?(?=[:：]|\W*$)",
    re.IGNORECASE,
)
_SOURCE_NAMED = re.compile(
    r"^\W*(?:sources?|citations?|references?|quellen?|fontes?|fuentes?|fonti|источники?|nguồn|출처|出典|"
    r"(?:资料|資料|数据|數據|信息)?(?:来源|來源))\s?(?:[(（]\w{1,9}[)）])?\s?[:：]",
    re.IGNORECASE,
)
MAX_SOURCE_WORDS = 25
"""More words behind `Source:` state something."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in plain words; `start` is its offset in the whole text."""

    text: str
    start: int
    markers: tuple[Marker, ...]


def group_markers(
    blocks: Sequence[MarkdownBlock], markers: Sequence[Marker]
) -> Iterator[list[Marker]]:
    """Yield the markers inside each block; both are in order."""
    starts = [marker.start for marker in markers]
    for block in blocks:
        low, high = bisect_left(starts, block.start), bisect_left(starts, block.end)
        yield [marker for marker in markers[low:high] if marker.end <= block.end]


def split_block(text: str, block: MarkdownBlock, markers: Sequence[Marker] = ()) -> list[Sentence]:
    """Split a block into sentences; a table row is one, its cells separated by semicolons."""
    if block.kind != "row":
        return split_sentences(text, block.start, block.end, markers)
    lifted = _lift(text, block.start, block.end, markers)
    cells = [_tidy(cell) for cell in lifted.plain.split("|")]
    words = "; ".join(cell for cell in cells if cell)
    return [Sentence(words, block.start, tuple(markers))] if words else []


def strip_markup(text: str, block: MarkdownBlock, markers: Sequence[Marker] = ()) -> str:
    """Return a block's text without markup and markers."""
    return _tidy(_lift(text, block.start, block.end, markers).plain)


def is_only_markers(text: str, block: MarkdownBlock, markers: Sequence[Marker]) -> bool:
    """Whether a block holds citation markers and links, and no other words but a source's name."""
    if not any(marker.cites for marker in markers):
        return False
    bare = [replace(marker, label=None) for marker in markers]
    plain = _lift(text, block.start, block.end, bare).plain
    alone = "。" not in plain.rstrip("。 \n")
    return (alone and names_source(plain)) or not any(map(str.isalnum, _SOURCE_WORD.sub("", plain)))


def names_source(sentence: str) -> bool:
    """Whether words only name the source of what is before them: `Source: a report of 2024`."""
    named = _SOURCE_NAMED.match(sentence) is not None
    return named and count_words(sentence) <= MAX_SOURCE_WORDS


def remove_marks(statement: str, entries: Collection[str] = ()) -> str:
    """Remove the citation marks that somebody left in a statement; without any, it stays as it is.

    entries: the keys of the report's reference list.
    """
    markers = find_markers(statement, entries)
    if not markers:
        return statement
    return _tidy(_lift(statement, 0, len(statement), markers).plain) or statement


def split_sentences(
    text: str, start: int, end: int, markers: Sequence[Marker] = ()
) -> list[Sentence]:
    """Split `text[start:end]` into sentences; `markers` are those inside the span, in order."""
    lifted = _lift(text, start, end, markers)
    sentences: list[Sentence] = []
    spans = _sentence_spans(lifted.plain)
    ends = [span_end for _, span_end in spans]
    groups: list[list[Marker]] = [[] for _ in ends]
    for at, marker in lifted.markers:
        if ends:
            groups[min(bisect_right(ends, at), len(ends) - 1)].append(marker)
    for (low, high), group in zip(spans, groups, strict=True):
        piece = lifted.plain[low:high]
        first = low + len(piece) - len(piece.lstrip())
        sentences.append(Sentence(_tidy(piece), lifted.source_offset(first), tuple(group)))
    return sentences


def _sentence_spans(plain: str) -> list[tuple[int, int]]:
    """Return sentence spans, joined again after abbreviations that the model does not know."""
    spans: list[tuple[int, int]] = []
    for low, high in _raw_spans(plain):
        if spans and _continues_sentence(
            plain[max(spans[-1][0], low - 24) : low], plain[low : low + 24]
        ):
            spans[-1] = (spans[-1][0], high)
        else:
            spans.append((low, high))
    return spans


def _raw_spans(plain: str) -> Iterator[tuple[int, int]]:
    """Yield the model's spans, piece by piece, as its time is quadratic in the length."""
    start = 0
    while start < len(plain):
        most = start + _MAX_PIECE
        space = plain.rfind(" ", start, most) if len(plain) > most else -1
        end = space + 1 if space > start else start + _MAX_PIECE
        piece = plain[start:end]
        if WORD.search(piece):
            for low, high in _get_tokenizer().span_tokenize(piece):
                yield from split_at_marks(plain, start + low, start + high)
        elif not piece.isspace():
            yield start, start + len(piece)
        start = end


def _continues_sentence(before: str, after: str) -> bool:
    before, after = before.rstrip(), after.lstrip()
    if not before.endswith("."):
        return False
    return (
        after[:1].islower()
        or _INITIALS.search(before) is not None
        or (_ABBREVIATION.search(before) is not None and after[:1].isalnum())
    )


@cache
def _get_tokenizer() -> "PunktSentenceTokenizer":
    from nupunkt import PunktSentenceTokenizer  # slow to load, and `status` splits nothing

    return PunktSentenceTokenizer()


@dataclass
class _LiftedText:
    """Plain text, with the source offsets of its pieces."""

    plain: str
    markers: list[tuple[int, Marker]]
    """Each marker with the offset in `plain` of the last non-space character before it."""
    plain_starts: list[int]
    source_starts: list[int]

    def source_offset(self, at: int) -> int:
        piece = max(bisect_right(self.plain_starts, at) - 1, 0)
        if not self.plain_starts:
            return 0
        return self.source_starts[piece] + at - self.plain_starts[piece]


def _lift(text: str, start: int, end: int, markers: Sequence[Marker]) -> _LiftedText:
    cuts = _find_cuts(text, start, end, markers)
    plain: list[str] = []
    lifted = _LiftedText("", [], [], [])
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


def _find_cuts(text: str, start: int, end: int, markers: Sequence[Marker]) -> list[Cut]:
    """Return what to remove or replace, in order: markers, and the markup between them."""
    cuts: list[Cut] = []
    at = start
    for number, marker in enumerate(markers):
        if number and not text[at : marker.start].strip(_BETWEEN_MARKERS):
            cuts += [(at, marker.start, " ", None)] if at < marker.start else []
        else:
            cuts += _find_markup_cuts(text, at, marker.start)
        if marker.label is not None and not _is_aside(text, start, end, marker):
            cuts.append((marker.start, marker.label[0], "", None))
            cuts += _find_markup_cuts(text, *marker.label)
            cuts.append((marker.label[1], marker.end, "", marker))
        else:
            cuts.append((marker.start, marker.end, "", marker))
        at = marker.end
    return cuts + _find_markup_cuts(text, at, end)


def _find_markup_cuts(text: str, start: int, end: int) -> list[Cut]:
    cuts: list[Cut] = []
    for match in _MARKUP.finditer(text, start, end):
        found = match.group()
        if found.isspace():
            if found != " ":
                cuts.append((*match.span(), " ", None))
        else:
            cuts.append((*match.span(), _read_markup(match), None))
    return cuts


def _read_markup(match: re.Match[str]) -> str:
    """Return what a reader sees of markup."""
    if match["escaped"]:
        return match["escaped"][1:]
    if match["ticks"]:
        return match.group().strip("`")
    return unescape(match.group()) if match.group()[0] == "&" else ""


def _is_aside(text: str, start: int, end: int, link: Marker) -> bool:
    """Whether a link is only a citation, i.e. after the end of a sentence or in parentheses."""
    before = text[max(start, link.start - 40) : link.start].rstrip(_CLOSERS)
    after = text[link.end : min(end, link.end + 40)]
    if before.endswith(("(", "[")) and after.lstrip(_CLOSERS).startswith((")", "]", ";", ",")):
        return True
    return before[-1:] in tuple('.!?…”"’]);') and LINK_END.match(after) is not None


def _tidy(sentence: str) -> str:
    without = _EMPTY_BRACKETS.sub("", sentence)
    return _SPACE_BEFORE_STOP.sub("", " ".join(without.split())).strip()
