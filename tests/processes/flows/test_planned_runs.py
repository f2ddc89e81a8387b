"""The names of runs that are planned and have not begun."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.states import Scheduled

from flows.deployments import build_deployments, name_planned_runs
from tasks.warehouse.location import parse_location


def test_a_planned_month_is_named_after_its_edition_and_what_a_person_plans_is_not(
    api: str, tmp_path: Path
) -> None:
    made = build_deployments(parse_location(str(tmp_path / "planned.duckdb")), ["refresh"])
    made[0].schedules = []
    first = Scheduled(scheduled_time=datetime(2031, 1, 1, 6, tzinfo=UTC))

    async def names() -> tuple[str, str, str]:
        [deployment] = [await each.aapply() for each in made]
        async with get_client() as client:
            planned, asked = [
                await client.create_flow_run_from_deployment(deployment, state=first, tags=tags)
                for tags in (["auto-scheduled"], [])
            ]
            naming = asyncio.create_task(name_planned_runs([deployment]))
            while (await client.read_flow_run(planned.id)).name == planned.name:
                await asyncio.sleep(0.05)
            naming.cancel()
            with suppress(asyncio.CancelledError):
                await naming
            found = [(await client.read_flow_run(run.id)).name for run in (planned, asked)]
            return found[0], found[1], asked.name

    named, left, before = asyncio.run(names())
    assert named == "refresh / 2031-01"
    assert left == before
