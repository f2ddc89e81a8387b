"""Commands that take an edition's figures apart: by group of its tasks, by what judging took."""

from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import say_drafts
from flows.display.wide import Column, print_wide
from tasks.analysis import breakdown as breakdowns
from tasks.configuration.models import load_judges
from tasks.costs import tokens as ledger
from tasks.editions.names import UnknownName, check_known
from tasks.protocols.case import Protocol
from tasks.protocols.registry import named
from tasks.protocols.registry import protocol as protocol_named
from tasks.scoring.boards import headings, leading
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import Reading, reading

EditionOption = Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")]
ProtocolOption = Annotated[str, typer.Option("--protocol", help="By its name, as `evaluate` has.")]
NOTHING = "–"


def breakdown(
    edition: EditionOption,
    protocol: ProtocolOption,
    by: Annotated[breakdowns.By, typer.Option("--by", help="What the tasks are grouped by.")],
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose scores; the default judge's.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Only this one; may be given again.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """An agent's figures by language or theme of the tasks, each with the reports it rests on."""
    chosen = protocol_named(named(protocol))
    _check_metrics(chosen, metric or [])
    with reading(warehouse) as source:
        _opened(source, edition)
        frame = breakdowns.breakdown(source, edition, chosen, by, judge or load_judges().default)
        say_drafts(source, edition, [chosen.name])
    if not metric and form is Format.TABLE:
        shares = [entry.name for entry in chosen.metrics if entry.unit == "share"]
        metric = leading(chosen.name, shares)
    if frame["value"].is_null().all():
        remark("Nothing was judged there: no figure has a value. Name another judge with --judge?")
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
        ledger.Level, typer.Option("--by", help="What has a line; a batch is one request.")
    ] = "agent",
    judge: Annotated[str | None, typer.Option("--judge", help="Only this judge's.")] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """What judging took: calls, tokens and dollars by agent, report or batch."""
    chosen = protocol_named(named(protocol))
    with reading(warehouse) as source:
        _opened(source, edition)
        frame = ledger.tokens(source, edition, chosen.name, by, judge)
    if frame.is_empty():
        whose = f"the judge {judge}" if judge else "any judge"
        remark(f"No calls of {whose} for {chosen.name} in {edition}: what is offline makes none.")
    print_frame(frame.with_columns(pl.col("usd").round(4)), form)


def _opened(source: Reading, edition: str) -> None:
    if source.notice:
        remark(source.notice, style="yellow")
    check_known(source, edition)


def _check_metrics(protocol: Protocol, names: list[str]) -> None:
    known = [metric.name for metric in protocol.metrics]
    for name in names:
        if name not in known:
            raise UnknownName(
                f"{protocol.name} has no metric {name!r}; it has: {', '.join(known)}."
            )


def _print_groups(frame: pl.DataFrame, protocol: Protocol, by: str) -> None:
    titles = headings(protocol)
    metrics = [name for name in titles if name in set(frame["metric"])]
    groups = [
        (str(agent), str(group or NOTHING), {row["metric"]: row for row in rows.to_dicts()})
        for (agent, group), rows in frame.group_by("agent", "group", maintain_order=True)
    ]
    agents = [agent for agent, _, _ in groups]
    first = [n == 0 or agent != agents[n - 1] for n, agent in enumerate(agents)]
    most = [max(row["n_reports"] for row in figures.values()) for _, _, figures in groups]
    columns = [
        Column(
            titles[metric],
            [
                _cell(figures.get(metric), n)
                for (_, _, figures), n in zip(groups, most, strict=True)
            ],
        )
        for metric in metrics
    ]
    print_wide(
        ANSWERS,
        "",
        [
            Column(
                "Agent", [a if new else "" for a, new in zip(agents, first, strict=True)], "left"
            ),
            Column(by.capitalize(), [group for _, group, _ in groups], "left"),
            Column("Rep.", list(map(str, most)), style="dim"),
        ],
        columns,
        sections=[n for n, new in enumerate(first) if new and n],
    )
    ANSWERS.print(
        "Percent. Rep.: reports that a figure rests on; a figure that rests on others says on how "
        f"many. {NOTHING}: not assessed, or nothing to assess. Headings as on the leaderboard, "
        "which explains them.",
        style="dim",
    )


def _cell(figure: dict[str, Any] | None, most: int) -> str:
    if figure is None or figure["value"] is None:
        return NOTHING
    value = f"{figure['value'] * 100:.1f}"
    return value if figure["n_reports"] == most else f"{value} ({figure['n_reports']})"
