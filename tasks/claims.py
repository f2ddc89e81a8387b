"""Stage claims: extract facts from articles and claims from reports that have none yet.

Published facts and claims come with the import; the offline extractor or a judge adds the rest.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tasks.extraction.claims import (
    ExtractedClaims,
    cite_statements,
    extract_claims,
)
from tasks.extraction.facts import ExtractedFact, extract_facts, locate_facts
from tasks.judges.decisions import ExtractClaims, ExtractedStatement, ExtractFacts, Extractor
from tasks.judging.session import get_judge_session
from tasks.pending.extractions import PendingExtraction, build_extractor_version, load_text
from tasks.processes.pool import HELPERS
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change


class ExtractionFailed(Exception):
    """A judge could not extract the statements of some texts; the next run tries again."""


@stage_task("claims · {agent}", retry_condition_fn=is_transient)
async def extract_statements(
    warehouse: Warehouse, agent: str, items: list[PendingExtraction], judge: str | None = None
) -> None:
    """Extract the statements of one agent's reports (or of the articles), text by text.

    Raises:
        ExtractionFailed: the judge gave no usable answer for some texts; the others are done.
    """
    if judge is None:
        for item in items:
            await _extract_offline(warehouse, item)
        return
    extractor: Any = get_judge_session(warehouse, judge).judge
    problems = await asyncio.gather(
        *(_extract_with_judge(warehouse, item, extractor) for item in items)
    )
    if failed := [problem for problem in problems if problem]:
        raise ExtractionFailed(f"{len(failed)} of {len(items)} texts: {'; '.join(failed[:3])}")


async def _extract_offline(warehouse: Warehouse, item: PendingExtraction) -> None:
    text = load_text(warehouse, item)
    if item.agent:
        claims = await HELPERS.run(extract_claims, item.title, text)
        await warehouse.write_async(*_build_claim_changes(item, text, claims, None))
    else:
        facts = await HELPERS.run(extract_facts, item.title, text)
        await warehouse.write_async(*_build_fact_changes(item, text, facts, None))


async def _extract_with_judge(
    warehouse: Warehouse, item: PendingExtraction, extractor: Extractor
) -> str | None:
    """Write the statements of one text; if that fails, write nothing and return why."""
    text = await asyncio.to_thread(load_text, warehouse, item)
    if item.agent:
        answer = await extractor.extract_claims(ExtractClaims(title=item.title, text=text))
    else:
        answer = await extractor.extract_facts(ExtractFacts(title=item.title, text=text))
    if answer.value is None:
        return f"{item.title}: {answer.reason}"
    changes = await asyncio.to_thread(_build_changes, item, text, answer.value, extractor)
    await warehouse.write_async(*changes)
    return None


def _build_changes(
    item: PendingExtraction,
    text: str,
    statements: Sequence[ExtractedStatement],
    extractor: Extractor,
) -> list[Change]:
    if item.agent:
        cited = [(statement.text, statement.markers) for statement in statements]
        return _build_claim_changes(item, text, cite_statements(item.title, text, cited), extractor)
    texts = [statement.text for statement in statements]
    facts = [
        ExtractedFact(fact, section, position)
        for fact, (section, position) in zip(texts, locate_facts(texts, text), strict=True)
    ]
    return _build_fact_changes(item, text, facts, extractor)


def _key(item: PendingExtraction) -> dict[str, str]:
    return {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}


def _build_fact_changes(
    item: PendingExtraction,
    text: str,
    extracted: Sequence[ExtractedFact],
    extractor: Extractor | None,
) -> list[Change]:
    of_article = {"edition": item.edition, "article": item.article}
    facts = [
        Fact(
            **of_article,
            **asdict(fact),
            number=number,
            source="judge" if extractor else "offline",
        )
        for number, fact in enumerate(extracted)
    ]
    output = content_sha(*(fact.text for fact in facts))
    return [
        Change(Fact, facts, replacing=of_article),
        Change(
            Extraction,
            [_build_extraction(item, text, output, len(facts), extractor)],
            replacing=_key(item),
        ),
    ]


def _build_claim_changes(
    item: PendingExtraction, text: str, extracted: ExtractedClaims, extractor: Extractor | None
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
            **asdict(citation),
            number=number,
        )
        for number, claim in enumerate(extracted.claims)
        for citation in claim.citations
    }
    output = content_sha(
        *(claim.text for claim in claims),
        *(f"{number} {url}" for number, url in citations),
        str(extracted.pairs_reason),
    )
    extraction = _build_extraction(item, text, output, len(claims), extractor).model_copy(
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


def _build_extraction(
    item: PendingExtraction, text: str, output_sha: str, n_items: int, extractor: Extractor | None
) -> Extraction:
    return Extraction(
        **_key(item),
        source="judge" if extractor else "offline",
        extractor_version=build_extractor_version(extractor),
        input_sha=content_sha(text),
        output_sha=output_sha,
        n_items=n_items,
    )
