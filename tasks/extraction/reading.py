"""Read a text once: its blocks of statements, their citation markers, and its reference lists."""

from dataclasses import dataclass

from tasks.extraction.blocks import MarkdownBlock, Outline, parse_outline
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.references import References, find_references
from tasks.extraction.seen import mask_unseen
from tasks.extraction.sentences import group_markers


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text as a reader sees it."""

    text: str
    """As long as the original; what is not seen is blank."""
    outline: Outline
    references: References
    markers: tuple[Marker, ...]
    blocks: tuple[tuple[MarkdownBlock, tuple[Marker, ...]], ...]
    """The blocks that hold statements, not references, each with its markers."""


def read_citations(markdown: str, title: str = "") -> CitedText:
    """Read a text's blocks, markers and reference lists. Never raises.

    title: the heading that names the text.
    """
    text = mask_unseen(markdown)
    outline = parse_outline(text, title)
    body = [block for block in outline.blocks if not block.apparatus]
    certain = group_markers(body, find_markers(text))
    cited = {key for inside in certain for marker in inside for key in marker.numbers}
    references = find_references(text, outline, cited)
    lists = [(found.start, found.end) for found in references.lists]
    markers = tuple(find_markers(text, references.keys, lists))
    statements = [block for block in body if not references.holds(block.start)]
    grouped = group_markers(statements, markers)
    return CitedText(
        text,
        outline,
        references,
        markers,
        tuple((block, tuple(inside)) for block, inside in zip(statements, grouped, strict=True)),
    )
