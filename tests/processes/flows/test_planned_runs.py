"""The names of runs that are planned and have not begun."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.states import Scheduled

from flows.deployments import build_deployments, name_planned_runs
from tasks.warehouse.location import parse_location


def test_a_planned_month_is_named_after_its_edition_and_what_a_person_plans_is_not(
    api: str, tmp_path: Path
) -> None:
    made = build_deployments(parse_location(str(tmp_path / "planned.duckdb")), ["refresh"])
    made[0].schedules = []
    first: State[None] = Scheduled(scheduled_time=datetime(2031, 1, 1, 6, tzinfo=UTC))

    async def names() -> tuple[str, str, str]:
        [deployment] = [await each.aapply() for each in made]
        async with get_client() as client:
            planned, asked = [
                await client.create_flow_run_from_deployment(deployment, state=first, tags=tags)
                for tags in (["auto-scheduled"], [])
            ]
            await name_planned_runs([deployment])
            found = [(await client.read_flow_run(run.id)).name for run in (planned, asked)]
            return found[0], found[1], asked.name

    named, left, before = asyncio.run(names())
    assert named == "refresh / 2031-01"
    assert left == before
