"""The page of every cited page: what it was when it was fetched, and what verdicts quote of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tasks.publishing.material import Material
from tasks.publishing.reports import Cited, Gathered
from tasks.site.content import Site
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.report_page import snapshot_href

AT_ONCE = 200
"""Pages read together: their texts can be long."""
AROUND = 160
"""Characters shown before and after what a verdict quotes."""
MOST_PASSAGES = 60
LONGEST_TEXT = 400_000
"""Characters of a page that is published whole; the rest is cut, and said to be."""
PAGES = """
SELECT url, status, title, final_url, fetched_at, source, text_sha, error,
    length(text) AS n_chars, text
FROM pages WHERE edition = $1 AND list_contains($2, url) ORDER BY url
"""
Passage = tuple[str, str, str]
"""What stands before, what is quoted, what stands after."""


def cited_pages(
    material: Material,
    site: Site,
    folder: SiteFolder,
    gathered: Gathered,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Write them; addresses that nobody has asked for have none."""
    done, every = 0, sorted(gathered.cited)
    for start in range(0, len(every), AT_ONCE):
        urls = every[start : start + AT_ONCE]
        for row in material.source.frame(PAGES, [material.edition, urls]).iter_rows(named=True):
            folder.add(snapshot_href(row["url"]), _cited_page(material, site, row, gathered))
            done += 1
            on_progress("cited pages", done, len(gathered.cited))


def _cited_page(material: Material, site: Site, row: dict[str, Any], gathered: Gathered) -> str:
    cited = gathered.cited[row["url"]]
    whole = material.snapshots == "whole"
    text = row["text"] or ""
    shown: list[Passage]
    if whole:
        cut = f"\n[cut here: {len(text) - LONGEST_TEXT:,} more characters]"
        shown = [(text[:LONGEST_TEXT], "", cut if len(text) > LONGEST_TEXT else "")] if text else []
    else:
        shown = quoted(text, sorted(cited.evidence))
    about = {name: row[name] for name in row if name != "text"}
    return page(
        "page.html",
        depth=1,
        site=site,
        p=about | {"address": cited.raw_url, "passages": shown, "whole": whole,
                   "cited_by": list(_cited_by(cited, gathered))},
        claim_href=lambda report, number: gathered.parts[report].claim(number),
    )  # fmt: skip


def _cited_by(cited: Cited, gathered: Gathered) -> Iterator[tuple[str, str, str, list[int]]]:
    for report, numbers in sorted(cited.by.items(), key=lambda item: gathered.reports[item[0]]):
        yield report, *gathered.reports[report], sorted(numbers)


def quoted(text: str, evidence: Sequence[str]) -> list[Passage]:
    """What verdicts quote, in the order of the text with a little of what stands around it; what
    does not stand there word for word (a judge's own words, a cut quotation) by its beginning, or
    else alone."""
    found: list[tuple[int, Passage]] = []
    for said in evidence:
        start, end = _place(text, said)
        if start < 0:
            found.append((len(text), ("", said, "")))
            continue
        before = text[max(0, start - AROUND) : start]
        after = text[end : end + AROUND]
        found.append((start, (("… " if start > AROUND else "") + before, text[start:end],
                              after + (" …" if end + AROUND < len(text) else ""))))  # fmt: skip
    return [passage for _, passage in sorted(found)][:MOST_PASSAGES]


def _place(text: str, said: str) -> tuple[int, int]:
    start = text.find(said)
    if start >= 0:
        return start, start + len(said)
    beginning = said[:80].rstrip(" …")
    start = text.find(beginning) if len(beginning) > 20 else -1
    return start, start + len(beginning)
