"""What a judge, or the offline extractor, is asked to extract of a text, and what becomes of the
answer: where its statements stand, and what they cite."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from tasks.base import Frozen
from tasks.extraction.citations import Marker, find_markers
from tasks.extraction.claim_drafts import DraftClaim, MarkerPages, draft_claims
from tasks.extraction.claims import (
    EXTRACTOR_VERSION,
    ExtractedClaim,
    ExtractedClaims,
    build_citations,
    explain_unreliable,
)
from tasks.extraction.facts import MIN_SHARE, ExtractedFact, locate_facts, match_statements
from tasks.extraction.reading import read_citations
from tasks.extraction.references import References
from tasks.extraction.sentences import remove_marks
from tasks.judges.decisions import VersionedJudge
from tasks.judges.questions.extract_statements import (
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
)
from tasks.warehouse.rows import CitationKind

RESEARCH = "research"
"""The kind of assignments whose claims are extracted as DeepResearchGym does."""
CITING = "cites-2"
"""The version of how the pages of a judge's claims are found. Raising it has the same answers read
again from the ledger."""
Statements = ExtractedClaims | Sequence[ExtractedFact]
"""What was extracted from a report, or from an article."""


class PendingExtraction(Frozen):
    """A text whose statements are to be extracted: a report, or (agent '') an article."""

    edition: str
    agent: str
    assignment: str
    article: str
    kind: str
    """The kind of the assignment."""
    title: str
    is_undoubted: bool = False
    """Whether a judge's list of an earlier version is empty: to doubt it costs another request."""
    stays_offline: bool = False
    """Whether the offline extractor extracts it, whoever extracts other texts."""

    @property
    def by_attribution(self) -> bool:
        """Whether a judge that extracts claims attributes their sources, as DeepResearchGym's does;
        in reports that write an article it copies the next markers, as in the Wiki Live Challenge.
        """
        return self.kind == RESEARCH


def build_extractor_version(
    extractor: VersionedJudge | None, *, of_reports: bool, by_attribution: bool = False
) -> str:
    """Return the stored version of an extractor of facts, or of reports' claims; None is the
    offline extractor."""
    if extractor is None:
        return EXTRACTOR_VERSION
    prompts = "research_extraction" if of_reports and by_attribution else "extraction"
    version = f"{extractor.name} {extractor.model_version} {extractor.prompt_sha(prompts)[:8]}"
    return f"{version} {CITING}" if of_reports else version


def build_request(item: PendingExtraction, text: str) -> ExtractClaims | ExtractFacts:
    """Build what a judge is asked to extract the statements of a text."""
    if item.agent:
        return build_claims_request(item, text)
    return ExtractFacts(title=item.title, text=text)


def build_claims_request(item: PendingExtraction, text: str) -> ExtractClaims:
    """Build what a judge is asked to extract the claims of a report."""
    if item.by_attribution:
        return ExtractClaims(title=item.title, text=text, prompt="research_extraction/claims")
    return ExtractClaims(title=item.title, text=text)


def locate_statements(
    item: PendingExtraction, text: str, statements: Sequence[ExtractedStatement]
) -> Statements:
    """Find where a text has a judge's statements, and what its claims cite."""
    if item.agent:
        cited = [(statement.text, statement.markers) for statement in statements]
        return cite_statements(item.title, text, cited, by_attribution=item.by_attribution)
    texts = [statement.text for statement in statements]
    places = locate_facts(texts, text)
    return [
        ExtractedFact(remove_marks(fact), *place) for fact, place in zip(texts, places, strict=True)
    ]


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
            for marker in _read_marker(raw, references)
        ]
        for _, markers in statements
    ]
    pages = MarkerPages(references)
    drafts = draft_claims(cited)
    places = _locate_statements([text for text, _ in statements], drafts)
    near = _NearbyPages(drafts, pages)
    other: CitationKind = "attributed" if by_attribution else "inferred"
    claims = tuple(
        ExtractedClaim(
            remove_marks(text, references.keys),
            section,
            position,
            tuple(
                replace(citation, kind=near.find_kind(citation.url, position) or other)
                for citation in build_citations(markers, pages, other, position)
            ),
        )
        for (text, _), markers, (section, position) in zip(statements, found, places, strict=True)
    )
    n_markers = sum(map(len, found))
    n_resolved = sum(1 for markers in found for marker in markers if pages.find(marker))
    if by_attribution and not n_markers:
        reason = None  # the report gives no sources for them
    else:
        reason = explain_unreliable(n_markers, n_resolved, references)
        if reason is None and not any(claim.citations for claim in claims):
            reason = "no statement has a marker that leads to a URL"
    return ExtractedClaims(claims, reason is None, reason, n_markers, n_resolved, references.n_urls)


def _locate_statements(
    statements: Sequence[str], drafts: Sequence[DraftClaim]
) -> list[tuple[str | None, int | None]]:
    """Return section and offset of the sentence that each statement was most likely made from."""
    places = match_statements(statements, [d.sentence.text for d in drafts], MIN_SHARE)
    found = [None if place is None else drafts[place] for place in places]
    return [
        (" > ".join(draft.block.section) or None, draft.sentence.start) if draft else (None, None)
        for draft in found
    ]


def _read_marker(raw: str, references: References) -> list[Marker]:
    """Read a marker by itself, as a judge gives it; also a number that nothing surrounds."""
    markers = [marker for marker in find_markers(raw, references.keys) if marker.cites]
    key = raw.strip(" .,;")
    bare = not markers and key in references.keys
    return [Marker(0, len(raw), raw, (key,))] if bare else markers


class _NearbyPages:
    """Looks up which pages the sentence at an offset of a report cites, and its paragraph."""

    def __init__(self, drafts: Sequence[DraftClaim], pages: MarkerPages) -> None:
        self._starts: list[int] = []
        self._cited: list[tuple[frozenset[str], frozenset[str]]] = []
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
