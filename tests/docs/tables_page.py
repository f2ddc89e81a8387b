"""The page of tables and columns, made from the warehouse's schema and its descriptions."""

from collections.abc import Iterator

from tasks.warehouse.descriptions import TableDescription, load_descriptions
from tests.docs.markdown import render_table

INTRODUCTION = """# Tables and views

`evergreen sql` answers a SELECT over these tables and views, and `evergreen schema NAME` prints the
columns of one. Shares are between 0 and 1, times are UTC, and null means unknown, never 0. See
[Ask the warehouse with SQL](../how-to/sql.md) for examples.
"""


def render_page() -> str:
    """The page, as Markdown."""
    known = load_descriptions().values()
    parts = [INTRODUCTION]
    for kind, title in (("table", "Tables"), ("view", "Views")):
        parts.append(f"## {title}\n")
        for each in known:
            if each.kind == kind:
                parts += _describe(each)
    return "\n".join(parts)


def _describe(table: TableDescription) -> Iterator[str]:
    yield f"### {table.name}\n"
    yield f"{table.text}\n"
    yield render_table(
        ("Column", "Type", "Meaning"),
        ((f"`{c.name}`", f"`{c.kind}`", c.text or "") for c in table.columns),
    )
