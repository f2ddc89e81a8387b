"""What a judge, or the offline extractor, is asked to extract of a text, and what becomes of the
answer."""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.extraction.claims import EXTRACTOR_VERSION, ExtractedClaims
from tasks.extraction.facts import ExtractedFact, locate_facts
from tasks.extraction.sentences import remove_marks
from tasks.extraction.statements import cite_statements
from tasks.judges.decisions import VersionedJudge
from tasks.judges.questions.extract_statements import (
    ExtractClaims,
    ExtractedStatement,
    ExtractFacts,
)

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
