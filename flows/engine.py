"""The process of a served run: Prefect's engine, with our flows imported before it looks for them.

Prefect puts the working folder first on Python's path while it imports a flow. Half of all projects
have a `tasks.py` or a `flows.py` there, which would be taken for ours.

An error that a user can fix is logged as on the command line: its message, without a traceback.
"""

import logging
import os
import runpy
import sys
from uuid import UUID

from flows.registry import SERVED_FLOWS, load_flow
from flows.runtime.run_locks import RunTaken, hold_run
from flows.runtime.settings import away_from_projects
from tasks.errors import ExpectedError

COMMAND = (sys.executable, "-P", "-m", "flows.engine")
"""Starts it; -P keeps the working folder off the path until then."""

FAILURE_LOGGERS = ("prefect.engine", "prefect.flow_runs", "prefect.task_runs")
"""They log the exception that ends a run."""


def drop_traceback(record: logging.LogRecord) -> bool:
    """Reduce the record of an `ExpectedError` to its message. For a logger's filters."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, ExpectedError):
        record.msg, record.args, record.exc_info = "%s", (str(error),), None
    return True


def main(run: UUID) -> None:
    """Do a served run, unless another process is at it."""
    try:
        with hold_run(run):
            for name in FAILURE_LOGGERS:
                logging.getLogger(name).addFilter(drop_traceback)
            with away_from_projects():
                for name in SERVED_FLOWS:
                    load_flow(name)
            runpy.run_module("prefect.engine", run_name="__main__", alter_sys=True)
    except RunTaken as taken:
        from prefect.client.orchestration import get_client
        from prefect.states import Running

        with get_client(sync_client=True) as client:  # it was set to Pending for this process
            client.set_flow_run_state(run, Running(message=str(taken)), force=True)


if __name__ == "__main__":
    main(UUID(os.environ["PREFECT__FLOW_RUN_ID"]))
