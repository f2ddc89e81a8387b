"""Find texts whose facts or claims are to be extracted."""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.extraction.claims import EXTRACTOR_VERSION
from tasks.judges.decisions import ExtractClaims, VersionedJudge
from tasks.warehouse.store import Warehouse

PENDING = """
SELECT r.agent, r.assignment, a.article, a.kind, coalesce(a.query, t.title) AS title
FROM {texts} AS r
JOIN assignments AS a ON a.edition = r.edition AND a.assignment = r.assignment
    AND a.kind <> 'find_claims'
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
WHERE r.edition = $1 AND r.text <> ''
    AND (x.input_sha IS NULL OR x.input_sha <> r.text_sha
         OR (x.source = $2
             AND x.extractor_version <> CASE a.kind WHEN 'research' THEN $4 ELSE $3 END)
         OR ($2 = 'judge' AND x.source = 'offline'))
ORDER BY r.agent, r.assignment
"""
RESEARCH = "research"
"""The kind of assignments whose claims are extracted as DeepResearchGym does."""
CITING = "cites-2"
"""The version of how the pages of a judge's claims are found. Raising it has the same answers read
again from the ledger."""
ARTICLE_TEXTS = (
    "(SELECT a.edition, '' AS agent, a.assignment, t.text, t.text_sha "
    "FROM assignments AS a JOIN articles AS t USING (edition, article) "
    "WHERE a.kind = 'write_article')"
)


class PendingExtraction(Frozen):
    """A text whose statements are to be extracted: a report, or (agent '') an article."""

    edition: str
    agent: str
    assignment: str
    article: str
    kind: str
    """The kind of the assignment."""
    title: str

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


def build_claims_request(item: PendingExtraction, text: str) -> ExtractClaims:
    """Build what a judge is asked to extract the claims of a report."""
    if item.by_attribution:
        return ExtractClaims(title=item.title, text=text, prompt="research_extraction/claims")
    return ExtractClaims(title=item.title, text=text)


def find_pending_extractions(
    warehouse: Warehouse,
    edition: str,
    agents: Sequence[str] = (),
    extractor: VersionedJudge | None = None,
) -> list[PendingExtraction]:
    """Return articles without facts and reports without claims, by agent; articles first.

    Published statements stay. A judge also replaces the statements of the offline extractor and
    those of its own earlier versions.
    """
    source = "judge" if extractor else "offline"
    found = []
    for texts, of_reports in ((ARTICLE_TEXTS, False), ("reports", True)):
        versions = [
            build_extractor_version(extractor, of_reports=of_reports, by_attribution=research)
            for research in (False, True)
        ]
        frame = warehouse.frame(PENDING.format(texts=texts), [edition, source, *versions])
        found += [PendingExtraction(edition=edition, **r) for r in frame.iter_rows(named=True)]
    return [item for item in found if not agents or item.agent in ("", *agents)]


def load_text(warehouse: Warehouse, item: PendingExtraction) -> str:
    """Load the text whose statements are to be extracted."""
    if item.agent:
        text = warehouse.value(
            "SELECT text FROM reports WHERE edition = $1 AND agent = $2 AND assignment = $3",
            [item.edition, item.agent, item.assignment],
        )
    else:
        text = warehouse.value(
            "SELECT text FROM articles WHERE edition = $1 AND article = $2",
            [item.edition, item.article],
        )
    return str(text)
