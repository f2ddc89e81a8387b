"""`evergreen compare`: the same reports measured in several ways."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

import polars as pl
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import ToFile, answer
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.leaderboard import say_drafts
from tasks.analysis.protocols import Comparison, Metric, Over, compare
from tasks.configuration.models import load_judges
from tasks.judges.registry import judge_entry
from tasks.protocols.registry import named, title_of
from tasks.scoring.boards import OPEN
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading

FEW = 10
"""Agents or reports below which a correlation can be chance."""
SURE = 0.05
ACROSS = 8
"""Metrics in one table."""


def compare_protocols(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose scores; the default judge's if not given.")
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Only this one; may be given again. All if not given."),
    ] = None,
    over: Annotated[
        Over, typer.Option("--over", help="What is put in order, for the correlations.")
    ] = "agents",
    same_reports: Annotated[
        bool,
        typer.Option(
            help="Compare agents, for each two metrics, by the reports that both have judged."
        ),
    ] = True,
    form: Shown = Format.TABLE,
    to: ToFile = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """The same reports under all protocols: agents by metrics, and which metrics agree."""
    name, _ = judge_entry(judge)
    protocols = [named(each) for each in protocol or ()]
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        found = compare(source, edition, name, protocols, over, same_reports=same_reports)
        say_drafts(source, edition, [metric.protocol for metric in found.metrics])
    answer(to, form, lambda form, console: _write(found, edition, name, over, form, console))


def _write(
    found: Comparison, edition: str, judge: str, over: Over, form: Format, to: Console
) -> None:
    """Tables; as JSON an object of them, as CSV one whose first column says which row is whose."""
    tables = {"agents": found.agents, "pairs": found.pairs}
    if form is Format.TABLE:
        _tables(found, edition, judge, over, to)
    elif form is Format.JSON:
        said: dict[str, Any] = {"judge": judge, "over": over, "remarks": found.remarks}
        rows = said | {name: frame.to_dicts() for name, frame in tables.items()}
        to.file.write(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    else:
        every = [f.select(pl.lit(name).alias("table"), pl.all()) for name, f in tables.items()]
        to.file.write(pl.concat(every, how="diagonal").write_csv())


def _tables(found: Comparison, edition: str, judge: str, over: Over, to: Console) -> None:
    known = load_judges().judges
    to.print(f"{edition} · {known[judge].title if judge in known else judge}", style="bold")
    to.print(_legend(found.metrics))
    for start in range(0, len(found.metrics), ACROSS):
        to.print(_agents(found, start))
    to.print(
        f"Percent or numbers, and of how many reports. –: no value. {OPEN}.\n",
        style="dim",
    )
    if found.pairs.height:
        to.print(f"Do two metrics put {over} in the same order?", style="bold")
        to.print(_pairs(found))
        to.print(_notes(over, found.pairs), style="dim", highlight=False)
    for said in found.remarks:
        to.print(said, style="dim", markup=False, highlight=False)


def _notes(over: Over, pairs: pl.DataFrame) -> str:
    said = (
        "Above the diagonal Spearman's rho, below it Kendall's tau-b; turned so that 1 means: "
        f"better by the one is better by the other. –: too few {over}, or one of the two is the "
        f"same everywhere. °: p below {SURE}. Each rests on {_span(pairs['n'])} {over}"
    )
    if over == "agents":
        said += f" and the {_span(pairs['n_reports'])} of their reports that both have judged"
    said += "; --format csv says each pair's."
    if over == "reports":
        said += (
            " All agents' reports together: what sets agents apart, and what sets topics apart. "
            "They are not independent of each other, so p is too small."
        )
    if pairs["n"].to_list() and min(pairs["n"].to_list()) < FEW:
        said += f" With fewer than {FEW} a correlation may well be chance."
    return said


def _span(counts: pl.Series) -> str:
    """`3`, or `8 to 9`."""
    least, most = min(counts.to_list()), max(counts.to_list())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _plain() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def _legend(metrics: Sequence[Metric]) -> Table:
    table = _plain()
    for heading, justify in (("#", "right"), ("Protocol", "left"), ("Metric", "left"),
                             ("Better", "left"), ("", "left")):  # fmt: skip
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for number, metric in enumerate(metrics, start=1):
        unit = "percent" if metric.entry.unit == "share" else "number"
        name = escape(title_of(metric.protocol))
        table.add_row(str(number), name, escape(metric.entry.title), metric.entry.better, unit)
    return table


def _agents(found: Comparison, start: int) -> Table:
    """Agents by some of the metrics, whose numbers stand above."""
    shown = found.metrics[start : start + ACROSS]
    table = _plain()
    table.add_column("Agent", no_wrap=True)
    for number, _ in enumerate(shown, start=start + 1):
        table.add_column(str(number), justify="right", no_wrap=True)
    rows = {(r["protocol"], r["metric"], r["agent"]): r for r in found.agents.iter_rows(named=True)}
    for agent in found.agents["agent"].unique().sort():
        table.add_row(escape(agent), *(_value(rows[*m.key, agent], m) for m in shown))
    return table


def _value(row: dict[str, Any], metric: Metric) -> str:
    star = "*" if row["provisional"] else ""
    if row["value"] is None:
        return f"–{star}"
    value = row["value"] * (100 if metric.entry.unit == "share" else 1)
    return f"{value:.1f}{star} ({row['n_reports']:,})"


def _pairs(found: Comparison) -> Table:
    """Metric by metric: rho above the diagonal, tau below."""
    place = {metric.key: n for n, metric in enumerate(found.metrics)}
    cells = [["–"] * len(place) for _ in place]
    for n in range(len(place)):
        cells[n][n] = ""
    for row in found.pairs.iter_rows(named=True):
        one = place[row["protocol"], row["metric"]]
        other = place[row["other_protocol"], row["other_metric"]]
        sure = "°" if row["p"] is not None and row["p"] < SURE else " "
        for name, above in (("spearman", True), ("kendall", False)):
            if row[name] is not None:
                column, line = (max(one, other), min(one, other))
                if not above:
                    column, line = line, column
                cells[line][column] = f"{row[name]:.2f}{sure}"
    table = _plain()
    table.add_column("#", justify="right")
    for n in range(1, len(place) + 1):
        table.add_column(str(n), justify="right", no_wrap=True)
    for n, line_cells in enumerate(cells, start=1):
        table.add_row(str(n), *line_cells)
    return table
