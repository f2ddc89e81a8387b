"""`evergreen breakdown` and `evergreen tokens`: figures by group of tasks, and judging's cost."""

from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import (
    CallJudgeOption,
    EditionOption,
    FormatOption,
    ScoreJudgeOption,
    WarehouseOption,
)
from flows.cli.warehouse import open_to_read
from flows.display.console import STDOUT, print_message, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import warn_about_drafts
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.analysis import breakdown as breakdowns
from tasks.configuration.models import load_judges
from tasks.costs import tokens as ledger
from tasks.editions.names import UnknownName
from tasks.protocols.case import Protocol
from tasks.protocols.registry import get_protocol, resolve_name
from tasks.scoring.boards import get_headings, select_leading_metrics
from tasks.warehouse.location import DEFAULT_LOCATION

ProtocolOption = Annotated[
    str, typer.Option("--protocol", help="A protocol's name, as for `evaluate`.")
]
NO_VALUE = "–"


def breakdown(
    edition: EditionOption,
    protocol: ProtocolOption,
    by: Annotated[breakdowns.Grouping, typer.Option("--by", help="How to group the tasks.")],
    judge: ScoreJudgeOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Only this one; may be repeated.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show agents' figures by language or theme of the tasks, with the reports they rest on."""
    chosen = get_protocol(resolve_name(protocol))
    _check_metrics(chosen, metric or [])
    with open_to_read(warehouse, edition) as source:
        frame = breakdowns.compute_breakdown(
            source, edition, chosen, by, judge or load_judges().default
        )
        warn_about_drafts(source, edition, [chosen.name])
    if not metric and form is Format.TABLE:
        shares = [entry.name for entry in chosen.metrics if entry.unit == "share"]
        metric = select_leading_metrics(chosen.name, shares)
    if frame["value"].is_null().all():
        print_message("No figure has a value: nothing was judged. Try another judge with --judge.")
    if metric:
        frame = frame.filter(pl.col("metric").is_in(metric))
    if form is Format.TABLE:
        _print_groups(frame, chosen, by)
    else:
        print_frame(frame.rename({"group": by}), form)


def tokens(
    edition: EditionOption,
    protocol: ProtocolOption,
    by: Annotated[
        ledger.TokenLevel, typer.Option("--by", help="What gets a row; a batch is one request.")
    ] = "agent",
    judge: CallJudgeOption = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show the calls, tokens and dollars of judging by agent, report or batch."""
    chosen = get_protocol(resolve_name(protocol))
    with open_to_read(warehouse, edition) as source:
        frame = ledger.count_tokens(source, edition, chosen.name, by, judge)
    if frame.is_empty():
        judges = f"the judge {judge}" if judge else "any judge"
        print_message(
            f"No calls of {judges} for {chosen.name} in {edition}; offline judges make none."
        )
    print_frame(frame.with_columns(pl.col("usd").round(4)), form)


def _check_metrics(protocol: Protocol, names: list[str]) -> None:
    known = [metric.name for metric in protocol.metrics]
    for name in names:
        if name not in known:
            raise UnknownName(
                f"{protocol.name} has no metric {name!r}; it has: {', '.join(known)}."
            )


def _print_groups(frame: pl.DataFrame, protocol: Protocol, by: str) -> None:
    titles = get_headings(protocol)
    metrics = [name for name in titles if name in set(frame["metric"])]
    groups = [
        (str(agent), str(group or NO_VALUE), {row["metric"]: row for row in rows.to_dicts()})
        for (agent, group), rows in frame.group_by("agent", "group", maintain_order=True)
    ]
    agents = [agent for agent, _, _ in groups]
    first = [n == 0 or agent != agents[n - 1] for n, agent in enumerate(agents)]
    most = [max(row["n_reports"] for row in figures.values()) for _, _, figures in groups]
    columns = [
        WideColumn(
            titles[metric],
            [
                _format_cell(figures.get(metric), n)
                for (_, _, figures), n in zip(groups, most, strict=True)
            ],
        )
        for metric in metrics
    ]
    print_wide_table(
        STDOUT,
        "",
        [
            WideColumn(
                "Agent", [a if new else "" for a, new in zip(agents, first, strict=True)], "left"
            ),
            WideColumn(by.capitalize(), [group for _, group, _ in groups], "left"),
            WideColumn("Rep.", list(map(str, most)), style="dim"),
        ],
        columns,
        sections=[n for n, new in enumerate(first) if new and n],
    )
    print_result(
        "Percent. Rep.: reports that figures rest on; a different number follows its figure. "
        f"{NO_VALUE}: not assessed, or nothing to assess. The leaderboard explains the headings.",
        style="dim",
    )


def _format_cell(figure: dict[str, Any] | None, most: int) -> str:
    if figure is None or figure["value"] is None:
        return NO_VALUE
    value = f"{figure['value'] * 100:.1f}"
    return value if figure["n_reports"] == most else f"{value} ({figure['n_reports']})"
