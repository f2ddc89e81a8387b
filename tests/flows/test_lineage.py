"""What the artifact `lineage` tells of an edition."""

import asyncio
from pathlib import Path

from flows.lineage import add_lineage_artifact
from tasks.run import StageRecord
from tasks.warehouse.store import open_warehouse
from tests.flows.plain_prefect import plain_prefect
from tests.tasks.annotated import sample_warehouse
from tests.tasks.runs import plan_of


def test_it_shows_every_table_of_the_edition_whatever_the_run_was_about(tmp_path: Path) -> None:
    path = sample_warehouse(tmp_path)
    with open_warehouse(path) as store, plain_prefect() as artifacts:
        n = {
            table: store.value(f"SELECT count(*) FROM {table} WHERE edition = 'sample'")
            for table in ("articles", "reports", "claims")
        }
        [agent, *_] = store.frame("SELECT DISTINCT agent FROM reports ORDER BY 1")["agent"]
        plan = plan_of(store, "sample", agents=(agent,), judge="another")
        records = [  # a try, another one, and a later step that found nothing pending
            StageRecord("claims", "partial", [2, 5], 0.4),
            StageRecord("claims", "done", [1, 2], 0.1),
            StageRecord("claims", "cached"),
        ]
        asyncio.run(add_lineage_artifact(plan, records, "the/site"))
    [shown] = artifacts
    rows = [line.strip("| ").split(" | ") for line in shown["markdown"].splitlines()]
    by_table = {row[2]: row for row in rows}
    assert shown["key"] == "lineage"
    for table, count in n.items():
        assert by_table[table][3] == f"{count:,}"
    assert by_table["claims"][4:] == ["+7", "", "done"]
    assert by_table["facts"][5] == "0.5000"
    assert by_table["the/site"][:2] == ["leaderboard, verdicts", "publish"]
