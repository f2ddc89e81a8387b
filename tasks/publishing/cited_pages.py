"""The cited pages: how each one was fetched, and the passages that verdicts quote."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tasks.publishing.material import SiteMaterial
from tasks.publishing.reports import CitedPage, CrossReferences
from tasks.site.pages import SitePages
from tasks.site.report_page import snapshot_href

BATCH_SIZE = 200
"""Pages loaded at once; their texts can be long."""
CONTEXT = 160
"""Characters before and after a quotation."""
MAX_PASSAGES = 60
MAX_TEXT = 400_000
"""Characters of a page shown whole; longer texts are cut, with a note."""
PAGES = """
SELECT url, status, title, final_url, fetched_at, source, text_sha, error,
    length(text) AS n_chars, text
FROM pages WHERE edition = $1 AND list_contains($2, url) ORDER BY url
"""
OTHERS = ("title", "text")
"""What the page's authors have written."""
Passage = tuple[str, str, str]
"""Text before, quotation, text after."""


def write_cited_pages(
    material: SiteMaterial,
    pages: SitePages,
    gathered: CrossReferences,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Write a page for each cited page in the archive."""
    done, every = 0, sorted(gathered.cited)
    for start in range(0, len(every), BATCH_SIZE):
        urls = every[start : start + BATCH_SIZE]
        for row in material.source.frame(PAGES, [material.edition, urls]).iter_rows(named=True):
            _write_cited_page(material, pages, row, gathered)
            done += 1
            on_progress("cited pages", done, len(gathered.cited))


def _write_cited_page(
    material: SiteMaterial, pages: SitePages, row: dict[str, Any], gathered: CrossReferences
) -> None:
    cited = gathered.cited[row["url"]]
    whole = material.snapshots == "whole"
    guard = pages.folder.guard  # before the text is cut, which might leave a part of a key
    row = {**row, **{name: guard.check_value(row, "pages", name) for name in OTHERS if row[name]}}
    text = row["text"] or ""
    passages: list[Passage]
    if whole:
        cut = f"\n[cut here: {len(text) - MAX_TEXT:,} more characters]"
        passages = [(text[:MAX_TEXT], "", cut if len(text) > MAX_TEXT else "")] if text else []
    else:
        evidence = {guard.check(quotation, row["url"]) for quotation in cited.evidence}
        passages = find_passages(text, sorted(evidence))
    pages.add(
        snapshot_href(row["url"]),
        "page.html",
        p=row,
        address=cited.raw_url,
        passages=passages,
        whole=whole,
        cited_by=list(_list_citing_reports(cited, gathered)),
        claim_href=lambda report, number: gathered.parts[report].claim_href(number),
    )


def _list_citing_reports(
    cited: CitedPage, gathered: CrossReferences
) -> Iterator[tuple[str, str, str, list[int]]]:
    for report, numbers in sorted(cited.by.items(), key=lambda item: gathered.reports[item[0]]):
        yield report, *gathered.reports[report], sorted(numbers)


def find_passages(text: str, evidence: Sequence[str]) -> list[Passage]:
    """Find the passages that verdicts quote, in the order of the text, with their context.

    A quotation that does not occur word for word is found by its beginning, else returned without
    context.
    """
    found: list[tuple[int, Passage]] = []
    for quotation in evidence:
        start, end = _locate(text, quotation)
        if start < 0:
            found.append((len(text), ("", quotation, "")))
            continue
        before = text[max(0, start - CONTEXT) : start]
        after = text[end : end + CONTEXT]
        found.append((start, (("… " if start > CONTEXT else "") + before, text[start:end],
                              after + (" …" if end + CONTEXT < len(text) else ""))))  # fmt: skip
    return [passage for _, passage in sorted(found)][:MAX_PASSAGES]


def _locate(text: str, quotation: str) -> tuple[int, int]:
    start = text.find(quotation)
    if start >= 0:
        return start, start + len(quotation)
    beginning = quotation[:80].rstrip(" …")
    start = text.find(beginning) if len(beginning) > 20 else -1
    return start, start + len(beginning)
