"""The published edition, or some of its articles: extracted, judged offline, and beside its own
files and tables."""

import csv
import json
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scipy.stats import spearmanr

from tasks.benchmarks.document import parse_document
from tasks.extraction.agreement import CitedClaim, compare_extraction, sum_agreements
from tasks.extraction.claims import ExtractedClaims, extract_claims
from tasks.extraction.facts import locate_facts
from tasks.extraction.urls import is_same_page
from tasks.imports.wlc import import_edition
from tasks.warehouse.pages import Page
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.rows import Article
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.plain_evaluation import evaluate_plainly

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
EDITION, TABLES = SHARED / "wlc" / "2025_Mar_Nov", SHARED / "published"
MARKS = [
    pytest.mark.published,
    pytest.mark.skipif(not EDITION.is_dir(), reason="the published edition is not in ../shared"),
]
NAME = "sample"
"""The edition's name in a warehouse: the one that `evaluate_plainly` takes."""


def list_articles() -> list[str]:
    return sorted(path.stem for path in (EDITION / "wiki_data/cleaned_data/article").glob("*.md"))


def copy_articles(names: Collection[str], to: Path) -> Path:
    """Copy the edition with these articles alone, without copies of their pages on the wiki."""

    def left_out(folder: str, files: list[str]) -> list[str]:
        paths = [Path(folder, file) for file in files]
        return [path.name for path in paths if path.parent.name in OF_ARTICLES
                and path.stem.removesuffix("_statements") not in names]  # fmt: skip

    shutil.copytree(EDITION, to, ignore=left_out)
    [listed] = (to / "wiki_data").glob("*.csv")
    with listed.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    with listed.open("w", encoding="utf-8", newline="") as lines:
        kept = [row for row in rows if row[0].replace("/", "_") in names]
        csv.writer(lines).writerows([header, *kept])
    return to


OF_ARTICLES = ("article", "statement", "md_data", "json_data", "raw_wiki")


@contextmanager
def judged_by_wiki_fact(edition: Path, path: Path) -> Iterator[Warehouse]:
    """The edition imported and judged offline, without the pages that claims cite: what is said of
    them takes most of the time."""
    with open_warehouse(path) as opened:
        import_edition(opened, edition, NAME)
        opened.write(Change(Page, [], replacing={"edition": NAME}))
    evaluate_plainly(path, ("wiki_fact",))
    with open_warehouse(path) as opened:
        yield opened


@cache
def _extracted(agent: str, name: str) -> ExtractedClaims:
    text = (EDITION / "test_data" / agent / "md_data" / f"{name}.md").read_text("utf-8")
    return extract_claims(name.replace("_", " "), text)


class Found(NamedTuple):
    """What is extracted offline of an agent's reports, or at least."""

    n_claims: int
    n_markers: int
    resolved: float
    """The share of markers that lead to a URL."""
    n_reliable: int
    """Reports whose pairs are reliable."""


def check_extracted(agent: str, names: Collection[str], least: Found) -> None:
    found = [_extracted(agent, name) for name in names]
    markers = sum(report.n_markers for report in found)
    assert sum(len(report.claims) for report in found) >= least.n_claims
    assert markers >= least.n_markers
    assert sum(report.n_resolved for report in found) >= least.resolved * markers
    assert sum(report.pairs_reliable for report in found) >= least.n_reliable


def check_agreement(
    agent: str, names: Collection[str], recall: float, precision: float, matched: float
) -> None:
    """What is extracted offline agrees with the published claims at least so well."""
    files = EDITION / "test_data" / agent / "json_data"
    found = sum_agreements(
        compare_extraction(
            _published_claims(path),
            [
                CitedClaim(claim.text, tuple(c.url for c in claim.citations))
                for claim in _extracted(agent, path.stem).claims
            ],
        )
        for path in (files / f"{name}.json" for name in names)
        if path.exists()
    )
    assert (found.recall or 0) >= recall
    assert (found.precision or 0) >= precision
    assert (found.matched_share or 0) >= matched


def _published_claims(path: Path) -> list[CitedClaim]:
    page: dict[str, Any] = next(iter(json.loads(path.read_bytes())["query"]["pages"].values()))
    claims = []
    for statement in page.get("statements") or []:
        urls = statement.get("url") or ()
        urls = (urls,) if isinstance(urls, str) else tuple(u for u in urls if u)
        claims.append(CitedClaim(statement.get("fact") or statement.get("statement") or "", urls))
    return claims


def check_places_of_facts(names: Collection[str], placed: float, ordered: float) -> None:
    """At least these shares of the articles' published facts are found in them, and in order."""
    n_facts = n_placed = n_ordered = 0
    data = EDITION / "wiki_data/cleaned_data"
    for name in names:
        statements = json.loads((data / f"statement/{name}_statements.json").read_bytes())
        article = (data / f"article/{name}.md").read_text("utf-8")
        places = locate_facts([s["statement"] for s in statements], article)
        positions = [position for _, position in places if position is not None]
        n_facts += len(places)
        n_placed += len(positions)
        n_ordered += sum(a <= b for a, b in pairwise(positions))
    assert n_placed >= placed * n_facts
    assert n_ordered >= ordered * n_placed


def read_table(name: str, column: str) -> dict[str, float]:
    """A column of a published table, in percent, by the agents' folders."""
    with (TABLES / "agents.csv").open(encoding="utf-8", newline="") as lines:
        folders = {row["published_name"]: row["folder"] for row in csv.DictReader(lines)}
    with (TABLES / name).open(encoding="utf-8", newline="") as lines:
        return {folders[row["agent"]]: float(row[column]) for row in csv.DictReader(lines)}


def read_board(warehouse: Warehouse, metric: str) -> dict[str, float]:
    rows = warehouse.rows(LeaderboardRow, f"metric = '{metric}'")
    return {row.agent: row.value for row in rows if row.value is not None}


def correlate_ranks(board: dict[str, float], published: dict[str, float]) -> float:
    """How alike two tables order the agents that both have."""
    agents = sorted(board.keys() & published.keys())
    return float(spearmanr([board[a] for a in agents], [published[a] for a in agents])[0])


def check_coverages_without_leaks(warehouse: Warehouse, n_leaking: int) -> None:
    """Both coverages are the same where no claim leaks, and more reports than so many leak."""
    scores = {
        (score.agent, score.assignment, score.metric): score.numerator
        for score in warehouse.rows(Score, "protocol = 'wiki_fact'")
    }
    leaking = {key[:2] for key, value in scores.items() if key[2] == "leakage_rate" and value}
    assert len(leaking) > n_leaking
    clean = {key[:2] for key in scores} - leaking
    for suffix in ("", "_soft"):
        names = (f"coverage_wiki{suffix}", f"coverage_wiki_all{suffix}")
        for report in sorted(clean):
            assert scores[*report, names[0]] == scores[*report, names[1]]


def count_published_leaks(warehouse: Warehouse, agent: str) -> dict[str, float]:
    """Each report's share of published claims that name the target article's URL, straight from
    the files."""
    shares = {}
    for article in warehouse.rows(Article, "edition = $1", [NAME]):
        path = EDITION / "test_data" / agent / "json_data" / f"{article.article}.json"
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
