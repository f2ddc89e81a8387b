"""Stage leaderboard: scores aggregated over an edition, then the Parquet snapshot."""

from collections.abc import Mapping, Sequence

import polars as pl
from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration.models import MetricEntry
from tasks.metrics.aggregates import aggregate
from tasks.protocols.case import Protocol
from tasks.scores import SCORER_VERSION
from tasks.warehouse.results import OUTDATED, UNREVIEWED, LeaderboardRow
from tasks.warehouse.rubrics import BundleSettings, RubricBundle
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, opened
from tasks.warehouse.writer import Change


def leaderboard_rows(
    warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]
) -> list[LeaderboardRow]:
    """The leaderboard as the scores of an edition have it now, for these protocols. Scores that
    another version of a protocol has made count as open: agents are compared by one version. What
    rests on rubrics that nobody has reviewed is provisional."""
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
    drafts = _drafts(warehouse, edition)
    versions = {p.name: f"{SCORER_VERSION}/{p.version}" for p in protocols}
    keys = ["protocol", "agent", "metric", "judge"]
    return [
        _row(
            edition,
            dict(zip(keys, map(str, key), strict=True)),
            group.with_columns(
                outdated=pl.col("scorer_version") != versions[str(key[0])],
                draft=pl.col("assignment").is_in(drafts.get(str(key[0]), [])),
            ),
            metric,
            category_of,
        )
        for key, group in scores.group_by(keys, maintain_order=True)
        if (metric := metrics.get((str(key[0]), str(key[2]))))
    ]


def _drafts(warehouse: Warehouse, edition: str) -> dict[str, list[str]]:
    """By protocol the assignments whose rubric nobody has reviewed."""
    found: dict[str, list[str]] = {}
    for bundle in warehouse.rows(RubricBundle, "edition = $1 AND source = 'drafted'", [edition]):
        if BundleSettings.model_validate_json(bundle.settings).draft:
            found.setdefault(bundle.protocol, []).append(bundle.assignment)
    return found


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
    n_open = int(scores["n_open"].sum())
    unfinished = int((scores["state"].is_in(["pending", "failed"]) | scores["outdated"]).sum())
    drafted = bool(valued["draft"].any())
    why = _commonest(scores["reason"]) if valued.is_empty() else UNREVIEWED if drafted else None
    return LeaderboardRow(
        edition=edition,
        protocol=key["protocol"],
        agent=key["agent"],
        metric=key["metric"],
        judge=key["judge"],
        value=aggregate(metric.aggregate, valued, category_of),
        macro=aggregate("macro", valued, category_of),
        micro=aggregate("micro", valued, category_of),
        n_items=int(valued["n_items"].sum()),
        n_reports=valued.height,
        n_open=n_open + unfinished,
        provisional=bool(n_open or unfinished or drafted),
        reason=OUTDATED if scores["outdated"].any() else why,
    )


def _commonest(reasons: pl.Series) -> str | None:
    counted = reasons.drop_nulls().value_counts(sort=True, name="n")
    if counted.is_empty():
        return None
    return str(counted.sort(["n", reasons.name], descending=[True, False])[reasons.name][0])
