"""A site's boards: who is listed apart, in the whole edition and in its parts."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from tasks.protocols.registry import get_protocol, list_boards
from tasks.publishing.board_parts import BoardParts, render_parts
from tasks.publishing.boards import _make_entries
from tasks.site.content import BoardView, MetricColumn

[METRIC] = [m for m in get_protocol("wiki_fact").metrics if m.name == "coverage_wiki"]
COLUMNS = (MetricColumn("Cov.", METRIC),)
APART = {"apart": "it delivered 1 of 3 reports, fewer than 95 %", "ranked": None}
BOARD = list_boards()[0]


@pytest.fixture(autouse=True)
def no_exposure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program was held as usual."""
    monkeypatch.setattr("tasks.publishing.boards.load_exposure", lambda _: {})


def entries() -> tuple[Any, ...]:
    rows = pl.DataFrame(
        [(agent, METRIC.name, value, why, 3, 3, 0, 3)
         for (agent, why), value in zip(APART.items(), (0.9, 0.2), strict=True)],
        schema=["agent", "metric", "value", "unranked", "n_delivered", "n_assignments", "n_missing",
                "n_reports"],
        orient="row",
    )  # fmt: skip
    material = SimpleNamespace(agent_name=str.title, agent_href=str)
    return _make_entries(cast(Any, material), BOARD, COLUMNS, rows, "j", {})


def test_an_agent_that_is_not_ranked_follows_those_that_are_even_with_the_best_figure() -> None:
    assert [(entry.name, entry.unranked) for entry in entries()] == [
        ("Ranked", None), ("Apart", APART["apart"]),
    ]  # fmt: skip


def parts(shown: tuple[Any, ...], values: list[tuple[str, str, float]], unranked: str) -> Any:
    """The rows of the part with all articles, by agent."""
    scores = pl.DataFrame(
        values, schema=["agent", "assignment", "value"], orient="row"
    ).with_columns(
        metric=pl.lit(METRIC.name), numerator="value", n_items=1, n_open=0, state=pl.lit("done")
    )  # fmt: skip
    articles = sorted({article for _, article, _ in values})
    board = BoardParts(
        view=BoardView("board-0", "T", "j", "J", COLUMNS, (), shown, (), None, True), scores=scores,
        chosen=(("all", "", articles),), category_of={}, article_of={}, unsettled=frozenset(),
        unranked=frozenset({unranked} - {""}), assignable=frozenset(articles),
    )  # fmt: skip
    literal = render_parts(board).split(", ", 1)[1].removesuffix(");\n")
    return {row["agent"]: row for row in json.loads(literal)["parts"]["all|"]["rows"]}


def test_so_it_does_in_every_part_where_its_undelivered_reports_leave_its_figures_open() -> None:
    values = [("ranked", x, 0.2) for x in "uvwxyz"] + [("apart", "x", 0.9)]
    rows = parts(entries(), values, "apart").values()
    assert [(row["agent"], *(cell[0] for cell in row["cells"])) for row in rows] == [
        ("ranked", "1", "20.0", "6 of 6"), ("apart", "not ranked", "90.0*", "1 of 6"),
    ]  # fmt: skip


def test_a_part_of_few_articles_has_no_ranks() -> None:
    rows = parts(entries(), [("ranked", x, 0.2) for x in "vwxyz"], "").values()
    assert [(row["agent"], row["cells"][0][0]) for row in rows] == [("ranked", "–"), ("apart", "–")]


def test_a_part_keeps_the_marks_of_a_doubtful_empty_list_and_of_mixed_models() -> None:
    [marked, *others] = entries()
    cell = replace(marked.cells[0], n_empty_lists=1, models="2 models")
    marked = replace(marked, cells=(cell,))
    rows = parts((marked, *others), [("ranked", "x", 0.2), ("apart", "x", 0.9)], "")
    shown = {agent: row["cells"][1][0] for agent, row in rows.items()}
    assert shown == {"ranked": "20.0‡§", "apart": "90.0"}
