"""`evergreen compare agents`: compare agents in pairs, with significance."""

from typing import Annotated, Any

import polars as pl
import typer

from flows.cli.options import (
    EditionOption,
    FormatOption,
    ScoreJudgeOption,
    ScoreProtocolsOption,
    WarehouseOption,
)
from flows.cli.warehouse import open_to_read
from flows.display.console import STDOUT, print_result
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import warn_about_drafts
from flows.display.wide_table import WideColumn, print_wide_table
from tasks.analysis.agents import compare_agents
from tasks.base import format_count
from tasks.configuration.models import MetricEntry, get_judge_title
from tasks.judges.registry import load_judge_entry
from tasks.metrics.ranks import MIN_ARTICLES, SIGNIFICANCE_LEVEL
from tasks.protocols.declarations import OPEN_NOTE
from tasks.protocols.registry import available_protocols, get_protocol_title, resolve_name
from tasks.warehouse.location import DEFAULT_LOCATION

MIN_P = 0.001
"""Smaller p values are printed as `<0.001`."""
SPARED = {"Effect size": 4, "p": 3, "Better in": 2, "Articles": 1}
"""Columns that a narrow terminal leaves out, the highest number first."""
NOTE = (
    "Difference: the agent's figure minus the other's, over the articles (or questions) for which "
    "both have a value; 95 %: its interval over articles. Effect size: mean over standard "
    "deviation of the articles' differences. Better in: share of the articles in which the agent "
    "has the better value, ties count half. p: how often swapping the two within articles gives so "
    "large a difference; corrected for all pairs together (step-down max-T). "
    f"°: below {SIGNIFICANCE_LEVEL}, significant. {OPEN_NOTE}."
)

SELECTED = (
    "Compared over the articles that both have: an agent gains by leaving out what it does badly."
)


def compare_in_pairs(
    edition: EditionOption,
    protocol: ScoreProtocolsOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="By this metric; may be repeated. Headline metrics if not given."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this agent's pairs; given twice, these two. All pairs if not given."
        ),
    ] = None,
    judge: ScoreJudgeOption = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Compare agents in pairs by a metric: difference, significance, number of articles."""
    name, _ = load_judge_entry(judge)
    protocols = [resolve_name(each) for each in protocol or ()]
    with open_to_read(warehouse) as source:
        found = compare_agents(source, edition, name, protocols, metric or (), agent or ())
        warn_about_drafts(source, edition, found["protocol"])
    if form is not Format.TABLE:
        print_frame(found, form)
        return
    known = available_protocols(found["protocol"].to_list())
    entries = {(p, entry.name): entry for p, of in known.items() for entry in of.metrics}
    for key, rows in found.group_by("protocol", "metric", maintain_order=True):
        _print_metric(rows, str(key[0]), entries.get((str(key[0]), str(key[1]))))
    counts = found.filter(pl.col("p").is_not_null())["n_articles"].to_list()
    most: int = max(counts, default=0)
    if 0 < most < MIN_ARTICLES:
        print_result(
            f"{format_count(most, 'article')} are too few for any difference to be significant."
        )
    for reason in found["unranked"].drop_nulls().unique(maintain_order=True):
        print_result(f"Not ranked: {reason}. {SELECTED}")
    print_result(NOTE, style="dim")


def _print_metric(rows: pl.DataFrame, protocol: str, entry: MetricEntry | None) -> None:
    first = rows.row(0, named=True)
    metric = entry.title if entry else first["metric"]
    number = entry is not None and entry.unit == "number"
    pairs = [_format_pair(row, 1 if number else 100) for row in rows.iter_rows(named=True)]
    better = (entry.direction if entry else "") or "higher is better"
    print_wide_table(
        STDOUT,
        f"{first['edition']} · {get_protocol_title(protocol)} · {metric}, "
        f"{better} · {get_judge_title(first['judge'])}",
        [
            WideColumn("Agent", rows["agent"].to_list(), "left"),
            WideColumn("Other", rows["other"].to_list(), "left"),
        ],
        [
            WideColumn(heading, [cells[heading] for cells in pairs], spare=SPARED.get(heading, 0))
            for heading in pairs[0]
        ],
    )
    unit = "In the metric's own numbers" if number else "Percentage points"
    without = rows["reason"].drop_nulls().value_counts(name="n").sort("reason").iter_rows()
    reasons = "".join(f" –: {reason} ({format_count(n, 'pair')})." for reason, n in without)
    note = f"{unit}. {_format_corrections(rows)}{reasons}"
    print_result(f"{note}\n", style="dim")


def _format_pair(row: dict[str, Any], times: int) -> dict[str, str]:
    """Format one pair as cells by heading."""
    low, high = row["low"], row["high"]
    interval = "–" if low is None else f"{low * times:+.1f} to {high * times:+.1f}"
    sure = "°" if row["p_adjusted"] is not None and row["p_adjusted"] < SIGNIFICANCE_LEVEL else " "
    return {
        "Difference": _format_number(
            row["difference"], "+.1f", times, "*" if row["provisional"] else " "
        ),
        "95 %": interval,
        "Effect size": _format_number(row["effect_size"], "+.2f"),
        "Better in": _format_number(row["better_share"], ".0f", 100, " %"),
        "p": _format_p(row["p"]),
        "p corrected": f"{_format_p(row['p_adjusted'])}{sure}",
        "Articles": str(row["n_articles"]),
    }


def _format_number(value: float | None, form: str, times: int = 1, unit: str = "") -> str:
    return "–" if value is None else f"{value * times:{form}}{unit}"


def _format_p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"<{MIN_P}" if value < MIN_P else f"{value:.3f}"


def _format_corrections(rows: pl.DataFrame) -> str:
    """Format for how many pairs the p-values are corrected."""
    counts = rows.group_by("n_pairs", maintain_order=True).agg(pl.col("unranked").first())
    return (
        ". ".join(
            f"Corrected for {format_count(n, 'pair')}"
            + (f" of {unranked.partition(':')[0]}" if unranked else "")
            for n, unranked in counts.iter_rows()
        )
        + ", shown or not."
    )
