"""Find assignments whose key points are to be made.

Key points are made from the reference article. They belong to an edition, so that all judges use
the same ones: they stay, whichever judge or prompt made them, until the article's text changes.
Published key points always stay.
"""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.extraction.prose import strip_apparatus
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Readable

PENDING = """
SELECT a.assignment, a.article, t.title, t.text_sha
FROM assignments AS a
JOIN articles AS t USING (edition, article)
LEFT JOIN point_sets AS k ON k.edition = a.edition AND k.assignment = a.assignment
WHERE a.edition = $1 AND a.kind = 'write_article' AND t.text <> ''
    AND (k.input_sha IS NULL OR (k.source = 'judge' AND k.input_sha <> t.text_sha))
    AND a.assignment IN (
        SELECT assignment FROM reports
        WHERE edition = $1 AND text <> '' AND (len($2) = 0 OR agent IN (SELECT unnest($2)))
    )
ORDER BY a.assignment
"""


class PendingKeyPoints(Frozen):
    """An assignment whose key points are to be made from its reference article."""

    edition: str
    assignment: str
    article: str
    title: str
    text_sha: str


def find_pending_key_points(
    source: Readable, edition: str, agents: Sequence[str] = ()
) -> list[PendingKeyPoints]:
    """Return the assignments with reports (by these or any agents) but no key points."""
    found = source.frame(PENDING, [edition, list(agents)])
    return [PendingKeyPoints(edition=edition, **record) for record in found.iter_rows(named=True)]


def need_key_points(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols uses key points."""
    return any("key_points" in get_protocol(name).inputs for name in protocols)


def load_document(source: Readable, item: PendingKeyPoints) -> str:
    """Load the reference article for key points: without citations and lists."""
    frame = source.frame(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2",
        [item.edition, item.article],
    )
    return strip_apparatus(str(frame.item()))
