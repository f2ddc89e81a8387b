"""Flows and tasks as the functions that they are made of: no server, no runs, no retries.

What a flow does is the same; what Prefect makes of it is for tests/processes and tests/long.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import uuid4

import pytest
from prefect import Flow, Task
from prefect.client.schemas.objects import State
from prefect.states import Completed, exception_to_failed_state
from prefect.utilities.annotations import quote
from prefect.utilities.callables import get_call_parameters

import flows.run
from flows import lineage, stages
from flows.runtime import announcing, artifacts, history, progress, recovery
from tasks.models import gateway

Artifacts = list[dict[str, Any]]
"""What flows have added for the UI, in order; of a table its rows are under `table`."""


@contextmanager
def plain_prefect() -> Iterator[Artifacts]:
    """Within the block flows and tasks run where they are called; gives their artifacts."""
    added: Artifacts = []

    async def add(**artifact: Any) -> object:
        added.append(artifact)
        return uuid4()

    async def update(*_: Any, **__: Any) -> None:
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flow, "__call__", _call_flow)
        patch.setattr(Task, "__call__", _call_task)
        patch.setattr(artifacts, "acreate_markdown_artifact", add)
        patch.setattr(artifacts, "acreate_table_artifact", add)
        patch.setattr(progress, "acreate_progress_artifact", add)
        patch.setattr(progress, "aupdate_progress_artifact", update)
        patch.setattr(flows.run, "start_server", lambda **_: nullcontext("no server"))
        patch.setattr(history, "wait_until_stored", lambda *_: None)
        patch.setattr(announcing, "emit_event", lambda *_, **__: None)
        patch.setattr(recovery, "list_runs", lambda **_: [])  # no server knows those of other tests
        # No server has to keep up with the cells that start.
        patch.setattr(stages, "REMOTE_STARTS_PER_SECOND", 10_000.0)
        patch.setattr(stages, "get_run_logger", lambda: logging.getLogger("plain runs"))
        patch.setattr(lineage, "emit_event", lambda *_, **__: None)
        # How long a cell that asks nothing holds up the next one.
        patch.setattr(gateway, "ADMISSION_TIMEOUT_SECONDS", 0.05)
        yield added


def _call_flow(flow: Flow[Any, Any], *args: Any, return_state: bool = False, **named: Any) -> Any:
    given = get_call_parameters(flow.fn, args, named)
    if flow.should_validate_parameters:
        given = flow.validate_parameters(given)
    return _run(flow.fn, given, return_state=return_state)


def _call_task(task: Task[Any, Any], *args: Any, return_state: bool = False, **named: Any) -> Any:
    given = get_call_parameters(task.fn, args, named)
    given = {k: v.unquote() if isinstance(v, quote) else v for k, v in given.items()}
    return _run(task.fn, given, return_state=return_state)


async def _run(function: Callable[..., Any], given: dict[str, Any], *, return_state: bool) -> Any:
    """Call a flow or task; give what Prefect's engine would."""
    try:
        result = function(**given)
        if asyncio.iscoroutine(result):
            result = await result
    except Exception as error:
        if not return_state:
            raise
        return await exception_to_failed_state(error)
    if return_state:
        return result if isinstance(result, State) else Completed(data=result)
    return await result.aresult() if isinstance(result, State) else result
