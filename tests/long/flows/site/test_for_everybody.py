"""A site in the dark, on a phone, by keyboard alone, read aloud, without script: for everybody."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.long.flows.site.folders import NEEDS_CHROMIUM, kinds_of, report_with_claims
from tests.rigs.site_browser import PHONE, watched

pytestmark = [pytest.mark.rig, NEEDS_CHROMIUM]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def paper(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_the_colours_follow_the_system_until_somebody_chooses(site: Path, browser: Browser) -> None:
    with watched(browser, site, color_scheme="dark") as seen:
        page = seen.open("index.html")
        dark = paper(page)
        page.get_by_role("button", name="Use light colours").click()
        light = paper(page)
        assert light != dark
        assert paper(seen.open("edition.html")) == light  # remembered
        page.get_by_role("button", name="Use dark colours").click()
        assert paper(page) == dark
        page.emulate_media(color_scheme="light")
        assert paper(page) == dark  # what was chosen stays
    with watched(browser, site, color_scheme="light") as seen:
        assert paper(seen.open("index.html")) == light


@pytest.mark.parametrize("which", ["site", "made"])
def test_on_a_phone_no_page_is_wider_than_the_window(
    which: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    with watched(browser, folder, viewport=PHONE, has_touch=True) as seen:
        for path in kinds_of(folder):
            page = seen.open(path)
            page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, path
            for link in page.get_by_role("navigation", name="Site").get_by_role("link").all():
                expect(link).to_be_in_viewport()
        page.get_by_role("navigation", name="Site").get_by_role("link", name="Method").tap()
        page.wait_for_url("**/method.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["site", "made"])
def test_no_rule_of_accessibility_is_broken(
    which: str, scheme: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    broken = {}
    with watched(browser, folder, color_scheme=scheme, reduced_motion="reduce") as seen:
        for path in kinds_of(folder):
            page = seen.open(path)
            for details in page.locator("details").all()[:3]:
                details.evaluate("(d) => { d.open = true; }")
            found = Axe().run(page, options={"runOnly": RULES}).response["violations"]
            if found:
                broken[path] = [
                    f"{rule['id']}: {len(rule['nodes'])} × {rule['nodes'][0]['html'][:160]} "
                    f"{rule['nodes'][0]['failureSummary'][:200]}"
                    for rule in found
                ]
    assert broken == {}


def focused(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        """() => {
             const e = document.activeElement, s = getComputedStyle(e);
             const { top, right, bottom, left } = e.getBoundingClientRect();
             return { tag: e.localName, text: e.textContent.trim().slice(0, 60),
                      outline: s.outlineStyle, width: parseFloat(s.outlineWidth),
                      href: e.getAttribute("href"),
                      seen: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth };
           }"""
    )
    return found


def tab_to(page: Page, wanted: str, most: int = 400) -> dict[str, Any]:
    """Press Tab until a link or summary begins with these words; every stop must show itself."""
    for _ in range(most):
        page.keyboard.press("Tab")
        now = focused(page)
        assert now["tag"] != "body", f"{wanted!r} cannot be reached"
        assert now["outline"] != "none", now
        assert now["width"] >= 2, now
        assert now["seen"], now
        if now["text"].startswith(wanted):
            return now
    raise AssertionError(f"{wanted!r} is not within {most} stops")


def test_the_keyboard_alone_reaches_a_claims_evidence(site: Path, browser: Browser) -> None:
    with watched(browser, site, reduced_motion="reduce") as seen:
        page = seen.open("index.html")
        assert tab_to(page, "Skip to content")["href"] == "#main"
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'main'")
        tab_to(page, "Sample scholar")
        page.keyboard.press("Enter")
        page.wait_for_url("**/agents/*")
        title = (
            page.get_by_role("table", name="Every report").get_by_role("link").first.inner_text()
        )
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'main'")
        tab_to(page, title[:40])
        page.keyboard.press("Enter")
        page.wait_for_url("**/reports/*")
        mark = page.locator("a.claim").first
        number = mark.inner_text()
        tab_to(page, number)
        page.keyboard.press("Enter")
        expect(page.locator(f"#claim-{number}")).to_have_attribute("open", "")
        expect(page.locator(f"#claim-{number} .by").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(mark).to_be_focused()


@pytest.mark.parametrize("which", ["site", "made"])
def test_without_script_everything_can_be_read(
    which: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        boards = page.locator("section.board")
        assert boards.count() == {"site": 1, "made": 3}[which]
        for section in boards.all():
            expect(section.get_by_role("table")).to_be_visible()
        expect(page.locator("#filters")).to_be_hidden()
        expect(page.locator("#theme")).to_be_hidden()
        page.goto((folder / report_with_claims(folder)).as_uri())
        summary = page.locator("#claim-list summary").first
        expect(summary).to_be_visible()
        summary.click()
        expect(page.locator("#claim-list details .by").first).to_be_visible()
        page.get_by_role("link", name="Leaderboard").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    finally:
        context.close()


@pytest.mark.parametrize("which", ["site", "made"])
def test_no_page_says_an_error_or_asks_for_anything_outside_its_folder(
    which: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    with watched(browser, folder) as seen:
        for path in pages if which == "site" else kinds_of(folder):
            seen.open(path)
            assert seen.misdeeds() == [], path
