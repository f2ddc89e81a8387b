"""Ten articles of the published edition: floors a little below what was measured for them.

tests/long asks the same of all 69.
"""

from collections.abc import Iterator
from statistics import fmean

import pytest

from tasks.warehouse.store import Warehouse
from tests.tasks.published import (
    MARKS,
    Found,
    check_agreement,
    check_coverages_without_leaks,
    check_extracted,
    check_places_of_facts,
    copy_articles,
    correlate_ranks,
    count_published_leaks,
    judged_by_wiki_fact,
    read_board,
    read_table,
)

pytestmark = MARKS
TEN = ("Cow_(Mario)", "Dungka!", "Jimmy_Essex", "Joy_Laking", "Kururin_Squash!", "LIV_(nightclub)",
       "Multo_(song)", "Natlan", "Trichy_assault_rifle", "Wish_World")  # fmt: skip
"""The shortest but one that each of three agents has published claims of."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("ten")
    with judged_by_wiki_fact(copy_articles(TEN, folder / "files"), folder / "w.duckdb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("agent", "least"),
    [
        ("deep_researcher", Found(100, 5, 1.0, 1)),
        ("gemini_2.5_pro", Found(1_440, 520, 0.99, 10)),
        ("gemini_3_pro", Found(580, 640, 0.96, 10)),
        ("grok", Found(480, 222, 1.0, 3)),
        ("langchain_w_gpt4.1", Found(350, 114, 0.92, 6)),
        ("langchain_w_gpt5", Found(690, 900, 0.95, 10)),
        ("openai", Found(655, 425, 1.0, 10)),
        ("tongyi", Found(575, 1, 1.0, 1)),
    ],
)
def test_nearly_every_marker_of_an_agent_leads_to_a_url(agent: str, least: Found) -> None:
    check_extracted(agent, TEN, least)


def test_offline_pairs_agree_with_the_published_ones() -> None:
    check_agreement("openai", TEN, 0.87, 0.82, 0.99)
    check_agreement("gemini_3_pro", TEN, 0.91, 0.86, 0.97)
    check_agreement("langchain_w_gpt4.1", TEN, 0.8, 0.86, 0.97)


def test_published_facts_are_placed_in_the_order_of_the_article() -> None:
    check_places_of_facts(TEN, 0.99, 0.97)


def test_coverage_orders_the_agents_nearly_as_published(warehouse: Warehouse) -> None:
    """Measured: 0.857 by all claims, 0.762 without those that leak; all 69 articles say 0.9."""
    published = read_table("wlc_main.csv", "coverage_wiki")
    boards = [read_board(warehouse, f"coverage_wiki{kind}_soft") for kind in ("", "_all")]
    assert [len(board) for board in boards] == [8, 8]
    without_leaks, by_all = (correlate_ranks(board, published) for board in boards)
    assert by_all >= 0.83
    assert by_all > without_leaks >= 0.73


def test_both_coverages_are_the_same_where_no_claim_leaks(warehouse: Warehouse) -> None:
    check_coverages_without_leaks(warehouse, 15)


def test_leakage_by_article_is_that_of_the_published_files(warehouse: Warehouse) -> None:
    counted = count_published_leaks(warehouse, "openai")
    assert len(counted) == len(TEN)
    board = read_board(warehouse, "leakage_rate_by_article")
    assert board["openai"] == pytest.approx(fmean(counted.values()), abs=1e-12)
    assert board["openai"] > 0
