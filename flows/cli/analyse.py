"""`evergreen analyse`: the analyses of papers, on an edition's figures."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from flows.cli.options import EditionOption, FormatOption, ScoreJudgeOption, WarehouseOption
from flows.cli.output import OutputFileOption, write_output, write_tables
from flows.cli.warehouse import open_to_read
from flows.display.formats import Format
from flows.display.leaderboard import warn_about_drafts
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.analysis.analyses import TABLES, Analyses, Analysis, run_analyses
from tasks.analysis.tables import TextTable, make_tables
from tasks.configuration.models import get_judge_title
from tasks.judges.registry import load_judge_entry
from tasks.protocols.registry import get_protocol_title, resolve_name
from tasks.warehouse.location import DEFAULT_LOCATION


def analyse(
    edition: EditionOption,
    judge: ScoreJudgeOption = None,
    protocol: Annotated[
        str | None, typer.Option(help="The metric's protocol; Wiki Writing where possible.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="The metric to analyse by category and age.")
    ] = None,
    only: Annotated[
        Analysis | None, typer.Option(help="Only this analysis; all if not given.")
    ] = None,
    form: FormatOption = Format.TABLE,
    output: OutputFileOption = None,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Analyse difficulty per category and its correlates, agents by category, leakage, conflict,
    cost, and figures over time."""
    judge_name, _ = load_judge_entry(judge)
    chosen = resolve_name(protocol) if protocol else None
    with open_to_read(warehouse) as source:
        found = run_analyses(source, edition, judge_name, chosen, metric)
        warn_about_drafts(source, edition, [found.metric.protocol] if found.metric else [])
    names = [name for name in TABLES if only in (None, name)]
    write_output(output, form, lambda form, console: _write_analyses(found, names, form, console))


def _write_analyses(found: Analyses, names: Sequence[Analysis], form: Format, to: Console) -> None:
    """Write tables, for people or for programs."""
    if form is Format.TABLE:
        to.print(_format_heading(found), style="bold", highlight=False)
        for name in names:
            _print_analysis(found, name, to)
    else:
        frames = {name: getattr(found, name) for each in names for name in TABLES[each]}
        remarks = {name: found.remarks[name] for name in names}
        protocol, metric = found.metric.key if found.metric else (None, None)
        write_tables(
            frames, form, to, edition=found.edition, judge=found.judge, protocol=protocol,
            metric=metric, remarks=remarks,
        )  # fmt: skip


def _print_analysis(found: Analyses, name: Analysis, to: Console) -> None:
    """Print the tables of one analysis, then the notes on them."""
    for table in make_tables(found, name):
        _print_table(table, to)
    for remark in found.remarks[name]:
        to.print(remark, style="dim", highlight=False)
    to.print()


def _print_table(table: TextTable, to: Console) -> None:
    if not table.columns:
        to.print(f"{table.title}: nothing to show.", highlight=False)
        return
    named = [WideColumn(c.heading, c.cells, "left") for c in table.columns if c.is_label]
    figures = [WideColumn(c.heading, c.cells, "right" if c.is_numeric else "left")
               for c in table.columns if not c.is_label]  # fmt: skip
    print_wide_table(to, table.title, named, figures)
    for why in table.reasons:
        to.print(why, highlight=False)
    if table.note:
        to.print(table.note, style="dim", highlight=False)


def _format_heading(found: Analyses) -> str:
    parts = [found.edition, get_judge_title(found.judge)]
    if found.metric:
        unit = "percent" if found.metric.entry.unit == "share" else "number"
        entry = found.metric.entry
        better = entry.direction or "higher is better"
        parts.append(
            f"{get_protocol_title(found.metric.protocol)}: {entry.title} ({unit}, {better})"
        )
    return " · ".join(parts)
