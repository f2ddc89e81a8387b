"""An edition full of attacks, published and opened in a real browser: nothing of it acts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tasks.imports.wlc import import_edition
from tasks.publishing.site import build_site
from tasks.site.environment import safe_url
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import evaluate
from tests.long.flows.site.folders import NEEDS_CHROMIUM
from tests.rigs.hostile_edition import AGENTS, EDITION, TITLES, poison, write_edition
from tests.rigs.site_browser import PHONE, chromium, watched

pytestmark = [pytest.mark.rig, NEEDS_CHROMIUM]
OUTSIDE_RULES = """() => {
  const links = [...document.querySelectorAll("a[href]")].map((a) => ({
    href: a.getAttribute("href"), rel: a.getAttribute("rel"), protocol: a.protocol }));
  const all = [...document.querySelectorAll("*")];
  const attributes = all.flatMap((e) => [...e.attributes].map((a) => a.name));
  return {
    links,
    handlers: attributes.filter((name) => /^on|^style$|^srcdoc$/.test(name)),
    inline: document.querySelectorAll("script:not([src]), style").length,
    foreign: [...new Set(all.map((e) => e.localName))].filter((name) =>
      ["iframe", "object", "embed", "img", "base", "form", "video", "audio", "portal", "template",
       "textarea", "foreignObject", "image", "use"].includes(name)),
    ids: all.map((e) => e.id).filter(Boolean),
    wide: document.documentElement.scrollWidth - innerWidth,
    unseen: document.documentElement.textContent.match(
      /[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/g),
  };
}"""
OWN_IDS = {"main", "theme", "filters", "said", "scores", "claims-in-text", "claims", "claim-list",
           "facts", "f-protocol", "f-judge", "f-category", "f-window"}  # fmt: skip
OWN_PREFIXES = ("claim-", "fact-", "board-", "protocol-", "clip", "gradient_")
OF_FILTERS = ["form"]
"""Elements that only the leaderboard may have of those no other page may."""


@pytest.fixture(scope="module")
def warehouse(api: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / "w.duckdb"
    with open_warehouse(path) as opened:
        summary = import_edition(opened, write_edition(folder / "files"), EDITION)
    assert (summary.reports, summary.unreadable) == (len(AGENTS) * len(TITLES), 0)
    state = evaluate(path, "offline", edition=EDITION)
    assert state.name == "Completed", state.message
    with open_warehouse(path) as opened:
        poison(opened)
    return path


@pytest.fixture(scope="module", params=["passages", "whole"])
def hostile(request: Any, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site") / "site"
    with open_for_reading(warehouse) as source:
        build_site(source, EDITION, target, snapshots=request.param)
    return target


@pytest.fixture(scope="module")
def browser(warehouse: Path) -> Iterator[Browser]:
    # The flow has ended by now: Playwright and its event loop keep this thread's to themselves.
    with chromium() as opened:
        yield opened


def pages_of(hostile: Path) -> list[str]:
    return sorted(path.relative_to(hostile).as_posix() for path in hostile.rglob("*.html"))


def test_nothing_of_it_runs_leaves_the_folder_or_widens_the_page(
    hostile: Path, browser: Browser
) -> None:
    pages = pages_of(hostile)
    assert len(pages) > len(AGENTS) * len(TITLES)
    problems: dict[str, Any] = {}
    for viewport in (None, PHONE):
        settings = {"viewport": viewport} if viewport else {}
        with watched(browser, hostile, **settings) as seen:
            for path in pages:
                page = seen.open(path)
                page.evaluate(
                    "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
                )
                found = _broken_rules(page.evaluate(OUTSIDE_RULES), path) + seen.misdeeds()
                seen.said.clear()
                seen.requests.clear()
                if found:
                    problems[f"{path} {viewport}"] = found
    assert not problems, json.dumps(problems, indent=1)[:4_000]


def _broken_rules(found: Any, path: str) -> list[str]:
    problems = [f"attribute {name}" for name in found["handlers"]]
    problems += [f"element {name}" for name in found["foreign"]
                 if not (path == "index.html" and name in OF_FILTERS)]  # fmt: skip
    problems += [f"link {link}"[:200] for link in found["links"] if not _is_harmless(link)]
    problems += [f"id {name}" for name in found["ids"]
                 if name not in OWN_IDS and not name.startswith(OWN_PREFIXES)
                 and path != "analyses.html"]  # fmt: skip
    if found["inline"]:
        problems.append(f"{found['inline']} inline scripts or styles")
    if found["wide"] > 0:
        problems.append(f"{found['wide']} pixels wider than the window")
    if found["unseen"]:
        problems.append(f"characters that act unseen: {found['unseen'][:5]}")
    if len(set(found["ids"])) < len(found["ids"]):
        problems.append("an id stands twice")
    return problems


def _is_harmless(link: dict[str, str | None]) -> bool:
    href = link["href"] or ""
    if ":" not in href.split("/")[0] and not href.startswith("//"):
        return link["protocol"] == "file:" and link["rel"] is None
    return safe_url(href) is not None and link["rel"] == "noopener nofollow ugc"


def test_what_was_written_can_still_be_read(hostile: Path, browser: Browser) -> None:
    with watched(browser, hostile) as seen:
        page = seen.open("edition.html")
        shown = page.locator("main").inner_text()
        assert "<script>pwned.push(1)</script>" in page.locator("body").inner_text() + shown
        assert "⟨U+202E⟩gpj.exe" in shown
        names = seen.open("index.html").locator("table.board tbody th a").all_inner_texts()
        assert len(names) == len(AGENTS)
        assert any("⟨U+202E⟩gpj.exe" in name for name in names)


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


def test_two_agents_whose_names_begin_alike_are_two_in_every_picture(
    hostile: Path, browser: Browser
) -> None:
    with watched(browser, hostile) as seen:
        page = seen.open(next(name for name in pages_of(hostile) if name.startswith("articles/")))
        rows = page.locator("figure.wide svg text").all_text_contents()
        alike = [row for row in rows if row.startswith("Same long name")]
        assert len(set(alike)) == len(alike) == 2


def test_a_hostile_address_bar_breaks_nothing(hostile: Path, browser: Browser) -> None:
    with watched(browser, hostile) as seen:
        for fragment in ("%E0%A4%A", "<script>", "__proto__", "claim-999999", "'\"]"):
            page = seen.open("edition.html")
            page.goto("about:blank")
            page = seen.open(f"index.html#{fragment}")
            assert page.locator("#filters").is_visible()
        assert seen.misdeeds() == []


def test_no_file_of_it_is_named_by_an_agent_or_a_title(hostile: Path) -> None:
    for path in hostile.rglob("*"):
        name = path.relative_to(hostile).as_posix()
        assert name == name.encode("ascii", "replace").decode()
        assert not set(name) & set("<>\"'&?#%: \\"), name
        assert len(path.name) < 120


def test_the_files_of_figures_hold_no_end_of_a_script(hostile: Path) -> None:
    scripts = [*hostile.glob("data/parts/*.js")]
    assert scripts
    for path in scripts:
        text = path.read_text("utf-8")
        assert "<" not in text
        assert "\u2028" not in text
