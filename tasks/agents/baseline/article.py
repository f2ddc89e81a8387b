"""The baseline's article: quoted sentences with their sources, in sections named by topic."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlsplit

from tasks.agents.baseline.index import ReadablePage
from tasks.agents.baseline.research import (
    MIN_NAMED,
    PageStatement,
    ResearchResult,
    find_names,
    refers_back,
    share_named,
)

LEAD_STATEMENTS = 4
MIN_SECTION_STATEMENTS = 3
MAX_SECTIONS = 8
PARAGRAPH_STATEMENTS = 5
REST_HEADING = "Further details"
MAX_TITLE_CHARS = 200
_DEFINING = re.compile(r"\b(?:is|was|are|were) (?:a|an|the)\b")


def render_article(result: ResearchResult, chosen: Sequence[PageStatement]) -> str:
    """Render the article as Markdown: a lead, sections, and the references for `[n]`."""
    lead = _choose_lead(result, chosen)
    rest = set(chosen).difference(lead)
    left = [statement for statement in result.statements if statement in rest]
    pages: dict[ReadablePage, int] = {}
    parts = [_render_cited(lead, pages)]
    for _ in range(MAX_SECTIONS):
        if (name := _find_frequent_name(result, left)) is None:
            break
        named = [statement for statement in left if name in find_names(statement.text)]
        parts += [f"## {name}", *_render_paragraphs(named, pages)]
        left = [statement for statement in left if statement not in named]
    if left:
        parts += [f"## {REST_HEADING}", *_render_paragraphs(left, pages)]
    references = [f"[{number}] {_clean_title(page)}. {page.url}" for page, number in pages.items()]
    return "\n\n".join([*parts, "## References", "\n\n".join(references)]) + "\n"


def _find_frequent_name(result: ResearchResult, statements: Sequence[PageStatement]) -> str | None:
    """Return the most frequent name outside the title; None if none is frequent enough."""
    times = Counter(
        name for statement in statements for name in set(find_names(statement.text, result.subject))
    )
    eligible = [name for name, n in times.items() if n >= MIN_SECTION_STATEMENTS and len(name) >= 3]
    return min(eligible, key=lambda name: (-times[name], -len(name), name), default=None)


def _choose_lead(result: ResearchResult, chosen: Sequence[PageStatement]) -> list[PageStatement]:
    """Choose statements that name the subject and need no context, definitions first."""
    eligible = [
        s
        for s in chosen
        if share_named(result.subject, s.words) >= MIN_NAMED and not refers_back(s.text)
    ] or chosen
    return sorted(eligible, key=lambda s: not _DEFINING.search(s.text[:120]))[:LEAD_STATEMENTS]


def _render_paragraphs(
    statements: Sequence[PageStatement], pages: dict[ReadablePage, int]
) -> list[str]:
    """Render paragraphs, each with statements of one page."""
    paragraphs: list[str] = []
    for _, group in groupby(statements, key=lambda statement: statement.page):
        on_page = list(group)
        for at in range(0, len(on_page), PARAGRAPH_STATEMENTS):
            paragraphs.append(_render_cited(on_page[at : at + PARAGRAPH_STATEMENTS], pages))
    return paragraphs


def _render_cited(statements: Sequence[PageStatement], pages: dict[ReadablePage, int]) -> str:
    return " ".join(f"{s.text}[{pages.setdefault(s.page, len(pages) + 1)}]" for s in statements)


def _clean_title(page: ReadablePage) -> str:
    """Return a page's title without Markdown's link characters, or its host if it has none."""
    words = " ".join(page.title.translate(str.maketrans("[]()<>|", "       ")).split())
    return words[:MAX_TITLE_CHARS].rstrip(" .") or urlsplit(page.url).hostname or page.url
