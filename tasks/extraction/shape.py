"""The shape of a text (lead, prose, sections, citations), from which style figures are made."""

from collections.abc import Sequence

from tasks.configuration.criteria import WordsToWatch
from tasks.extraction.reading import read_citations
from tasks.extraction.sentences import strip_markup
from tasks.metrics.style import StyleFigure, TextShape, measure_style


def measure_shape(markdown: str) -> TextShape:
    """Measure a text's shape, without its reference sections. Never raises."""
    cited = read_citations(markdown)
    lead: list[str] = []
    body: list[str] = []
    sections: set[tuple[str, ...]] = set()
    n_citations = 0
    for block, inside in cited.blocks:
        n_citations += sum(max(len(marker.numbers), 1) for marker in inside if marker.cites)
        sections |= {block.section[:depth] for depth in range(1, len(block.section) + 1)}
        (body if block.section else lead).append(strip_markup(cited.text, block, inside))
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
