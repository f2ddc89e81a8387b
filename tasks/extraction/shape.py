"""The shape of a text: lead, prose, sections, citations; what style figures are made of."""

from bisect import bisect_left
from collections.abc import Sequence

from tasks.configuration.words import WordsToWatch
from tasks.extraction.blocks import Block, outline
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.sentences import plain_text
from tasks.metrics.style import Diagnosed, TextShape, diagnose


def shape(markdown: str) -> TextShape:
    """Take a text apart; reference sections count nowhere. Never raises."""
    markers = find_markers(markdown)
    starts = [marker.start for marker in markers]
    lead: list[str] = []
    body: list[str] = []
    sections: set[tuple[str, ...]] = set()
    n_citations = 0
    for block in outline(markdown).blocks:
        if block.apparatus:
            continue
        inside = _inside(block, markers, starts)
        n_citations += sum(max(len(marker.numbers), 1) for marker in inside)
        sections |= {block.section[:depth] for depth in range(1, len(block.section) + 1)}
        (body if block.section else lead).append(plain_text(markdown, block, inside))
    return TextShape(
        lead="\n".join(filter(None, lead)),
        prose="\n".join(filter(None, [*lead, *body])),
        n_sections=len(sections),
        depth=max(map(len, sections), default=0),
        n_citations=n_citations,
    )


def style_figures(texts: Sequence[str], words: WordsToWatch) -> list[dict[str, Diagnosed]]:
    """Style figures of each text by name (see `diagnose`)."""
    return [diagnose(shape(text), words) for text in texts]


def _inside(block: Block, markers: Sequence[Marker], starts: Sequence[int]) -> list[Marker]:
    low, high = bisect_left(starts, block.start), bisect_left(starts, block.end)
    return [marker for marker in markers[low:high] if marker.end <= block.end]
