"""The published claims of a report and the URLs they cite.

In each of the 14,271 published statements with a `url` (the other 417 cite nothing) the URLs of its
numbers (`ref_idx`) in `citation_urls` are a subsequence of its `url` list. If `url` is longer, the
others have no number and no archived page. So `url` has more information than `ref_idx`. Of the
21,516 `url` values:

    18,869  are in citation_urls and in the report's Markdown
     1,962  are only in the Markdown: the agent cited them, nobody fetched them
       538  are not in the report: misspelled or invented by the extracting model
       147  are blank (105) or no usable URL (42)

Therefore every `url` value (or `citation_urls[ref_idx]` if there is no `url`) becomes a pair,
except those that are not in the report: an agent is not charged with a URL it never wrote (they
count in leakage alone, `Claim.unwritten_urls`, as they did in the published figures). E.g.
"Parasitic ant" of gemini_3_pro has `ref_idx` ["1", "2"] and three URLs, the third a misspelling of
source 3: two pairs. A remark counts what is left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from tasks.benchmarks.document import PublishedStatement, ReportDocument
from tasks.extraction.facts import locate_facts
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import NO_URL, Citation, Claim, Extraction, Report, content_sha

EXTRACTOR_VERSION = "published"

MAX_LOST_SHARE = 0.5
"""Pairs are unreliable if more than this share of the citing claims keeps no URL.

This applies to 2 published reports of openai: "Papal inauguration of Pope Leo XIV" (all 179 claims
cite https://example.com/ref<n>) and "2025 Somerset–London tornado" (39 of 70); the next has 0.34.
"""


@dataclass(frozen=True)
class PublishedClaims:
    """A report's published claims; `extraction` says whether their pairs are reliable."""

    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    extraction: Extraction
    n_foreign: int
    """URL mentions left out because the URL is not in the report."""
    n_no_address: int
    """URL mentions left out because they are no usable URL."""


def parse_claims(report: Report, document: ReportDocument) -> PublishedClaims | None:
    """Parse the claims in a report's JSON; None if none were extracted."""
    statements = document.statements
    if not statements:
        return None
    addresses = _CitedUrls(report.text, document.citation_urls)
    cited = [addresses.find_cited(statement) for statement in statements]
    citations = [
        row
        for number, urls in enumerate(cited)
        for row in _make_citations(report, number, urls.written)
    ]
    claims = _make_claims(report, statements, [urls.unwritten for urls in cited])
    reason = _find_unreliable_reason(report, addresses, len(citations))
    extraction = Extraction(
        edition=report.edition,
        agent=report.agent,
        assignment=report.assignment,
        source="published",
        extractor_version=EXTRACTOR_VERSION,
        input_sha=report.text_sha,
        output_sha=output_sha(claims, citations),
        n_items=len(claims),
        n_pairs=len(citations),
        pairs_reliable=reason is None,
        pairs_reason=reason,
    )
    return PublishedClaims(
        claims, tuple(citations), extraction, addresses.n_foreign, addresses.n_no_address
    )


def output_sha(claims: tuple[Claim, ...], citations: list[Citation]) -> str:
    """Return the sha-256 of the claims' texts and pairs."""
    pairs = [part for c in citations for part in (str(c.number), c.url)]
    return content_sha(str(len(claims)), *(claim.text for claim in claims), *pairs)


class _StatementUrls(NamedTuple):
    """The normalised URLs that a statement cites."""

    written: dict[str, str]
    """Those in the report, each with its first raw form."""
    unwritten: tuple[str, ...]
    """Those that its publisher joins to it and the report does not contain."""


class _CitedUrls:
    """Selects the URL mentions of one report that become pairs. It counts those that do not, the
    claims with mentions (`n_citing`) and those of them left without a pair (`n_lost`)."""

    def __init__(self, report_text: str, citation_urls: Mapping[str, str]) -> None:
        self.n_foreign = 0
        self.n_no_address = 0
        self.n_citing = 0
        self.n_lost = 0
        self._citation_urls = citation_urls
        self._listed = frozenset(citation_urls.values())
        self._text = report_text
        self._plain_text: str | None = None
        self._known: dict[str, bool] = {}

    def find_cited(self, statement: PublishedStatement) -> _StatementUrls:
        """Find a statement's URLs, in published order."""
        mentions = statement.urls
        if mentions is None:
            listed = self._citation_urls
            mentions = tuple(listed[n] for n in statement.numbers if n in listed)
        found: dict[str, str] = {}
        unwritten: dict[str, None] = {}
        for raw in mentions:
            url = normalise_url(raw)
            if url is None:
                self.n_no_address += 1
            elif not self._is_in_report(raw):
                self.n_foreign += 1
                unwritten[url] = None
            else:
                found.setdefault(url, raw)
        self.n_citing += bool(mentions)
        self.n_lost += bool(mentions) and not found
        return _StatementUrls(found, tuple(unwritten))

    def _is_in_report(self, raw: str) -> bool:
        if raw not in self._known:
            self._known[raw] = raw in self._listed or self._is_written(raw)
        return self._known[raw]

    def _is_written(self, raw: str) -> bool:
        """Return whether the text contains the whole URL, with or without escapes."""
        if _contains(self._text, raw):
            return True
        if self._plain_text is None:
            self._plain_text = _unescape(self._text)
        return _contains(self._plain_text, _unescape(raw))


def _contains(text: str, address: str) -> bool:
    """Return whether the text contains the URL, not just as the beginning of a longer one."""
    return re.search(re.escape(address) + r"(?![/.?=&#%~+-]?\w)", text) is not None


def _unescape(text: str) -> str:
    """Undo percent-encoding and HTML escapes."""
    return unquote(unescape(text))


def _make_claims(
    report: Report, statements: tuple[PublishedStatement, ...], unwritten: Sequence[tuple[str, ...]]
) -> tuple[Claim, ...]:
    places = locate_facts([s.text for s in statements], report.text)
    return tuple(
        Claim(
            edition=report.edition,
            agent=report.agent,
            assignment=report.assignment,
            number=number,
            text=statement.text,
            section=section,
            position=position,
            source="published",
            unwritten_urls=" ".join(urls) or None,
        )
        for number, (statement, (section, position), urls) in enumerate(
            zip(statements, places, unwritten, strict=True)
        )
    )


def _make_citations(report: Report, number: int, urls: Mapping[str, str]) -> list[Citation]:
    return [
        Citation(
            edition=report.edition,
            agent=report.agent,
            assignment=report.assignment,
            number=number,
            url=url,
            raw_url=raw,
            kind="published",
        )
        for url, raw in urls.items()
    ]


def _find_unreliable_reason(report: Report, addresses: _CitedUrls, n_pairs: int) -> str | None:
    """Return why a report's (claim, URL) pairs are unreliable; None if they are reliable."""
    if addresses.n_lost > MAX_LOST_SHARE * addresses.n_citing:
        return (
            f"{addresses.n_lost} of the {addresses.n_citing} published claims that cite anything "
            "name no address that stands in the report"
        )
    if n_pairs:
        return None
    if re.search(r"https?://", report.text):
        return "the published extraction joins no claim to any URL, though the report holds some"
    return NO_URL
