"""The baseline's article: other people's sentences, each with its source, in sections by name."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlsplit

from tasks.agents.baseline.index import Page, Sources
from tasks.agents.baseline.research import (
    Found,
    Statement,
    names_in,
    names_subject,
    refers_back,
)
from tasks.judges.text import numbers, terms

LEAD = 4
"""Statements."""
LEAST_SECTION = 3
MOST_SECTIONS = 8
"""Statements; a name with fewer gets no section of its own."""
PARAGRAPH = 5
"""Statements."""
REST = "Further details"
MAX_TITLE = 200
"""Characters."""
_DEFINING = re.compile(r"\b(?:is|was|are|were) (?:a|an|the)\b")


def article(archive: Sources, found: Found, chosen: Sequence[Statement]) -> str:
    """Markdown: a lead, sections, and the list of what `[n]` refers to."""
    numbers: dict[int, int] = {}
    lead, sections = _laid_out(found, chosen)
    parts = [_cited(lead, numbers)]
    for heading, statements in sections:
        parts += [f"## {heading}", *_paragraphs(statements, numbers)]
    listed = [
        f"[{number}] {_title(archive.pages[page])}. {archive.pages[page].url}"
        for page, number in numbers.items()
    ]
    return "\n\n".join([*parts, "## References", "\n\n".join(listed)]) + "\n"


def _laid_out(
    found: Found, chosen: Sequence[Statement]
) -> tuple[list[Statement], list[tuple[str, list[Statement]]]]:
    """The lead, and a section for each name that is said often, the most said first."""
    lead = _lead(found, chosen)
    left = _in_reading_order(found, [s for s in chosen if s not in lead])
    sections: list[tuple[str, list[Statement]]] = []
    while len(sections) < MOST_SECTIONS and (name := _most_said(found, left)) is not None:
        sections.append((name, [s for s in left if name in names_in(s.text)]))
        left = [s for s in left if name not in names_in(s.text)]
    if left:
        sections.append((REST, left))
    return lead, sections


def _most_said(found: Found, statements: Sequence[Statement]) -> str | None:
    """The name in most statements, the title's own words aside; None if all stand in few."""
    times = Counter(
        name
        for statement in statements
        for name in set(names_in(statement.text))
        if not found.subject.keys() & set(terms(name)) and not numbers(name)
    )
    able = [name for name, n in times.items() if n >= LEAST_SECTION and len(name) >= 3]
    return min(able, key=lambda name: (-times[name], -len(name), name), default=None)


def _lead(found: Found, chosen: Sequence[Statement]) -> list[Statement]:
    """What names the subject and stands by itself; what says that it is something goes first."""
    able = [s for s in chosen if names_subject(found, s.words) and not refers_back(s.text)] or list(
        chosen
    )
    defining = [s for s in able if _DEFINING.search(s.text[:120])]
    return [*defining, *(s for s in able if s not in defining)][:LEAD]


def _in_reading_order(found: Found, statements: Sequence[Statement]) -> list[Statement]:
    place = {page: rank for rank, page in enumerate(found.pages)}
    return sorted(statements, key=lambda s: (place[s.page], s.number))


def _paragraphs(statements: Sequence[Statement], numbers: dict[int, int]) -> list[str]:
    """What one page says stands together."""
    made = []
    for _, of_page in groupby(statements, key=lambda statement: statement.page):
        said = list(of_page)
        made += [_cited(said[at : at + PARAGRAPH], numbers)
                 for at in range(0, len(said), PARAGRAPH)]  # fmt: skip
    return made


def _cited(statements: Sequence[Statement], numbers: dict[int, int]) -> str:
    return " ".join(f"{s.text}[{numbers.setdefault(s.page, len(numbers) + 1)}]" for s in statements)


def _title(page: Page) -> str:
    """One line without what Markdown reads as a link; the host where a page has no title."""
    words = " ".join(page.title.translate(str.maketrans("[]()<>|", "       ")).split())
    return words[:MAX_TITLE].rstrip(" .") or urlsplit(page.url).hostname or page.url
