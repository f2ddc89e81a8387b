"""Stage claims: extract facts from articles and claims from reports that have none yet.

Published facts and claims come with the import; the offline extractor or a judge adds the rest.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from tasks.extraction.claims import (
    ExtractedClaims,
    cite_statements,
    extract_claims,
)
from tasks.extraction.facts import ExtractedFact, extract_facts, locate_facts
from tasks.judges.decisions import ExtractedStatement, ExtractFacts
from tasks.judges.llm.judge import LlmJudge
from tasks.judging.session import get_judge_session
from tasks.pending.extractions import (
    PendingExtraction,
    build_claims_request,
    build_extractor_version,
    load_text,
)
from tasks.processes.pool import HELPERS
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

Source = Literal["judge", "offline"]
Statements = ExtractedClaims | Sequence[ExtractedFact]
"""What was extracted from a report, or from an article."""


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
    bought = [item for item in items if judge and not item.stays_offline]
    for item in items:
        if item not in bought:
            await _extract_offline(warehouse, item)
    if not judge or not bought:
        return
    extractor: Any = get_judge_session(warehouse, judge).judge
    problems = await asyncio.gather(
        *(_extract_with_judge(warehouse, item, extractor) for item in bought)
    )
    if failed := [problem for problem in problems if problem]:
        raise ExtractionFailed(f"{len(failed)} of {len(bought)} texts: {'; '.join(failed[:3])}")


async def _extract_offline(warehouse: Warehouse, item: PendingExtraction) -> None:
    text = load_text(warehouse, item)
    extract: Callable[[str, str], Statements] = extract_claims if item.agent else extract_facts
    found = await HELPERS.run(extract, item.title, text)
    await warehouse.write_async(*_build_changes(item, text, found, None))


async def _extract_with_judge(
    warehouse: Warehouse, item: PendingExtraction, extractor: LlmJudge
) -> str | None:
    """Write the statements of one text; if that fails, write nothing and return why."""
    text = await asyncio.to_thread(load_text, warehouse, item)
    if item.agent:
        answer = await extractor.extract_claims(build_claims_request(item, text))
    else:
        answer = await extractor.extract_facts(ExtractFacts(title=item.title, text=text))
    if answer.value is None:
        return f"{item.title}: {answer.reason}"
    found = await asyncio.to_thread(_locate_statements, item, text, answer.value)
    await warehouse.write_async(*_build_changes(item, text, found, extractor))
    return None


def _locate_statements(
    item: PendingExtraction, text: str, statements: Sequence[ExtractedStatement]
) -> Statements:
    """Find where a text has a judge's statements, and what its claims cite."""
    if item.agent:
        cited = [(statement.text, statement.markers) for statement in statements]
        return cite_statements(item.title, text, cited, by_attribution=item.by_attribution)
    texts = [statement.text for statement in statements]
    places = locate_facts(texts, text)
    return [ExtractedFact(fact, *place) for fact, place in zip(texts, places, strict=True)]


def _build_changes(
    item: PendingExtraction, text: str, found: Statements, extractor: LlmJudge | None
) -> list[Change]:
    """Build the rows of a text's statements and of their extraction."""
    source: Source = "judge" if extractor else "offline"
    if isinstance(found, ExtractedClaims):
        changes, outcome = _build_claims(item, found, source)
    else:
        changes, outcome = _build_facts(item, found, source)
    extraction = Extraction(
        **_key(item),
        **outcome,
        source=source,
        extractor_version=build_extractor_version(
            extractor, of_reports=bool(item.agent), by_attribution=item.by_attribution
        ),
        input_sha=content_sha(text),
    )
    return [*changes, Change(Extraction, [extraction], replacing=_key(item))]


def _key(item: PendingExtraction) -> dict[str, str]:
    return {"edition": item.edition, "agent": item.agent, "assignment": item.assignment}


def _build_facts(
    item: PendingExtraction, extracted: Sequence[ExtractedFact], source: Source
) -> tuple[list[Change], dict[str, Any]]:
    """Build the rows of an article's facts; return also the fields that they fill in their
    extraction."""
    of_article = {"edition": item.edition, "article": item.article}
    facts = [
        Fact(**of_article, **asdict(fact), number=number, source=source)
        for number, fact in enumerate(extracted)
    ]
    output = content_sha(*(fact.text for fact in facts))
    changes = [Change(Fact, facts, replacing=of_article)]
    return changes, {"output_sha": output, "n_items": len(facts)}


def _build_claims(
    item: PendingExtraction, extracted: ExtractedClaims, source: Source
) -> tuple[list[Change], dict[str, Any]]:
    """Build the rows of a report's claims and citations, as `_build_facts` does."""
    key = _key(item)
    claims = [
        Claim(
            **key,
            number=number,
            text=claim.text,
            section=claim.section,
            position=claim.position,
            source=source,
        )
        for number, claim in enumerate(extracted.claims)
    ]
    citations = {
        (number, citation.url): Citation(**key, **asdict(citation), number=number)
        for number, claim in enumerate(extracted.claims)
        for citation in claim.citations
    }
    output = content_sha(
        *(claim.text for claim in claims),
        *(f"{number} {url}" for number, url in citations),
        str(extracted.pairs_reason),
    )
    changes = [
        Change(Claim, claims, replacing=key),
        Change(Citation, list(citations.values()), replacing=key),
    ]
    return changes, {
        "output_sha": output,
        "n_items": len(claims),
        "n_pairs": len(citations),
        "pairs_reliable": extracted.pairs_reliable,
        "pairs_reason": extracted.pairs_reason,
    }
