"""Which cited pages of an edition are still to be fetched, and which of those to be read."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime

from tasks.base import Frozen
from tasks.configuration.web import load_web
from tasks.extraction.urls import written_address
from tasks.warehouse.pages import Fetch, FetchSource
from tasks.warehouse.store import Readable, Warehouse
from tasks.web.page import Wanted

ELSEWHERE = (
    "unfetchable", "too_large", "unreadable", "bot_wall", "login_wall", "cookie_wall", "soft_404",
    "empty",
)  # fmt: skip
"""What may be had in another way. Not what we refuse to ask for, nor what robots.txt forbids: no
one else is asked for it in our name."""

CITED = """
SELECT c.url, c.raw_url, count(*) AS n, min(j.finished_at) AS written
FROM citations AS c
LEFT JOIN jobs AS j
    ON j.edition = c.edition AND j.agent = c.agent AND j.assignment = c.assignment
    AND j.state = 'done'
WHERE c.edition = $1 AND (len($2) = 0 OR c.agent IN (SELECT unnest($2)))
GROUP BY ALL ORDER BY ALL
"""
KNOWN = """
SELECT p.url, p.status, coalesce(p.source, 'published') AS source FROM pages AS p
WHERE p.edition = $1
"""
BEGUN = "SELECT max(begun_at) AS begun FROM collections WHERE edition = $1"


class ToRead(Frozen):
    """A page whose bytes (or failures) are there, in the order in which its ways were tried."""

    url: str
    fetches: tuple[Fetch, ...]


def ways(fallbacks: Sequence[FetchSource] | None = None) -> tuple[FetchSource, ...]:
    """The ways to a page in the order in which they are tried.

    fallbacks: beside the direct one; those of `configs/web.yaml` unless named.
    """
    others = load_web().fallbacks if fallbacks is None else fallbacks
    return ("direct", *dict.fromkeys(way for way in others if way != "direct"))


def archived_message(source: Readable, edition: str) -> str:
    """How many of the pages that an edition cites are archived."""
    counts = source.frame("SELECT status, pages FROM page_counts WHERE edition = $1", [edition])
    n_ok = counts.filter(counts["status"] == "ok")["pages"].sum()
    return f"{edition}: {n_ok:,} of {counts['pages'].sum():,} cited pages are archived."


def unfetched(
    source: Readable,
    edition: str,
    way: FetchSource,
    agents: Sequence[str] = (),
    *,
    again: bool = False,
) -> list[Wanted]:
    """The cited pages that have not been asked for in this way, by URL.

    A page that is there stays: it is fetched once, also if another report cites it later. What a
    publisher could not fetch counts as tried.

    agents: only what these cite; all unless named.
    again: also those that were asked for in vain.
    """
    tried = {
        url
        for (url,) in source.frame(
            "SELECT url FROM fetches WHERE edition = $1 AND source = $2", [edition, way]
        ).iter_rows()
    }
    status = {url: (state, by) for url, state, by in source.frame(KNOWN, [edition]).iter_rows()}
    cited: dict[str, Counter[str]] = defaultdict(Counter)
    written: dict[str, list[datetime]] = defaultdict(list)
    for url, raw, n, at in source.frame(CITED, [edition, list(agents)]).iter_rows():
        state, by = status.get(url, (None, None))
        if state == "ok" or (not again and (url in tried or by == "published")):
            continue
        if way != "direct" and state not in ELSEWHERE:
            continue
        cited[url][written_address(raw) or url] += n
        written[url] += [at] if at else []
    begun = source.frame(BEGUN, [edition])["begun"][0]
    return [
        Wanted(
            url=url,
            addresses=tuple(a for a, _ in sorted(cited[url].items(), key=lambda i: (-i[1], i[0]))),
            around=_day(min(written[url], default=begun)),
        )
        for url in sorted(cited)
    ]


def unread(
    warehouse: Warehouse,
    edition: str,
    urls: Sequence[str] | None = None,
    *,
    again: bool = False,
) -> list[ToRead]:
    """The fetched pages whose text has not been taken out yet, by URL.

    Those are pages without a row, and pages that were had in another way since.

    urls: only these.
    again: also those that have been read. Not what a publisher read well, if we asked in vain.
    """
    fetches = warehouse.rows(
        Fetch, "edition = $1 AND ($2 IS NULL OR url IN (SELECT unnest($2)))",
        [edition, None if urls is None else list(urls)],
    )  # fmt: skip
    known = {
        url: (status, source, at)
        for url, status, source, at in warehouse.frame(
            "SELECT url, status, coalesce(source, 'published'), fetched_at FROM pages "
            "WHERE edition = $1",
            [edition],
        ).iter_rows()
    }
    by_url: dict[str, list[Fetch]] = defaultdict(list)
    for fetch in fetches:
        by_url[fetch.url].append(fetch)
    return [
        ToRead(url=url, fetches=tuple(sorted(found, key=_in_order)))
        for url, found in sorted(by_url.items())
        if _is_new(found, known.get(url), again)
    ]


def answered_before(source: Readable, edition: str) -> str | None:
    """An address whose server answered in an earlier run, the latest, or else that of one of the
    edition's articles: who finds nothing else there asks it to tell dead pages from a dead
    network."""
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


def _is_new(
    fetches: Sequence[Fetch], known: tuple[str, str, datetime | None] | None, again: bool
) -> bool:
    """Whether a page has no row, or was tried in another way since it was found to be none."""
    if known is None:
        return True
    status, source, at = known
    if again:
        return (status, source) != ("ok", "published")
    newest = max(fetch.fetched_at.replace(tzinfo=None) for fetch in fetches)
    return status != "ok" and (at is None or newest > at)


def _in_order(fetch: Fetch) -> int:
    return ("direct", "jina", "wayback").index(fetch.source)


def _day(at: datetime | None) -> date | None:
    return at.date() if at else None
