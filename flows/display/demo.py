"""What the demo shows at its end: one board, what its ranks mean, and where to look next."""

from dataclasses import replace
from shlex import quote

import polars as pl

from flows.display.console import print_result
from flows.display.leaderboard import print_board
from tasks.base import format_count
from tasks.configuration.models import get_judge_title
from tasks.scoring.board_notes import describe_ranks, list_apart
from tasks.scoring.boards import select_boards
from tasks.scoring.columns import load_leaderboard
from tasks.warehouse.store import Readable

SUPPORT = "ref_acc"
NOTE = (
    "Percent. Soft cov.: facts of the Wikipedia article that the report states. 95 %: its bootstrap"
    " interval. Ref. acc.: pairs of claim and cited page that the page supports. Leak: claims that "
    "cite the article itself."
)
WORST_REPORT = """
SELECT agent, assignment FROM scores
WHERE edition = $1 AND protocol = $2 AND judge = $3 AND metric = $4 AND value IS NOT NULL
ORDER BY avg(value) OVER (PARTITION BY agent), value, assignment LIMIT 1
"""
"""The report whose pages support the least, of the agent whose pages do."""


def print_demo(source: Readable, edition: str, protocol: str, judge: str) -> None:
    """Print the board of one protocol and judge, and a report that is worth a look."""
    rows = load_leaderboard(source, edition)
    rows = rows.filter(pl.col("protocol") == protocol, pl.col("judge") == judge)
    board = next(select_boards(rows))
    shown = {name: board.columns[name] for name in board.columns if name not in board.least_needed}
    n_agents, n_articles = rows["agent"].n_unique(), max(rows["n_articles"].drop_nulls())
    wrote = "on" if list_apart(rows, board) else "wrote"
    title = (
        f"{edition}: {format_count(n_agents, 'agent')} {wrote} "
        f"{format_count(n_articles, 'article')}; Wiki Fact, {get_judge_title(judge)}"
    )
    print_board(title, rows, replace(board, columns=shown))
    print_result(NOTE, style="dim")
    print_result("\n" + "\n".join(describe_ranks(rows, board)))
    _print_worst_report(source, rows, edition, protocol, judge)


def _print_worst_report(
    source: Readable, rows: pl.DataFrame, edition: str, protocol: str, judge: str
) -> None:
    found = source.frame(WORST_REPORT, [edition, protocol, judge, SUPPORT])
    if found.is_empty():
        return
    agent, assignment = found.row(0)
    share = rows.filter(pl.col("agent") == agent, pl.col("metric") == SUPPORT)["value"].item()
    print_result(f"\nOf {agent}'s citations only {share:.0%} hold. See which:")
    print_result(f"  evergreen explain {quote(f'{agent}/{assignment}')} --protocol {protocol}")
