"""Which assignments wait for key points that can be made: read from the warehouse, nothing stored.

They can be made where there is a reference article. Key points belong to an edition, so that all
judges measure by the same ones: once made they stay, whichever judge or prompt made them; only
another text of the article makes others. What was published always stays.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from tasks.extraction.prose import without_apparatus
from tasks.protocols.registry import protocol
from tasks.warehouse.store import Readable

UNPOINTED = """
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


class Unpointed(BaseModel):
    """An assignment whose key points are to be made of its reference article."""

    model_config = ConfigDict(frozen=True)

    edition: str
    assignment: str
    article: str
    title: str
    text_sha: str


def unpointed(source: Readable, edition: str, agents: Sequence[str] = ()) -> list[Unpointed]:
    """The assignments with a report (of these agents, or any) and no key points to hold it to."""
    found = source.frame(UNPOINTED, [edition, list(agents)])
    return [Unpointed(edition=edition, **record) for record in found.iter_rows(named=True)]


def go_by_key_points(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols does."""
    return any("key_points" in protocol(name).inputs for name in protocols)


def document_of(source: Readable, item: Unpointed) -> str:
    """The reference article as its key points are made of it: without citations and lists."""
    frame = source.frame(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2",
        [item.edition, item.article],
    )
    return without_apparatus(str(frame.item()))
