"""Print leaderboards as tables, JSON or CSV."""

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote
from typing import Any

import polars as pl

from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.base import format_count
from tasks.benchmarks.rigorous import PROTOCOL as RIGOROUS
from tasks.configuration.models import get_judge_title
from tasks.drafts import count_unreviewed
from tasks.metrics.ratios import rests_on_few
from tasks.protocols.declarations import INTERVAL, Board
from tasks.scoring.board_notes import (
    EMPTY_LIST,
    MIXED_MODELS,
    OTHER_FIGURES,
    OTHER_NOTES,
    choose_other_figure,
    describe_columns_left_out,
    describe_earlier_leaks,
    describe_empty_lists,
    describe_mixed_models,
    describe_ranges,
    describe_reports,
    describe_stand_ins,
    describe_weak_ranks,
    list_apart,
)
from tasks.scoring.boards import choose_ranking_metric, select_boards, select_columns
from tasks.scoring.bounds import UNCERTAIN, describe_refused
from tasks.scoring.columns import (
    COLUMNS,
    REPORTS,
    BoardAgent,
    load_leaderboard,
    select_fields,
    short_heading,
)
from tasks.scoring.extractors import describe_extractors
from tasks.warehouse.store import Readable

FEW, PROVISIONAL = "†", "*"
"""Marks after a figure."""
FEW_NOTE = f"{FEW}: based on fewer than half of the agent's reports."
PROVISIONAL_NOTE = "provisional: figures with a star may still change"
UNJUDGED = """
SELECT agent, count(*) FROM reports
WHERE edition = $1 AND agent IN (SELECT unnest($3)) AND status <> 'empty'
    AND (agent, assignment) NOT IN (
        SELECT (agent, assignment) FROM scores WHERE edition = $1 AND judge = $2)
GROUP BY agent ORDER BY agent
"""
"""Reports ($1: edition) of agents ($3) that are in no figure of a judge ($2) yet."""
STYLE_TITLE = "Style (diagnostics, not scores)"
STYLE_COLUMNS = {
    "words_to_watch": "Words to watch",
    "lead_words": "Lead words",
    "lead_share": "Lead share",
    "section_depth": "Depth",
    "citations_per_100_words": "Citations",
    "flesch": "Flesch",
}


def print_leaderboard(
    source: Readable,
    edition: str,
    form: Format,
    protocols: Sequence[str] = (),
    judge: str | None = None,
) -> None:
    """Print the leaderboard as JSON, as CSV, or as tables per judge with the style figures below.

    Boards of a judge that gave no usable answer come last, each as a line that says so.

    protocols, judge: only these; all if not given.
    """
    frame = load_leaderboard(source, edition)
    if protocols:
        frame = frame.filter(pl.col("protocol").is_in(protocols))
    if judge:
        frame = frame.filter(pl.col("judge") == judge)
    warn_about_drafts(source, edition, frame["protocol"])
    if form is not Format.TABLE:
        print_frame(select_fields(frame), form)
        return
    boards = [
        (str(name), rows.filter(pl.col("protocol").is_in(board.protocols)), board)
        for (name,), rows in frame.group_by("judge", maintain_order=True)
        for board in select_boards(rows)
    ]
    for name, rows, board in sorted(boards, key=lambda one: one[1]["value"].is_null().all()):
        _print_judge_table(source, edition, name, rows, board)
    if extractors := describe_extractors(source, edition):
        print_result(f"{extractors}\n", style="dim")
    _print_style_table(source, edition)


def warn_about_drafts(source: Readable, edition: str, protocols: Iterable[str]) -> None:
    """Print a warning if scores of these protocols rest on rubrics that nobody has reviewed."""
    if RIGOROUS in protocols and (drafts := count_unreviewed(source, edition)):
        print_message(
            f"draft: in Rigorous Bench, {drafts} of {edition}'s assignments have rubrics that a "
            "model drafted and nobody has reviewed: its figures are provisional.",
            style="yellow",
        )


def _print_judge_table(
    source: Readable, edition: str, judge: str, rows: pl.DataFrame, board: Board
) -> None:
    named = " · ".join(filter(None, (edition, board.title, get_judge_title(judge))))
    provisional = rows["provisional"].any()
    if rows["value"].is_null().all():
        waits = " so far" if provisional else ""
        nothing = f"{named}: no figures, as nothing could be judged{waits}."
        print_result(" ".join(filter(None, (nothing, describe_empty_lists(rows)))))
        return
    print_board(f"{named} · {PROVISIONAL_NOTE}" if provisional else named, rows, board)
    shown = rows["agent"].unique().to_list()
    for agent, n in source.frame(UNJUDGED, [edition, judge, shown]).iter_rows():
        print_result(
            f"{agent}: {format_count(n, 'report')} new or changed since these figures: "
            "evergreen evaluate",
            "yellow",
        )
    by = choose_ranking_metric(rows, board)
    other = choose_other_figure(rows.filter(pl.col("metric") == by).iter_rows(named=True))
    said = (
        board.note,
        describe_stand_ins(source, judge, {*rows["protocol"]}),
        FEW_NOTE if any(map(_rests_on_few, rows.iter_rows(named=True))) else "",
        describe_empty_lists(rows),
        describe_mixed_models(rows),
        describe_refused(rows),
        describe_reports(rows, short_heading(REPORTS, board)),
        describe_earlier_leaks(source, edition, judge, board),
        describe_columns_left_out(rows, board.columns),
        OTHER_NOTES[other] if other else "",
        describe_ranges(rows, board),
        describe_weak_ranks(source, edition, judge, rows, board),
    )
    print_result("\n".join([*filter(None, said), ""]), style="dim")


def print_board(title: str, rows: pl.DataFrame, board: Board) -> None:
    """Print a board's table, and why agents are not ranked."""
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    ranks, agents = zip(*rank_agents(rows, board), strict=True)
    apart = list_apart(rows, board)
    print_wide_table(
        STDOUT,
        title,
        [WideColumn("#", ranks), WideColumn("Agent", agents, "left")],
        _build_columns(rows, board, figures, agents),
        sections=[min(map(agents.index, apart))] if apart else (),
    )
    for agent, reason in apart.items():
        print_result(f"Not ranked: {agent}: {reason}.", style="dim")
    if apart:
        which, name = ("it", quote(*apart)) if len(apart) == 1 else ("one of them", "NAME")
        print_result(f"To compare {which}: evergreen compare agents --agent {name}", style="dim")


Figures = dict[tuple[str, str], dict[str, Any]]
"""(agent, metric) → its row of the leaderboard."""


def _build_columns(
    rows: pl.DataFrame, board: Board, figures: Figures, agents: Sequence[str]
) -> list[WideColumn]:
    """Build the columns: of the metrics those in which any agent has a value."""
    counted = [BoardAgent(figures.get((agent, board.counted_by))) for agent in agents]
    by, shown = choose_ranking_metric(rows, board), select_columns(rows, board)
    others = [metric for metric in shown if metric not in (by, *board.least_needed)]
    order = [by, *others, *reversed(board.least_needed)]  # a narrow terminal spares the last first
    columns = []
    for metric, heading in shown.items():
        cells = _format_cells(board, figures, agents, metric)
        columns.append(WideColumn(heading, cells, spare=order.index(metric)))
        for name, extra in _extra_columns(board, figures, agents, metric, by).items():
            spare = 0 if metric == by and name == INTERVAL else len(order)
            columns.append(WideColumn(name, extra, style="dim", spare=spare))
    for column in COLUMNS:
        if column.short:
            texts = [column.cell(agent).text for agent in counted]
            columns.append(WideColumn(short_heading(column, board), texts, style="dim"))
    return columns


def _extra_columns(
    board: Board, figures: Figures, agents: Sequence[str], metric: str, by: str
) -> dict[str, list[str]]:
    """Return by heading the columns next to a metric: its interval if it ranks, its items."""
    rows = [figures.get((agent, metric)) for agent in agents]
    columns = {}
    if metric == by and any(row and row.get("low") is not None for row in rows):
        columns[INTERVAL] = [_format_interval(board, row, metric) for row in rows]
    if metric == by and (other := choose_other_figure(filter(None, rows))):
        columns[OTHER_FIGURES[other]] = [
            "–" if not row or row[other] is None else _format_value(board, metric, row[other])
            for row in rows
        ]
    if metric in board.counts:
        columns[board.counts[metric]] = [f"{row['n_items']:,}" if row else "0" for row in rows]
    return columns


def _format_cells(board: Board, figures: Figures, agents: Sequence[str], metric: str) -> list[str]:
    """Format a metric's figures with their marks, so that the figures align."""
    cells = []
    for agent in agents:
        row = figures.get((agent, metric), {})
        value = row.get("value")
        marks = f"{FEW * _rests_on_few(row)}{PROVISIONAL * bool(row.get('provisional'))}"
        marks += EMPTY_LIST * bool(row.get("n_empty_lists"))
        marks += MIXED_MODELS * bool(row.get("models"))
        marks += UNCERTAIN * bool(row.get("uncertain"))
        cells.append(("–" if value is None else _format_value(board, metric, value), marks))
    width = max(len(marks) for _, marks in cells)
    return [f"{figure}{marks:<{width}}" for figure, marks in cells]


def _rests_on_few(row: Mapping[str, Any]) -> bool:
    return row.get("value") is not None and rests_on_few(row["n_reports"], row.get("n_delivered"))


def _format_interval(board: Board, row: dict[str, Any] | None, metric: str) -> str:
    if row is None or row["low"] is None:
        return "–"
    return f"{_format_value(board, metric, row['low'])}–{_format_value(board, metric, row['high'])}"


def _format_value(board: Board, metric: str, value: float) -> str:
    return f"{value * (1 if metric in board.numbers else 100):z.1f}"


def leaderboard_rows(rows: pl.DataFrame) -> list[dict[str, str]]:
    """Return the tables as plain records, one per agent and judge, for the Prefect artifact."""
    wide = []
    for (judge,), of_judge in rows.group_by("judge", maintain_order=True):
        for board in select_boards(of_judge):
            of_board = of_judge.filter(pl.col("protocol").is_in(board.protocols))
            wide += _board_rows(of_board, board, str(judge))
    return wide


def _board_rows(rows: pl.DataFrame, board: Board, judge: str) -> list[dict[str, str]]:
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    ranks, agents = zip(*rank_agents(rows, board), strict=True)
    apart = list_apart(rows, board)
    shown = _build_columns(rows, board, figures, agents)
    return [
        {
            "#": rank,
            "Agent": agent,
            **{column.heading: column.cells[place].strip() for column in shown},
            "Not ranked": apart.get(agent, ""),
            "Judge": judge,
        }
        for place, (rank, agent) in enumerate(zip(ranks, agents, strict=True))
    ]


def rank_agents(rows: pl.DataFrame, board: Board) -> list[tuple[str, str]]:
    """Return (rank, agent), best first. The rank is the agent's range of ranks (`2–4`), or a dash
    if it has none: on a board of few articles, for agents that are not ranked, which follow the
    others, and for those without a figure to rank by, which are last."""
    best: dict[str, list[float]] = {}
    ranges: dict[str, str] = {}
    by, apart = choose_ranking_metric(rows, board), list_apart(rows, board)
    for row in rows.iter_rows(named=True):
        values = best.setdefault(row["agent"], [-1.0] * len(board.ranked_by))
        if row["metric"] in board.ranked_by and row["value"] is not None:
            values[board.ranked_by.index(row["metric"])] = row["value"]
        if row["metric"] == by and row.get("rank_from"):
            first, last = row["rank_from"], row["rank_to"]
            ranges[row["agent"]] = str(first) if first == last else f"{first}–{last}"

    def order(agent: str) -> tuple[bool, bool, list[float], str]:
        nothing = max(best[agent]) < 0
        return nothing or agent in apart, nothing, [-v for v in best[agent]], agent

    return [(ranges.get(agent, "–"), agent) for agent in sorted(best, key=order)]


def _print_style_table(source: Readable, edition: str) -> None:
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
        columns.append(WideColumn(STYLE_COLUMNS[name], cells))
    names = [agent or "(reference articles)" for agent in agents]
    print_wide_table(STDOUT, STYLE_TITLE, [WideColumn("Agent", names, "left")], columns)
    print_result(
        "Means over texts. Words to watch per 1,000 words, citations per 100 words (published "
        "reference articles come without their markers), Flesch reading ease.",
        style="dim",
    )
