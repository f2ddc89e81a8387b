"""The published claims of one report and the addresses they cite.

In each of the 14,271 published statements with a `url` (the other 417 cite nothing) the addresses
its numbers (`ref_idx`) stand for in `citation_urls` are a subsequence of its `url` list; where
`url` is longer, the rest has no number and no archived page. So `url` says all that `ref_idx`
says, and more. What the 21,516 listed `url` values are:

    18,869  stand in citation_urls, and in the report's Markdown
     1,962  do not, but do stand in the Markdown: the agent cited them, nobody fetched them
       538  stand nowhere in the report: misspelled or invented by the extracting model
       147  are blank (105) or no usable address (42)

Therefore a pair is made of every `url` value (of `citation_urls[ref_idx]` where there is no
`url`), except those that stand nowhere in the report: an agent is not charged with an address
it never wrote. E.g. "Parasitic ant" of gemini_3_pro: `ref_idx` ["1", "2"], three URLs, the
third a misspelling of source 3: two pairs. What is left out is counted in a remark.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote

from tasks.benchmarks.document import Document, Statement
from tasks.extraction.facts import locate_facts
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import Citation, Claim, Extraction, Report, content_sha

EXTRACTOR_VERSION = "published"

MAX_LOST_SHARE = 0.5
"""Pairs are unreliable where more than this share of the citing claims keeps no address at all.

So in 2 published reports of openai: "Papal inauguration of Pope Leo XIV" (all 179 claims cite
https://example.com/ref<n>) and "2025 Somerset–London tornado" (39 of 70); the next has 0.34.
"""


@dataclass(frozen=True)
class PublishedClaims:
    """A report's published claims; `extraction` says how complete their pairs are."""

    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    extraction: Extraction
    n_foreign: int
    """URL mentions left out because the address stands nowhere in the report."""
    n_no_address: int
    """URL mentions left out because they are no usable address."""


def published_claims(report: Report, document: Document) -> PublishedClaims | None:
    """The claims of a report's JSON; None where none were extracted."""
    statements = document.statements
    if not statements:
        return None
    addresses = _Addresses(report.text, document.citation_urls)
    citations = [
        row for n, s in enumerate(statements) for row in _citations(report, n, s, addresses)
    ]
    claims = _claims(report, statements)
    reason = _unreliable(report, addresses, len(citations))
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
    """Sha over the claims' texts and their pairs."""
    pairs = [part for c in citations for part in (str(c.number), c.url)]
    return content_sha(str(len(claims)), *(claim.text for claim in claims), *pairs)


class _Addresses:
    """Which URL mentions of one report's JSON become pairs; counts those that do not, the
    claims that mention any (`n_citing`) and those of them left without a pair (`n_lost`)."""

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

    def cited_by(self, statement: Statement) -> dict[str, str]:
        """Normalised URLs to the first raw form of each, in published order."""
        mentions = statement.urls
        if mentions is None:
            mentions = tuple(
                self._citation_urls[n] for n in statement.numbers if n in self._citation_urls
            )
        found: dict[str, str] = {}
        for raw in mentions:
            url = normalise_url(raw)
            if url is None:
                self.n_no_address += 1
            elif not self._stands_in_report(raw):
                self.n_foreign += 1
            else:
                found.setdefault(url, raw)
        self.n_citing += bool(mentions)
        self.n_lost += bool(mentions) and not found
        return found

    def _stands_in_report(self, raw: str) -> bool:
        if raw not in self._known:
            self._known[raw] = raw in self._listed or self._is_written(raw)
        return self._known[raw]

    def _is_written(self, raw: str) -> bool:
        """As a whole address in the text, or in the text without its escapes."""
        if _holds(self._text, raw):
            return True
        if self._plain_text is None:
            self._plain_text = _plain(self._text)
        return _holds(self._plain_text, _plain(raw))


def _holds(text: str, address: str) -> bool:
    """True if the address stands in the text and does not go on there."""
    return re.search(re.escape(address) + r"(?![/.?=&#%~+-]?\w)", text) is not None


def _plain(text: str) -> str:
    """Without percent-encoding and HTML escapes."""
    return unquote(unescape(text))


def _claims(report: Report, statements: tuple[Statement, ...]) -> tuple[Claim, ...]:
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
        )
        for number, (statement, (section, position)) in enumerate(
            zip(statements, places, strict=True)
        )
    )


def _citations(
    report: Report, number: int, statement: Statement, addresses: _Addresses
) -> list[Citation]:
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
        for url, raw in addresses.cited_by(statement).items()
    ]


def _unreliable(report: Report, addresses: _Addresses, n_pairs: int) -> str | None:
    """Why the claims of a report cannot be joined to URLs; None if they can."""
    if addresses.n_lost > MAX_LOST_SHARE * addresses.n_citing:
        return (
            f"{addresses.n_lost} of the {addresses.n_citing} published claims that cite anything "
            "name no address that stands in the report"
        )
    if n_pairs:
        return None
    if re.search(r"https?://", report.text):
        return "the published extraction joins no claim to any URL, though the report holds some"
    return "the report cites no URL"
