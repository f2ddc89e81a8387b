"""Compare the offline extractor's claims with published ones, for agents that have both."""

from collections import defaultdict
from collections.abc import Iterator

from tasks.extraction.agreement import (
    CitedClaim,
    ExtractionAgreement,
    compare_extraction,
    sum_agreements,
)
from tasks.extraction.claims import extract_claims
from tasks.warehouse.store import Readable

PUBLISHED = """
SELECT c.agent, c.assignment, c.number, c.text,
    list(z.url ORDER BY z.url) FILTER (z.url IS NOT NULL) AS urls
FROM claims AS c LEFT JOIN citations AS z USING (edition, agent, assignment, number)
WHERE c.edition = $1 AND c.source = 'published'
GROUP BY ALL ORDER BY c.agent, c.assignment, c.number
"""


def measure_extraction(source: Readable, edition: str) -> Iterator[tuple[str, ExtractionAgreement]]:
    """Yield (agent, agreement summed over its reports) for every agent with published claims."""
    published: dict[str, dict[str, list[CitedClaim]]] = defaultdict(lambda: defaultdict(list))
    for agent, assignment, _, text, urls in source.frame(PUBLISHED, [edition]).iter_rows():
        published[agent][assignment].append(CitedClaim(text, tuple(urls or ())))
    for agent, reports in published.items():
        texts = source.frame(
            "SELECT r.assignment, t.title, r.text FROM reports AS r "
            "JOIN assignments AS a USING (edition, assignment) "
            "JOIN articles AS t USING (edition, article) "
            "WHERE r.edition = $1 AND r.agent = $2 ORDER BY r.assignment",
            [edition, agent],
        )
        yield (
            agent,
            sum_agreements(
                compare_extraction(reports[assignment], _extract_offline(title, text))
                for assignment, title, text in texts.iter_rows()
                if assignment in reports
            ),
        )


def _extract_offline(title: str, text: str) -> list[CitedClaim]:
    return [
        CitedClaim(claim.text, tuple(citation.url for citation in claim.citations))
        for claim in extract_claims(title, text).claims
    ]
