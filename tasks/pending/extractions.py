"""Find texts whose facts or claims are to be extracted."""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.extraction.claims import EXTRACTOR_VERSION
from tasks.judges.decisions import VersionedJudge
from tasks.warehouse.store import Warehouse

PENDING = """
SELECT r.agent, r.assignment, a.article, coalesce(a.query, t.title) AS title
FROM {texts} AS r
JOIN assignments AS a ON a.edition = r.edition AND a.assignment = r.assignment
    AND a.kind <> 'find_claims'
LEFT JOIN articles AS t ON t.edition = a.edition AND t.article = a.article
LEFT JOIN extractions AS x
    ON x.edition = r.edition AND x.agent = r.agent AND x.assignment = r.assignment
WHERE r.edition = $1 AND r.text <> ''
    AND (x.input_sha IS NULL OR x.input_sha <> r.text_sha
         OR (x.source = $2 AND x.extractor_version <> $3)
         OR ($2 = 'judge' AND x.source = 'offline'))
ORDER BY r.agent, r.assignment
"""
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
    title: str


def build_extractor_version(extractor: VersionedJudge | None) -> str:
    """Return the stored version of an extractor; None is the offline extractor."""
    if extractor is None:
        return EXTRACTOR_VERSION
    sha = extractor.prompt_sha("extraction")[:8]
    return f"{extractor.name} {extractor.model_version} {sha}"


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
    found = [
        PendingExtraction(edition=edition, **record)
        for texts in (ARTICLE_TEXTS, "reports")
        for record in warehouse.frame(
            PENDING.format(texts=texts), [edition, source, build_extractor_version(extractor)]
        ).iter_rows(named=True)
    ]
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
