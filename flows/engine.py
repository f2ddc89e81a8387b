"""The process of a served run: Prefect's engine, with our flows imported before it looks for them.

Prefect puts the working folder first on Python's path while it imports a flow. Half of all projects
have a `tasks.py` or a `flows.py` there, which would be taken for ours.
"""

import os
import runpy
import sys
from uuid import UUID

from flows.registry import SERVED_FLOWS, load_flow
from flows.runtime.failure_logs import log_messages_alone
from flows.runtime.run_locks import RunTaken, hold_run
from flows.runtime.settings import away_from_projects

COMMAND = (sys.executable, "-P", "-m", "flows.engine")
"""Starts it; -P keeps the working folder off the path until then."""


def main(run: UUID) -> None:
    """Do a served run, unless another process is at it."""
    try:
        with hold_run(run):
            log_messages_alone()
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
