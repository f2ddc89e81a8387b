"""Find cited addresses that lead nowhere, and decide what each needs before anybody may say that it
never existed. That accuses whoever cited it, so whatever speaks for an address counts."""

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from tasks.base import Frozen, format_count
from tasks.configuration.web import WebSettings, load_web
from tasks.extraction.links import stands_alone
from tasks.extraction.urls import normalise_url
from tasks.extraction.wrappers import is_wrapper
from tasks.warehouse.pages import AbsentPage, Fetch
from tasks.warehouse.rows import Row, UtcDatetime, utc_now
from tasks.warehouse.store import Readable
from tasks.web.direct import NOT_FOUND
from tasks.web.errors import NO_SUCH_HOST
from tasks.web.existence import Holdings, describe_private

RowT = TypeVar("RowT", bound=Row)
LEAD_NOWHERE = f"""
SELECT f.* FROM fetches AS f LEFT JOIN pages AS p USING (edition, url)
WHERE f.edition = $1 AND f.source = 'direct'
    AND (f.http_status IN {tuple(sorted(NOT_FOUND))} OR contains(f.error, '{NO_SUCH_HOST}'))
    AND coalesce(p.status, 'unfetchable') = 'unfetchable' AND p.text IS NULL
    AND f.url IN (SELECT url FROM citations WHERE edition = $1)
    AND f.url NOT IN (SELECT url FROM withheld_pages WHERE edition = $1)
ORDER BY f.url
"""
KEPT = "SELECT * FROM absent_pages WHERE edition = $1 ORDER BY url"
CITED = """
SELECT c.agent, c.assignment, c.url, c.raw_url, max(j.finished_at) AS written
FROM citations AS c LEFT JOIN jobs AS j
    ON j.edition = c.edition AND j.agent = c.agent AND j.assignment = c.assignment
    AND j.state = 'done'
WHERE c.edition = $1 AND c.url IN (SELECT unnest($2)) GROUP BY ALL ORDER BY ALL
"""
REPORT = """
SELECT r.text FROM reports AS r ANTI JOIN (
    SELECT edition, agent, assignment FROM report_files
    WHERE number = 0 AND media_type = 'application/pdf') AS f USING (edition, agent, assignment)
WHERE r.edition = $1 AND r.agent = $2 AND r.assignment = $3
"""
"""The text of a report; none of one from a PDF, whose lines may break an address."""
CLOSED = "SELECT max(json_extract_string(evidence, '$.closed_until')) AS until FROM absent_pages"


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

    @property
    def lacks_host(self) -> bool:
        return any(look.no_host for look in self.evidence.looks)


class _Cited(Frozen):
    spellings: frozenset[str]
    """The addresses as reports have them, without fragments."""
    is_misread: bool
    """Whether some report does not have it as it was read."""
    written: tuple[datetime | None, ...]
    """When the reports were; None of those that were imported."""


def take_look(fetch: Fetch) -> Look:
    """Return what a request for an address has shown."""
    host = urlsplit(fetch.asked_url).hostname
    no_host = f"{NO_SUCH_HOST} {host} (DNS)" in (fetch.error or "")
    status = fetch.http_status if fetch.outcome == "fetched" else None
    return Look(at=fetch.fetched_at, status=status, no_host=no_host)


def find_pending_addresses(
    source: Readable, edition: str, now: datetime | None = None
) -> list[AbsentAddress]:
    """Return the cited addresses that lead nowhere and about which something is to be done now."""
    settings, now = load_web(), now or utc_now()
    kept = {row.url: row for row in _read(source, AbsentPage, KEPT, edition)}
    fetches = [
        fetch
        for fetch in _read(source, Fetch, LEAD_NOWHERE, edition)
        if not (row := kept.get(fetch.url)) or not _is_settled(row)
    ]
    cited = _find_citations(source, edition, [fetch.url for fetch in fetches])
    closed = source.frame(CLOSED)["until"][0]
    closed_until = datetime.fromisoformat(closed) if closed else None
    found = []
    for fetch in fetches:
        row = kept.get(fetch.url)
        before = parse(row) if row else Evidence()
        address = _plan(fetch, before, cited[fetch.url], settings, now, closed_until)
        if address.need != "note" or not row or parse(row) != address.evidence:
            found.append(address)
    return found


def find_absent_to_look_up(source: Readable, edition: str) -> list[AbsentAddress]:
    """Return what `find_pending_addresses` finds, if it may be looked up; else nothing."""
    return find_pending_addresses(source, edition) if load_web().looks_up_existence() else []


def parse(row: AbsentPage) -> Evidence:
    return Evidence.model_validate_json(row.evidence)


def _is_settled(row: AbsentPage) -> bool:
    """Whether the archive has answered: it is not asked twice about an address."""
    return row.state != "unknown" or parse(row).holdings is not None


def _read(source: Readable, model: type[RowT], sql: str, edition: str) -> list[RowT]:
    return [model.model_validate(row) for row in source.frame(sql, [edition]).to_dicts()]


def _find_citations(source: Readable, edition: str, urls: Sequence[str]) -> dict[str, _Cited]:
    rows = source.frame(CITED, [edition, list(urls)]).rows()
    by_report: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for agent, assignment, url, raw, _ in rows:
        by_report[agent, assignment].add((url, raw))
    misread: set[str] = set()
    for report, cited in by_report.items():
        text = "".join(source.frame(REPORT, [edition, *report])["text"])
        misread |= {url for url, raw in cited if not stands_alone(text, raw)}
    spellings: dict[str, set[str]] = defaultdict(set)
    written: dict[str, list[datetime | None]] = defaultdict(list)
    for _, _, url, raw, at in rows:
        spellings[url].add(_without_fragment(raw))
        written[url].append(at and at.replace(tzinfo=UTC))
    return {
        url: _Cited(
            spellings=frozenset(spellings[url]),
            is_misread=url in misread,
            written=tuple(written[url]),
        )
        for url in urls
    }


def _without_fragment(address: str) -> str:
    return address.partition("#")[0]


def _plan(
    fetch: Fetch,
    before: Evidence,
    cited: _Cited,
    settings: WebSettings,
    now: datetime,
    closed_until: datetime | None,
) -> AbsentAddress:
    """Decide what an address needs next."""
    looks = before.looks
    if not looks or fetch.fetched_at > looks[-1].at:
        looks = (*looks, take_look(fetch))
    address = min(cited.spellings) if len(cited.spellings) == 1 else None
    new = {"address": address, "looks": looks, "due_at": None}
    if objection := _object(fetch, address, cited, settings):
        evidence = before.model_copy(update=new)
        return AbsentAddress(url=fetch.url, evidence=evidence, need="note", reason=objection)
    hours = timedelta(hours=settings.second_look_hours)
    youngest = max(at or looks[0].at for at in cited.written)
    old_enough = youngest + timedelta(days=settings.existence.youngest_days)
    is_certain = _are_certain(looks, hours)
    wait = ("its reports are young", old_enough)
    if not is_certain:
        wait = max(wait, ("it gets a second look", looks[-1].at + hours), key=itemgetter(1))
    elif asked := max(filter(None, (before.due_at, closed_until)), default=None):
        wait = max(wait, ("the archive did not answer", asked), key=itemgetter(1))
    why, due = wait
    evidence = before.model_copy(update=new | {"due_at": due})
    if due > now or fetch.outcome == "unreached":  # `fetch` itself looks at such a page again
        reason = f"{why}: to be looked up after {due:%Y-%m-%d %H:%M} UTC"
        return AbsentAddress(url=fetch.url, evidence=evidence, need="note", reason=reason)
    return AbsentAddress(url=fetch.url, evidence=evidence, need="ask" if is_certain else "look")


def _are_certain(looks: Sequence[Look], apart: timedelta) -> bool:
    """Whether two looks some hours apart found nothing, and no answer came between or since."""
    nothing: list[Look] = []
    for look in looks:
        if look.found_nothing:
            nothing.append(look)
        elif look.status:
            nothing = []
    return looks[-1].found_nothing and nothing[-1].at - nothing[0].at >= apart


def _object(fetch: Fetch, address: str | None, cited: _Cited, settings: WebSettings) -> str | None:
    """Say why nobody may be accused of an address, however long one looks; None if one may."""
    if address is None:
        return "reports write it in several ways"
    if cited.is_misread or _without_fragment(fetch.asked_url) != address:
        return "it was not requested exactly as all its reports have it, with nothing cut off"
    if is_wrapper(address):
        return "it is a redirect or copy of another page's address"
    if any(normalise_url(hop["url"]) != fetch.url for hop in json.loads(fetch.redirects)):
        return "it exists: it redirects to another address"
    return describe_private(address, settings)


def describe_absent(source: Readable, edition: str) -> str | None:
    """Say how many cited addresses lead nowhere and what is known of them; None without any."""
    fetches = _read(source, Fetch, LEAD_NOWHERE, edition)
    urls = {fetch.url for fetch in fetches if fetch.outcome != "unreached"}
    if not urls:
        return None
    said = format_count(len(urls), "cited address leads", "cited addresses lead") + " nowhere"
    settings = load_web()
    if not settings.looks_up_existence():
        why = f"no operator is named ({settings.operator_env}, or `operator` in configs/web.yaml)"
        if not settings.existence.enabled:
            why = "`existence` in configs/web.yaml is not enabled"
        return f"{said}; whether they ever existed is not looked up, because {why}."
    kept = [row for row in _read(source, AbsentPage, KEPT, edition) if row.url in urls]
    never, gone = (sum(row.state == state for row in kept) for state in ("never_existed", "gone"))
    due = [at for row in kept if not _is_settled(row) and (at := parse(row).due_at)]
    later = f" Run `fetch` again after {min(due):%Y-%m-%d %H:%M} UTC for more." if due else ""
    unknown = len(urls) - never - gone
    return (
        f"{said}: never existed: {never:,}; gone (an archive has it): {gone:,}; unknown: "
        f"{unknown:,}.{later}"
    )
