"""Deployments: what they work on, and what their forms say."""

import asyncio
from inspect import signature
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from prefect._internal.observers import FlowRunCancellingObserver
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import ParameterTypeError
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from flows.cli.refresh import refresh as command
from flows.deployments import SERVED, PoolWorker, build_deployments
from tasks.planning.edition_options import RefreshOptions
from tasks.warehouse.location import parse_location


def test_every_parameter_of_every_deployed_flow_is_described_in_its_form() -> None:
    for name, served in SERVED.items():
        parameters = parameter_schema(served.fn).properties
        bare = [each for each, schema in parameters.items() if not schema.get("description")]
        assert bare == [], f"{name}: say what these are in its docstring, under Args: {bare}"


def test_every_number_in_a_form_has_its_bounds() -> None:
    numbers = {
        f"{name}.{parameter}": each
        for name, served in SERVED.items()
        for parameter, schema in parameter_schema(served.fn).properties.items()
        for each in schema.get("anyOf", [schema])
        if each.get("type") in ("integer", "number")
    }
    assert {"publish.approval_hours", "rejudge.budget_usd", "ask.first"} <= set(numbers)
    bounds = {"minimum", "exclusiveMinimum"}
    assert [name for name, schema in numbers.items() if not bounds & {*schema}] == []


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("publish", {"edition": "e", "to": "site", "approval_hours": 0}),
        ("publish", {"edition": "e", "to": "site", "approval_hours": 1e9}),
        ("rejudge", {"edition": "e", "judge": "j", "budget_usd": -1}),
        ("ask", {"edition": "e", "agents": ["a"], "first": 0}),
        ("refresh", {"articles": 0}),
        ("refresh", {"budget_usd": -1}),
    ],
)
def test_a_number_out_of_bounds_is_refused_before_anything_runs(
    name: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ParameterTypeError):
        SERVED[name].validate_parameters(given)


def test_the_form_says_what_becomes_of_a_run_that_nobody_answers() -> None:
    hours = parameter_schema(SERVED["publish"].fn).properties["approval_hours"]
    assert "stays suspended" in hours["description"]


def test_a_deployment_works_on_its_warehouse_and_says_what_it_does(tmp_path: Path) -> None:
    made = build_deployments(parse_location(tmp_path / "mine.duckdb"), ["evaluate", "publish"])
    assert [each.flow_name for each in made] == ["evaluate", "publish"]
    assert [each.name for each in made] == ["judge-reports-mine", "write-site-mine"]
    for each in made:
        assert each.parameters == {"warehouse": str(tmp_path / "mine.duckdb")}
        assert each.entrypoint == f"flows.{each.flow_name}.{each.flow_name}"
        assert each.description
        assert "Args" not in each.description


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [
        ("warehouse.duckdb", "", "make-month"),
        ("evergreen.duckdb", "", "make-month"),
        ("mine.duckdb", "", "make-month-mine"),
        ("warehouse.duckdb", "mine", "make-month-mine"),
    ],
)
def test_a_deployment_is_named_for_what_it_does_and_for_a_warehouse_beside_the_usual_one(
    file: str, name: str, expected: str, tmp_path: Path
) -> None:
    [made] = build_deployments(parse_location(tmp_path / file), ["refresh"], name)
    assert made.name == expected


def test_no_form_has_a_part_whose_names_would_not_be_checked() -> None:
    for name, served in SERVED.items():
        schema = parameter_schema(served.fn)
        nested = [key for key, each in schema.properties.items() if "object" in str(each)]
        assert (schema.definitions, nested) == ({}, []), f"{name}: close these in ClosedSchema, too"


def test_a_refresh_is_asked_for_alike_by_its_form_and_its_command() -> None:
    fields = {k: field for k, field in RefreshOptions.model_fields.items() if k != "warehouse"}
    form = parameter_schema(SERVED["refresh"].fn).properties
    assert [*form] == [*fields, "warehouse"]
    assert [*signature(command).parameters] == [*fields, "dry_run", "form", "warehouse"]
    assert {form[name]["description"] for name in fields} == {
        field.description for field in fields.values()
    }


def test_a_run_that_a_pool_s_worker_could_not_take_is_left_to_other_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unanswered(worker: ProcessWorker, run: FlowRun) -> None:
        raise httpx.ReadTimeout("no answer")

    async def submit() -> None:
        await worker._submit_run(run)

    monkeypatch.setattr(ProcessWorker, "_submit_run", unanswered)
    worker, run = PoolWorker(work_pool_name="pool"), FlowRun(id=uuid4(), flow_id=uuid4())
    observer = FlowRunCancellingObserver(on_cancelling=lambda flow_run_id: None)
    worker._cancelling_observer = observer
    worker._submitting_flow_run_ids.add(run.id)
    observer.add_in_flight_flow_run_id(run.id)
    asyncio.run(submit())
    assert worker._submitting_flow_run_ids == observer._in_flight_flow_run_ids == set()
