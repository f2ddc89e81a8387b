"""The prose of a text: whole, without its scholarly apparatus."""

from tasks.extraction.blocks import is_reference_heading, outline
from tasks.extraction.citations import find_markers


def without_apparatus(markdown: str) -> str:
    """The article without citation markers and reference-like sections, Markdown kept.

    What judges compare: citation styles must not tell the two articles apart. Source: Wiki
    Live Challenge, cleaning before the writing comparison.
    """
    cuts = [(_heading_start(markdown, s), e) for s, e in outline(markdown).references]
    for marker in find_markers(markdown):
        if marker.label is None:
            cuts.append((marker.start, marker.end))
        else:  # a link within the sentence: its words stay
            cuts += [(marker.start, marker.label[0]), (marker.label[1], marker.end)]
    kept, last = [], 0
    for start, end in sorted(cuts):
        kept.append(markdown[last : max(last, start)])
        last = max(last, end)
    return ("".join(kept) + markdown[last:]).rstrip()


def _heading_start(markdown: str, start: int) -> int:
    """Where the heading right above a reference section begins, or `start` without one."""
    above = markdown[:start].rstrip()
    line = max(above.rfind("\n"), above.rfind("\r")) + 1
    return line if is_reference_heading(above[line:].lstrip("# ")) else start
