"""The leaderboard in a real browser: sorting and filtering, by mouse and by keyboard."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tasks.protocols.registry import get_protocol
from tasks.scoring.standings import compute_standings
from tasks.site.wording import format_figure, format_interval
from tasks.warehouse.reader import open_for_reading
from tests.long.flows.site.folders import NEEDS_CHROMIUM
from tests.rigs.made_edition import CATEGORIES, EDITION, SECOND_JUDGES, SILENT, SMALL
from tests.rigs.site_browser import watched

pytestmark = [pytest.mark.rig, NEEDS_CHROMIUM]


def board(page: Page) -> Locator:
    return page.locator("section.board:visible table.board")


def keys(table: Locator, column: int) -> list[float | None]:
    """What a column is sorted by, from the top down."""
    said = table.locator(f"tbody tr > :nth-child({column + 1})").evaluate_all(
        "(cells) => cells.map((c) => c.dataset.sort ?? c.textContent.trim())"
    )
    return [float(word) if word not in ("", "–") else None for word in said]


def has_emptiest_last(values: list[float | None], *, ascending: bool) -> bool:
    there = [value for value in values if value is not None]
    return values == sorted(there, reverse=not ascending) + [None] * (len(values) - len(there))


def column_of(table: Locator, heading: str) -> int:
    heads = table.locator("thead th").all_inner_texts()
    return next(n for n, head in enumerate(heads) if head.split("\u00a0")[0].strip() == heading)


def test_a_heading_sorts_by_mouse_both_ways_and_nothing_comes_last(
    made: Path, browser: Browser
) -> None:
    with watched(browser, made) as seen:
        table = board(seen.open("index.html")).first
        column = column_of(table, "Ref. acc.")
        heading = table.locator("thead th").nth(column)
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", "descending")
        values = keys(table, column)
        assert has_emptiest_last(values, ascending=False)
        assert None in values
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", "ascending")
        assert has_emptiest_last(keys(table, column), ascending=True)
        assert table.locator("tbody tr").last.get_attribute("data-agent") == SILENT
        table.locator("thead th").nth(0).get_by_role("button").click()
        assert heading.get_attribute("aria-sort") is None
        assert seen.misdeeds() == []


def test_a_heading_sorts_by_keyboard(made: Path, browser: Browser) -> None:
    with watched(browser, made) as seen:
        table = board(seen.open("index.html")).first
        column = column_of(table, "Leak")
        button = table.locator("thead th").nth(column).get_by_role("button")
        button.focus()
        seen.page.keyboard.press("Enter")
        assert has_emptiest_last(keys(table, column), ascending=False)
        seen.page.keyboard.press("Space")
        assert has_emptiest_last(keys(table, column), ascending=True)
        assert button.evaluate("(b) => b === document.activeElement")


def test_words_are_sorted_as_words(made: Path, browser: Browser) -> None:
    with watched(browser, made) as seen:
        page = seen.open("edition.html")
        table = page.get_by_role("table").last
        table.locator("thead th").first.get_by_role("button").click()
        titles = table.locator("tbody th").all_inner_texts()
        assert titles == [f"Article {n}" for n in range(SMALL.articles)]  # 2 before 10


def test_a_protocol_and_a_judge_show_their_board(made: Path, browser: Browser) -> None:
    with watched(browser, made) as seen:
        page = seen.open("index.html")
        shown = page.locator("section.board:visible")
        assert shown.count() == 1
        first = shown.get_attribute("id") or ""
        page.select_option("#f-judge", "second")
        expect(shown).to_have_attribute("data-judge", "second")
        names = board(page).locator("tbody tr").evaluate_all("(r) => r.map((e) => e.dataset.agent)")
        assert sorted(names) == sorted(SECOND_JUDGES)
        page.select_option("#f-protocol", "DeepResearchGym")
        expect(shown).to_have_attribute("data-judge", "offline")  # the second has not judged it
        assert board(page).locator("tbody tr").count() == SMALL.agents
        page.get_by_role("button", name="Reset").click()
        expect(shown).to_have_id(first)
        assert seen.misdeeds() == []


@pytest.mark.parametrize(
    ("category", "window"), [(CATEGORIES[0], ""), ("", "2025Q1"), (CATEGORIES[1], "2025Q2")]
)
def test_figures_of_a_part_are_those_that_standings_gives(
    made: Path, browser: Browser, category: str, window: str
) -> None:
    expected = _expected(made.parent / "w.duckdb", category, window)
    with watched(browser, made) as seen:
        page = seen.open("index.html")
        whole = board(page).first.inner_text()
        page.select_option("#f-category", category)
        page.select_option("#f-window", window)
        expect(page.locator("#said")).to_contain_text("article")
        table = board(page).first
        column = column_of(table, "Cov.")
        rows = table.locator("tbody tr").evaluate_all(
            """(rows, column) => rows.map((row) => {
                 const cell = row.cells[column];
                 return [row.dataset.agent, cell.firstChild.textContent,
                         cell.querySelector("small").textContent];
               })""",
            column,
        )
        assert {row[0]: (row[1].rstrip("*"), row[2]) for row in rows} == expected
        page.get_by_role("button", name="Reset").click()
        expect(page.locator("#said")).to_be_empty()
        assert board(page).first.inner_text() == whole
        assert seen.misdeeds() == []


def _expected(warehouse: Path, category: str, window: str) -> dict[str, tuple[str, str]]:
    """Value and interval of every agent's coverage over the articles of a part."""
    metric = next(m for m in get_protocol("wiki_fact").metrics if m.name == "coverage_wiki")
    with open_for_reading(warehouse) as source:
        rows = source.frame(
            "SELECT s.* FROM scores AS s JOIN articles AS a "
            "ON a.edition = s.edition AND a.article = s.assignment "
            "WHERE s.edition = $1 AND s.judge = 'offline' AND s.metric = $2 "
            "AND ($3 = '' OR a.category = $3) "
            "AND ($4 = '' OR year(a.created_at) || 'Q' || quarter(a.created_at) = $4) "
            "ORDER BY s.agent, s.assignment",
            [EDITION, metric.name, category, window],
        )
    assert rows["assignment"].n_unique() in range(1, SMALL.articles)
    names = rows["assignment"].unique().to_list()
    found = compute_standings(
        rows, metric, dict.fromkeys(names, ""), {name: name for name in names}
    )
    return {
        row.agent: (format_figure(row.value), format_interval(row.low, row.high) or "no interval")
        for row in found.rows
    }


def test_a_part_without_articles_says_so(made: Path, browser: Browser) -> None:
    with watched(browser, made) as seen:
        page = seen.open("index.html")
        page.select_option("#f-category", CATEGORIES[0])
        values = page.locator("#f-window option").evaluate_all("(o) => o.map((e) => e.value)")
        said = []
        for value in values[1:]:
            page.select_option("#f-window", value)
            expect(page.locator("#said")).not_to_be_empty()
            said.append(
                (page.locator("#said").inner_text(), board(page).locator("tbody tr").count())
            )
        for words, rows in said:
            assert (rows == 0) == words.startswith("No article")


def test_a_sort_after_a_filter_is_of_the_part(made: Path, browser: Browser) -> None:
    with watched(browser, made) as seen:
        page = seen.open("index.html")
        page.select_option("#f-category", CATEGORIES[0])
        expect(page.locator("#said")).to_contain_text("article")
        table = board(page).first
        column = column_of(table, "Cov.")
        table.locator("thead th").nth(column).get_by_role("button").click()
        assert has_emptiest_last(keys(table, column), ascending=False)
        assert table.locator("tbody tr").count() == SMALL.agents
