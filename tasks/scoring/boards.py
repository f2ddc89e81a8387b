"""The tables of the leaderboard: which metrics each one shows and which one ranks."""

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from tasks.protocols.case import Protocol
from tasks.protocols.declarations import OPEN_NOTE, Board
from tasks.protocols.registry import available_protocols, find_boards, get_protocol_title


def select_boards(rows: pl.DataFrame) -> Iterator[Board]:
    """Yield the boards for a leaderboard's rows: the protocols' own, then one for each other
    protocol.

    A protocol without a definition (a deleted rubric) is shown with its metrics' names.
    """
    names = rows["protocol"].unique().sort().to_list()
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    boards = find_boards(names)
    yield from (
        board
        for board in boards
        if not board.only_valued or valued & (board.columns.keys() - board.ranked_by)
    )
    placed = frozenset[str]().union(*(board.protocols for board in boards))
    known = available_protocols(names)
    for name in names:
        if name in placed:
            continue
        there = set(rows.filter(pl.col("protocol") == name)["metric"])
        if name in known:
            metrics = [metric for metric in known[name].metrics if metric.name in there]
            titles = {metric.name: metric.title for metric in metrics}
            numbers = frozenset(metric.name for metric in metrics if metric.unit == "number")
            yield _make_plain_board(name, get_protocol_title(name), titles, numbers)
        else:
            order = sorted(there, key=lambda metric: (metric != "rubric_score", metric))
            titles = {m: m.removeprefix("rubric_").replace("_", " ").capitalize() for m in order}
            yield _make_plain_board(name, name, titles, frozenset())


def select_columns(rows: pl.DataFrame, board: Board) -> dict[str, str]:
    """Return metric → heading of those columns of a board in which any agent has a value."""
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    return {metric: heading for metric, heading in board.columns.items() if metric in valued}


def choose_ranking_metric(rows: pl.DataFrame, board: Board) -> str:
    """Return the metric that ranks a board's rows: the first of `ranked_by` with any value."""
    valued = {*rows.filter(pl.col("value").is_not_null())["metric"]}
    return next((metric for metric in board.ranked_by if metric in valued), board.ranked_by[0])


def find_ranking_metric(protocol: str, valued: Collection[str]) -> str | None:
    """Return which of these metrics ranks the protocol's first board; None if it has no board."""
    for board in find_boards([protocol])[:1]:
        return next((metric for metric in board.ranked_by if metric in valued), None)
    return None


def select_leading_metrics(protocol: str, metrics: Sequence[str]) -> list[str]:
    """Return those of a protocol's metrics that its first board shows; all if it has no board."""
    for board in find_boards([protocol])[:1]:
        return [metric for metric in metrics if metric in board.columns]
    return list(metrics)


def get_headings(protocol: Protocol) -> dict[str, str]:
    """Return metric → column heading: from the protocol's boards, else the metric's title."""
    short = {
        metric: heading
        for board in find_boards([protocol.name])
        for metric, heading in board.columns.items()
    }
    return {entry.name: short.get(entry.name, entry.title) for entry in protocol.metrics}


def _make_plain_board(
    name: str, title: str, columns: dict[str, str], numbers: frozenset[str]
) -> Board:
    """Make a board of these columns, ranked by the first one."""
    first = next(iter(columns))
    counts = [heading for metric, heading in columns.items() if metric in numbers]
    note = (
        f"Percent{''.join(f'; {heading}: a number' for heading in counts)}. –: not assessed, or "
        f"nothing to assess. {OPEN_NOTE}. Rank: by {columns[first]}."
    )
    if "assessed_share" in columns:
        note += (
            " Based on the judged items only; Assessed is their share of all items. The columns "
            "after it: the score over one group of the rubric's items each."
        )
    return Board(
        frozenset({name}),
        columns,
        (first,),
        first,
        note,
        title,
        numbers=numbers,
        counts={"rubric_score": "Items"},
    )
