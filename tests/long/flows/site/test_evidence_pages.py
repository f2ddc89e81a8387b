"""From a figure to the evidence of a verdict and back, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.long.flows.site.folders import NEEDS_CHROMIUM, report_with_claims
from tests.rigs.site_browser import watched

pytestmark = [pytest.mark.rig, NEEDS_CHROMIUM]


def test_a_figure_leads_to_its_evidence_and_back(site: Path, browser: Browser) -> None:
    with watched(browser, site, reduced_motion="reduce") as seen:
        page = seen.open("index.html")
        page.get_by_role("link", name="Sample scholar").first.click()
        assert seen.path().startswith("agents/sample_scholar")
        page.get_by_role("table", name="Every report").get_by_role("link").first.click()
        assert seen.path().startswith("reports/")
        report = seen.path()
        mark = page.locator("a.claim.t-good").first
        number = mark.inner_text()
        mark.click()
        claim = page.locator(f"#claim-{number}")
        expect(claim).to_have_attribute("open", "")
        expect(claim.locator("summary")).to_be_focused()
        expect(claim.locator("summary")).to_be_in_viewport()
        expect(claim.locator("blockquote.evidence").first).to_be_visible()
        for words in ("supported", "model version", "offline-lexical", "call none", "no LLM used"):
            expect(claim.locator(".inside")).to_contain_text(words)
        claim.get_by_role("link", name="snapshot of the page").first.click()
        assert seen.path().startswith("pages/")
        expect(page.locator("blockquote.evidence mark").first).to_be_visible()
        page.go_back()
        assert seen.path() == report
        expect(page.locator(f"#claim-{number}")).to_have_attribute("open", "")
        assert seen.misdeeds() == []


def test_escape_leads_back_from_a_claim_to_the_text(site: Path, browser: Browser) -> None:
    with watched(browser, site, reduced_motion="reduce") as seen:
        page = seen.open(report_with_claims(site))
        mark = page.locator("a.claim").nth(1)
        mark.focus()
        page.keyboard.press("Enter")
        expect(page.locator("details[open] > summary").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(mark).to_be_focused()
        expect(mark).to_be_in_viewport()


def test_a_cited_page_leads_to_the_claims_that_cite_it(site: Path, browser: Browser) -> None:
    with watched(browser, site) as seen:
        path = next(p for p in sorted(site.glob("pages/*.html")) if "#claim-" in p.read_text())
        page = seen.open(f"pages/{path.name}")
        page.locator("a[href*='#claim-']").first.click()
        assert seen.path().startswith("reports/")
        expect(page.locator("details[open]").first).to_be_visible()


def test_a_cell_of_the_heatmap_leads_to_that_fact_of_that_report(
    site: Path, browser: Browser
) -> None:
    with watched(browser, site) as seen:
        article = next(p for p in sorted(site.glob("articles/*.html")) if "table" in p.read_text())
        page = seen.open(f"articles/{article.name}")
        row = page.locator("table.heat tbody tr:not(.band)").nth(2)
        fact = row.locator("th").inner_text()
        said = row.get_by_role("link").last.inner_text()
        row.get_by_role("link").last.click()
        there = page.locator("tr:target")
        expect(there).to_be_focused()
        expect(there).to_contain_text(fact)
        expect(there).to_contain_text({"yes": "covered", "no": "not found"}[said])
        page.go_back()
        assert seen.path() == f"articles/{article.name}"
        assert seen.misdeeds() == []


def test_claims_can_be_narrowed_to_an_outcome(site: Path, browser: Browser) -> None:
    with watched(browser, site) as seen:
        page = seen.open(report_with_claims(site))
        every = page.locator("#claim-list > details").count()
        page.get_by_label("Show").select_option("good")
        shown = page.locator("#claim-list > details:visible")
        assert 0 < shown.count() < every
        assert {d.get_attribute("data-tone") for d in shown.all()} == {"good"}
        expect(page.get_by_role("status")).to_have_text(f"{shown.count()} shown")
