"""`evergreen differences`: any two agents beside each other, and whether it could be chance."""

from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import Shown, WarehouseAt
from flows.display.console import ANSWERS, remark
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import say_drafts
from flows.display.wide import Column, print_wide
from tasks.analysis.agents import differences
from tasks.configuration.models import MetricEntry, load_judges
from tasks.judges.registry import judge_entry
from tasks.metrics.ranks import SURE
from tasks.protocols.registry import at_hand, named, title_of
from tasks.scoring.boards import OPEN
from tasks.warehouse.location import DEFAULT
from tasks.warehouse.reading import reading

LEAST_P = 0.001
"""Smaller ones are only said to be smaller."""
NOTE = (
    "Difference: the agent's figure minus the other's, over the articles (questions, where they "
    "have none) of which both have a value; 95 %: its interval, had other articles been drawn. "
    "Effect size: mean over standard deviation of the articles' differences. Better in: share of "
    "the articles of which the agent has the better value, equals half. p: how often so large a "
    "difference comes by swapping the two within articles; corrected by Holm for the number of "
    f"pairs. °: below {SURE}, significant. {OPEN}."
)


def print_differences(
    edition: Annotated[str, typer.Option("--edition", help="An edition of the warehouse.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="Only this one; may be given again. All if not given."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", help="By this metric; may be given again. Headline metrics if not given."
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent", help="Only this agent's; given twice, these two. All pairs if not given."
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Whose scores; the default judge's if not given.")
    ] = None,
    form: Shown = Format.TABLE,
    warehouse: WarehouseAt = DEFAULT,
) -> None:
    """How any two agents differ by a metric: how much, how surely, and on how many articles."""
    name, _ = judge_entry(judge)
    protocols = [named(each) for each in protocol or ()]
    with reading(warehouse) as source:
        if source.notice:
            remark(source.notice, style="yellow")
        found = differences(source, edition, name, protocols, metric or (), agent or ())
        say_drafts(source, edition, found["protocol"])
    if form is not Format.TABLE:
        print_frame(found, form)
        return
    known = at_hand(found["protocol"].to_list())
    entries = {(p, entry.name): entry for p, of in known.items() for entry in of.metrics}
    for key, rows in found.group_by("protocol", "metric", maintain_order=True):
        _print_metric(rows, str(key[0]), entries.get((str(key[0]), str(key[1]))))
    ANSWERS.print(NOTE, style="dim")


def _print_metric(rows: pl.DataFrame, protocol: str, entry: MetricEntry | None) -> None:
    first = rows.row(0, named=True)
    judges = load_judges().judges
    judge = judges[first["judge"]].title if first["judge"] in judges else first["judge"]
    metric = entry.title if entry else first["metric"]
    number = entry is not None and entry.unit == "number"
    said = [_said(row, 1 if number else 100) for row in rows.iter_rows(named=True)]
    better = "lower" if entry and entry.better == "lower" else "higher"
    print_wide(
        ANSWERS,
        f"{first['edition']} · {title_of(protocol)} · {metric}, {better} is better · {judge}",
        [
            Column("Agent", rows["agent"].to_list(), "left"),
            Column("Other", rows["other"].to_list(), "left"),
        ],
        [Column(heading, [cells[heading] for cells in said]) for heading in said[0]],
    )
    unit = "In the metric's own numbers" if number else "Percentage points"
    said_too = f"{unit}. Corrected for {first['n_pairs']} pairs, shown or not.{_reasons(rows)}"
    ANSWERS.print(f"{said_too}\n", style="dim")


def _said(row: dict[str, Any], times: int) -> dict[str, str]:
    """Heading → cell of one pair."""
    low, high = row["low"], row["high"]
    interval = "–" if low is None else f"{low * times:+.1f} to {high * times:+.1f}"
    sure = "°" if row["p_adjusted"] is not None and row["p_adjusted"] < SURE else " "
    return {
        "Difference": _number(row["difference"], "+.1f", times, "*" if row["provisional"] else " "),
        "95 %": interval,
        "Effect size": _number(row["effect_size"], "+.2f"),
        "Better in": _number(row["better_share"], ".0f", 100, " %"),
        "p": _p(row["p"]),
        "p corrected": f"{_p(row['p_adjusted'])}{sure}",
        "Articles": str(row["n_articles"]),
    }


def _number(value: float | None, form: str, times: int = 1, unit: str = "") -> str:
    return "–" if value is None else f"{value * times:{form}}{unit}"


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"<{LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def _reasons(rows: pl.DataFrame) -> str:
    """Why something is missing, and for how many pairs."""
    counted = rows["reason"].drop_nulls().value_counts(name="n").sort("reason")
    return "".join(
        f" –: {reason} ({n} {'pair' if n == 1 else 'pairs'})." for reason, n in counted.iter_rows()
    )
