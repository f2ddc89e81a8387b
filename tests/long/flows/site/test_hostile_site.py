"""An edition full of attacks, published and opened in a real browser: nothing of it acts.

tests/guarantees/attacks/test_hostile_site.py asks the same rules of the parsed files.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.long.flows.site.folders import NEEDS_CHROMIUM
from tests.rigs.hostile_edition import AGENTS, TITLES
from tests.rigs.hostile_site import UNSEEN, broken_rules, make, pages_of, publish
from tests.rigs.site_browser import PHONE, chromium, watched

pytestmark = [pytest.mark.rig, NEEDS_CHROMIUM]
EXAMINE = f"""() => {{
  const all = [...document.querySelectorAll("*")];
  return {{
    links: [...document.querySelectorAll("a[href]")].map((a) => ({{
      href: a.getAttribute("href"), rel: a.getAttribute("rel"), protocol: a.protocol }})),
    attributes: all.flatMap((e) => [...e.attributes].map((a) => a.name)),
    elements: [...new Set(all.map((e) => e.localName))],
    ids: all.map((e) => e.id).filter(Boolean),
    inline: document.querySelectorAll("script:not([src]), style").length,
    unseen: document.documentElement.textContent.match(/{UNSEEN}/g),
  }};
}}"""
"""What a page has, as `broken_rules` asks for it."""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module", params=["passages", "whole"])
def hostile(request: Any, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(warehouse, tmp_path_factory.mktemp("site") / "site", request.param)


@pytest.fixture(scope="module")
def browser(warehouse: Path) -> Iterator[Browser]:
    # The flow has ended by now: Playwright and its event loop keep this thread's to themselves.
    with chromium() as opened:
        yield opened


def test_nothing_of_it_runs_leaves_the_folder_or_widens_the_page(
    hostile: Path, browser: Browser
) -> None:
    problems: dict[str, Any] = {}
    for viewport in (None, PHONE):
        settings = {"viewport": viewport} if viewport else {}
        with watched(browser, hostile, **settings) as seen:
            for path in pages_of(hostile):
                page = seen.open(path)
                page.evaluate(
                    "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
                )
                found = broken_rules(page.evaluate(EXAMINE), path) + seen.misdeeds()
                if (wide := page.evaluate(TOO_WIDE)) > 0:
                    found.append(f"{wide} pixels wider than the window")
                seen.said.clear()
                seen.requests.clear()
                if found:
                    problems[f"{path} {viewport}"] = found
    assert not problems, json.dumps(problems, indent=1)[:4_000]


def test_every_category_can_be_chosen_whatever_it_is_called(
    hostile: Path, browser: Browser
) -> None:
    with watched(browser, hostile) as seen:
        page = seen.open("index.html")
        values = page.locator("#f-category option").evaluate_all("(o) => o.map((e) => e.value)")
        assert len(values) == len(TITLES) + 1
        for value in values[1:]:
            page.select_option("#f-category", value)
            expect(page.locator("#said")).to_contain_text("1 article.")
            assert page.locator("table.board tbody tr").count() == len(AGENTS)
            page.click("button[type=reset]")
            expect(page.locator("#said")).to_be_empty()
        assert seen.misdeeds() == []


def test_a_hostile_address_bar_breaks_nothing(hostile: Path, browser: Browser) -> None:
    with watched(browser, hostile) as seen:
        for fragment in ("%E0%A4%A", "<script>", "__proto__", "claim-999999", "'\"]"):
            page = seen.open("edition.html")
            page.goto("about:blank")
            page = seen.open(f"index.html#{fragment}")
            assert page.locator("#filters").is_visible()
        assert seen.misdeeds() == []
