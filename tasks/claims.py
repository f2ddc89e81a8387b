"""Stage claims: extract facts from articles and claims from reports that have none yet.

Published facts and claims come with the import; the offline extractor or a judge adds the rest.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from tasks.extraction.claims import DOUBTED, ExtractedClaims, extract_claims
from tasks.extraction.facts import ExtractedFact, extract_facts
from tasks.judges.llm.judge import LlmJudge
from tasks.judging.session import get_judge_session
from tasks.pending.extractions import (
    PendingExtraction,
    Statements,
    build_extractor_version,
    build_request,
    load_text,
    locate_statements,
)
from tasks.processes.answers import HelperFailed
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import HELPERS, TEXT_SECONDS
from tasks.stage import is_transient, stage_task
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, content_sha
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

Source = Literal["judge", "offline"]


class ExtractionFailed(Exception):
    """The statements of some texts could not be extracted; the next run tries again."""


@stage_task("claims · {agent}", retry_condition_fn=is_transient)
async def extract_statements(
    warehouse: Warehouse, agent: str, items: list[PendingExtraction], judge: str | None = None
) -> None:
    """Extract the statements of one agent's reports (or of the articles), text by text.

    Raises:
        ExtractionFailed: some texts took too long, or the judge gave no usable answer for them;
            the others are done.
    """
    bought = [item for item in items if judge and not item.stays_offline]
    # One by one, so that slow texts of an agent keep one helper busy and leave the others.
    problems = [await _extract_offline(warehouse, item) for item in items if item not in bought]
    if judge and bought:
        extractor: Any = get_judge_session(warehouse, judge).judge
        problems += await asyncio.gather(
            *(_extract_with_judge(warehouse, item, extractor) for item in bought)
        )
    if failed := [problem for problem in problems if problem]:
        raise ExtractionFailed(f"{len(failed)} of {len(items)} texts: {'; '.join(failed[:3])}")


async def _extract_offline(warehouse: Warehouse, item: PendingExtraction) -> str | None:
    """Write the statements of one text; if that fails, write nothing and return why."""
    try:
        changes = await read_offline(warehouse, item)
    except (LimitExceeded, HelperFailed) as error:
        return f"{item.title}: extracting its statements {error}"
    await warehouse.write_async(*changes)
    return None


async def read_offline(warehouse: Warehouse, item: PendingExtraction) -> list[Change]:
    """Return the rows of what the offline extractor finds in a text, within a helper's limits."""
    text = load_text(warehouse, item)
    return _build_changes(item, text, await _run_offline(item, text), None)


async def _extract_with_judge(
    warehouse: Warehouse, item: PendingExtraction, extractor: LlmJudge
) -> str | None:
    """Write the statements of one text; if that fails, write nothing and return why.

    An empty list is asked about once more where the offline extractor finds some, then kept.
    """
    text = await asyncio.to_thread(load_text, warehouse, item)
    request, n_offline = build_request(item, text), None
    answer = await extractor.extract(request)
    try:
        if answer.value == ():
            n_offline = len(await _run_offline(item, text))
            if n_offline >= DOUBTED:
                answer = await extractor.extract(request, again=True)
        if answer.value is None:
            return f"{item.title}: {answer.reason}"
        found = await HELPERS.run(locate_statements, item, text, answer.value, seconds=TEXT_SECONDS)
    except (LimitExceeded, HelperFailed) as error:
        return f"{item.title}: finding its statements in it {error}"
    await warehouse.write_async(*_build_changes(item, text, found, extractor, n_offline))
    return None


async def _run_offline(item: PendingExtraction, text: str) -> Statements:
    extract: Callable[[str, str], Statements] = extract_claims if item.agent else extract_facts
    return await HELPERS.run(extract, item.title, text, seconds=TEXT_SECONDS)


def _build_changes(
    item: PendingExtraction,
    text: str,
    found: Statements,
    extractor: LlmJudge | None,
    n_offline: int | None = None,
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
        n_offline=n_offline,
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
