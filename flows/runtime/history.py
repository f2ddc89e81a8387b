"""Wait until Prefect has stored the complete history of a run.

Prefect's client sends the states of task runs as events in the background, and the server queues
them: when a flow returns, its history may be incomplete.
"""

import logging
import time
import warnings
from typing import Any, Literal
from uuid import UUID

from tasks.base import Frozen

TERMINAL = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]
POLL_SECONDS = 0.25


class StoredRuns(Frozen):
    """Counts of the runs that the server has stored for a run and its subflows."""

    flow_runs: int
    """The run itself and its subflows, at any depth."""
    task_runs: int
    """Task runs in any state, without those that represent a subflow in its parent."""
    ended: int
    """Task runs in a terminal state."""
    expected: int

    @property
    def complete(self) -> bool:
        """Whether all expected task runs are stored and have ended."""
        return self.ended >= self.expected and self.ended == self.task_runs


def wait_until_stored(
    api_url: str, flow_run_id: UUID, expected_task_runs: int, timeout: float = 60
) -> StoredRuns:
    """Wait until the history of an ended run and its subflows is stored; return the counts.

    Call it from synchronous code after the flow has returned, while its server still runs.
    `expected_task_runs`: the task runs created in the run and all its subflows.
    A history that is incomplete after `timeout` seconds is a warning, not an error: the results
    are in the warehouse.
    """
    deadline = time.monotonic() + timeout
    flush_history()
    while True:
        stored = count_stored_runs(api_url, flow_run_id, expected_task_runs)
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


def flush_history(timeout: float = 60) -> None:
    """Send this process's queued events and log lines; call it from synchronous code.

    At interpreter exit the server would already be gone.
    """
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    logging.getLogger("EventsWorker").setLevel(logging.ERROR)  # it counts down as warnings
    # Events last: an ending log worker may still emit some.
    APILogWorker.drain_all(timeout=timeout, at_exit=False)
    EventsWorker.drain_all(timeout=timeout, at_exit=False)


def count_stored_runs(api_url: str, flow_run_id: UUID, expected_task_runs: int) -> StoredRuns:
    """Count the stored runs of a run and its subflows."""
    from prefect.client.orchestration import get_client

    with get_client(httpx_settings={"base_url": api_url}, sync_client=True) as client:

        def post(path: Literal["/flow_runs/filter", "/task_runs/count"], **body: object) -> Any:
            return client.request("POST", path, json=body).json()

        ids = level = [str(flow_run_id)]
        while level:
            children = post("/flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": level}})
            level = [child["id"] for child in children]
            ids = ids + level
        runs = {"id": {"any_": ids}}
        tasks = {"subflow_runs": {"exists_": False}}
        ended = tasks | {"state": {"type": {"any_": TERMINAL}}}
        return StoredRuns(
            flow_runs=len(ids),
            task_runs=post("/task_runs/count", flow_runs=runs, task_runs=tasks),
            ended=post("/task_runs/count", flow_runs=runs, task_runs=ended),
            expected=expected_task_runs,
        )
