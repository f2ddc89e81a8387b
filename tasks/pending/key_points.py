"""Find assignments whose key points are to be made.

Key points of a query are made from the documents that people clicked, once all were tried and some
were fetched; those of an article to write from the reference article. They belong to an edition, so
that all judges use the same ones: they stay, whichever judge or prompt made them, until the texts
change. Published key points always stay.
"""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.extraction.prose import strip_apparatus
from tasks.protocols.registry import get_protocol
from tasks.warehouse.store import Readable

READABLE = "p.status = 'ok' AND p.text <> ''"
PENDING = f"""
WITH sources AS (
    SELECT a.assignment, a.article, t.title, t.text_sha
    FROM assignments AS a JOIN articles AS t USING (edition, article)
    WHERE a.edition = $1 AND a.kind = 'write_article' AND t.text <> ''
    UNION ALL
    SELECT a.assignment, '' AS article, a.query AS title, sha256(
        string_agg(d.url || ' ' || p.text_sha, chr(10) ORDER BY d.url) FILTER ({READABLE})
    ) AS text_sha
    FROM assignments AS a JOIN clicked_documents AS d USING (edition, assignment)
    LEFT JOIN pages AS p ON p.edition = d.edition AND p.url = d.url
    WHERE a.edition = $1 AND a.kind = 'research'
    GROUP BY ALL
    HAVING bool_and(p.url IS NOT NULL) AND bool_or({READABLE})
)
SELECT s.*
FROM sources AS s
LEFT JOIN point_sets AS k ON k.edition = $1 AND k.assignment = s.assignment
WHERE (k.input_sha IS NULL OR (k.source = 'judge' AND k.input_sha <> s.text_sha))
    AND s.assignment IN (
        SELECT assignment FROM reports
        WHERE edition = $1 AND text <> '' AND (len($2) = 0 OR agent IN (SELECT unnest($2)))
    )
ORDER BY s.assignment
"""
DOCUMENTS = f"""
SELECT p.text FROM clicked_documents AS d JOIN pages AS p USING (edition, url)
WHERE d.edition = $1 AND d.assignment = $2 AND {READABLE} ORDER BY d.url
"""
DOCUMENT_CHARS = 200_000
"""What is read of a clicked document, from its beginning: some 50,000 tokens."""


class PendingKeyPoints(Frozen):
    """An assignment whose key points are to be made."""

    edition: str
    assignment: str
    article: str
    """Empty if they are made from clicked documents."""
    title: str
    """The article's title, or the query."""
    text_sha: str
    """Sha-256 of what they are made from."""


def find_pending_key_points(
    source: Readable, edition: str, agents: Sequence[str] = ()
) -> list[PendingKeyPoints]:
    """Return the assignments with reports (by these or any agents) but no key points."""
    found = source.frame(PENDING, [edition, list(agents)])
    return [PendingKeyPoints(edition=edition, **record) for record in found.iter_rows(named=True)]


def need_key_points(protocols: Sequence[str]) -> bool:
    """Whether any of these protocols uses key points."""
    return any("key_points" in get_protocol(name).inputs for name in protocols)


def load_documents(source: Readable, item: PendingKeyPoints) -> tuple[str, ...]:
    """Load the texts for key points: the clicked documents, by URL, or the reference article
    without citations and lists."""
    if not item.article:
        frame = source.frame(DOCUMENTS, [item.edition, item.assignment])
        return tuple(text[:DOCUMENT_CHARS] for text in frame["text"])
    frame = source.frame(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2",
        [item.edition, item.article],
    )
    return (strip_apparatus(str(frame.item())),)
