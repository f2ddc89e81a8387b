"""What is said about the ranks of a board."""

from pathlib import Path

import polars as pl
import pytest

from tasks.protocols.registry import list_boards
from tasks.scoring.board_notes import describe_ranks, describe_weak_ranks
from tasks.warehouse.results import AgentPair
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row

WIKI = list_boards()[0]


def ranked(*agents: tuple[str, int | None, int | None]) -> pl.DataFrame:
    """Agents with their ranges of ranks, from the best value to the worst."""
    return pl.DataFrame(
        [
            (agent, "coverage_wiki", 1 - place / 10, first, last, 8, None if first else "too few")
            for place, (agent, first, last) in enumerate(agents)
        ],
        schema={"agent": pl.String, "metric": pl.String, "value": pl.Float64,
                "rank_from": pl.Int32, "rank_to": pl.Int32, "n_articles": pl.Int32,
                "unranked": pl.String},
        orient="row",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        (
            [("scholar", 1, 2), ("lecturer", 1, 2), ("blogger", 3, 3), ("sketch", 4, 4)],
            ["1–2: scholar and lecturer cannot be told apart with 8 articles.",
             "blogger (3) and sketch (4) differ significantly from every other agent."],
        ),
        # Who has no rank is not among those that others differ from.
        (
            [("first", 1, 1), ("last", 2, 2), ("mine", None, None)],
            ["first (1) and last (2) differ significantly from every other ranked agent."],
        ),
        (
            [("first", 1, 1), ("a", 2, 4), ("b", 2, 4), ("c", 2, 4)],
            ["2–4: a, b and c cannot be told apart with 8 articles.",
             "first (1) differs significantly from every other agent."],
        ),
        # Who is tied with some alone may have several places.
        (
            [("a", 1, 2), ("b", 1, 3), ("c", 2, 3)],
            ["1–2: a may have any of these places with 8 articles.",
             "1–3: b may have any of these places with 8 articles.",
             "2–3: c may have any of these places with 8 articles."],
        ),
        ([("a", None, None)], []),
    ],
)  # fmt: skip
def test_ties_are_said_and_who_differs_from_all_others(
    agents: list[tuple[str, int | None, int | None]], said: list[str]
) -> None:
    assert describe_ranks(ranked(*agents), WIKI) == said


def pair(agent: str, other: str, difference: float, effect_size: float | None) -> AgentPair:
    of = {"judge": "offline", "agent": agent, "other": other, "n_articles": 8, "n_pairs": 3}
    return a_row(AgentPair, **of, difference=difference, effect_size=effect_size)


def said_of(warehouse: Warehouse, *agents: tuple[str, int | None, int | None], n: int = 8) -> str:
    rows = ranked(*agents).with_columns(n_articles=n)
    return describe_weak_ranks(warehouse, "e", "offline", rows, WIKI, {"c": "Cyd"})


def test_where_nobody_can_be_told_apart_the_articles_that_would_do_are_said(
    tmp_path: Path,
) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(Change(AgentPair, [
            pair("a", "b", 0.1, 0.9), pair("a", "c", -0.2, -0.5), pair("a", "apart", 0.9, 3.0),
        ]))  # fmt: skip
        tied = [(name, 1, 3) for name in ("a", "b", "c")]
        assert said_of(warehouse, *tied, ("apart", None, None)) == (
            "No two ranked agents can be told apart. The largest difference, of a and Cyd, would "
            "need about 45 articles."
        )
        assert said_of(warehouse, ("a", 1, 1), ("b", 2, 3), ("c", 2, 3)) == ""
        assert said_of(warehouse, ("alone", 1, 1)) == ""


def test_nothing_is_said_of_a_smaller_difference_where_the_largest_has_no_effect_size(
    tmp_path: Path,
) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        pairs = [pair("a", "b", 0.1, 0.9), pair("a", "c", 0.2, None)]
        warehouse.write(Change(AgentPair, pairs))
        assert said_of(warehouse, *((name, 1, 3) for name in ("a", "b", "c"))) == ""


def test_with_fewer_than_six_articles_there_are_no_ranks_and_it_is_said(tmp_path: Path) -> None:
    agents = [("a", None, None), ("b", None, None)]
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        for n, is_said in ((5, True), (6, False)):
            rows = ranked(*agents).with_columns(n_articles=n, unranked=pl.lit(None, pl.String))
            said = describe_weak_ranks(warehouse, "e", "offline", rows, WIKI)
            assert said.startswith("No ranks: with fewer than 6 articles") == is_said
        assert said_of(warehouse, *agents, n=5) == "", "they are listed apart"
