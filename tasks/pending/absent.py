"""Find cited addresses that lead nowhere, and decide what each needs before anybody may say that it
never existed. That accuses whoever cited it, so whatever speaks for an address counts."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from tasks.base import Frozen, format_count
from tasks.configuration.web import WebSettings, load_web
from tasks.extraction.links import stands_alone
from tasks.extraction.urls import normalise_url
from tasks.extraction.wrappers import is_wrapper
from tasks.warehouse.pages import Fetch
from tasks.warehouse.rows import UtcDatetime, utc_now
from tasks.warehouse.store import Readable
from tasks.web.direct import NOT_FOUND
from tasks.web.errors import NO_SUCH_HOST
from tasks.web.existence import Holdings, describe_private

LEAD_NOWHERE = f"""
FROM fetches AS f LEFT JOIN pages AS p USING (edition, url)
LEFT JOIN absent_pages AS a USING (edition, url)
WHERE f.edition = $1 AND f.source = 'direct'
    AND (f.http_status IN {tuple(sorted(NOT_FOUND))} OR contains(f.error, '{NO_SUCH_HOST}'))
    AND p.text IS NULL
    AND (p.status = 'unfetchable' OR (p.status IS NULL AND f.outcome = 'unreached'))
    AND f.url IN (SELECT url FROM citations WHERE edition = $1)
    AND f.url NOT IN (SELECT url FROM withheld_pages WHERE edition = $1)
"""
DUE = "CAST(json_extract_string(a.evidence, '$.due_at') AS TIMESTAMP)"
PENDING = f"""
SELECT f.*, a.evidence {LEAD_NOWHERE} AND (a.url IS NULL OR (
    a.state = 'unknown' AND json_extract(a.evidence, '$.holdings') IS NULL
    AND ({DUE} <= $2 OR f.fetched_at > a.checked_at)))
ORDER BY f.url
"""
"""Without those about which the archive has answered: it is not asked twice."""
CITED = """
SELECT DISTINCT c.raw_url, CASE WHEN f.name IS NULL THEN r.text END AS text, j.finished_at
FROM citations AS c
LEFT JOIN reports AS r USING (edition, agent, assignment)
LEFT JOIN report_files AS f ON f.edition = c.edition AND f.agent = c.agent
    AND f.assignment = c.assignment AND f.number = 0 AND f.media_type = 'application/pdf'
LEFT JOIN jobs AS j ON j.edition = c.edition AND j.agent = c.agent
    AND j.assignment = c.assignment AND j.state = 'done'
WHERE c.edition = $1 AND c.url = $2
"""
"""How reports cite a page; without the texts of PDFs, whose lines may break an address."""
CLOSED = """
SELECT max(CAST(json_extract_string(evidence, '$.closed_until') AS TIMESTAMP)) AS until
FROM absent_pages
"""
COUNTS = f"""
SELECT count(*) AS n, count(*) FILTER (a.state = 'never_existed') AS never,
    count(*) FILTER (a.state = 'gone') AS gone, min({DUE}) AS due
{LEAD_NOWHERE} AND f.outcome <> 'unreached'
"""


class Look(Frozen):
    """One look at an address."""

    at: UtcDatetime
    status: int | None = None
    """HTTP status of the answer."""
    no_host: bool = False
    """Whether the resolver says that there is no such host."""

    @property
    def found_nothing(self) -> bool:
        return self.no_host or self.status in NOT_FOUND


class Evidence(Frozen):
    """What the state of an address rests on: the column `evidence` of `absent_pages`."""

    address: str | None = None
    """The address as reports have it."""
    looks: tuple[Look, ...] = ()
    holdings: Holdings | None = None
    """What the archive has."""
    known: str | None = None
    """The address that the archive found in the same run."""
    due_at: UtcDatetime | None = None
    """When something is to be done about it next; None if never."""
    closed_until: UtcDatetime | None = None
    """Until when the archive is asked about no address at all."""


class AbsentAddress(Frozen):
    """A cited address that leads nowhere, and what is to be done about it now."""

    url: str
    evidence: Evidence
    need: Literal["look", "ask", "note"]
    """Look at it again, ask the archive, or only note why neither."""
    reason: str = ""
    """Why neither."""


def take_look(fetch: Fetch) -> Look:
    """Return what a request for an address has shown."""
    host = urlsplit(fetch.asked_url).hostname
    no_host = f"{NO_SUCH_HOST} {host} (DNS)" in (fetch.error or "")
    status = fetch.http_status if fetch.outcome == "fetched" else None
    return Look(at=fetch.fetched_at, status=status, no_host=no_host)


def find_absent(source: Readable, edition: str, now: datetime | None = None) -> list[AbsentAddress]:
    """Return the cited addresses that lead nowhere and about which something is to be done now;
    none if the archive may not be asked."""
    settings, now = load_web(), now or utc_now()
    if not settings.looks_up_existence():
        return []
    closed = source.frame(CLOSED)["until"][0]
    found = []
    for row in source.frame(PENDING, [edition, now.replace(tzinfo=None)]).to_dicts():
        before = Evidence.model_validate_json(row.pop("evidence") or "{}")
        cited = source.frame(CITED, [edition, row["url"]]).rows()
        fetch = Fetch.model_validate(row)
        found.append(_plan(fetch, before, cited, settings, now, closed))
    return found


def _plan(
    fetch: Fetch,
    before: Evidence,
    cited: Sequence[tuple[str, str | None, datetime | None]],
    settings: WebSettings,
    now: datetime,
    closed: datetime | None,
) -> AbsentAddress:
    """Decide what an address needs next. cited: how, in which texts, written when."""
    looks = before.looks
    if not looks or fetch.fetched_at > looks[-1].at:
        looks = (*looks, take_look(fetch))
    address, *others = sorted({_without_fragment(raw) for raw, _, _ in cited})
    pause = timedelta(hours=settings.second_look_hours)
    is_certain = _are_certain(looks, pause)
    youngest = max(at.replace(tzinfo=UTC) if at else looks[0].at for *_, at in cited)
    waits = [(youngest + timedelta(days=settings.existence.youngest_days), "its reports are young")]
    if not is_certain:
        waits.append((looks[-1].at + pause, "it gets a second look"))
    elif closed:
        waits.append((closed.replace(tzinfo=UTC), "the archive is left alone"))
    due, why = max(waits)
    objection: str | None = None
    if others:
        objection = "reports write it in several ways"
    elif not all(text and stands_alone(text, raw) for raw, text, _ in cited):
        objection = "a report may not have it as it was read: a sign beside it was cut off"
    elif fetch.outcome == "unreached":
        objection = "its page is open: its host gets a second look"
    else:
        objection = _object(fetch, address, settings)
    new = {"address": address, "looks": looks, "due_at": None if objection else due}
    evidence = before.model_copy(update=new)
    if objection or due > now:
        reason = objection or f"{why}: to be looked up after {due:%Y-%m-%d %H:%M} UTC"
        return AbsentAddress(url=fetch.url, evidence=evidence, need="note", reason=reason)
    return AbsentAddress(url=fetch.url, evidence=evidence, need="ask" if is_certain else "look")


def _without_fragment(address: str) -> str:
    return address.partition("#")[0]


def _are_certain(looks: Sequence[Look], apart: timedelta) -> bool:
    """Whether two looks some hours apart found nothing, and no answer came between or since."""
    nothing: list[Look] = []
    for look in looks:
        if look.found_nothing:
            nothing.append(look)
        elif look.status:
            nothing = []
    return looks[-1].found_nothing and nothing[-1].at - nothing[0].at >= apart


def _object(fetch: Fetch, address: str, settings: WebSettings) -> str | None:
    """Say why nobody may be accused of an address, however long one looks; None if one may."""
    if _without_fragment(fetch.asked_url) != address:
        return "it was not requested exactly as its reports have it"
    if is_wrapper(address):
        return "it is a redirect or copy of another page's address"
    if any(normalise_url(hop["url"]) != fetch.url for hop in json.loads(fetch.redirects)):
        return "it exists: it redirects to another address"
    return describe_private(address, settings)


def describe_absent(source: Readable, edition: str) -> str | None:
    """Say how many cited addresses lead nowhere and what is known of them; None without any."""
    [(n, never, gone, due)] = source.frame(COUNTS, [edition]).rows()
    if not n:
        return None
    said = format_count(n, "cited address leads", "cited addresses lead") + " nowhere"
    settings = load_web()
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
