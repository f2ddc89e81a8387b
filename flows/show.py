"""Tables for the terminal, and the same as JSON and CSV for programs."""

import json
from enum import StrEnum

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table

from tasks.configuration.models import load_agents, load_judges
from tasks.status import StageCounts
from tasks.warehouse.store import Readable

CONSOLE = Console()

ENTRY = ("edition", "protocol", "agent", "metric", "value", "n_items", "n_reports", "judge",
         "provisional")  # fmt: skip
COLUMNS = {
    "coverage_wiki": "Coverage",
    "coverage_wiki_soft": "soft",
    "wiki_conflict": "Conflict",
    "ref_acc": "Ref. acc.",
    "ref_acc_strict": "strict",
    "evaluated_share": "evaluated",
    "leakage_rate": "Leakage",
    "writing_overall": "Writing",
}
STYLE_COLUMNS = {
    "words_to_watch": "Words to watch",
    "lead_words": "Lead words",
    "lead_share": "Lead share",
    "section_depth": "Depth",
    "citations_per_100_words": "Citations",
    "flesch": "Flesch",
}


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def print_frame(frame: pl.DataFrame, form: Format) -> None:
    """Any query's result."""
    if form is Format.JSON:
        print(json.dumps(frame.to_dicts(), ensure_ascii=False, default=str, indent=1))
    elif form is Format.CSV:
        print(frame.write_csv(), end="")
    else:
        table = Table(*frame.columns, box=box.SIMPLE_HEAD)
        for row in frame.iter_rows():
            table.add_row(*("" if cell is None else str(cell) for cell in row))
        CONSOLE.print(table)
        CONSOLE.print(f"{frame.height:,} rows", style="dim")


def leaderboard_frame(source: Readable, edition: str) -> pl.DataFrame:
    """The edition's leaderboard, one row per protocol, agent, metric and judge."""
    return source.frame(
        "SELECT * FROM leaderboard WHERE edition = $1 ORDER BY protocol, metric, judge, agent",
        [edition],
    )


def print_leaderboard(source: Readable, edition: str, form: Format) -> None:
    """As an array of entries, as CSV, or as one table per judge with the style figures below."""
    frame = leaderboard_frame(source, edition)
    if form is not Format.TABLE:
        print_frame(frame.select(ENTRY), form)
        return
    for (judge,), rows in frame.group_by("judge", maintain_order=True):
        _judge_table(edition, str(judge), rows)
    _style_table(source, edition)


def _judge_table(edition: str, judge: str, rows: pl.DataFrame) -> None:
    known = load_judges().judges
    title = known[judge].title if judge in known else judge
    table = Table(title=f"{edition} · {title}", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("#", justify="right")
    table.add_column("Agent")
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right")
    table.add_column("Reports", justify="right")
    figures = {(r["agent"], r["metric"]): r for r in rows.iter_rows(named=True)}
    names = load_agents().agents
    for rank, agent in enumerate(ranked(rows), start=1):
        cells = [_figure(figures.get((agent, metric))) for metric in COLUMNS]
        reports = figures[agent, "coverage_wiki"]["n_reports"]
        shown = names[agent].name if agent in names else agent
        table.add_row(str(rank), shown, *cells, str(reports))
    CONSOLE.print(table)
    CONSOLE.print(
        "Percent; the small figure is the number of items it rests on. – not assessed or nothing "
        "to assess; * provisional: items are still open.",
        style="dim",
    )


def ranked(rows: pl.DataFrame) -> list[str]:
    """Agents by coverage, best first: by mean probability where the judge gives one."""
    order = {"coverage_wiki_soft": 0, "coverage_wiki": 1}
    best: dict[str, tuple[float, float]] = {}
    for row in rows.iter_rows(named=True):
        soft, hard = best.get(row["agent"], (-1.0, -1.0))
        if row["metric"] in order and row["value"] is not None:
            soft, hard = (row["value"], hard) if order[row["metric"]] == 0 else (soft, row["value"])
        best[row["agent"]] = (soft, hard)
    return sorted(best, key=lambda agent: (-best[agent][0], -best[agent][1], agent))


def _figure(row: dict[str, object] | None) -> str:
    if row is None or row["value"] is None:
        return "–"
    mark = "*" if row["provisional"] else ""
    return f"{row['value']:.1%}{mark} [dim]{row['n_items']:,}[/dim]".replace("%", "", 1)


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
    table = Table(title="Style (diagnostics, not scores)", box=box.SIMPLE_HEAD,
                  title_justify="left")  # fmt: skip
    table.add_column("Agent")
    for name in shown:
        table.add_column(STYLE_COLUMNS[name], justify="right")
    names = load_agents().agents
    for agent in frame["agent"].unique(maintain_order=True):
        label = names[agent].name if agent in names else agent or "Reference articles"
        values = [figures.get((agent, name)) for name in shown]
        table.add_row(label, *("–" if v is None else f"{v:,.2f}" for v in values))
    CONSOLE.print(table)


def print_status(counts: list[StageCounts], form: Format) -> None:
    """Counts per stage of each edition."""
    if form is not Format.TABLE:
        print_frame(pl.DataFrame([row.model_dump() for row in counts]), form)
        return
    table = Table("Edition", "Stage", box=box.SIMPLE_HEAD)
    for name in ("Done", "Pending", "Failed", "Final"):
        table.add_column(name, justify="right")
    for row in counts:
        numbers = [f"{getattr(row, name):,}" for name in StageCounts.order]
        table.add_row(row.edition, row.stage, *numbers)
    CONSOLE.print(table)
    CONSOLE.print(
        "Final: nothing to do and never will be (empty reports, unfetchable pages, cells the "
        "judge cannot assess).",
        style="dim",
    )
