"""Markdown that the pages made from the program share."""

from collections.abc import Iterable


def render_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Render a table."""
    titles = [*header]
    lines = [_render_row(titles), _render_row(["---"] * len(titles)), *map(_render_row, rows)]
    return "\n".join(lines) + "\n"


def _render_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_render_cell, cells))} |"


def _render_cell(text: str) -> str:
    """Python's Markdown splits no cell at a bar within code, and shows a backslash there."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if n % 2 else part.replace("|", "\\|") for n, part in enumerate(parts))
