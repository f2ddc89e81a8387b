"""Stage claims: facts of every article and claims of every report that have none yet.

Published facts and claims came with the import; here the offline extractor fills the rest.
"""

from collections.abc import Sequence

from prefect import task
from prefect.cache_policies import NO_CACHE
from pydantic import BaseModel, ConfigDict

from tasks.extraction.claims import EXTRACTOR_VERSION, ExtractedClaims, extract_claims
from tasks.extraction.facts import extract_facts
from tasks.processes.pool import HELPERS
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, content_sha
from tasks.warehouse.store import Warehouse, opened
from tasks.warehouse.writer import Change

UNEXTRACTED = """
SELECT r.agent, r.assignment, t.article, t.title
FROM {texts} AS r
JOIN assignments AS a USING (edition, assignment)
JOIN articles AS t USING (edition, article)
LEFT JOIN extractions AS x USING (edition, agent, assignment)
WHERE r.edition = $1 AND r.text <> ''
    AND (x.input_sha IS NULL OR x.input_sha <> r.text_sha
         OR (x.source = 'offline' AND x.extractor_version <> $2))
ORDER BY r.agent, r.assignment
"""
ARTICLE_TEXTS = (
    "(SELECT a.edition, '' AS agent, a.assignment, t.text, t.text_sha "
    "FROM assignments AS a JOIN articles AS t USING (edition, article))"
)


class Unextracted(BaseModel):
    """A text whose statements are to be extracted: a report, or (agent '') an article."""

    model_config = ConfigDict(frozen=True)

    edition: str
    agent: str
    assignment: str
    article: str
    title: str


def unextracted(
    warehouse: Warehouse, edition: str, agents: Sequence[str] = ()
) -> list[Unextracted]:
    """Articles without facts and reports without claims, by agent; articles first."""
    found = [
        Unextracted(edition=edition, **record)
        for texts in (ARTICLE_TEXTS, "reports")
        for record in warehouse.frame(
            UNEXTRACTED.format(texts=texts), [edition, EXTRACTOR_VERSION]
        ).iter_rows(named=True)
    ]
    return [item for item in found if not agents or item.agent in ("", *agents)]


@task(
    task_run_name="claims · {agent}",
    retries=2,
    retry_delay_seconds=1,
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def extract_for(warehouse_path: str, agent: str, items: list[Unextracted]) -> None:
    """Extract the statements of one agent's reports (or of the articles), text by text."""
    warehouse = opened(warehouse_path)
    for item in items:
        await _extract(warehouse, item)


async def _extract(warehouse: Warehouse, item: Unextracted) -> None:
    key = {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}
    if item.agent:
        text = warehouse.value(
            "SELECT text FROM reports WHERE edition = $1 AND agent = $2 AND assignment = $3",
            list(key.values()),
        )
        extracted = await HELPERS.run(extract_claims, item.title, text)
        await warehouse.write_async(*_claim_changes(key, text, extracted))
        return
    text = warehouse.value(
        "SELECT text FROM articles WHERE edition = $1 AND article = $2",
        [item.edition, item.article],
    )
    facts = [
        Fact(
            edition=item.edition,
            article=item.article,
            number=number,
            text=fact.text,
            section=fact.section,
            position=fact.position,
            source="offline",
        )
        for number, fact in enumerate(await HELPERS.run(extract_facts, item.title, text))
    ]
    output = content_sha(*(fact.text for fact in facts))
    of_article = {"edition": item.edition, "article": item.article}
    await warehouse.write_async(
        Change(Fact, facts, replacing=of_article),
        Change(Extraction, [_extraction(key, text, output, len(facts))], replacing=key),
    )


def _claim_changes(key: dict[str, str], text: str, extracted: ExtractedClaims) -> list[Change]:
    claims = [
        Claim(
            **key,
            number=number,
            text=claim.text,
            section=claim.section,
            position=claim.position,
            source="offline",
        )
        for number, claim in enumerate(extracted.claims)
    ]
    citations = {
        (number, citation.url): Citation(
            **key,
            number=number,
            url=citation.url,
            raw_url=citation.raw_url,
            marker=citation.marker,
            kind=citation.kind,
        )
        for number, claim in enumerate(extracted.claims)
        for citation in claim.citations
    }
    output = content_sha(
        *(claim.text for claim in claims),
        *(f"{number} {url}" for number, url in citations),
        str(extracted.pairs_reason),
    )
    extraction = _extraction(key, text, output, len(claims)).model_copy(
        update={
            "n_pairs": len(citations),
            "pairs_reliable": extracted.pairs_reliable,
            "pairs_reason": extracted.pairs_reason,
        }
    )
    return [
        Change(Claim, claims, replacing=key),
        Change(Citation, list(citations.values()), replacing=key),
        Change(Extraction, [extraction], replacing=key),
    ]


def _extraction(key: dict[str, str], text: str, output_sha: str, n_items: int) -> Extraction:
    return Extraction(
        **key,
        source="offline",
        extractor_version=EXTRACTOR_VERSION,
        input_sha=content_sha(text),
        output_sha=output_sha,
        n_items=n_items,
    )
