"""The rows of what was extracted from a text."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from tasks.extraction.claims import ExtractedClaims
from tasks.extraction.facts import ExtractedFact
from tasks.extraction.texts import PendingExtraction, Statements, build_extractor_version
from tasks.judges.decisions import VersionedJudge
from tasks.warehouse.rows import Citation, Claim, Extraction, Fact, content_sha
from tasks.warehouse.writer import Change

Source = Literal["judge", "offline"]


def build_changes(
    item: PendingExtraction,
    text: str,
    found: Statements,
    extractor: VersionedJudge | None,
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
