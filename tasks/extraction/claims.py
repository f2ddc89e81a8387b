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

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tasks.extraction.blocks import MarkdownBlock
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.entries import looks_like_entry
from tasks.extraction.facts import locate_facts
from tasks.extraction.reading import CitedText, read_citations
from tasks.extraction.references import References
from tasks.extraction.sentences import (
    MIN_WORDS,
    Sentence,
    count_words,
    find_unsplit_language,
    is_only_markers,
    remove_marks,
    split_block,
)
from tasks.extraction.urls import normalise_url
from tasks.warehouse.rows import CitationKind

EXTRACTOR_VERSION = "offline-3"

DOUBTED = 2
"""From this many statements of the offline extractor on, another's empty list is doubted."""
MIN_RESOLVED = 0.5
"""Pairs are unreliable if a smaller share of a report's markers leads to a URL."""
MAX_LINKS_BELOW = 3
"""More links in a row below a statement are a list, and belong to no statement."""


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
    pages = _MarkerPages(cited.references)
    markers = [marker for _, inside in cited.blocks for marker in inside if marker.cites]
    resolved = [marker for marker in markers if pages.find(marker)]
    drafts = _draft_all_claims(cited)
    claims = _attach_citations(drafts, pages)
    reason = _explain_unreliable(len(markers), len(resolved), cited.references)
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
    cited = read_citations(markdown, title)
    references = cited.references
    found = [
        [
            marker
            for raw in markers
            if raw and raw in markdown
            for marker in find_markers(raw, references.keys)
            if marker.cites
        ]
        for _, markers in statements
    ]
    pages = _MarkerPages(references)
    places = locate_facts([text for text, _ in statements], markdown)
    near = _NearbyPages(cited, pages)
    other: CitationKind = "attributed" if by_attribution else "inferred"
    claims = tuple(
        ExtractedClaim(
            remove_marks(text, references.keys),
            section,
            position,
            tuple(
                replace(citation, kind=near.find_kind(citation.url, position) or other)
                for citation in _build_citations(markers, pages, other, position)
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
    return ExtractedClaims(claims, reason is None, reason, n_markers, n_resolved, references.n_urls)


@dataclass(frozen=True, slots=True)
class _DraftClaim:
    sentence: Sentence
    block: MarkdownBlock

    def with_markers(self, markers: Iterable[Marker]) -> "_DraftClaim":
        sentence = replace(self.sentence, markers=(*self.sentence.markers, *markers))
        return replace(self, sentence=sentence)


class _MarkerPages:
    """Looks up the pages that markers lead to."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._known: dict[tuple[Marker, int], tuple[tuple[str, str], ...]] = {}

    def find(self, marker: Marker, at: int | None = None) -> tuple[tuple[str, str], ...]:
        """Return (URL as written, normalised URL) of each page; empty if none resolves.

        at: where in the report it stands, if not at its own offset.
        """
        place = marker.start if at is None else at
        if (marker, place) not in self._known:
            raw = [marker.url] if marker.url else []
            raw = raw or [u for n in marker.numbers if (u := self._references.find(n, place))]
            found = tuple((u, key) for u in raw if (key := normalise_url(u)))
            self._known[marker, place] = found
        return self._known[marker, place]


class _NearbyPages:
    """Looks up which pages the sentence at an offset of a report cites, and its paragraph."""

    def __init__(self, cited: CitedText, pages: _MarkerPages) -> None:
        self._starts: list[int] = []
        self._cited: list[tuple[frozenset[str], frozenset[str]]] = []
        drafts = _draft_all_claims(cited)
        own = [
            frozenset(url for m in draft.sentence.markers for _, url in pages.find(m))
            for draft in drafts
        ]
        paragraph: frozenset[str] = frozenset()
        for number in reversed(range(len(drafts))):
            same = number + 1 < len(drafts) and drafts[number + 1].block is drafts[number].block
            paragraph = own[number] | paragraph if same else own[number]
            self._starts.append(drafts[number].sentence.start)
            self._cited.append((own[number], paragraph))
        self._starts.reverse()
        self._cited.reverse()

    def find_kind(self, url: str, position: int | None) -> CitationKind | None:
        """Return how a statement at this offset cites a page; None if its paragraph does not, or
        its place is not known."""
        place = bisect_right(self._starts, position) - 1 if position is not None else -1
        if place < 0:
            return None
        own, paragraph = self._cited[place]
        return "explicit" if url in own else "paragraph" if url in paragraph else None


def _draft_all_claims(cited: CitedText) -> list[_DraftClaim]:
    """Return the statements of a text; a block of markers alone belongs to the one before it in
    its section."""
    drafts: list[_DraftClaim] = []
    links_below: list[Marker] = []
    for block, inside in cited.blocks:
        if not is_only_markers(cited.text, block, inside):
            _add_markers(drafts, links_below)
            links_below = []
            drafts += _draft_claims(block, split_block(cited.text, block, inside))
        elif drafts and drafts[-1].block.section == block.section:
            titled = [marker for marker in inside if marker.label]
            links_below += titled
            _add_markers(drafts, [marker for marker in inside if not marker.label])
    _add_markers(drafts, links_below)
    return drafts


def _add_markers(drafts: list[_DraftClaim], markers: Sequence[Marker]) -> None:
    """Add the markers that stand below a statement to the last one."""
    links = [marker for marker in markers if marker.label]
    if drafts and markers and len(links) <= MAX_LINKS_BELOW:
        drafts[-1] = drafts[-1].with_markers(markers)


def _draft_claims(block: MarkdownBlock, sentences: Sequence[Sentence]) -> list[_DraftClaim]:
    """Return the statements of a block; a label's markers go to the statement before it."""
    kept: list[_DraftClaim] = []
    for sentence in sentences:
        if count_words(sentence.text) >= MIN_WORDS:
            kept.append(_DraftClaim(sentence, block))
        elif kept and sentence.markers:
            kept[-1] = kept[-1].with_markers(sentence.markers)
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
    markers: Sequence[Marker], pages: _MarkerPages, kind: CitationKind, at: int | None = None
) -> tuple[ExtractedCitation, ...]:
    """Return one citation per page, in the order of the markers."""
    found: dict[str, ExtractedCitation] = {}
    for marker in markers:
        for raw, url in pages.find(marker, at):
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


def _explain_misread(
    text: str, drafts: Sequence[_DraftClaim], resolved: Sequence[Marker]
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
