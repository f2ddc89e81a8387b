"""Stage leaderboard: scores aggregated over an edition, then the Parquet snapshot."""

from collections.abc import Mapping, Sequence
from math import fsum

import polars as pl
from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration.models import MetricEntry
from tasks.metrics.shares import mean, share
from tasks.protocols.case import Protocol
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, opened
from tasks.warehouse.writer import Change


def leaderboard_rows(
    warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]
) -> list[LeaderboardRow]:
    """The leaderboard as the scores of an edition have it now, for these protocols."""
    scores = warehouse.frame(
        "SELECT * FROM scores WHERE edition = $1 ORDER BY protocol, agent, metric, judge, "
        "assignment",
        [edition],
    )
    category_of = dict(
        warehouse.frame(
            "SELECT assignment, category FROM ground_truths WHERE edition = $1", [edition]
        ).iter_rows()
    )
    metrics = {(p.name, metric.name): metric for p in protocols for metric in p.metrics}
    keys = ["protocol", "agent", "metric", "judge"]
    return [
        _row(edition, dict(zip(keys, map(str, key), strict=True)), group, metric, category_of)
        for key, group in scores.group_by(keys, maintain_order=True)
        if (metric := metrics.get((str(key[0]), str(key[2]))))
    ]


def is_current(warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]) -> bool:
    """Whether the stored leaderboard already says this for the protocols in `rows`."""
    names = {row.protocol for row in rows}
    stored = warehouse.rows(LeaderboardRow, "edition = $1", [edition])
    order = LeaderboardRow.key
    return [row for row in stored if row.protocol in names] == sorted(
        rows, key=lambda row: [getattr(row, name) for name in order]
    )


@task(
    task_run_name="leaderboard · {edition}",
    retries=2,
    retry_delay_seconds=1,
    cache_policy=NO_CACHE,
    persist_result=False,
)
async def publish_leaderboard(warehouse_path: str, edition: str, rows: list[LeaderboardRow]) -> str:
    """Replace the edition's leaderboard and export the snapshot; where it was written."""
    warehouse = opened(warehouse_path)
    await warehouse.write_async(
        *(
            Change(
                LeaderboardRow,
                [row for row in rows if row.protocol == name],
                replacing={"edition": edition, "protocol": name},
            )
            for name in sorted({row.protocol for row in rows})
        )
    )
    return str(export_edition(warehouse, edition))


def _row(
    edition: str,
    key: dict[str, str],
    scores: pl.DataFrame,
    metric: MetricEntry,
    category_of: Mapping[str, str],
) -> LeaderboardRow:
    valued = scores.filter(pl.col("value").is_not_null())
    macro = mean(valued["value"].to_list())
    micro = share(fsum(valued["numerator"].to_list()), int(valued["n_items"].sum()))
    n_open = int(scores["n_open"].sum())
    unfinished = int(scores["state"].is_in(["pending", "failed"]).sum())
    return LeaderboardRow(
        edition=edition,
        protocol=key["protocol"],
        agent=key["agent"],
        metric=key["metric"],
        judge=key["judge"],
        value=_by_category(valued, category_of)
        if metric.aggregate == "by_category"
        else {"macro": macro, "micro": micro}[metric.aggregate],
        macro=macro,
        micro=micro,
        n_items=int(valued["n_items"].sum()),
        n_reports=valued.height,
        n_open=n_open + unfinished,
        provisional=bool(n_open or unfinished),
        reason=None if valued.height else _commonest(scores["reason"]),
    )


def _by_category(valued: pl.DataFrame, category_of: Mapping[str, str]) -> float | None:
    """Mean over categories of the means of their questions."""
    by_category: dict[str, list[float]] = {}
    for assignment, value in valued.select("assignment", "value").iter_rows():
        by_category.setdefault(category_of.get(assignment, ""), []).append(value)
    return mean(mean(values) for _, values in sorted(by_category.items()))


def _commonest(reasons: pl.Series) -> str | None:
    counted = reasons.drop_nulls().value_counts(sort=True, name="n")
    if counted.is_empty():
        return None
    return str(counted.sort(["n", reasons.name], descending=[True, False])[reasons.name][0])
