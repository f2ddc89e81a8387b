"""What selection looks at, from a page's wikitext and its talk page.

Wikitext is parsed by mwparserfromhell. Counts are of the page as written: what templates make of
it is not in them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import mwparserfromhell
from dateutil import parser as dates
from mwparserfromhell.wikicode import Wikicode

from tasks.configuration.wikipedia import CollectionRules
from tasks.extraction.urls import normalise_url
from tasks.warehouse.collected import Decision
from tasks.wikipedia.client import MediaWiki, Page
from tasks.wikipedia.listing import parsed

GOOD = frozenset({"ga", "good article", "goodarticle"})
"""Templates of a talk page that say since when its article is good."""
HISTORY = frozenset({"article history", "articlehistory", "article milestones"})
YEARLESS = datetime(1, 1, 1)  # noqa: DTZ001 - what is not said becomes this, not today
LAST_ACTION = 50
LONGEST_TEXT = 4_000_000
"""Characters of wikitext that are parsed; MediaWiki's own limit is 2 MB."""


@dataclass(frozen=True)
class Measures:
    """One page at the moment it was measured."""

    url: str
    revision_id: int
    revision_at: datetime
    bytes: int
    words: int
    """Of its prose: without templates, tables and references."""
    reference_urls: int
    """Different pages that its wikitext links to outside the wiki."""
    headings: int
    links: int
    """Different wiki pages it links to."""
    unfit: Decision | None
    """Why it is not taken as an article; None if it may be."""


@dataclass(frozen=True)
class Assessment:
    """What the talk page says."""

    topic: str | None
    promoted_on: date | None


async def measure_pages(
    wiki: MediaWiki, page_ids: Sequence[int], category: str, rules: CollectionRules
) -> dict[int, Measures]:
    """Measures of at most PAGES_AT_ONCE pages by id, of the newest revision; gone ones left out."""
    pages = await wiki.pages(
        page_ids,
        prop="revisions|categories|pageprops|info",
        rvprop="ids|timestamp|size|content",
        rvslots="main",
        clcategories=category,
        cllimit="max",
        ppprop="disambiguation|wikibase-shortdesc",
        inprop="url",
    )
    # Parsing fifty pages takes seconds, in which other answers should not have to wait.
    return {
        page_id: await asyncio.to_thread(measured, page, rules)
        for page_id, page in pages.items()
        if page.get("revisions")
    }


def measured(page: Page, rules: CollectionRules) -> Measures:
    """Of one page as the API gives it, with its categories narrowed to that of good articles."""
    revision = page["revisions"][-1]
    text = revision["slots"]["main"].get("content", "")[:LONGEST_TEXT]
    code = mwparserfromhell.parse(text)
    urls = {normalise_url(str(link.url)) for link in code.ifilter_external_links()}
    links = {_title(str(link.title)) for link in code.ifilter_wikilinks()}
    words = len(code.strip_code().split())
    return Measures(
        url=page["canonicalurl"],
        revision_id=revision["revid"],
        revision_at=parsed(revision["timestamp"]),
        bytes=revision["size"],
        words=words,
        reference_urls=len(urls - {None}),
        headings=len(code.filter_headings()),
        links=len({link for link in links if link}),
        unfit=_unfit(page, code, words, rules),
    )


async def assess(wiki: MediaWiki, titles: Sequence[str]) -> dict[str, Assessment]:
    """What the talk pages of at most PAGES_AT_ONCE articles say, by the article's title."""
    talk = {f"Talk:{title}": title for title in titles}
    pages = await wiki.titled(
        list(talk), prop="revisions", rvprop="content", rvslots="main"
    )  # fmt: skip
    return {
        talk[name]: assessment(page["revisions"][-1]["slots"]["main"].get("content", ""))
        for name, page in pages.items()
        if page.get("revisions")
    }


def assessment(wikitext: str) -> Assessment:
    """Topic and date of promotion from {{GA}} or {{Article history}}; None where neither says."""
    for template in mwparserfromhell.parse(wikitext[:LONGEST_TEXT]).ifilter_templates():
        name = _name(template)
        if name in GOOD:
            return Assessment(_value(template, "topic"), _date(_value(template, "1", "date")))
        if name in HISTORY and (_value(template, "currentstatus") or "").upper() == "GA":
            return Assessment(_value(template, "topic"), _listed_on(template))
    return Assessment(None, None)


def _listed_on(template: Any) -> date | None:
    """The date of the last nomination that listed it as good."""
    for number in range(LAST_ACTION, 0, -1):
        action = (_value(template, f"action{number}") or "").upper()
        result = (_value(template, f"action{number}result") or "").lower()
        if action == "GAN" and result in ("listed", "passed", "pass", "promoted"):
            return _date(_value(template, f"action{number}date"))
    return None


def _unfit(page: Page, code: Wikicode, words: int, rules: CollectionRules) -> Decision | None:
    properties = page.get("pageprops", {})
    described = properties.get("wikibase-shortdesc") or _described(code) or ""
    of_lists = tuple(text.lower() for text in rules.list_descriptions)
    if page.get("redirect"):
        return "redirect"
    if "disambiguation" in properties or page["title"].endswith(" (disambiguation)"):
        return "disambiguation"
    if not page.get("categories"):  # the only one asked for is that of good articles
        return "delisted"
    if page["title"].startswith(rules.list_titles) or described.lower().startswith(of_lists):
        return "list"
    return "too_short" if words < rules.fewest_words else None


def _described(code: Wikicode) -> str | None:
    """The short description that the page's own template gives."""
    for template in code.ifilter_templates(recursive=False):
        if _name(template) == "short description":
            return _value(template, "1")
    return None


def _name(template: Any) -> str:
    return str(template.name).strip().replace("_", " ").lower()


def _value(template: Any, *names: str) -> str | None:
    for name in names:
        if template.has(name, ignore_empty=True):
            return str(template.get(name).value.strip_code()).strip() or None
    return None


def _date(text: str | None) -> date | None:
    """Wikipedia's dates are written by hand: `12:00, 14 July 2025 (UTC)`, `2025-07-14`."""
    if not text:
        return None
    try:
        found = dates.parse(text.replace("(UTC)", "").strip(), default=YEARLESS).date()
    except (ValueError, OverflowError):
        return None
    return found if found.year > YEARLESS.year else None


def _title(link: str) -> str:
    """The page a wiki link leads to, without its section."""
    page = link.partition("#")[0].strip().replace("_", " ")
    return page[:1].upper() + page[1:]
