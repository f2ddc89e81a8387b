"""Published pages that are walls: what their publisher read is kept, but counts as no page.

An import takes the published rule as it is (no error, more than 100 characters), so that figures
can be compared; under it, tests for robots and pages that say "not found" are evidence. This looks
at the texts as at those of pages that we fetched.
"""

import json

from tasks.warehouse.rows import Page
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.walls import in_the_way, of_text

PUBLISHED = "edition = $1 AND coalesce(source, 'published') = 'published' AND text IS NOT NULL"
PART = 50
"""Texts held at once."""


def find_walls(warehouse: Warehouse, edition: str) -> int:
    """Give each published page with a text the status that its text deserves; how many changed.

    Reports that cite these pages are judged again by the next evaluation. Doing it again changes
    nothing.
    """
    urls = warehouse.frame(f"SELECT url FROM pages WHERE {PUBLISHED} ORDER BY url", [edition])
    n = 0
    for part in urls["url"].to_frame().iter_slices(PART):
        of_part = f"{PUBLISHED} AND url IN (SELECT unnest($2))"
        pages = warehouse.rows(Page, of_part, [edition, part["url"].to_list()])
        changed = [looked for page in pages if (looked := _looked(page)) != page]
        before = {page.url: page.status for page in pages}
        n += sum(page.status != before[page.url] for page in changed)
        warehouse.write(Change(Page, changed))
    if n:
        export_edition(warehouse, edition)
    return n


def _looked(page: Page) -> Page:
    status, signals = of_text(page.url, page.title, page.text or "")
    return page.model_copy(
        update={
            "status": status,
            "error": None if status == "ok" else in_the_way(status, signals),
            "signals": json.dumps(signals) if signals else None,
            "source": "published",
        }
    )
