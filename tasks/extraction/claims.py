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

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.extraction.blocks import MarkdownBlock
from tasks.extraction.citations import Marker
from tasks.extraction.claim_drafts import DraftClaim, MarkerPages, draft_claims
from tasks.extraction.entries import looks_like_entry
from tasks.extraction.languages import find_unsplit_language
from tasks.extraction.reading import read_citations
from tasks.extraction.references import References
from tasks.warehouse.rows import NO_URL, CitationKind

EXTRACTOR_VERSION = "offline-3"

DOUBTED = 2
"""From this many statements of the offline extractor on, another's empty list is doubted."""
MIN_RESOLVED = 0.5
"""Pairs are unreliable if a smaller share of a report's markers leads to a URL."""


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
    """Entries of its reference lists that have an address."""

    def __len__(self) -> int:
        return len(self.claims)


def extract_claims(title: str, markdown: str) -> ExtractedClaims:
    """Extract the claims of a report, in order. Never raises."""
    cited = read_citations(markdown, title)
    pages = MarkerPages(cited.references)
    markers = [marker for _, inside in cited.blocks for marker in inside if marker.cites]
    resolved = [marker for marker in markers if pages.find(marker)]
    drafts = draft_claims(cited)
    claims = _attach_citations(drafts, pages)
    reason = explain_unreliable(len(markers), len(resolved), cited.references)
    if reason is None and not any(claim.citations for claim in claims):
        reason = "no statement has a marker that leads to a URL in it or after it"
    reason = reason or _explain_misread(cited.text, drafts, resolved)
    return ExtractedClaims(
        tuple(claims),
        reason is None,
        reason,
        len(markers),
        len(resolved),
        cited.references.n_urls,
    )


def _attach_citations(drafts: Sequence[DraftClaim], pages: MarkerPages) -> list[ExtractedClaim]:
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
                citations=build_citations(ahead, pages, kind),
            )
        )
    return claims[::-1]


def build_citations(
    markers: Sequence[Marker], pages: MarkerPages, kind: CitationKind, at: int | None = None
) -> tuple[ExtractedCitation, ...]:
    """Return one citation per page, in the order of the markers."""
    found: dict[str, ExtractedCitation] = {}
    for marker in markers:
        for raw, url in pages.find(marker, at):
            found.setdefault(url, ExtractedCitation(raw, url, marker.text, kind))
    return tuple(found.values())


def explain_unreliable(n_markers: int, n_resolved: int, references: References) -> str | None:
    """Return why markers do not tell which statement cites what; None if they do."""
    if n_markers == 0:
        if references.n_urls:
            return (
                "the report lists URLs, but no marker in its text says which statement cites them"
            )
        return NO_URL
    if references.n_urls == 0 and n_resolved == 0:
        return f"{n_markers} citation markers, but no reference list with URLs"
    if n_resolved < MIN_RESOLVED * n_markers:
        return f"only {n_resolved} of {n_markers} citation markers lead to a URL"
    return None


def _explain_misread(
    text: str, drafts: Sequence[DraftClaim], resolved: Sequence[Marker]
) -> str | None:
    """Return why pairs are unreliable though markers resolve: most are on no statement, as in a
    list of sources that was not recognised, or sentences cannot be told apart; None if neither."""
    on_statements = sum(
        len(draft.sentence.markers)
        for draft in drafts
        if draft.sentence.markers and not looks_like_entry(text, draft.block.start, draft.block.end)
    )
    if on_statements < MIN_RESOLVED * len(resolved):
        elsewhere = len(resolved) - on_statements
        return f"{elsewhere} of {len(resolved)} citation markers are on no statement"
    if language := find_unsplit_language(text):
        return f"the offline extractor cannot tell the sentences of {language} apart"
    return None
