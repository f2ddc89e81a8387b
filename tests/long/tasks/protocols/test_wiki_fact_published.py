"""Wiki Fact on the published edition, judged offline, beside the published tables."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import spearmanr

from tasks.benchmarks.document import parse_document
from tasks.extraction.urls import is_same_page
from tasks.imports.wlc import import_edition
from tasks.warehouse.pages import Page
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.rows import Article, Extraction
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.plain_evaluation import evaluate_plainly

SHARED = Path(__file__).resolve().parents[5] / "shared" / "data"
ROOT, TABLES = SHARED / "wlc" / "2025_Mar_Nov", SHARED / "published"
pytestmark = [
    pytest.mark.published,
    pytest.mark.skipif(not ROOT.is_dir(), reason="the published edition is not in ../shared"),
]
LEAST_RANK_CORRELATION = 0.9
EDITION = "sample"  # the name that `evaluate_plainly` takes


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    path = tmp_path_factory.mktemp("published") / "warehouse.duckdb"
    with open_warehouse(path) as opened:
        import_edition(opened, ROOT, EDITION)
        # What claims say of cited pages takes most of the time, and is not looked at here.
        opened.write(Change(Page, [], replacing={"edition": EDITION}))
    evaluate_plainly(path, ("wiki_fact",))
    with open_warehouse(path) as opened:
        yield opened


def read_table(name: str, column: str) -> dict[str, float]:
    """A column of a published table, in percent, by the agents' folders."""
    with (TABLES / "agents.csv").open(encoding="utf-8", newline="") as lines:
        folders = {row["published_name"]: row["folder"] for row in csv.DictReader(lines)}
    with (TABLES / name).open(encoding="utf-8", newline="") as lines:
        return {folders[row["agent"]]: float(row[column]) for row in csv.DictReader(lines)}


def read_board(warehouse: Warehouse, metric: str) -> dict[str, float]:
    rows = warehouse.rows(LeaderboardRow, f"metric = '{metric}'")
    return {row.agent: row.value for row in rows if row.value is not None}


def test_coverage_by_all_claims_orders_the_agents_as_published(warehouse: Warehouse) -> None:
    published = read_table("wlc_main.csv", "coverage_wiki")
    rank = {}
    for metric in ("coverage_wiki_soft", "coverage_wiki_all_soft"):
        board = read_board(warehouse, metric)
        assert len(board) == 8
        agents = sorted(board)
        rank[metric] = spearmanr([board[a] for a in agents], [published[a] for a in agents])[0]
    print({metric: round(float(value), 3) for metric, value in rank.items()})
    assert rank["coverage_wiki_all_soft"] >= LEAST_RANK_CORRELATION
    assert rank["coverage_wiki_all_soft"] > rank["coverage_wiki_soft"]


def test_both_coverages_are_the_same_where_no_claim_leaks(warehouse: Warehouse) -> None:
    scores = {
        (score.agent, score.assignment, score.metric): score.numerator
        for score in warehouse.rows(Score, "protocol = 'wiki_fact'")
    }
    leaking = {key[:2] for key, value in scores.items() if key[2] == "leakage_rate" and value}
    assert len(leaking) > 60
    clean = {key[:2] for key in scores} - leaking
    for suffix in ("", "_soft"):
        names = (f"coverage_wiki{suffix}", f"coverage_wiki_all{suffix}")
        for report in sorted(clean):
            assert scores[*report, names[0]] == scores[*report, names[1]]


def test_leakage_by_article_is_that_of_the_published_files(warehouse: Warehouse) -> None:
    """openai: 0.83 in the paper's table, of 100 articles; the 69 that are shared have 0.686."""
    counted = _count_published_leaks(warehouse, "openai")
    assert len(counted) == 69  # also the three whose pairs are not reliable
    board = read_board(warehouse, "leakage_rate_by_article")
    assert board["openai"] == pytest.approx(fmean(counted.values()), abs=1e-12)
    assert board["openai"] == pytest.approx(0.006858, abs=1e-6)
    published = read_table("wlc_leakage.csv", "leakage_rate_pct")
    assert board["openai"] * 100 == pytest.approx(published["openai"], abs=0.2)
    agents = sorted(board.keys() & published.keys())
    assert spearmanr([board[a] for a in agents], [published[a] for a in agents])[0] > 0.8


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


def _count_published_leaks(warehouse: Warehouse, agent: str) -> dict[str, float]:
    """Each report's share of published claims that name the target article's URL, straight from
    the files."""
    shares = {}
    for article in warehouse.rows(Article, "edition = 'sample'"):
        path = ROOT / "test_data" / agent / "json_data" / f"{article.article}.json"
        document = parse_document(json.loads(path.read_text("utf-8")))
        if document is None or not document.statements:
            continue
        of_numbers = document.citation_urls
        leaks = [
            any(
                is_same_page(url, article.url)
                for url in s.urls or [of_numbers[n] for n in s.numbers if n in of_numbers]
            )
            for s in document.statements
        ]
        shares[article.article] = sum(leaks) / len(leaks)
    return shares
