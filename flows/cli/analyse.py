"""`evergreen analyse`: the published analyses of an edition's figures."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

import polars as pl
import typer
from rich.console import Console

from flows.cli.options import Shown, WarehouseAt
from flows.cli.output import ToFile, answer
from flows.display.console import remark
from flows.display.formats import Format
from flows.display.leaderboard import say_drafts
from flows.display.wide import Column, print_wide
from tasks.analysis.analyses import TABLES, Analyses, Analysis, analyses
from tasks.analysis.tables import WordTable, tables_of
from tasks.configuration.models import load_judges
from tasks.judges.registry import judge_entry
from tasks.protocols.registry import named, title_of
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading


def analyse(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose scores; the default judge's if not given.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", help="Whose metric is analysed; Wiki Writing if it can be."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Analysed by category and by age of the article.")
    ] = None,
    only: Annotated[
        Analysis | None, typer.Option("--only", help="Only this analysis; all if not given.")
    ] = None,
    form: Shown = Format.TABLE,
    to: ToFile = None,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """Difficulty per category and what goes with it, agents over categories, leakage, conflict,
    cost, and figures over time."""
    judge_name, _ = judge_entry(judge)
    chosen = named(protocol) if protocol else None
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        found = analyses(source, edition, judge_name, chosen, metric)
        say_drafts(source, edition, [found.metric.protocol] if found.metric else [])
    names = [name for name in TABLES if only in (None, name)]
    answer(to, form, lambda form, console: _write(found, names, form, console))


def _write(found: Analyses, names: Sequence[Analysis], form: Format, to: Console) -> None:
    """Tables; as JSON an object of them, as CSV one whose first column says which row is whose."""
    frames = {name: getattr(found, name) for each in names for name in TABLES[each]}
    if form is Format.TABLE:
        to.print(_heading(found), style="bold", markup=False, highlight=False)
        for name in names:
            _print(found, name, to)
    elif form is Format.JSON:
        said = _said(found, names) | {name: frame.to_dicts() for name, frame in frames.items()}
        to.file.write(json.dumps(said, ensure_ascii=False, default=str, indent=1) + "\n")
    else:
        every = [f.select(pl.lit(name).alias("table"), pl.all()) for name, f in frames.items()]
        to.file.write(pl.concat(every, how="diagonal").write_csv())


def _print(found: Analyses, name: Analysis, to: Console) -> None:
    """The tables of one analysis, then what has to be known to read them."""
    for table in tables_of(found, name):
        _print_table(table, to)
    for said in found.remarks[name]:
        to.print(said, style="dim", markup=False, highlight=False)
    to.print()


def _print_table(table: WordTable, to: Console) -> None:
    if not table.columns:
        to.print(f"{table.title}: nothing to show.", markup=False, highlight=False)
        return
    named = [Column(c.heading, c.cells, "left") for c in table.columns if c.named]
    figures = [Column(c.heading, c.cells, "right" if c.numbers else "left")
               for c in table.columns if not c.named]  # fmt: skip
    print_wide(to, table.title, named, figures)
    for why in table.reasons:
        to.print(why, markup=False, highlight=False)
    if table.note:
        to.print(table.note, style="dim", markup=False, highlight=False)


def _said(found: Analyses, names: Sequence[Analysis]) -> dict[str, Any]:
    protocol, metric = found.metric.key if found.metric else (None, None)
    return {"edition": found.edition, "judge": found.judge, "protocol": protocol, "metric": metric,
            "remarks": {name: found.remarks[name] for name in names}}  # fmt: skip


def _heading(found: Analyses) -> str:
    known = load_judges().judges
    judge = known[found.judge].title if found.judge in known else found.judge
    parts = [found.edition, judge]
    if found.metric:
        unit = "percent" if found.metric.entry.unit == "share" else "number"
        title, better = found.metric.entry.title, found.metric.entry.better
        parts.append(f"{title_of(found.metric.protocol)}: {title} ({unit}, better {better})")
    return " · ".join(parts)
