"""`evergreen compare protocols`: compare protocols on the same reports."""

from collections.abc import Sequence
from typing import Annotated, Any

import polars as pl
import typer
from rich import box
from rich.console import Console
from rich.table import Table

from flows.cli.options import (
    EditionOption,
    FormatOption,
    ScoreJudgeOption,
    ScoreProtocolsOption,
    WarehouseOption,
)
from flows.cli.output import OutputFileOption, write_output, write_tables
from flows.cli.warehouse import open_to_read
from flows.display.formats import Format
from flows.display.leaderboard import warn_about_drafts
from tasks.analysis.protocols import Metric, Over, ProtocolComparison, compare_headline_metrics
from tasks.configuration.models import get_judge_title
from tasks.judges.registry import load_judge_entry
from tasks.protocols.declarations import OPEN_NOTE
from tasks.protocols.registry import get_protocol_title, resolve_name
from tasks.warehouse.location import DEFAULT_LOCATION

MIN_SAMPLE = 10
"""Agents or reports below which a correlation can be chance."""
SIGNIFICANCE_LEVEL = 0.05
METRICS_PER_TABLE = 8
"""Metrics per table."""


def compare_protocols(
    edition: EditionOption,
    judge: ScoreJudgeOption = None,
    protocol: ScoreProtocolsOption = None,
    over: Annotated[Over, typer.Option(help="What the correlations rank.")] = "agents",
    same_reports: Annotated[
        bool,
        typer.Option(
            help="Compare agents, per pair of metrics, only by reports that both have judged."
        ),
    ] = True,
    form: FormatOption = Format.TABLE,
    output: OutputFileOption = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Compare protocols on the same reports: agents by metrics, and which metrics agree."""
    name, _ = load_judge_entry(judge)
    protocols = [resolve_name(each) for each in protocol or ()]
    with open_to_read(warehouse) as source:
        found = compare_headline_metrics(
            source, edition, name, protocols, over, same_reports=same_reports
        )
        warn_about_drafts(source, edition, [metric.protocol for metric in found.metrics])
    write_output(
        output,
        form,
        lambda form, console: _write_comparison(found, edition, name, over, form, console),
    )


def _write_comparison(
    found: ProtocolComparison, edition: str, judge: str, over: Over, form: Format, to: Console
) -> None:
    """Write tables, for people or for programs."""
    if form is Format.TABLE:
        _print_tables(found, edition, judge, over, to)
    else:
        tables = {"agents": found.agents, "pairs": found.pairs}
        write_tables(tables, form, to, judge=judge, over=over, remarks=found.remarks)


def _print_tables(
    found: ProtocolComparison, edition: str, judge: str, over: Over, to: Console
) -> None:
    to.print(f"{edition} · {get_judge_title(judge)}", style="bold")
    to.print(_build_legend(found.metrics))
    for start in range(0, len(found.metrics), METRICS_PER_TABLE):
        to.print(_build_agent_table(found, start))
    to.print(
        f"Percent or numbers, with the number of reports. –: no value. {OPEN_NOTE}.\n",
        style="dim",
    )
    if found.pairs.height:
        to.print(f"Do the metrics rank {over} alike?", style="bold")
        to.print(_build_correlation_table(found))
        to.print(_format_notes(over, found.pairs), style="dim", highlight=False)
    for remark in found.remarks:
        to.print(remark, style="dim", highlight=False)


def _format_notes(over: Over, pairs: pl.DataFrame) -> str:
    notes = (
        "Above the diagonal Spearman's rho, below it Kendall's tau-b; 1 means: better by one "
        f"metric is better by the other. –: too few {over}, or one metric is constant. °: p below "
        f"{SIGNIFICANCE_LEVEL}. Each rests on {_format_range(pairs['n'])} {over}"
    )
    if over == "agents":
        n_reports = _format_range(pairs["n_reports"])
        notes += f" and on {n_reports} of their reports that both have judged"
    notes += "; --format csv has each pair's numbers."
    if over == "reports":
        notes += (
            " All agents' reports are pooled: differences of agents and of topics count alike. The "
            "reports are not independent, so p is too small."
        )
    if pairs["n"].to_list() and min(pairs["n"].to_list()) < MIN_SAMPLE:
        notes += f" With fewer than {MIN_SAMPLE}, a correlation can be chance."
    return notes


def _format_range(counts: pl.Series) -> str:
    """Format the range of counts, as `3` or `8 to 9`."""
    least, most = min(counts.to_list()), max(counts.to_list())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _build_plain_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def _build_legend(metrics: Sequence[Metric]) -> Table:
    table = _build_plain_table()
    for heading, justify in (("#", "right"), ("Protocol", "left"), ("Metric", "left"),
                             ("Better", "left"), ("", "left")):  # fmt: skip
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for number, metric in enumerate(metrics, start=1):
        unit = "percent" if metric.entry.unit == "share" else "number"
        name = get_protocol_title(metric.protocol)
        table.add_row(str(number), name, metric.entry.title, metric.entry.better, unit)
    return table


def _build_agent_table(found: ProtocolComparison, start: int) -> Table:
    """Build the table of agents by some of the metrics, which the legend numbers."""
    shown = found.metrics[start : start + METRICS_PER_TABLE]
    table = _build_plain_table()
    table.add_column("Agent", no_wrap=True)
    for number, _ in enumerate(shown, start=start + 1):
        table.add_column(str(number), justify="right", no_wrap=True)
    rows = {(r["protocol"], r["metric"], r["agent"]): r for r in found.agents.iter_rows(named=True)}
    for agent in found.agents["agent"].unique().sort():
        table.add_row(agent, *(_format_value(rows[*m.key, agent], m) for m in shown))
    return table


def _format_value(row: dict[str, Any], metric: Metric) -> str:
    star = "*" if row["provisional"] else ""
    if row["value"] is None:
        return f"–{star}"
    value = row["value"] * (100 if metric.entry.unit == "share" else 1)
    return f"{value:.1f}{star} ({row['n_reports']:,})"


def _build_correlation_table(found: ProtocolComparison) -> Table:
    """Build the matrix of metrics: rho above the diagonal, tau below."""
    place = {metric.key: n for n, metric in enumerate(found.metrics)}
    cells = [["–"] * len(place) for _ in place]
    for n in range(len(place)):
        cells[n][n] = ""
    for row in found.pairs.iter_rows(named=True):
        one = place[row["protocol"], row["metric"]]
        other = place[row["other_protocol"], row["other_metric"]]
        sure = "°" if row["p"] is not None and row["p"] < SIGNIFICANCE_LEVEL else " "
        for name, above in (("spearman", True), ("kendall", False)):
            if row[name] is not None:
                column, line = (max(one, other), min(one, other))
                if not above:
                    column, line = line, column
                cells[line][column] = f"{row[name]:.2f}{sure}"
    table = _build_plain_table()
    table.add_column("#", justify="right")
    for n in range(1, len(place) + 1):
        table.add_column(str(n), justify="right", no_wrap=True)
    for n, line_cells in enumerate(cells, start=1):
        table.add_row(str(n), *line_cells)
    return table
