"""The statements of a report before their citations are attached, and the pages of markers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tasks.extraction.blocks import MarkdownBlock
from tasks.extraction.citations import Marker
from tasks.extraction.languages import count_words
from tasks.extraction.reading import CitedText
from tasks.extraction.references import References
from tasks.extraction.sentences import (
    MIN_WORDS,
    Sentence,
    is_only_markers,
    names_source,
    split_block,
)
from tasks.extraction.urls import normalise_url

MAX_MARKERS_BELOW = 10
"""More markers in one block below a statement are a list, too."""
MAX_LINKS_BELOW = 3
"""More links in a row below a statement are a list, and belong to no statement."""


@dataclass(frozen=True, slots=True)
class DraftClaim:
    sentence: Sentence
    block: MarkdownBlock

    def with_markers(self, markers: Iterable[Marker]) -> "DraftClaim":
        sentence = replace(self.sentence, markers=(*self.sentence.markers, *markers))
        return replace(self, sentence=sentence)


class MarkerPages:
    """Looks up the pages that markers lead to."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._known: dict[tuple[Marker, int], tuple[tuple[str, str], ...]] = {}

    def find(self, marker: Marker, at: int | None = None) -> tuple[tuple[str, str], ...]:
        """Return (URL as written, normalised URL) of each page; empty if none resolves.

        at: where in the report it stands, if not at its own offset.
        """
        place = marker.start if at is None else at
        if (marker, place) not in self._known:
            raw = [marker.url] if marker.url else []
            raw = raw or [u for n in marker.numbers if (u := self._references.find(n, place))]
            found = tuple((u, key) for u in raw if (key := normalise_url(u)))
            self._known[marker, place] = found
        return self._known[marker, place]


def draft_claims(cited: CitedText) -> list[DraftClaim]:
    """Return the statements of a text; a block of markers alone belongs to the one before it in
    its section."""
    drafts: list[DraftClaim] = []
    links_below: list[Marker] = []
    for block, inside in cited.blocks:
        if not is_only_markers(cited.text, block, inside):
            _add_markers(drafts, links_below)
            links_below = []
            drafts += _draft_block(block, split_block(cited.text, block, inside))
        elif (
            drafts
            and drafts[-1].block.section == block.section
            and len(inside) <= MAX_MARKERS_BELOW
        ):
            titled = [marker for marker in inside if marker.label]
            links_below += titled
            _add_markers(drafts, [marker for marker in inside if not marker.label])
    _add_markers(drafts, links_below)
    return drafts


def _add_markers(drafts: list[DraftClaim], markers: Sequence[Marker]) -> None:
    """Add the markers that stand below a statement to the last one."""
    links = [marker for marker in markers if marker.label]
    if drafts and markers and len(links) <= MAX_LINKS_BELOW:
        drafts[-1] = drafts[-1].with_markers(markers)


def _draft_block(block: MarkdownBlock, sentences: Sequence[Sentence]) -> list[DraftClaim]:
    """Return the statements of a block; the markers of labels and of what only names a source go to
    the statement before."""
    kept: list[DraftClaim] = []
    for sentence in sentences:
        adds_source = bool(kept and sentence.markers) and names_source(sentence.text)
        if count_words(sentence.text) >= MIN_WORDS and not adds_source:
            kept.append(DraftClaim(sentence, block))
        elif kept and sentence.markers:
            kept[-1] = kept[-1].with_markers(sentence.markers)
    return kept
