"""Extraction on the published edition: floors a little below what was measured."""

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tasks.extraction.agreement import (
    CitedClaim,
    ExtractionAgreement,
    compare_extraction,
    sum_agreements,
)
from tasks.extraction.claims import ExtractedClaims, extract_claims
from tasks.extraction.facts import locate_facts

EDITION = Path(__file__).parents[5] / "shared/data/wlc/2025_Mar_Nov"

pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not EDITION.is_dir(), reason=f"{EDITION} is absent"),
]


def title_of(path: Path) -> str:
    return path.stem.replace("_", " ")


@cache
def extracted(agent: str) -> dict[str, ExtractedClaims]:
    reports = sorted((EDITION / "test_data" / agent / "md_data").glob("*.md"))
    return {r.stem: extract_claims(title_of(r), r.read_text("utf-8")) for r in reports}


@pytest.mark.parametrize(
    ("agent", "n_claims", "n_markers", "resolved", "n_reliable"),
    [
        ("deep_researcher", 800, 5, 1.0, 1),
        ("gemini_2.5_pro", 12_000, 3_900, 0.99, 68),
        ("gemini_3_pro", 4_200, 4_300, 0.99, 69),
        ("grok", 3_800, 2_400, 0.95, 43),
        ("langchain_w_gpt4.1", 2_500, 1_000, 0.96, 53),
        ("langchain_w_gpt5", 4_800, 5_800, 0.97, 67),
        ("openai", 5_000, 3_400, 0.999, 69),
        ("tongyi", 3_500, 1, 1.0, 1),
    ],
)
def test_nearly_every_marker_of_an_agent_leads_to_a_url(
    agent: str, n_claims: int, n_markers: int, resolved: float, n_reliable: int
) -> None:
    found = extracted(agent).values()
    markers = sum(report.n_markers for report in found)
    assert sum(len(report.claims) for report in found) >= n_claims
    assert markers >= n_markers
    assert sum(report.n_resolved for report in found) >= resolved * markers
    assert sum(report.pairs_reliable for report in found) >= n_reliable


def published_claims(path: Path) -> list[CitedClaim]:
    page: dict[str, Any] = next(iter(json.loads(path.read_bytes())["query"]["pages"].values()))
    claims = []
    for statement in page.get("statements") or []:
        urls = statement.get("url") or ()
        urls = (urls,) if isinstance(urls, str) else tuple(u for u in urls if u)
        claims.append(CitedClaim(statement.get("fact") or statement.get("statement") or "", urls))
    return claims


def agreement(agent: str) -> ExtractionAgreement:
    files = sorted((EDITION / "test_data" / agent / "json_data").glob("*.json"))
    return sum_agreements(
        compare_extraction(
            published_claims(path),
            [
                CitedClaim(claim.text, tuple(c.url for c in claim.citations))
                for claim in extracted(agent)[path.stem].claims
            ],
        )
        for path in files
    )


@pytest.mark.parametrize(
    ("agent", "recall", "precision", "matched"),
    [
        ("openai", 0.85, 0.81, 0.98),
        ("gemini_3_pro", 0.93, 0.86, 0.97),
        ("langchain_w_gpt4.1", 0.87, 0.86, 0.96),
    ],
)
def test_offline_pairs_agree_with_the_published_ones(
    agent: str, recall: float, precision: float, matched: float
) -> None:
    found = agreement(agent)
    assert (found.recall or 0) >= recall
    assert (found.precision or 0) >= precision
    assert (found.matched_share or 0) >= matched


def test_published_facts_are_placed_in_the_order_of_the_article() -> None:
    n_facts = n_placed = n_ordered = 0
    data = EDITION / "wiki_data/cleaned_data"
    for article in sorted((data / "article").glob("*.md"))[:12]:
        statements = json.loads((data / f"statement/{article.stem}_statements.json").read_bytes())
        places = locate_facts([s["statement"] for s in statements], article.read_text("utf-8"))
        positions = [position for _, position in places if position is not None]
        n_facts += len(places)
        n_placed += len(positions)
        n_ordered += sum(a <= b for a, b in pairwise(positions))
    assert n_placed >= 0.97 * n_facts
    assert n_ordered >= 0.97 * n_placed
