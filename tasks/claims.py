"""Stage claims: facts of every article and claims of every report that have none yet.

Published facts and claims came with the import; the offline extractor, or a judge that is
asked to, fills the rest.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from tasks.extraction.claims import (
    ExtractedClaims,
    cite_statements,
    extract_claims,
)
from tasks.extraction.facts import ExtractedFact, extract_facts, locate_facts
from tasks.judges.decisions import ExtractClaims, Extracted, ExtractFacts, Extractor
from tasks.judging.session import session
from tasks.pending.extractions import Unextracted, extractor_version, text_of
from tasks.processes.pool import HELPERS
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, Status, content_sha
from tasks.warehouse.store import Warehouse, get_open_warehouse
from tasks.warehouse.writer import Change


class ExtractionFailed(Exception):
    """A judge could not extract the statements of some texts; the next run tries them again."""


@stage_task("claims · {agent}", retry_condition_fn=is_transient)
async def extract_for(
    warehouse_path: str, agent: str, items: list[Unextracted], judge: str | None = None
) -> None:
    """Extract the statements of one agent's reports (or of the articles), text by text.

    Raises:
        ExtractionFailed: a judge gave no usable answer for some; the others are done.
    """
    warehouse = get_open_warehouse(warehouse_path)
    if judge is None:
        for item in items:
            await _offline(warehouse, item)
        return
    extractor: Any = session(warehouse, judge).judge
    problems = await asyncio.gather(*(_judged(warehouse, item, extractor) for item in items))
    if failed := [problem for problem in problems if problem]:
        raise ExtractionFailed(f"{len(failed)} of {len(items)} texts: {'; '.join(failed[:3])}")


async def _offline(warehouse: Warehouse, item: Unextracted) -> None:
    text = text_of(warehouse, item)
    if item.agent:
        claims = await HELPERS.run(extract_claims, item.title, text)
        await warehouse.write_async(*_claim_changes(item, text, claims, None))
    else:
        facts = await HELPERS.run(extract_facts, item.title, text)
        await warehouse.write_async(*_fact_changes(item, text, facts, None))


async def _judged(warehouse: Warehouse, item: Unextracted, extractor: Extractor) -> str | None:
    """What went wrong, if anything did; nothing is written then."""
    text = await asyncio.to_thread(text_of, warehouse, item)
    if item.agent:
        answer = await extractor.extract_claims(ExtractClaims(title=item.title, text=text))
    else:
        answer = await extractor.extract_facts(ExtractFacts(title=item.title, text=text))
    if answer.status is not Status.OK:
        return f"{item.title}: {answer.reason}"
    changes = await asyncio.to_thread(_judged_changes, item, text, answer, extractor)
    await warehouse.write_async(*changes)
    return None


def _judged_changes(
    item: Unextracted, text: str, answer: Extracted, extractor: Extractor
) -> list[Change]:
    statements = [statement.text for statement in answer.statements]
    if item.agent:
        cited = [(statement.text, statement.markers) for statement in answer.statements]
        return _claim_changes(item, text, cite_statements(item.title, text, cited), extractor)
    places = locate_facts(statements, text)
    facts = [
        ExtractedFact(fact, section, position)
        for fact, (section, position) in zip(statements, places, strict=True)
    ]
    return _fact_changes(item, text, facts, extractor)


def _key(item: Unextracted) -> dict[str, str]:
    return {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}


def _fact_changes(
    item: Unextracted, text: str, extracted: Sequence[ExtractedFact], extractor: Extractor | None
) -> list[Change]:
    of_article = {"edition": item.edition, "article": item.article}
    facts = [
        Fact(
            **of_article,
            number=number,
            text=fact.text,
            section=fact.section,
            position=fact.position,
            source="judge" if extractor else "offline",
        )
        for number, fact in enumerate(extracted)
    ]
    output = content_sha(*(fact.text for fact in facts))
    return [
        Change(Fact, facts, replacing=of_article),
        Change(
            Extraction,
            [_extraction(item, text, output, len(facts), extractor)],
            replacing=_key(item),
        ),
    ]


def _claim_changes(
    item: Unextracted, text: str, extracted: ExtractedClaims, extractor: Extractor | None
) -> list[Change]:
    key = _key(item)
    claims = [
        Claim(
            **key,
            number=number,
            text=claim.text,
            section=claim.section,
            position=claim.position,
            source="judge" if extractor else "offline",
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
    extraction = _extraction(item, text, output, len(claims), extractor).model_copy(
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


def _extraction(
    item: Unextracted, text: str, output_sha: str, n_items: int, extractor: Extractor | None
) -> Extraction:
    return Extraction(
        **_key(item),
        source="judge" if extractor else "offline",
        extractor_version=extractor_version(extractor),
        input_sha=content_sha(text),
        output_sha=output_sha,
        n_items=n_items,
    )
