"""Find cited addresses that lead nowhere, and say which may be looked up, and which are never named
to an archive. That one never existed accuses whoever cited it, so whatever speaks for an address
counts."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from tasks.base import Frozen, format_count
from tasks.configuration.secrets import read_address
from tasks.configuration.web import WebSettings, load_web
from tasks.extraction.bans import is_host_or_subdomain
from tasks.extraction.links import stands_alone
from tasks.extraction.urls import normalise_url
from tasks.extraction.wrappers import is_wrapper
from tasks.masking import find_forms
from tasks.warehouse.pages import Fetch
from tasks.warehouse.rows import UtcDatetime, utc_now
from tasks.warehouse.store import Readable
from tasks.web.errors import NO_SUCH_HOST, NOT_FOUND, AddressRefused
from tasks.web.guard import Guard

LOST = f"""
WITH lost AS (
    SELECT f AS look, f.url, f.fetched_at, a.state, a.evidence, a.checked_at, a.due_at,
        list(DISTINCT {{'address': split_part(c.raw_url, '#', 1), 'raw': c.raw_url,
            'text': CASE WHEN d.name IS NULL THEN r.text END}}) AS cited,
        max(j.finished_at) AS youngest, max(coalesce(j.finished_at, f.fetched_at)) AS written
    FROM fetches AS f
    JOIN pages AS p USING (edition, url)
    JOIN citations AS c USING (edition, url)
    LEFT JOIN absent_pages AS a USING (edition, url)
    LEFT JOIN reports AS r USING (edition, agent, assignment)
    LEFT JOIN report_files AS d ON d.edition = c.edition AND d.agent = c.agent
        AND d.assignment = c.assignment AND d.number = 0 AND d.media_type = 'application/pdf'
    LEFT JOIN jobs AS j ON j.edition = c.edition AND j.agent = c.agent
        AND j.assignment = c.assignment AND j.state = 'done'
    WHERE f.edition = $1 AND f.source = 'direct' AND f.outcome <> 'unreached'
        AND (f.http_status IN {tuple(sorted(NOT_FOUND))} OR contains(f.error, '{NO_SUCH_HOST}'))
        AND p.status = 'unfetchable' AND p.text IS NULL
        AND f.url NOT IN (SELECT url FROM withheld_pages WHERE edition = $1)
    GROUP BY ALL
), planned AS (
    SELECT *, greatest(fetched_at + to_seconds($2), written + to_seconds($3)) AS since,
        greatest(since, due_at) AS due,
        CASE state WHEN 'gone' THEN false
            WHEN 'never_existed' THEN checked_at < youngest + to_seconds($3)
            ELSE due_at IS NOT NULL OR coalesce(checked_at < since, true) END AS open
    FROM lost
)
"""
"""Addresses that lead nowhere, with the reports that cite them; without the texts of PDFs, whose
lines may break an address. since: looks and answers count from then on, $2 seconds after the first
look and, for a report, $3 after it was made (an imported one: after the first look)."""
PENDING = f"""{LOST}
SELECT look, state, evidence, cited, since, open FROM planned
WHERE (open AND due <= $4) OR state = 'never_existed' ORDER BY url
"""
COUNTS = f"""{LOST}
SELECT count(*), count(*) FILTER (state = 'never_existed'), count(*) FILTER (state = 'gone'),
    min(due) FILTER (open)
FROM planned
"""


SANDBOX = "EVERGREEN_SANDBOX"


class Holdings(Frozen):
    """What the archive says that it has of an address; captures as their time and HTTP status."""

    snapshot: str | None = None
    """The capture that the availability API names."""
    captures: tuple[str, ...] = ()
    """Those in the CDX server."""
    host_captures: tuple[str, ...] | None = None
    """Those of the whole host; None if it was not asked for."""

    @property
    def has_page(self) -> bool:
        """Whether a capture shows a page, or where it led, and not an error."""
        captures = (*self.captures, *filter(None, [self.snapshot]))
        return any(capture.split()[-1][0] in "23" for capture in captures)


class Look(Frozen):
    """A look at an address that found nothing."""

    at: UtcDatetime
    status: int | None = None
    """HTTP status of the answer; None if there is no such host."""


class Evidence(Frozen):
    """What the state of an address rests on: the column `evidence` of `absent_pages`."""

    address: str
    """The address as reports have it."""
    looks: tuple[Look, ...] = ()
    holdings: Holdings | None = None
    """What the archive has."""
    known: str | None = None
    """The address that the archive found right after it had nothing of this one."""


class LostAddress(Frozen):
    """A cited address that leads nowhere, and about which something is to be done now."""

    url: str
    evidence: Evidence
    objection: str | None
    """Why nobody may be accused of it."""

    @property
    def is_certain(self) -> bool:
        """Whether two looks found nothing."""
        return len(self.evidence.looks) > 1


def found_nothing(fetch: Fetch) -> bool:
    """Whether a request shows nothing but that an address leads nowhere."""
    hops = json.loads(fetch.redirects)
    if any(normalise_url(hop["url"]) != fetch.url for hop in hops):
        return False
    return fetch.http_status in NOT_FOUND or (not hops and NO_SUCH_HOST in (fetch.error or ""))


def find_absent(source: Readable, edition: str, now: datetime | None = None) -> list[LostAddress]:
    """Return the addresses that lead nowhere and about which something is to be done now: those due
    to be looked up, and those accused that may not be any more. None if the archive may not be
    asked."""
    settings, now = load_web(), now or utc_now()
    if not settings.looks_up_existence():
        return []
    rows = source.frame(PENDING, [*_name_waits(edition, settings), now.replace(tzinfo=None)])
    found = [(row, _plan(row, settings, now)) for row in rows.to_dicts()]
    return [lost for row, lost in found if row["open"] or lost.objection]


def _name_waits(edition: str, settings: WebSettings) -> list[object]:
    youngest_seconds = settings.existence.youngest_days * 24 * 3600
    return [edition, settings.second_look_hours * 3600, youngest_seconds]


def _plan(row: Mapping[str, Any], settings: WebSettings, now: datetime) -> LostAddress:
    fetch = Fetch.model_validate(row["look"])
    since = row["since"].replace(tzinfo=UTC)
    address = min(each["address"] for each in row["cited"])
    looks = [Look(at=fetch.fetched_at, status=fetch.http_status)]
    if fetch.asked_url.partition("#")[0] != address:
        looks = []
    if row["evidence"]:
        before = Evidence.model_validate_json(row["evidence"])
        looks += [look for look in before.looks if look.at >= since]
    objection = _object(fetch, row["cited"], settings)
    if row["state"] == "never_existed" and row["open"] and since > now:
        objection = objection or "a younger report cites it, too"
    evidence = Evidence(address=address, looks=tuple(looks))
    return LostAddress(url=fetch.url, evidence=evidence, objection=objection)


def _object(
    fetch: Fetch, cited: Sequence[Mapping[str, str | None]], settings: WebSettings
) -> str | None:
    """Say why nobody may be accused of an address, however long one looks; None if one may.

    cited: how reports have it, and their texts.
    """
    address, *others = {each["address"] or "" for each in cited}
    if others:
        return "reports write it in several ways"
    if not all(each["text"] and stands_alone(each["text"], each["raw"] or "") for each in cited):
        return "a report may not have it as it was read: a sign beside it was cut off"
    if is_wrapper(address):
        return "it is a redirect or copy of another page's address"
    if not found_nothing(fetch):
        return "it exists: it redirects to another address"
    return describe_private(address, settings)


def describe_absent(source: Readable, edition: str) -> str | None:
    """Say how many cited addresses lead nowhere and what is known of them; None without any."""
    settings = load_web()
    [(n, never, gone, due)] = source.frame(COUNTS, _name_waits(edition, settings)).rows()
    if not n:
        return None
    said = format_count(n, "cited address leads", "cited addresses lead") + " nowhere"
    if not settings.looks_up_existence():
        why = f"no operator is named ({settings.operator_env}, or `operator` in configs/web.yaml)"
        if not settings.existence.enabled:
            why = "`existence` in configs/web.yaml is not enabled"
        return f"{said}; whether they ever existed is not looked up, because {why}."
    return (
        f"{said}: never existed: {never:,}; gone (an archive has it): {gone:,}; unknown: "
        f"{n - never - gone:,}."
        + (f" Run `fetch` again after {due:%Y-%m-%d %H:%M} UTC for more." if due else "")
    )


def describe_private(address: str, settings: WebSettings) -> str | None:
    """Say why an address is never named to others; None if it may be."""
    guard = Guard(settings.allowed)
    try:
        checked = guard.check_url(address)
    except AddressRefused as error:
        return str(error)
    own = [*settings.allowed.hosts, *settings.existence.own_hosts, read_address(SANDBOX)]
    if is_host_or_subdomain(_strip_www(checked.url), [*map(_strip_www, own)]):
        return f"{checked.host} is a host of one's own"
    if "@" in urlsplit(address).netloc or any(find_forms(address)):
        return "the address carries a key or a password"
    return None


def _strip_www(place: str) -> str:
    """Return the host of an address, or of `host:port`, without `www.`."""
    parts = urlsplit(place if "://" in place else f"//{place}")
    return (parts.hostname or "").removeprefix("www.")
