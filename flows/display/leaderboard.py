"""Leaderboards for the terminal, and the same as JSON and CSV for programs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.wide import Column, print_wide
from tasks.benchmarks.rigorous import PROTOCOL as RIGOROUS
from tasks.configuration.models import load_judges
from tasks.drafting.unreviewed import drafts_of
from tasks.scoring.boards import COUNTS, INTERVAL, Board, boards_of, ranges_note, ranking
from tasks.warehouse.store import Readable

ENTRY = ("edition", "protocol", "agent", "metric", "value", "n_items", "n_reports", "judge",
         "provisional", "low", "high", "interval_reason", "n_articles", "rank_from", "rank_to",
         "seed")  # fmt: skip
PROVISIONAL = "provisional: figures with a star may still change"
STYLE_TITLE = "Style (diagnostics, not scores)"
STYLE_COLUMNS = {
    "words_to_watch": "Words to watch",
    "lead_words": "Lead words",
    "lead_share": "Lead share",
    "section_depth": "Depth",
    "citations_per_100_words": "Citations",
    "flesch": "Flesch",
}


def leaderboard_frame(source: Readable, edition: str) -> pl.DataFrame:
    """The edition's leaderboard, one row per protocol, agent, metric and judge."""
    return source.frame(
        "SELECT * FROM leaderboard WHERE edition = $1 ORDER BY protocol, metric, judge, agent",
        [edition],
    )


def print_leaderboard(
    source: Readable,
    edition: str,
    form: Format,
    protocols: Sequence[str] = (),
    judge: str | None = None,
) -> None:
    """As an array of entries, as CSV, or as one table per judge with the style figures below.

    protocols, judge: only theirs; everyone's if not given.
    """
    frame = leaderboard_frame(source, edition)
    if protocols:
        frame = frame.filter(pl.col("protocol").is_in(protocols))
    if judge:
        frame = frame.filter(pl.col("judge") == judge)
    say_drafts(source, edition, frame["protocol"])
    if form is not Format.TABLE:
        print_frame(frame.select(ENTRY), form)
        return
    for (judge,), rows in frame.group_by("judge", maintain_order=True):
        for board in boards_of(rows):
            of_board = rows.filter(pl.col("protocol").is_in(board.protocols))
            _judge_table(edition, str(judge), of_board, board)
    _style_table(source, edition)


def say_drafts(source: Readable, edition: str, protocols: Iterable[str]) -> None:
    """Say so where scores of these protocols rest on rubrics that nobody has reviewed."""
    if RIGOROUS in protocols and (drafts := drafts_of(source, edition)):
        remark(
            f"draft: Rigorous Bench measures {drafts} of {edition}'s assignments by rubrics that a "
            "model drafted and nobody has reviewed: its figures are provisional.",
            style="yellow",
        )


def _judge_table(edition: str, judge: str, rows: pl.DataFrame, board: Board) -> None:
    known = load_judges().judges
    title = known[judge].title if judge in known else judge
    named = " · ".join(filter(None, (edition, board.title, title)))
    provisional = rows["provisional"].any()
    if rows["value"].is_null().all():
        waits = " so far" if provisional else ""
        nothing = f"{named}: no figures, as nothing could be judged{waits}."
        ANSWERS.print(nothing, markup=False, highlight=False)
        return
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    ranks, agents = zip(*ranked(rows, board), strict=True)
    by = ranking(rows, board)
    columns = [
        column
        for metric, heading in board.columns.items()
        for column in _columns(board, figures, agents, metric, heading, by)
    ]
    counted = [figures.get((agent, board.counted_by)) for agent in agents]
    reports = [str(row["n_reports"] if row else 0) for row in counted]
    print_wide(
        ANSWERS,
        f"{named} · {PROVISIONAL}" if provisional else named,
        [Column("#", ranks), Column("Agent", agents, "left")],
        [*columns, Column(board.last, reports, style="dim")],
    )
    ANSWERS.print(f"{board.note}{ranges_note(rows, board)}\n", style="dim")


Figures = dict[tuple[str, str], dict[str, Any]]
"""(agent, metric) → its row of the leaderboard."""


def _columns(
    board: Board, figures: Figures, agents: Sequence[str], metric: str, heading: str, by: str
) -> Iterator[Column]:
    yield Column(heading, [_cell_of(board, figures, agent, metric) for agent in agents])
    for name, cells in _beside(board, figures, agents, metric, by).items():
        yield Column(name, cells, style="dim")


def _beside(
    board: Board, figures: Figures, agents: Sequence[str], metric: str, by: str
) -> dict[str, list[str]]:
    """By heading what stands beside a metric: its interval where it ranks, and its items."""
    rows = [figures.get((agent, metric)) for agent in agents]
    found = {}
    if metric == by and any(row and row.get("low") is not None for row in rows):
        found[INTERVAL] = [_span(board, row, metric) for row in rows]
    if metric in COUNTS:
        found[COUNTS[metric]] = [f"{row['n_items']:,}" if row else "0" for row in rows]
    return found


def _cell_of(board: Board, figures: Figures, agent: str, metric: str) -> str:
    row = figures.get((agent, metric))
    if row is None or row["value"] is None:
        return "–*" if row and row["provisional"] else "–"
    return f"{_shown(board, metric, row['value'])}{'*' if row['provisional'] else ' '}"


def _span(board: Board, row: dict[str, Any] | None, metric: str) -> str:
    if row is None or row["low"] is None:
        return "–"
    return f"{_shown(board, metric, row['low'])}–{_shown(board, metric, row['high'])}"


def _shown(board: Board, metric: str, value: float) -> str:
    return f"{value * (1 if metric in board.numbers else 100):.1f}"


def wide_rows(rows: pl.DataFrame) -> list[dict[str, str]]:
    """The tables as plain records, one per agent and judge: what the Prefect artifact shows."""
    wide = []
    for (judge,), of_judge in rows.group_by("judge", maintain_order=True):
        for board in boards_of(of_judge):
            of_board = of_judge.filter(pl.col("protocol").is_in(board.protocols))
            wide += _wide_board(of_board, board, str(judge))
    return wide


def _wide_board(rows: pl.DataFrame, board: Board, judge: str) -> list[dict[str, str]]:
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    ranks, agents = zip(*ranked(rows, board), strict=True)
    by = ranking(rows, board)
    shown = [
        column
        for metric, heading in board.columns.items()
        for column in _columns(board, figures, agents, metric, heading, by)
    ]
    return [
        {
            "#": rank,
            "Agent": agent,
            **{column.heading: column.cells[place].strip() for column in shown},
            "Judge": judge,
        }
        for place, (rank, agent) in enumerate(zip(ranks, agents, strict=True))
    ]


def ranked(rows: pl.DataFrame, board: Board) -> list[tuple[str, str]]:
    """(rank, agent), best first by the figures. The rank is the range of places the agent may have
    (`2–4`), or its place alone where none has been made; equals have one. Without a figure to rank
    by there is none, but a dash."""
    best: dict[str, list[float]] = {}
    ranges: dict[str, str] = {}
    by = ranking(rows, board)
    for row in rows.iter_rows(named=True):
        values = best.setdefault(row["agent"], [-1.0] * len(board.ranked_by))
        if row["metric"] in board.ranked_by and row["value"] is not None:
            values[board.ranked_by.index(row["metric"])] = row["value"]
        if row["metric"] == by and row.get("rank_from"):
            first, last = row["rank_from"], row["rank_to"]
            ranges[row["agent"]] = str(first) if first == last else f"{first}–{last}"
    agents = sorted(best, key=lambda agent: (*(-value for value in best[agent]), agent))
    places = [best[agent] for agent in agents]
    return [
        (
            ranges.get(agent, str(places.index(best[agent]) + 1)) if max(best[agent]) >= 0 else "–",
            agent,
        )
        for agent in agents
    ]


def _style_table(source: Readable, edition: str) -> None:
    frame = source.frame(
        "SELECT agent, name, avg(value) AS value FROM diagnostics WHERE edition = $1 "
        "GROUP BY ALL ORDER BY agent",
        [edition],
    )
    figures = {(agent, name): value for agent, name, value in frame.iter_rows()}
    shown = [name for name in STYLE_COLUMNS if any(key[1] == name for key in figures)]
    if not shown:
        return
    agents = frame["agent"].unique(maintain_order=True).to_list()
    columns = []
    for name in shown:
        values = [figures.get((agent, name)) for agent in agents]
        cells = ["–" if value is None else f"{value:,.2f}" for value in values]
        columns.append(Column(STYLE_COLUMNS[name], cells))
    names = [agent or "(reference articles)" for agent in agents]
    print_wide(ANSWERS, STYLE_TITLE, [Column("Agent", names, "left")], columns)
    ANSWERS.print(
        "Means over texts. Words to watch per 1,000 words, citations per 100 words (published "
        "reference articles come without their markers), Flesch reading ease.",
        style="dim",
    )
