"""Marking of published pages that are walls: their text is kept but no longer judged.

An import uses the published rule (no error, more than 100 characters), so that figures are
comparable. By that rule robot tests and "not found" pages count as evidence. Here the published
texts are classified like those of pages that we fetched.
"""

import json

from tasks.warehouse.pages import Page
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.walls import classify_text, describe_wall

PUBLISHED = "edition = $1 AND coalesce(source, 'published') = 'published' AND text IS NOT NULL"
BATCH_SIZE = 50
"""Texts in memory at once."""


def mark_walls(warehouse: Warehouse, edition: str) -> int:
    """Classify the texts of published pages, update their statuses, and return how many changed.

    The next evaluation judges the reports that cite these pages again. A second call changes
    nothing.
    """
    urls = warehouse.frame(f"SELECT url FROM pages WHERE {PUBLISHED} ORDER BY url", [edition])
    n = 0
    for part in urls["url"].to_frame().iter_slices(BATCH_SIZE):
        of_part = f"{PUBLISHED} AND url IN (SELECT unnest($2))"
        pages = warehouse.rows(Page, of_part, [edition, part["url"].to_list()])
        changed = [looked for page in pages if (looked := _reclassify(page)) != page]
        before = {page.url: page.status for page in pages}
        n += sum(page.status != before[page.url] for page in changed)
        warehouse.write(Change(Page, changed))
    if n:
        export_edition(warehouse, edition)
    return n


def _reclassify(page: Page) -> Page:
    status, signals = classify_text(page.url, page.title, page.text or "")
    return page.model_copy(
        update={
            "status": status,
            "error": None if status == "ok" else describe_wall(status, signals),
            "signals": json.dumps(signals) if signals else None,
            "source": "published",
        }
    )
