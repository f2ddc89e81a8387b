"""Extract a report's claims and the URLs they cite from its Markdown, without a model.

A claim is a sentence or a table row. It cites the markers inside or right after it; a claim without
any takes the next ones in the report, as in the Wiki Live Challenge's extraction. Each pair says
whether its marker is the claim's own, stands in the same paragraph (a list item and a table row are
paragraphs of their own), or beyond it: other protocols do not count the last. Agreement (F1) with
the published pairs of the three agents that have them, by how far to look for the next
marker:

                          nowhere  paragraph  section  report
    openai                   .693       .844     .849    .847
    gemini_3_pro             .783       .919     .916    .912
    langchain_w_gpt4.1       .457       .735     .842    .881
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.extraction.blocks import MarkdownBlock, Outline, parse_outline
from tasks.extraction.citations import Marker, find_bare_numbers, find_markers, merge_markers
from tasks.extraction.facts import locate_facts
from tasks.extraction.references import References, find_references
from tasks.extraction.sentences import MIN_WORDS, Sentence, group_markers, split_block
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import CitationKind

EXTRACTOR_VERSION = "offline-2"

DOUBTED = 2
"""From this many statements of the offline extractor on, another's empty list is doubted."""
MIN_RESOLVED = 0.5
"""Pairs are unreliable if a smaller share of a report's markers leads to a URL."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class ExtractedCitation:
    raw_url: str
    url: str
    """Normalised; the page's key."""
    marker: str
    """The marker as written in the report."""
    kind: CitationKind


@dataclass(frozen=True, slots=True)
class ExtractedClaim:
    text: str
    section: str | None
    position: int | None
    """Offset of its first character in the report; None if unknown."""
    citations: tuple[ExtractedCitation, ...]


@dataclass(frozen=True, slots=True)
class ExtractedClaims:
    claims: tuple[ExtractedClaim, ...]
    pairs_reliable: bool
    pairs_reason: str | None
    """Why the (claim, URL) pairs are not reliable; None if they are."""
    n_markers: int = 0
    """Markers in the body."""
    n_resolved: int = 0
    """Markers that lead to a URL."""
    n_entries: int = 0
    """Entries of the reference lists that have an address."""

    def __len__(self) -> int:
        return len(self.claims)


def extract_claims(title: str, markdown: str) -> ExtractedClaims:
    """Extract the claims of a report, in order. Never raises."""
    parts = parse_outline(markdown, title)
    body = [block for block in parts.blocks if not block.apparatus]
    markers = _find_all_markers(markdown, parts)
    grouped = list(zip(body, group_markers(body, markers), strict=True))
    cited = {number for _, inside in grouped for marker in inside for number in marker.numbers}
    references = find_references(markdown, parts.references, cited)
    pages = _MarkerPages(references)
    drafts: list[_DraftClaim] = []
    n_markers = n_resolved = 0
    for block, inside in grouped:
        if _is_reference_entry(block, references):
            continue
        n_markers += len(inside)
        n_resolved += sum(1 for marker in inside if pages.find(marker))
        drafts += _draft_claims(block, split_block(markdown, block, inside))
    claims = _attach_citations(drafts, pages)
    reason = _explain_unreliable(n_markers, n_resolved, references)
    if reason is None and not any(claim.citations for claim in claims):
        reason = "no statement has a marker that leads to a URL in it or after it"
    return ExtractedClaims(
        tuple(claims), reason is None, reason, n_markers, n_resolved, references.n_urls
    )


def cite_statements(
    title: str,
    markdown: str,
    statements: Sequence[tuple[str, Sequence[str]]],
    *,
    by_attribution: bool = False,
) -> ExtractedClaims:
    """Resolve the citation markers of statements that were extracted elsewhere.

    A page that the statement's sentence or the rest of its paragraph cites is `explicit` or
    `paragraph`, as in `extract_claims`.

    Args:
        by_attribution: The others are `attributed`, and statements without any cite nothing. If
            not, the markers are the next ones of the report, and the others are `inferred`.
        statements: Text and citation markers as written in the report. Markers that are not in
            the report lead nowhere.
    """
    parts = parse_outline(markdown, title)
    found = [
        [marker for raw in markers if raw and raw in markdown for marker in find_markers(raw)]
        for _, markers in statements
    ]
    cited = {number for markers in found for marker in markers for number in marker.numbers}
    references = find_references(markdown, parts.references, cited)
    pages = _MarkerPages(references)
    places = locate_facts([text for text, _ in statements], markdown)
    near = _NearbyPages(markdown, parts, references, pages)
    other: CitationKind = "attributed" if by_attribution else "inferred"
    claims = tuple(
        ExtractedClaim(
            text,
            section,
            position,
            tuple(
                replace(citation, kind=near.find_kind(citation.url, position) or other)
                for citation in _build_citations(markers, pages, other)
            ),
        )
        for (text, _), markers, (section, position) in zip(statements, found, places, strict=True)
    )
    n_markers = sum(map(len, found))
    n_resolved = sum(1 for markers in found for marker in markers if pages.find(marker))
    if by_attribution and not n_markers:
        reason = None  # the report gives no sources for them
    else:
        reason = _explain_unreliable(n_markers, n_resolved, references)
        if reason is None and not any(claim.citations for claim in claims):
            reason = "no statement has a marker that leads to a URL"
    return ExtractedClaims(claims, reason is None, reason, n_markers, n_resolved)


def _find_all_markers(markdown: str, parts: Outline) -> list[Marker]:
    """Find all markers, including the bare numbers that a numbered reference list explains."""
    markers = find_markers(markdown)
    listed = find_references(markdown, parts.references).urls
    if not listed or not any(marker.numbers and not marker.url for marker in markers):
        return markers
    return merge_markers(markers, find_bare_numbers(markdown, frozenset(listed)))


@dataclass(frozen=True, slots=True)
class _DraftClaim:
    sentence: Sentence
    block: MarkdownBlock


class _MarkerPages:
    """Looks up the pages that markers lead to."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._known: dict[Marker, tuple[tuple[str, str], ...]] = {}

    def find(self, marker: Marker) -> tuple[tuple[str, str], ...]:
        """Return (URL as written, normalised URL) of each page; empty if none resolves."""
        if marker not in self._known:
            raw = [marker.url] if marker.url else []
            raw = raw or [u for n in marker.numbers if (u := self._references.urls.get(n))]
            self._known[marker] = tuple((u, key) for u in raw if (key := normalise_url(u)))
        return self._known[marker]


class _NearbyPages:
    """Looks up which pages the sentence at an offset of a report cites, and its paragraph."""

    def __init__(
        self, markdown: str, parts: Outline, references: References, pages: _MarkerPages
    ) -> None:
        body = [block for block in parts.blocks if not block.apparatus]
        grouped = zip(body, group_markers(body, _find_all_markers(markdown, parts)), strict=True)
        self._starts: list[int] = []
        self._cited: list[tuple[frozenset[str], frozenset[str]]] = []
        for block, inside in grouped:
            if _is_reference_entry(block, references):
                continue
            drafts = _draft_claims(block, split_block(markdown, block, inside))
            own = [
                frozenset(url for m in draft.sentence.markers for _, url in pages.find(m))
                for draft in drafts
            ]
            for number, draft in enumerate(drafts):
                self._starts.append(draft.sentence.start)
                self._cited.append((own[number], frozenset().union(*own[number:])))

    def find_kind(self, url: str, position: int | None) -> CitationKind | None:
        """Return how a statement at this offset cites a page; None if its paragraph does not, or
        its place is not known."""
        place = bisect_right(self._starts, position) - 1 if position is not None else -1
        if place < 0:
            return None
        own, paragraph = self._cited[place]
        return "explicit" if url in own else "paragraph" if url in paragraph else None


def _is_reference_entry(block: MarkdownBlock, references: References) -> bool:
    """Whether a block is part of an entry of a reference list without a heading."""
    before = bisect_right(references.entries, (block.start, block.start)) - 1
    entry = references.entries[max(before, 0) : before + 2]
    return any(start <= block.start < end for start, end in entry)


def _draft_claims(block: MarkdownBlock, sentences: Sequence[Sentence]) -> list[_DraftClaim]:
    """Return the statements of a block; a label's markers go to the statement before it."""
    kept: list[_DraftClaim] = []
    for sentence in sentences:
        if len(_WORD.findall(sentence.text)) >= MIN_WORDS:
            kept.append(_DraftClaim(sentence, block))
        elif kept and sentence.markers:
            last = kept[-1].sentence
            joined = Sentence(last.text, last.start, last.markers + sentence.markers)
            kept[-1] = _DraftClaim(joined, block)
    return kept


def _attach_citations(drafts: Sequence[_DraftClaim], pages: _MarkerPages) -> list[ExtractedClaim]:
    """Add the citations of a draft's own markers or, without any, of the next ones, and say
    whether these are in the draft's own block."""
    claims: list[ExtractedClaim] = []
    ahead: tuple[Marker, ...] = ()
    cited_in: MarkdownBlock | None = None
    for draft in reversed(drafts):
        kind: CitationKind = "inferred"
        if draft.sentence.markers:
            ahead, cited_in, kind = draft.sentence.markers, draft.block, "explicit"
        elif draft.block is cited_in:
            kind = "paragraph"
        claims.append(
            ExtractedClaim(
                text=draft.sentence.text,
                section=" > ".join(draft.block.section) or None,
                position=draft.sentence.start,
                citations=_build_citations(ahead, pages, kind),
            )
        )
    return claims[::-1]


def _build_citations(
    markers: Sequence[Marker], pages: _MarkerPages, kind: CitationKind
) -> tuple[ExtractedCitation, ...]:
    """Return one citation per page, in the order of the markers."""
    found: dict[str, ExtractedCitation] = {}
    for marker in markers:
        for raw, url in pages.find(marker):
            found.setdefault(url, ExtractedCitation(raw, url, marker.text, kind))
    return tuple(found.values())


def _explain_unreliable(n_markers: int, n_resolved: int, references: References) -> str | None:
    if n_markers == 0:
        if references.n_urls:
            return (
                "the report lists URLs, but no marker in its text says which statement cites them"
            )
        return "the report cites no URL"
    if references.n_urls == 0 and n_resolved == 0:
        return f"{n_markers} citation markers, but no reference list with URLs"
    if n_resolved < MIN_RESOLVED * n_markers:
        return f"only {n_resolved} of {n_markers} citation markers lead to a URL"
    return None
