"""What is said about the ranks of a board."""

import polars as pl
import pytest

from tasks.scoring.board_notes import describe_ranges, describe_ranks
from tasks.scoring.boards import BOARDS

WIKI = BOARDS[0]


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


def test_a_fifth_agent_is_too_many_for_eight_articles() -> None:
    few = "8 articles are too few for any difference between 5 ranked agents to be significant."
    names = ("a", "b", "c", "d", "e")
    without = {"low": pl.lit(None, pl.Float64)}
    five = ranked(*((name, 1, 5) for name in names)).with_columns(**without)
    four = ranked(*((name, 1, 4) for name in names[:4])).with_columns(**without)
    assert few in describe_ranges(five, WIKI)
    assert "too few" not in describe_ranges(four, WIKI)
