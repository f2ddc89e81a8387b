"""The baseline's article: quoted sentences with their sources, in sections named by topic."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlsplit

from tasks.agents.baseline.index import IndexedPage, StatementSearch
from tasks.agents.baseline.research import (
    PageStatement,
    ResearchResult,
    find_names,
    names_subject,
    refers_back,
)
from tasks.judges.text import extract_numbers, extract_terms

LEAD_STATEMENTS = 4
MIN_SECTION_STATEMENTS = 3
MAX_SECTIONS = 8
PARAGRAPH_STATEMENTS = 5
REST_HEADING = "Further details"
MAX_TITLE_CHARS = 200
_DEFINING = re.compile(r"\b(?:is|was|are|were) (?:a|an|the)\b")


def render_article(
    archive: StatementSearch, result: ResearchResult, chosen: Sequence[PageStatement]
) -> str:
    """Render the article as Markdown: a lead, sections, and the references for `[n]`."""
    numbers: dict[int, int] = {}
    lead, sections = _arrange(result, chosen)
    parts = [_render_cited(lead, numbers)]
    for heading, statements in sections:
        parts += [f"## {heading}", *_render_paragraphs(statements, numbers)]
    references = [
        f"[{number}] {_clean_title(archive.pages[page])}. {archive.pages[page].url}"
        for page, number in numbers.items()
    ]
    return "\n\n".join([*parts, "## References", "\n\n".join(references)]) + "\n"


def _arrange(
    result: ResearchResult, chosen: Sequence[PageStatement]
) -> tuple[list[PageStatement], list[tuple[str, list[PageStatement]]]]:
    """Return the lead, and a section for each frequent name, the most frequent first."""
    lead = _choose_lead(result, chosen)
    left = _sort_by_page(result, [s for s in chosen if s not in lead])
    sections: list[tuple[str, list[PageStatement]]] = []
    while len(sections) < MAX_SECTIONS and (name := _find_frequent_name(result, left)) is not None:
        sections.append((name, [s for s in left if name in find_names(s.text)]))
        left = [s for s in left if name not in find_names(s.text)]
    if left:
        sections.append((REST_HEADING, left))
    return lead, sections


def _find_frequent_name(result: ResearchResult, statements: Sequence[PageStatement]) -> str | None:
    """Return the most frequent name outside the title; None if none is frequent enough."""
    times = Counter(
        name
        for statement in statements
        for name in set(find_names(statement.text))
        if not result.subject.keys() & set(extract_terms(name)) and not extract_numbers(name)
    )
    eligible = [name for name, n in times.items() if n >= MIN_SECTION_STATEMENTS and len(name) >= 3]
    return min(eligible, key=lambda name: (-times[name], -len(name), name), default=None)


def _choose_lead(result: ResearchResult, chosen: Sequence[PageStatement]) -> list[PageStatement]:
    """Choose statements that name the subject and need no context, definitions first."""
    eligible = [
        s for s in chosen if names_subject(result, s.words) and not refers_back(s.text)
    ] or list(chosen)
    defining = [s for s in eligible if _DEFINING.search(s.text[:120])]
    return [*defining, *(s for s in eligible if s not in defining)][:LEAD_STATEMENTS]


def _sort_by_page(
    result: ResearchResult, statements: Sequence[PageStatement]
) -> list[PageStatement]:
    place = {page: rank for rank, page in enumerate(result.pages)}
    return sorted(statements, key=lambda s: (place[s.page], s.number))


def _render_paragraphs(statements: Sequence[PageStatement], numbers: dict[int, int]) -> list[str]:
    """Render paragraphs, each with statements of one page."""
    paragraphs = []
    for _, group in groupby(statements, key=lambda statement: statement.page):
        on_page = list(group)
        paragraphs += [_render_cited(on_page[at : at + PARAGRAPH_STATEMENTS], numbers)
                 for at in range(0, len(on_page), PARAGRAPH_STATEMENTS)]  # fmt: skip
    return paragraphs


def _render_cited(statements: Sequence[PageStatement], numbers: dict[int, int]) -> str:
    return " ".join(f"{s.text}[{numbers.setdefault(s.page, len(numbers) + 1)}]" for s in statements)


def _clean_title(page: IndexedPage) -> str:
    """Return a page's title without Markdown's link characters, or its host if it has none."""
    words = " ".join(page.title.translate(str.maketrans("[]()<>|", "       ")).split())
    return words[:MAX_TITLE_CHARS].rstrip(" .") or urlsplit(page.url).hostname or page.url
