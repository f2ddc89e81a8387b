"""Deployments at a real server: what their forms refuse, and what becomes of former ones."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from prefect.deployments.runner import RunnerDeployment

from flows.deployments import build_deployments, retire_former
from flows.runtime.served import DEPLOYED
from tasks.warehouse.location import parse_location
from tests import patient
from tests.processes.deployed_runs import run_of
from tests.processes.flows.served_flows import deployments_of


@pytest.fixture
def month(tmp_path: Path) -> RunnerDeployment:
    """A deployment of `refresh` on a warehouse of the test's own."""
    [made] = build_deployments(parse_location(tmp_path / f"{tmp_path.name}.duckdb"), ["refresh"])
    return made


def registered(deployment: RunnerDeployment, **changed: Any) -> str:
    """The id that the server gives a deployment, after some of its fields are changed."""
    return str(deployment.model_copy(update=changed).apply())


def names(api: str) -> dict[str, int]:
    """The server's deployments of `refresh`, with the number of schedules of each."""
    asked = {"flows": {"name": {"any_": ["refresh"]}}}
    found = patient.post(f"{api}/deployments/filter", json=asked).json()
    return {each["name"]: len(each["schedules"]) for each in found}


@pytest.mark.parametrize("given", [{"budget": 3}, {"edition": "e", "Agents": []}])
def test_a_run_with_a_parameter_of_an_unknown_name_is_refused_and_the_name_is_said(
    given: dict[str, Any], api: str, month: RunnerDeployment
) -> None:
    address = f"{api}/deployments/{registered(month)}/create_flow_run"
    answer = patient.post(address, json={"parameters": given})
    assert answer.status_code == 409
    assert list(given)[-1] in answer.json()["detail"]
    assert patient.post(address, json={"parameters": {"edition": "e"}}).is_success


def test_a_former_deployment_of_the_same_warehouse_goes_with_its_schedule(
    api: str, month: RunnerDeployment, tmp_path: Path
) -> None:
    former, other, deployed = (f"{name}-{tmp_path.name}" for name in ("former", "other", "pool"))
    registered(month, name=former)
    registered(month, name=other, parameters={"warehouse": str(tmp_path / "other.duckdb")})
    registered(month, name=deployed, tags=["evergreen", DEPLOYED])
    assert asyncio.run(retire_former([month])) == []
    registered(month)
    left = names(api)
    assert former not in left
    assert {other, deployed, month.name} <= {*left}
    assert left[month.name] == 1


def test_a_former_deployment_is_served_without_its_schedule_until_its_runs_have_ended(
    api: str, month: RunnerDeployment, tmp_path: Path
) -> None:
    former = f"former-{tmp_path.name}"
    run = run_of(api, registered(month, name=former), edition="e")
    assert [each.name for each in asyncio.run(retire_former([month]))] == [former]
    assert names(api)[former] == 0
    ended = {"state": {"type": "COMPLETED"}, "force": True}
    patient.post(f"{api}/flow_runs/{run}/set_state", json=ended).raise_for_status()
    assert asyncio.run(retire_former([month])) == []
    assert former not in names(api)


def test_a_site_is_approved_by_the_publisher_of_the_same_warehouse(
    api: str, tmp_path: Path
) -> None:
    from flows.site_step import _find_publisher

    places = [tmp_path / f"{which}-{tmp_path.name}.duckdb" for which in ("one", "two")]
    for place in places:
        for made in build_deployments(parse_location(place), ["publish", "refresh"]):
            registered(made)
    for place in places:
        month, publisher = deployments_of(api, place, "refresh", "publish")
        assert str(asyncio.run(_find_publisher(month["id"]))) == publisher["id"]
