"""Markdown that the pages made from the program share."""

from collections.abc import Iterable


def render_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Render a table; bars and line breaks in cells are escaped."""
    titles = [*header]
    lines = [_render_row(titles), _render_row(["---"] * len(titles)), *map(_render_row, rows)]
    return "\n".join(lines) + "\n"


def _render_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"
