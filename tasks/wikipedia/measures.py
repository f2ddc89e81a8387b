"""Measure pages for the selection of articles, from their wikitext and talk pages.

Wikitext is parsed by mwparserfromhell. Counts are of the wikitext as written, without what its
templates expand to.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any

import mwparserfromhell
from dateutil import parser as dates
from mwparserfromhell.wikicode import Wikicode

from tasks.configuration.wikipedia import CollectionRules
from tasks.extraction.urls import normalise_url
from tasks.warehouse.wiki_editions import CandidateDecision
from tasks.wikipedia.client import ApiPage, MediaWiki
from tasks.wikipedia.listing import parse_timestamp

GOOD = frozenset({"ga", "good article", "goodarticle"})
"""Talk page templates that date an article's promotion to good article."""
HISTORY = frozenset(
    {"article history", "articlehistory", "article milestones", "articlemilestones"}
)
GOOD_TODAY = frozenset({"GA", "FFA/GA", "FFAC/GA"})
"""States of an article history that mean a good article: also one that is no longer featured, or
that failed as featured. Others with these letters (DGA, FGAN) mean none."""
MONTH = re.compile(r"[A-Z][a-z]+ \d{4}")
YEAR_MISSING = datetime(1, 1, 1)  # noqa: DTZ001 - what is not said becomes this, not today
MAX_ACTIONS = 50
MAX_WIKITEXT = 4_000_000
"""Characters of wikitext that are parsed; MediaWiki's own limit is 2 MB."""


@dataclass(frozen=True)
class Measures:
    """The measures of one page at one revision."""

    title: str
    url: str
    revision_id: int
    revision_at: datetime
    bytes: int
    words: int
    """Words of its prose, without templates, tables and references."""
    reference_urls: int
    """Distinct external pages that its wikitext links to."""
    headings: int
    links: int
    """Distinct wiki pages it links to."""
    maintenance_tags: str | None
    exclusion: CandidateDecision | None
    """Why it cannot be chosen; None if it can."""


@dataclass(frozen=True)
class Assessment:
    """A good article's topic and promotion date, from its talk page."""

    topic: str | None
    promoted_on: date | None
    under_reassessment: bool = False


async def measure_pages(
    wiki: MediaWiki, page_ids: Sequence[int], category: str, rules: CollectionRules
) -> dict[int, Measures]:
    """Measure at most PAGES_AT_ONCE pages by id, at their newest revision; omit deleted pages."""
    # The wiki also names what a redirect leads to, so tags are found under all their aliases.
    tags = "|".join(f"Template:{name}" for name in rules.machine_written)
    pages = await wiki.fetch_pages(
        page_ids,
        prop="revisions|categories|pageprops|info" + ("|templates" if tags else ""),
        rvprop="ids|timestamp|size|content",
        rvslots="main",
        clcategories=category,
        cllimit="max",
        ppprop="disambiguation|wikibase-shortdesc",
        inprop="url",
        **({"tltemplates": tags, "tllimit": "max"} if tags else {}),
    )
    # Parsing fifty pages takes seconds, and would block other answers.
    return {
        page_id: await asyncio.to_thread(measure_page, page, rules)
        for page_id, page in pages.items()
        if page.get("revisions")
    }


def measure_page(page: ApiPage, rules: CollectionRules) -> Measures:
    """Measure one page of the API's answer, its categories limited to that of good articles."""
    revision = page["revisions"][-1]
    text = revision["slots"]["main"].get("content", "")[:MAX_WIKITEXT]
    code = mwparserfromhell.parse(text)
    urls = {normalise_url(str(link.url)) for link in code.ifilter_external_links()}
    links = {_link_title(str(link.title)) for link in code.ifilter_wikilinks()}
    words = len(code.strip_code().split())
    return Measures(
        title=page["title"],
        url=page["canonicalurl"],
        revision_id=revision["revid"],
        revision_at=parse_timestamp(revision["timestamp"]),
        bytes=revision["size"],
        words=words,
        reference_urls=len(urls - {None}),
        headings=len(code.filter_headings()),
        links=len({link for link in links if link}),
        maintenance_tags=_find_maintenance_tags(page, code, rules),
        exclusion=_find_exclusion(page, code, words, rules),
    )


async def fetch_assessments(
    wiki: MediaWiki, titles: Sequence[str], rules: CollectionRules
) -> dict[str, Assessment]:
    """Fetch and parse the talk pages of at most PAGES_AT_ONCE articles, by the article's title."""
    if not titles:
        return {}
    talk = {f"Talk:{title}": title for title in titles}
    wanted = {"prop": "revisions", "rvprop": "content", "rvslots": "main"}
    pages = await wiki.fetch_by_title(list(talk), **wanted)
    return {
        talk[name]: parse_assessment(
            page["revisions"][-1]["slots"]["main"].get("content", ""), rules.reassessment
        )
        for name, page in pages.items()
        if page.get("revisions")
    }


def parse_assessment(wikitext: str, reassessment: Sequence[str] = ()) -> Assessment:
    """Parse topic and promotion date from {{GA}} or {{Article history}}, None if not given, and
    whether a template of `reassessment` is open."""
    templates = mwparserfromhell.parse(wikitext[:MAX_WIKITEXT]).filter_templates()
    is_open = any(
        _template_name(template) in _fold(reassessment) and not _parameter(template, "status")
        for template in templates
    )
    for template in templates:
        name, topic = _template_name(template), _parameter(template, "topic", "subtopic")
        if name in GOOD:
            return Assessment(topic, _parse_date(_parameter(template, "1", "date")), is_open)
        if name in HISTORY and (_parameter(template, "currentstatus") or "").upper() in GOOD_TODAY:
            return Assessment(topic, _find_promotion_day(template), is_open)
    return Assessment(None, None, is_open)


def _find_promotion_day(template: Any) -> date | None:
    """Return the date of the last nomination that listed the article as good."""
    for number in range(MAX_ACTIONS, 0, -1):
        action = (_parameter(template, f"action{number}") or "").upper()
        result = (_parameter(template, f"action{number}result") or "").lower()
        if action == "GAN" and result in ("listed", "passed", "pass", "promoted"):
            return _parse_date(_parameter(template, f"action{number}date"))
    return None


def _find_exclusion(
    page: ApiPage, code: Wikicode, words: int, rules: CollectionRules
) -> CandidateDecision | None:
    properties = page.get("pageprops", {})
    described = properties.get("wikibase-shortdesc") or _short_description(code) or ""
    of_lists = tuple(text.lower() for text in rules.list_descriptions)
    if page.get("redirect"):
        return "redirect"
    if "disambiguation" in properties or page["title"].endswith(" (disambiguation)"):
        return "disambiguation"
    if not page.get("categories"):  # only that of good articles was requested
        return "delisted"
    if page["title"].startswith(rules.list_titles) or described.lower().startswith(of_lists):
        return "list"
    if _find_machine_written_tags(page, code, rules):
        return "machine_written"
    return "too_short" if words < rules.fewest_words else None


def _find_machine_written_tags(page: ApiPage, code: Wikicode, rules: CollectionRules) -> set[str]:
    """Return which of the rules' templates the page uses, also by a redirect or in a section."""
    used = {_template_name(template) for template in code.ifilter_templates()}
    used |= {entry["title"].partition(":")[2].lower() for entry in page.get("templates", ())}
    return used & _fold(rules.machine_written)


def _find_maintenance_tags(page: ApiPage, code: Wikicode, rules: CollectionRules) -> str | None:
    """Return the templates by which editors ask for work on the page or a part of it: those with a
    month as `date`, which bots add, those in a box of tags, and those of machine-written text."""
    if rules.not_maintenance is None:
        return None
    found, boxes = _find_machine_written_tags(page, code, rules), _fold(rules.tag_boxes)
    for template in code.ifilter_templates():
        name = _template_name(template)
        if name in boxes:
            found |= {_template_name(tag) for value in template.params
                      for tag in value.value.ifilter_templates()}  # fmt: skip
        if MONTH.fullmatch(_parameter(template, "date") or ""):
            found.add(name)
    others = _fold(rules.not_maintenance)
    tags = sorted(name for name in found if not any(fnmatchcase(name, one) for one in others))
    return ", ".join(tags)


def _short_description(code: Wikicode) -> str | None:
    """Return the short description in the page's own template."""
    for template in code.ifilter_templates(recursive=False):
        if _template_name(template) == "short description":
            return _parameter(template, "1")
    return None


def _template_name(template: Any) -> str:
    return str(template.name).strip().replace("_", " ").lower()


def _fold(names: Sequence[str]) -> frozenset[str]:
    """Return configured names as `_template_name` returns those of a page."""
    return frozenset(name.replace("_", " ").lower() for name in names)


def _parameter(template: Any, *names: str) -> str | None:
    for name in names:
        if template.has(name, ignore_empty=True):
            return str(template.get(name).value.strip_code()).strip() or None
    return None


def _parse_date(text: str | None) -> date | None:
    """Parse a handwritten date such as `12:00, 14 July 2025 (UTC)` or `2025-07-14`."""
    if not text:
        return None
    try:
        found = dates.parse(text.replace("(UTC)", "").strip(), default=YEAR_MISSING).date()
    except (ValueError, OverflowError):
        return None
    return found if found.year > YEAR_MISSING.year else None


def _link_title(link: str) -> str:
    """Return the title of the page a wiki link leads to, without its section."""
    page = link.partition("#")[0].strip().replace("_", " ")
    return page[:1].upper() + page[1:]
