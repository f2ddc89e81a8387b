"""Which tables an edition's leaderboard has, and which metrics stand in them."""

import polars as pl

from flows.display.leaderboard import rank_agents
from tasks.protocols.registry import PROTOCOLS, get_protocol, list_boards
from tasks.scoring.board_notes import list_apart
from tasks.scoring.boards import select_boards, select_leading_metrics


def rows(protocol: str, prefix: str, **values: float | None) -> pl.DataFrame:
    """Rows of a protocol's metrics."""
    return pl.DataFrame(
        [(protocol, f"{prefix}{metric}", value) for metric, value in values.items()],
        schema={"protocol": pl.String, "metric": pl.String, "value": pl.Float64},
        orient="row",
    )


def titles(protocol: str, prefix: str = "", **values: float | None) -> list[str]:
    return [board.title for board in select_boards(rows(protocol, prefix, **values))]


INTEGRATED = rows("rigorous", "rigorous_", integrated=None)


def test_sensitivity_is_shown_only_where_there_is_any() -> None:
    rigorous = ("rigorous", "rigorous_")
    counted = titles(*rigorous, integrated=None, integrated_eps1=None, focus_frequency=0.5)
    assert counted == ["Rigorous Bench"]
    assert titles(*rigorous, integrated=0.3, integrated_eps1=0.2) == [
        "Rigorous Bench", "Rigorous Bench: sensitivity to what is unspecified by the paper",
    ]  # fmt: skip


def test_how_agents_searched_stands_beside_their_f1_where_a_trace_says_it() -> None:
    [claims, search] = [board for board in list_boards() if board.protocols == {"claim_discovery"}]
    assert titles("claim_discovery", claim_f1=0.5, search_count=None) == [claims.title]
    searched = titles("claim_discovery", claim_f1=0.5, search_count=3, search_depth=None)
    assert searched == [claims.title, search.title]
    assert {"claim_f1", "claim_f1_printed"} <= claims.columns.keys()
    assert "claim_f1" in search.columns
    shown_as_numbers = {
        m.name for m in get_protocol("claim_discovery").metrics if m.unit == "number"
    }
    assert search.numbers == shown_as_numbers


def test_recall_by_own_markers_stands_beside_recall() -> None:
    [gym] = [board for board in list_boards() if board.protocols == {"research_gym"}]
    shown = list(gym.columns)
    assert shown[shown.index("citation_recall") + 1] == "citation_recall_own"


def test_boards_name_metrics_that_there_are_under_headings_that_differ() -> None:
    known = {metric.name for name in PROTOCOLS for metric in get_protocol(name).metrics}
    for board in list_boards():
        assert {*board.columns, *board.ranked_by, board.counted_by} <= known
        assert len({*board.columns.values()}) == len(board.columns)


def test_without_ranges_there_are_no_ranks_but_the_order_of_the_figures() -> None:
    (board,) = select_boards(INTEGRATED)
    figures = [("b", 0.2), ("a", None), ("c", 0.4), ("d", 0.2)]
    scored = with_figures(*((agent, value, None) for agent, value in figures))
    assert rank_agents(scored, board) == [("–", agent) for agent in "cbda"]


def test_who_is_not_ranked_follows_those_who_are_and_takes_no_place() -> None:
    (board,) = select_boards(INTEGRATED)
    scored = with_figures(
        ("a", 0.9, "it delivered 1 of 3 reports"), ("b", 0.2, None), ("c", 0.4, None),
        ("d", None, None), ("e", 0.3, "it was given the sources"),
    )  # fmt: skip
    ranges = pl.Series([None, 2, 1, None, None], dtype=pl.Int32)
    assert rank_agents(scored.with_columns(rank_from=ranges, rank_to=ranges), board) == [
        ("1", "c"), ("2", "b"), ("–", "a"), ("–", "e"), ("–", "d"),
    ]  # fmt: skip
    assert list_apart(scored, board) == {
        "a": "it delivered 1 of 3 reports", "e": "it was given the sources",
    }  # fmt: skip


def with_figures(*figures: tuple[str, float | None, str | None]) -> pl.DataFrame:
    """Agents with a figure to rank by, and why they are not ranked."""
    return pl.DataFrame(
        [(agent, "rigorous_integrated", value, why) for agent, value, why in figures],
        schema={"agent": pl.String, "metric": pl.String, "value": pl.Float64,
                "unranked": pl.String},
        orient="row",
    )  # fmt: skip


def test_what_a_protocol_s_board_shows_leads_elsewhere_too() -> None:
    metrics = ["rigorous_searches", "rigorous_integrated", "rigorous_drift_eps1"]
    assert select_leading_metrics("rigorous", metrics) == ["rigorous_integrated"]
    assert select_leading_metrics("somebody_s_own", metrics) == metrics
