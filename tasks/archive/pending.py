"""Find cited pages that are to be fetched, fetched pages whose text is to be extracted, and again
pages that were archived under the key which their address had in earlier versions."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from tasks.archive.lost_addresses import describe_absent
from tasks.base import Frozen, format_count
from tasks.configuration.web import load_web
from tasks.extraction.urls import clean_url, earlier_key
from tasks.warehouse.pages import Fetch, FetchSource, Page
from tasks.warehouse.rows import utc_now
from tasks.warehouse.store import Readable, Warehouse
from tasks.warehouse.writer import Change
from tasks.web.hosts import LONGEST_WISH_SECONDS
from tasks.web.page import PageRequest

RETRY_STATUSES = (
    "unfetchable", "too_large", "unreadable", "bot_wall", "login_wall", "cookie_wall", "soft_404",
    "empty",
)  # fmt: skip
"""Statuses of pages that another source may have. URLs that we refuse to fetch, or that robots.txt
forbids, are not requested elsewhere either."""

WANTED = """(
    SELECT edition, agent, assignment, url, raw_url FROM citations
    UNION ALL
    SELECT d.edition, NULL, d.assignment, d.url, d.raw_url FROM clicked_documents AS d
    ANTI JOIN (SELECT edition, assignment FROM point_sets WHERE source = 'published') AS k
        USING (edition, assignment)
    UNION ALL
    SELECT edition, agent, NULL, url, raw_url FROM seed_pages
)"""
"""Addresses that agents cite or are given, and those (agent null) that people clicked, of queries
without published key points."""
CITED = f"""
SELECT c.url, c.raw_url, count(*) AS n, min(j.finished_at) AS written
FROM {WANTED} AS c
LEFT JOIN pages AS p ON p.edition = c.edition AND p.url = c.url
LEFT JOIN jobs AS j
    ON j.edition = c.edition AND j.agent = c.agent AND j.assignment = c.assignment
    AND j.state = 'done'
WHERE c.edition = $1 AND (len($2) = 0 OR c.agent IS NULL OR c.agent IN (SELECT unnest($2)))
    AND p.status IS DISTINCT FROM 'ok'
    AND ($3 = 'direct' OR p.status IN (SELECT unnest($4)) OR (p.url IS NULL AND c.url IN (
        SELECT url FROM fetches WHERE edition = $1 AND outcome = 'unreached')))
    AND ($5 OR ((p.url IS NULL OR coalesce(p.source, 'published') <> 'published')
        AND c.url NOT IN (SELECT url FROM fetches WHERE edition = $1 AND source = $3
            AND outcome <> 'unreached')))
GROUP BY ALL ORDER BY ALL
"""
"""Addresses of the pages of an edition ($1) that agents ($2) cite or are given and that a source
($3) may have, if their status is one of $4; $5: also pages that were requested in vain."""
UNREAD = """
edition = $1 AND url IN (
    SELECT f.url FROM fetches AS f LEFT JOIN pages AS p USING (edition, url)
    WHERE f.edition = $1
    GROUP BY f.url, p.status, p.source, p.fetched_at
    HAVING (p.status IS NULL OR CASE
        WHEN $2 THEN p.status <> 'ok' OR coalesce(p.source, 'published') <> 'published'
        ELSE p.status <> 'ok' AND (p.fetched_at IS NULL OR max(f.fetched_at) > p.fetched_at) END)
    AND (bool_or(f.outcome = 'fetched')
        OR NOT bool_or(f.outcome = 'unreached' AND f.source = 'direct'))
)
"""
"""Fetches of pages without a row, and of those that failed and were fetched again since; $2: of
all but published ones with a text. Pages that were only not reached yet have nothing to read."""
ASKED_WAIT = "try_cast(json_extract_string(headers, '$.\"retry-after\"') AS DOUBLE)"
LOOKS = f"""
SELECT url, source, fetched_at + to_seconds(
    greatest($2, least(coalesce({ASKED_WAIT}, 0), {LONGEST_WISH_SECONDS}))) AS due
FROM fetches WHERE edition = $1 AND outcome = 'unreached'
"""
"""When the pages that were not reached are due for a second look: $2 seconds after the first, or
later if their host wanted that."""
BUSY = f"""
SELECT coalesce(json_extract_string(redirects, '$[#-1].url'), asked_url) AS url,
    least({ASKED_WAIT}, {LONGEST_WISH_SECONDS}) - date_diff('second', fetched_at, $2) AS wait
FROM fetches WHERE source = $1 AND outcome = 'unreached' AND {ASKED_WAIT} > $3 AND wait > 0
ORDER BY wait
"""
"""Addresses at hosts that asked for a wait longer than $3 seconds, which is not over yet at $2."""
OPEN = f"""
SELECT DISTINCT c.url
FROM {WANTED} AS c
LEFT JOIN pages AS p ON p.edition = c.edition AND p.url = c.url
WHERE c.edition = $1 AND p.url IS NULL
    AND (len($2) = 0 OR c.agent IS NULL OR c.agent IN (SELECT unnest($2)))
ORDER BY c.url
"""
"""Pages that agents ($2) cite or are given, and of which nothing is known yet."""
SHOWN_HOSTS = 5
BEGUN = "SELECT max(begun_at) AS begun FROM collections WHERE edition = $1"
REACHABLE = """
(SELECT final_url AS url FROM fetches WHERE source = 'direct' AND outcome = 'fetched'
    ORDER BY fetched_at DESC, url LIMIT 1)
UNION ALL
(SELECT url FROM articles WHERE edition = $1 ORDER BY url LIMIT 1)
"""
CARRIED = f"""
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
PAGE_COUNTS = "SELECT * EXCLUDE (edition) FROM page_counts WHERE edition = $1"
"""The pages that an edition's reports cite, by status."""


class PageToRead(Frozen):
    """A page with its fetches, successful or failed, in the order of their sources."""

    url: str
    fetches: tuple[Fetch, ...]


def find_second_looks(source: Readable, edition: str) -> dict[tuple[str, str], datetime]:
    """Return when pages that were not reached are due for a second look, by URL and source."""
    rows = source.frame(LOOKS, [edition, load_web().second_look_hours * 3600]).iter_rows()
    return {(url, fetch_source): due.replace(tzinfo=UTC) for url, fetch_source, due in rows}


def find_busy_hosts(source: Readable, fetch_source: FetchSource) -> dict[str, float]:
    """Return the hosts that asked to be left alone, be it for another edition's pages, and for how
    many seconds they still do."""
    longest, now = load_web().manners.longest_wait_seconds, utc_now().replace(tzinfo=None)
    rows = source.frame(BUSY, [fetch_source, now, longest]).iter_rows()
    return {urlsplit(url).hostname or url: seconds for url, seconds in rows}


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
    """Say how many of an edition's cited pages are archived, and what is known of lost ones."""
    counts = source.frame("SELECT status, pages FROM page_counts WHERE edition = $1", [edition])
    n_ok = counts.filter(counts["status"] == "ok")["pages"].sum()
    archived = f"{edition}: {n_ok:,} of {counts['pages'].sum():,} cited pages are archived."
    return " ".join(filter(None, (archived, describe_absent(source, edition))))


def find_pending_pages(
    source: Readable,
    edition: str,
    fetch_source: FetchSource,
    agents: Sequence[str] = (),
    *,
    again: bool = False,
    early: bool = False,
) -> list[PageRequest]:
    """Return the cited and seed pages that have not been requested from this source, by URL; also
    those whose host did not answer and that are due for a second look.

    An archived page stays and is not fetched again when another report cites it. A published page
    that could not be fetched counts as tried.

    agents: only pages that these cite or are given; all if empty.
    again: also pages that were requested in vain.
    early: also those whose second look is not due yet.
    """
    cited: dict[str, Counter[str]] = defaultdict(Counter)
    written: dict[str, list[datetime]] = defaultdict(list)
    looks, now = {} if again or early else find_second_looks(source, edition), utc_now()
    given = [edition, list(agents), fetch_source, list(RETRY_STATUSES), again]
    for url, raw, n, at in source.frame(CITED, given).iter_rows():
        cited[url][clean_url(raw) or url] += n
        written[url] += [at] if at else []
    begun = source.frame(BEGUN, [edition])["begun"][0]
    return [
        PageRequest(
            url=url,
            addresses=tuple(a for a, _ in sorted(cited[url].items(), key=lambda i: (-i[1], i[0]))),
            cited_on=at.date() if (at := min(written[url], default=begun)) else None,
        )
        for url in sorted(cited)
        if looks.get((url, fetch_source), now) <= now
    ]


def describe_open_pages(source: Readable, edition: str, agents: Sequence[str] = ()) -> str | None:
    """Say which cited and seed pages are open, of which hosts, and when those not reached are due
    for a second look; None if all have a status."""
    found = source.frame(OPEN, [edition, list(agents)])
    if found.is_empty():
        return None
    hosts = list(dict.fromkeys(urlsplit(url).netloc for url in found["url"]))
    named = ", ".join(hosts[:SHOWN_HOSTS]) + (", …" if len(hosts) > SHOWN_HOSTS else "")
    said = f"{format_count(found.height, 'page')} of {format_count(len(hosts), 'host')} " + (
        f"{'is' if found.height == 1 else 'are'} open, not gone: {named}."
    )
    second = describe_second_look(source, edition, agents)
    return f"{said} {second or 'Run the same command again.'}"


def describe_second_look(
    source: Readable, edition: str, agents: Sequence[str] = (), command: str = "the same command"
) -> str:
    """Say when the open pages whose hosts did not answer, or were busy, are due for a second look;
    nothing if there are none."""
    left = set(source.frame(OPEN, [edition, list(agents)])["url"])
    due = [at for (url, _), at in find_second_looks(source, edition).items() if url in left]
    if not due:
        return ""
    return (
        f"Hosts that did not answer, or were busy, get a second look: run {command} again after "
        f"{max(due):%Y-%m-%d %H:%M} UTC."
    )


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
    order = ("direct", "jina", "wayback").index
    return [
        PageToRead(url=url, fetches=tuple(sorted(found, key=lambda fetch: order(fetch.source))))
        for url, found in sorted(by_url.items())
    ]


def find_reachable_urls(source: Readable, edition: str) -> list[str]:
    """Return the last URL that answered in an earlier run, and the URL of one of the edition's
    articles. When no page answers, requesting them tells dead pages from a dead network."""
    return source.frame(REACHABLE, [edition])["url"].to_list()


async def find_pages_again(warehouse: Warehouse, edition: str) -> bool:
    """Store the pages of redirects, with their fetches, under the keys of their targets too, so
    that they are not fetched again; citations under the earlier keys keep theirs. Return whether
    there were any."""
    unread = warehouse.frame(CARRIED, [edition]).iter_rows()
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
    return bool(moved)
