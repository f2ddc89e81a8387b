"""Find cited pages that are to be fetched, and fetched pages whose text is to be extracted."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime

from tasks.base import Frozen
from tasks.configuration.web import load_web
from tasks.extraction.urls import clean_url
from tasks.warehouse.pages import Fetch, FetchSource
from tasks.warehouse.store import Readable, Warehouse
from tasks.web.page import PageRequest

RETRY_STATUSES = (
    "unfetchable", "too_large", "unreadable", "bot_wall", "login_wall", "cookie_wall", "soft_404",
    "empty",
)  # fmt: skip
"""Statuses of pages that another source may have. URLs that we refuse to fetch, or that robots.txt
forbids, are not requested elsewhere either."""

CITED = """
SELECT c.url, c.raw_url, count(*) AS n, min(j.finished_at) AS written
FROM citations AS c
LEFT JOIN pages AS p ON p.edition = c.edition AND p.url = c.url
LEFT JOIN jobs AS j
    ON j.edition = c.edition AND j.agent = c.agent AND j.assignment = c.assignment
    AND j.state = 'done'
WHERE c.edition = $1 AND (len($2) = 0 OR c.agent IN (SELECT unnest($2)))
    AND p.status IS DISTINCT FROM 'ok'
    AND ($3 = 'direct' OR p.status IN (SELECT unnest($4)))
    AND ($5 OR ((p.url IS NULL OR coalesce(p.source, 'published') <> 'published')
        AND c.url NOT IN (SELECT url FROM fetches WHERE edition = $1 AND source = $3)))
GROUP BY ALL ORDER BY ALL
"""
"""Addresses of the pages of an edition ($1) that agents ($2) cite and that a source ($3) may have,
if their status is one of $4; $5: also pages that were requested in vain."""
UNREAD = """
edition = $1 AND url IN (
    SELECT f.url FROM fetches AS f LEFT JOIN pages AS p USING (edition, url)
    WHERE f.edition = $1
    GROUP BY f.url, p.status, p.source, p.fetched_at
    HAVING p.status IS NULL OR CASE
        WHEN $2 THEN p.status <> 'ok' OR coalesce(p.source, 'published') <> 'published'
        ELSE p.status <> 'ok' AND (p.fetched_at IS NULL OR max(f.fetched_at) > p.fetched_at) END
)
"""
"""Fetches of pages without a row, and of those that failed and were fetched again since; $2: of
all but published ones with a text."""
BEGUN = "SELECT max(begun_at) AS begun FROM collections WHERE edition = $1"


class PageToRead(Frozen):
    """A page with its fetches, successful or failed, in the order of their sources."""

    url: str
    fetches: tuple[Fetch, ...]


def list_fetch_sources(fallbacks: Sequence[FetchSource] | None = None) -> tuple[FetchSource, ...]:
    """Return the sources of pages in the order they are tried, direct fetching first.

    fallbacks: the other sources; those of `configs/web.yaml` if None.
    """
    others = load_web().fallbacks if fallbacks is None else fallbacks
    return (
        "direct",
        *dict.fromkeys(fetch_source for fetch_source in others if fetch_source != "direct"),
    )


def describe_archived(source: Readable, edition: str) -> str:
    """Say how many of an edition's cited pages are archived."""
    counts = source.frame("SELECT status, pages FROM page_counts WHERE edition = $1", [edition])
    n_ok = counts.filter(counts["status"] == "ok")["pages"].sum()
    return f"{edition}: {n_ok:,} of {counts['pages'].sum():,} cited pages are archived."


def find_pending_pages(
    source: Readable,
    edition: str,
    fetch_source: FetchSource,
    agents: Sequence[str] = (),
    *,
    again: bool = False,
) -> list[PageRequest]:
    """Return the cited pages that have not been requested from this source, by URL.

    An archived page stays and is not fetched again when another report cites it. A published page
    that could not be fetched counts as tried.

    agents: only pages that these cite; all if empty.
    again: also pages that were requested in vain.
    """
    cited: dict[str, Counter[str]] = defaultdict(Counter)
    written: dict[str, list[datetime]] = defaultdict(list)
    given = [edition, list(agents), fetch_source, list(RETRY_STATUSES), again]
    for url, raw, n, at in source.frame(CITED, given).iter_rows():
        cited[url][clean_url(raw) or url] += n
        written[url] += [at] if at else []
    begun = source.frame(BEGUN, [edition])["begun"][0]
    return [
        PageRequest(
            url=url,
            addresses=tuple(a for a, _ in sorted(cited[url].items(), key=lambda i: (-i[1], i[0]))),
            cited_on=_date_of(min(written[url], default=begun)),
        )
        for url in sorted(cited)
    ]


def find_unread_pages(
    warehouse: Warehouse, edition: str, *, again: bool = False
) -> list[PageToRead]:
    """Return the fetched pages whose text has not been extracted yet, by URL.

    These are pages without a row and pages that were since fetched from another source.

    again: also pages that have been read, except published ones with a text.
    """
    by_url: dict[str, list[Fetch]] = defaultdict(list)
    for fetch in warehouse.rows(Fetch, UNREAD, [edition, again]):
        by_url[fetch.url].append(fetch)
    return [
        PageToRead(url=url, fetches=tuple(sorted(found, key=_source_order)))
        for url, found in sorted(by_url.items())
    ]


def find_reachable_url(source: Readable, edition: str) -> str | None:
    """Return the last URL that answered in an earlier run, or else the URL of one of the edition's
    articles. When no page answers, requesting it tells dead pages from a dead network."""
    found = (
        source.frame(
            "SELECT final_url FROM fetches WHERE source = 'direct' AND outcome = 'fetched' "
            "ORDER BY fetched_at DESC, url LIMIT 1"
        )["final_url"].to_list()
        or source.frame(
            "SELECT url FROM articles WHERE edition = $1 ORDER BY url LIMIT 1", [edition]
        )["url"].to_list()
    )
    return found[0] if found else None


def _source_order(fetch: Fetch) -> int:
    return ("direct", "jina", "wayback").index(fetch.source)


def _date_of(at: datetime | None) -> date | None:
    return at.date() if at else None
