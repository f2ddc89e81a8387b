"""Extraction on the published edition: floors a little below what was measured."""

import pytest

from tests.tasks.published import MARKS, agreement, extracted, list_articles, place_facts

pytestmark = MARKS


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
    found = extracted(agent, list_articles())
    markers = sum(report.n_markers for report in found)
    assert sum(len(report.claims) for report in found) >= n_claims
    assert markers >= n_markers
    assert sum(report.n_resolved for report in found) >= resolved * markers
    assert sum(report.pairs_reliable for report in found) >= n_reliable


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
    found = agreement(agent, list_articles())
    assert (found.recall or 0) >= recall
    assert (found.precision or 0) >= precision
    assert (found.matched_share or 0) >= matched


def test_published_facts_are_placed_in_the_order_of_the_article() -> None:
    n_facts, n_placed, n_ordered = place_facts(list_articles()[:12])
    assert n_placed >= 0.97 * n_facts
    assert n_ordered >= 0.97 * n_placed
