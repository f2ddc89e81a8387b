"""No page of a large edition takes long to load: each with its style and script under 500 kB."""

import re
from pathlib import Path

import pytest

from tasks.analysis.explanation import explain_reports
from tasks.publishing.site import ASSETS, SiteSummary, build_site
from tasks.site.report_parts import split_report
from tasks.warehouse.reader import open_for_reading
from tests.rigs.made_edition import EDITION, Size, make

LARGEST, FIRST = 500_000, 200_000
"""Bytes of a page with its assets; of the leaderboard."""
SIZE = Size()


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("large") / "w.duckdb", SIZE)


@pytest.fixture(scope="module")
def published(warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> SiteSummary:
    with open_for_reading(warehouse) as source:
        return build_site(source, EDITION, tmp_path_factory.mktemp("site") / "site")


def test_no_page_with_its_assets_is_over_500_kilobytes(published: SiteSummary) -> None:
    assets = sum((published.folder / name).stat().st_size for name in ASSETS)
    sizes = {path: path.stat().st_size for path in published.folder.rglob("*")
             if path.suffix in (".html", ".js")}  # fmt: skip
    large = {path: size for path, size in sizes.items() if size + assets > LARGEST}
    assert sizes
    assert large == {}
    assert published.largest_page_bytes <= LARGEST
    assert published.first_load_bytes <= FIRST


def test_nothing_is_lost_where_a_report_takes_several_pages(
    warehouse: Path, published: SiteSummary
) -> None:
    with open_for_reading(warehouse) as source:
        (report,) = explain_reports(source, EDITION, "agent_00", ["x0"])
    parts = split_report(report)
    assert len(parts.claims) > 1
    assert len(parts.facts) > 1
    folder = published.folder / "reports"
    for claim in report.claims:
        page, _, place = parts.claim_href(claim.number).partition("#")
        assert f'id="{place}"' in (folder / page).read_text("utf-8")
    for fact in report.facts:
        page, _, place = parts.fact_href(fact.number).partition("#")
        assert f'id="{place}"' in (folder / page).read_text("utf-8")
    marks = re.findall(r'<a class="claim [^>]*href="([^"]+)"', (folder / parts.home).read_text())
    assert sorted(marks) == sorted(parts.claim_href(claim.number) for claim in report.claims)


def test_all_facts_of_a_large_article_lead_somewhere(published: SiteSummary) -> None:
    pages = sorted((published.folder / "articles").glob("x0*.html"))
    assert len(pages) > 1
    cells = [cell for page in pages for cell in re.findall(r"#fact-\d+", page.read_text("utf-8"))]
    assert len(cells) == SIZE.facts * SIZE.agents
