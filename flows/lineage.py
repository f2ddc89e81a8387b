"""Lineage: what each table of an edition is made from, from the wiki to the site.

Stages emit Prefect's asset events. The open-source server shows no assets, so a run also has an
artifact with all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from prefect.events import emit_event

from flows.runtime.artifacts import add_text_artifact, format_markdown_table
from tasks.candidates import CANDIDATES, FROZEN, WIKI
from tasks.planning.stages import STAGES
from tasks.run import Plan, RunContext, StageRecord
from tasks.stage import Output, Stage

COLLECTED: tuple[tuple[str, tuple[str, ...], tuple[Output, ...]], ...] = (
    ("measure", (WIKI,), CANDIDATES),
    ("freeze", (WIKI, "candidates"), FROZEN),
)
"""The stages before those of `STAGES`, with their inputs and outputs."""


def emit_asset_events(run: RunContext, stage: Stage[Any, Any], record: StageRecord) -> None:
    """Emit an event for each table that a stage has written."""
    edition, warehouse = run.plan.selection.edition, run.store.location.name

    def name(table: str) -> str:
        return f"evergreen://{quote(warehouse)}/{quote(edition)}/{table}"

    for output, new in zip(stage.outputs, record.new, strict=True):
        table = output.row.table
        emit_event(
            "prefect.asset.materialization.succeeded",
            resource={
                "prefect.resource.id": name(table),
                "prefect.resource.name": f"{edition}/{table}",
            },
            related=[
                {"prefect.resource.id": name(source), "prefect.resource.role": "asset"}
                for source in stage.inputs
            ],
            payload={
                "edition": edition, "table": table, "rows": output.count_all(run.plan), "new": new,
                "usd": round(record.usd, 6), "stage": stage.name, "ended": record.kind,
            },
        )  # fmt: skip


async def add_lineage_artifact(plan: Plan, records: Sequence[StageRecord], site: str = "") -> None:
    """Show what an edition consists of: each table, what it is made from, and what a run has added.

    records: what the run's stages have done. site: where it has published the edition.
    """
    rows = [*_list_rows(plan.renew(), _join_records(records))]
    if site:
        rows.append({"from": "leaderboard, verdicts", "stage": "publish", "into": site})
    named = "USD of a stage stand at its first table."
    table = format_markdown_table(rows) or "There is nothing yet."
    edition = plan.selection.edition
    await add_text_artifact("lineage", table, f"{edition}: what is made from what. {named}")


def _join_records(records: Sequence[StageRecord]) -> dict[str, StageRecord]:
    """Join what each stage has done in all steps and tries of a run, by the stage's name."""
    joined: dict[str, StageRecord] = {}
    for record in records:
        before = joined.get(record.stage)
        if before is None or before.kind == "cached":
            joined[record.stage] = record
        elif record.kind != "cached":
            new = [a + b for a, b in zip(before.new, record.new, strict=True)]
            joined[record.stage] = replace(record, new=new, usd=before.usd + record.usd)
    return joined


def _list_rows(plan: Plan, records: dict[str, StageRecord]) -> Iterator[dict[str, str]]:
    """Yield a row for each table that has rows of the edition, or should have got some."""
    staged = [(stage.name, stage.inputs, stage.outputs) for stage in STAGES]
    for name, inputs, outputs in (*COLLECTED, *staged):
        record = records.get(name)
        for number, output in enumerate(outputs):
            rows = output.count_all(plan)
            if not rows and (record is None or record.kind == "cached"):
                continue
            new = record.new[number] if record and record.new else 0
            usd = record.usd if record and not number else 0.0
            yield {
                "from": ", ".join(inputs),
                "stage": name,
                "into": output.row.table,
                "rows": f"{rows:,}",
                "new in this run": f"{new:+,}" if new else "",
                "USD": f"{usd:,.4f}" if usd else "",
                "ended": record.kind if record else "",
            }
