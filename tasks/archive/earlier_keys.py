"""Find pages again that were archived under the key which their address had in earlier versions."""

from tasks.archive.pending import WANTED
from tasks.extraction.urls import earlier_key
from tasks.warehouse.pages import Fetch, Page
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

UNREAD = f"""
SELECT DISTINCT c.url, c.raw_url
FROM {WANTED} AS c LEFT JOIN pages AS p ON p.edition = c.edition AND p.url = c.url
WHERE c.edition = $1 AND p.status IS DISTINCT FROM 'ok'
    AND regexp_matches(c.raw_url, '.https?(:|%|-3A)|aHR0c|/amp/s/', 'i') ORDER BY ALL
"""
"""Pages without a text whose addresses may be redirects that carry their target."""
AT_HAND = """
edition = $1 AND url IN (SELECT unnest($2)) AND status = 'ok'
AND (final_url IS NOT NULL OR coalesce(source, 'published') = 'published')
"""
"""Not pages that led nowhere: they show the redirect's own page."""


async def find_pages_again(warehouse: Warehouse, edition: str) -> None:
    """Store the pages of redirects, with their fetches, under the keys of their targets too, so
    that they are not fetched again; citations under the earlier keys keep theirs."""
    unread = warehouse.frame(UNREAD, [edition]).iter_rows()
    key_of = {old: url for url, raw in unread if (old := earlier_key(raw)) and old != url}
    pages = warehouse.rows(Page, AT_HAND, [edition, list(key_of)])
    moved = []
    for page in pages:
        key = key_of[page.url]
        led_to = page.final_url if page.final_url != key else None
        moved.append(page.model_copy(update={"url": key, "final_url": led_to}))
    named = [edition, [page.url for page in pages]]
    fetches = warehouse.rows(Fetch, "edition = $1 AND url IN (SELECT unnest($2))", named)
    copies = [fetch.model_copy(update={"url": key_of[fetch.url]}) for fetch in fetches]
    await warehouse.write_async(Change(Page, moved), Change(Fetch, copies))
