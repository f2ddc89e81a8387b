"""The shape of a text (lead, prose, sections, citations), from which style figures are made."""

from bisect import bisect_left
from collections.abc import Sequence

from tasks.configuration.words import WordsToWatch
from tasks.extraction.blocks import MarkdownBlock, parse_outline
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.sentences import strip_markup
from tasks.metrics.style import StyleFigure, TextShape, measure_style


def measure_shape(markdown: str) -> TextShape:
    """Measure a text's shape, without its reference sections. Never raises."""
    markers = find_markers(markdown)
    starts = [marker.start for marker in markers]
    lead: list[str] = []
    body: list[str] = []
    sections: set[tuple[str, ...]] = set()
    n_citations = 0
    for block in parse_outline(markdown).blocks:
        if block.apparatus:
            continue
        inside = _markers_inside(block, markers, starts)
        n_citations += sum(max(len(marker.numbers), 1) for marker in inside)
        sections |= {block.section[:depth] for depth in range(1, len(block.section) + 1)}
        (body if block.section else lead).append(strip_markup(markdown, block, inside))
    return TextShape(
        lead="\n".join(filter(None, lead)),
        prose="\n".join(filter(None, [*lead, *body])),
        n_sections=len(sections),
        depth=max(map(len, sections), default=0),
        n_citations=n_citations,
    )


def measure_styles(texts: Sequence[str], words: WordsToWatch) -> list[dict[str, StyleFigure]]:
    """Return the style figures of each text by name (see `measure_style`)."""
    return [measure_style(measure_shape(text), words) for text in texts]


def _markers_inside(
    block: MarkdownBlock, markers: Sequence[Marker], starts: Sequence[int]
) -> list[Marker]:
    low, high = bisect_left(starts, block.start), bisect_left(starts, block.end)
    return [marker for marker in markers[low:high] if marker.end <= block.end]
