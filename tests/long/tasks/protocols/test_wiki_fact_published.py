"""Wiki Fact on the published edition, judged offline, beside the published tables."""

from collections.abc import Iterator
from statistics import fmean

import pytest

from tasks.warehouse.results import Score
from tasks.warehouse.rows import Extraction
from tasks.warehouse.store import Warehouse
from tests.tasks.published import (
    EDITION,
    MARKS,
    check_coverages_without_leaks,
    correlate_ranks,
    count_published_leaks,
    judged_by_wiki_fact,
    read_board,
    read_table,
)

pytestmark = MARKS
LEAST_RANK_CORRELATION = 0.9


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("published") / "warehouse.duckdb"
    with judged_by_wiki_fact(EDITION, path) as opened:
        yield opened


def test_coverage_by_all_claims_orders_the_agents_as_published(warehouse: Warehouse) -> None:
    published = read_table("wlc_main.csv", "coverage_wiki")
    rank = {}
    for metric in ("coverage_wiki_soft", "coverage_wiki_all_soft"):
        board = read_board(warehouse, metric)
        assert len(board) == 8
        rank[metric] = correlate_ranks(board, published)
    print({metric: round(value, 3) for metric, value in rank.items()})
    assert rank["coverage_wiki_all_soft"] >= LEAST_RANK_CORRELATION
    assert rank["coverage_wiki_all_soft"] > rank["coverage_wiki_soft"]


def test_both_coverages_are_the_same_where_no_claim_leaks(warehouse: Warehouse) -> None:
    check_coverages_without_leaks(warehouse, 60)


def test_leakage_by_article_is_that_of_the_published_files(warehouse: Warehouse) -> None:
    """openai: 0.83 in the paper's table, of 100 articles; the 69 that are shared have 0.686."""
    counted = count_published_leaks(warehouse, "openai")
    assert len(counted) == 69  # also the three whose pairs are not reliable
    board = read_board(warehouse, "leakage_rate_by_article")
    assert board["openai"] == pytest.approx(fmean(counted.values()), abs=1e-12)
    assert board["openai"] == pytest.approx(0.006858, abs=1e-6)
    published = read_table("wlc_leakage.csv", "leakage_rate_pct")
    assert board["openai"] * 100 == pytest.approx(published["openai"], abs=0.2)
    assert correlate_ranks(board, published) > 0.8


def test_reports_whose_own_pairs_are_not_known_have_no_leakage(warehouse: Warehouse) -> None:
    unknown = {
        (row.agent, row.assignment)
        for row in warehouse.rows(Extraction, "NOT pairs_reliable AND source <> 'published'")
    }
    scores = warehouse.rows(Score, "metric = 'leakage_rate_by_article'")
    found = {(s.agent, s.assignment): s for s in scores}
    assert len(unknown) > 100
    assert {found[key].value for key in unknown} == {None}
    assert all(found[key].reason for key in unknown)
