"""`evergreen leaderboard`: an edition's leaderboard, also while a flow runs."""

from collections.abc import Sequence
from typing import Annotated

import polars as pl
import typer

from flows.cli.options import EditionOption, FormatOption, ScoreProtocolsOption, WarehouseOption
from flows.cli.warehouse import open_to_read
from flows.display.breakdown import print_breakdown
from flows.display.console import print_message
from flows.display.formats import Format
from flows.display.frame import print_frame
from flows.display.leaderboard import print_leaderboard, warn_about_drafts
from tasks.analysis.breakdown import Grouping, compute_breakdown, list_grouped
from tasks.configuration.models import get_judge_title, load_judges
from tasks.editions.names import UnknownName, check_scored
from tasks.errors import suggest_names
from tasks.protocols.registry import get_protocol, get_protocol_title, resolve_name
from tasks.scoring.boards import select_leading_metrics
from tasks.warehouse.location import DEFAULT_LOCATION
from tasks.warehouse.store import Readable


def leaderboard(
    edition: EditionOption,
    protocol: ScoreProtocolsOption = None,
    judge: Annotated[str | None, typer.Option(help="Only this judge; all if not given.")] = None,
    by: Annotated[
        Grouping | None, typer.Option(help="Group the figures by language or theme of the tasks.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="With --by: only this metric; may be repeated.")
    ] = None,
    form: FormatOption = Format.TABLE,
    warehouse: WarehouseOption = DEFAULT_LOCATION,
) -> None:
    """Show an edition's leaderboard; JSON and CSV have every metric, as shares 0-1."""
    if metric and not by:
        raise typer.BadParameter("only with --by.", param_hint="--metric")
    protocols = [resolve_name(each) for each in protocol or ()]
    with open_to_read(warehouse, edition) as source:
        if by:
            _print_by_group(source, edition, by, protocols, judge, metric or [], form)
            return
        check_scored(source, edition, protocols, [judge] if judge else [])
        print_leaderboard(source, edition, form, protocols, judge)


def _print_by_group(
    source: Readable,
    edition: str,
    by: Grouping,
    protocols: Sequence[str],
    judge: str | None,
    metrics: Sequence[str],
    form: Format,
) -> None:
    """Print the figures of each protocol and judge by group: as tables, or as one list."""
    pairs = [
        (name, decider)
        for name, decider in list_grouped(source, edition)
        if name in (protocols or [name]) and decider == (judge or decider)
    ]
    if not pairs:  # of these, `compute_breakdown` says why there are none
        pairs = [(name, judge or load_judges().default) for name in protocols or ["rubric_bench"]]
    known = [metric.name for name, _ in pairs for metric in get_protocol(name).metrics]
    for metric in metrics:
        if metric not in known:
            raise UnknownName(f"There is no metric {metric!r}. {suggest_names(metric, known)}")
    warn_about_drafts(source, edition, [name for name, _ in pairs])
    frames = []
    for name, decider in pairs:
        chosen = get_protocol(name)
        frame = compute_breakdown(source, edition, chosen, by, decider)
        if form is not Format.TABLE:
            named = pl.lit(name).alias("protocol"), pl.lit(decider).alias("judge")
            frames.append(frame.select(*named, pl.all()).rename({"group": by}))
            continue
        title = f"{edition} · {get_protocol_title(name)} · {get_judge_title(decider)}"
        if frame["value"].is_null().all():
            print_message(f"{title}: no figures, as nothing could be judged.")
            continue
        shares = [entry.name for entry in chosen.metrics if entry.unit == "share"]
        leading = metrics or select_leading_metrics(name, shares)
        print_breakdown(frame.filter(pl.col("metric").is_in(leading)), title, chosen, by)
    if frames:
        listed = pl.concat(frames)
        print_frame(listed.filter(pl.col("metric").is_in(metrics)) if metrics else listed, form)
