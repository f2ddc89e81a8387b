"""An edition's figures by the language or theme of its tasks."""

from collections.abc import Sequence
from typing import Literal

import polars as pl

from tasks.benchmarks.errors import EditionError
from tasks.metrics.ratios import summarize_scores
from tasks.protocols.case import Protocol
from tasks.warehouse.rubrics import BundleSettings
from tasks.warehouse.store import Readable

Grouping = Literal["language", "theme"]
SCHEMA = {
    "agent": pl.String,
    "group": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "n_reports": pl.Int64,
    "n_items": pl.Int64,
    "n_without": pl.Int64,
}
"""`n_without`: reports of the group that have no value. `group`: null for tasks without one."""


def compute_breakdown(
    source: Readable, edition: str, protocol: Protocol, by: Grouping, judge: str
) -> pl.DataFrame:
    """Return a frame of SCHEMA: each metric of each agent over the tasks of each group.

    Metrics are aggregated as on the leaderboard: means over reports, or items pooled.

    Raises:
        EditionError: the edition has no rubrics of the protocol, which describe the tasks, or the
            judge has scored none of its reports.
    """
    group_of = _load_groups(source, edition, protocol.name, by)
    scores = source.frame(
        "SELECT agent, assignment, metric, value, numerator, n_items FROM scores "
        "WHERE edition = $1 AND protocol = $2 AND judge = $3 ORDER BY agent, assignment, metric",
        [edition, protocol.name, judge],
    )
    if scores.is_empty():
        raise EditionError(_describe_nothing_scored(source, edition, protocol.name, judge))
    groups = [group_of.get(assignment) for assignment in scores["assignment"]]
    grouped = scores.with_columns(group=pl.Series(groups, dtype=pl.String))
    metrics = {metric.name: metric for metric in protocol.metrics}
    rows = []
    for (agent, group, name), of_group in grouped.group_by("agent", "group", "metric"):
        if entry := metrics.get(str(name)):
            value, n_reports, n_items = summarize_scores(entry.aggregate, of_group, {})
            n_without = of_group.height - n_reports
            rows.append((agent, group, name, value, n_reports, n_items, n_without))
    order = {name: place for place, name in enumerate(metrics)}
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return frame.sort("agent", "group", pl.col("metric").replace_strict(order), nulls_last=True)


def list_grouped(source: Readable, edition: str) -> list[tuple[str, str]]:
    """Return the protocols whose rubrics describe the edition's tasks, each with the judges that
    have scored by it."""
    return source.frame(
        "SELECT DISTINCT protocol, judge FROM scores JOIN (SELECT DISTINCT edition, protocol FROM "
        "rubric_bundles) USING (edition, protocol) WHERE edition = $1 ORDER BY ALL",
        [edition],
    ).rows()


def _load_groups(
    source: Readable, edition: str, protocol: str, by: Grouping
) -> dict[str, str | None]:
    bundles = source.frame(
        "SELECT assignment, settings FROM rubric_bundles WHERE edition = $1 AND protocol = $2",
        [edition, protocol],
    )
    if bundles.is_empty():
        raise EditionError(
            f"The tasks of {edition} have no known {by} under {protocol}: only published or "
            "drafted rubrics name it (rubric_bench, rigorous, race)."
        )
    return {
        assignment: getattr(BundleSettings.model_validate_json(settings), by)
        for assignment, settings in bundles.iter_rows()
    }


def _describe_nothing_scored(source: Readable, edition: str, protocol: str, judge: str) -> str:
    judges: Sequence[str] = source.frame(
        "SELECT DISTINCT judge FROM scores WHERE edition = $1 AND protocol = $2 ORDER BY judge",
        [edition, protocol],
    )["judge"].to_list()
    return (
        f"The judge {judge!r} has scored nothing of {edition} under {protocol}; judges that have: "
        f"{', '.join(judges) or 'none'}."
    )
