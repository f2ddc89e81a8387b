"""Whether Prefect's record of a run is complete, so that it can be looked at afterwards.

Prefect's client sends the states of task runs as events in the background, and the server stores
them behind a queue: when a flow returns its history may still be on the way.
"""

import logging
import time
import warnings
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

TERMINAL = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]
POLL_SECONDS = 0.25


class StoredRuns(BaseModel):
    """How much of a run and its subflows the server has stored."""

    model_config = ConfigDict(frozen=True)

    flow_runs: int
    """The run itself and its subflows, at any depth."""
    task_runs: int
    """Task runs in any state; a subflow's stand-in in its parent is not counted."""
    ended: int
    """Those of them in a terminal state."""
    expected: int

    @property
    def complete(self) -> bool:
        """Whether all expected task runs are there and none is still open."""
        return self.ended >= self.expected and self.ended == self.task_runs


def wait_until_stored(
    api_url: str, flow_run_id: UUID, expected_task_runs: int, timeout: float = 60
) -> StoredRuns:
    """Wait until the history of an ended run and its subflows is stored; return what is stored.

    Call it from synchronous code after the flow has returned, while its server still runs.
    `expected_task_runs`: how many task runs were created in the run and all its subflows.
    A history still incomplete after `timeout` seconds is a warning, never an error: the results
    are in the warehouse, only the picture of the run has gaps.
    """
    deadline = time.monotonic() + timeout
    send_pending()
    while True:
        stored = stored_runs(api_url, flow_run_id, expected_task_runs)
        if stored.complete:
            return stored
        if time.monotonic() > deadline:
            warnings.warn(
                f"Prefect stored {stored.ended} of {expected_task_runs} task runs of this run "
                f"within {timeout:.0f} s; its page in the UI will show fewer tasks than "
                "ran. Results are not affected.",
                stacklevel=2,
            )
            return stored
        time.sleep(POLL_SECONDS)


def send_pending(timeout: float = 60) -> None:
    """Send the events and log lines that wait in this process; call from synchronous code.

    Left to the end of the interpreter they would meet a server that is gone.
    """
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    logging.getLogger("EventsWorker").setLevel(logging.ERROR)  # it counts down as warnings
    # Events last: a log worker that ends may still emit some.
    APILogWorker.drain_all(timeout=timeout, at_exit=False)
    EventsWorker.drain_all(timeout=timeout, at_exit=False)


def stored_runs(api_url: str, flow_run_id: UUID, expected_task_runs: int = 0) -> StoredRuns:
    """Count what the server has of a run and its subflows."""
    from prefect.client.orchestration import get_client

    with get_client(httpx_settings={"base_url": api_url}, sync_client=True) as client:

        def ask(path: Literal["/flow_runs/filter", "/task_runs/count"], **question: object) -> Any:
            return client.request("POST", path, json=question).json()

        ids = level = [str(flow_run_id)]
        while level:
            children = ask("/flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": level}})
            level = [child["id"] for child in children]
            ids = ids + level
        runs = {"id": {"any_": ids}}
        tasks = {"subflow_runs": {"exists_": False}}
        ended = tasks | {"state": {"type": {"any_": TERMINAL}}}
        return StoredRuns(
            flow_runs=len(ids),
            task_runs=ask("/task_runs/count", flow_runs=runs, task_runs=tasks),
            ended=ask("/task_runs/count", flow_runs=runs, task_runs=ended),
            expected=expected_task_runs,
        )
