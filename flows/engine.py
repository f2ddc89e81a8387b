"""The process of a served run: Prefect's engine, with our flows imported before it looks for them.

Prefect puts the working folder first on Python's path while it imports a flow. Half of all projects
have a `tasks.py` or a `flows.py` there, which would be taken for ours.

An error that a user can fix is logged as on the command line: its message, without a traceback.
"""

import logging
import os
import runpy
import sys
import threading
import time
from pathlib import Path

from flows.registry import SERVED_FLOWS, load_flow
from flows.runtime.ending import end_process
from flows.runtime.server import ServerLost, is_gone, is_local
from tasks.errors import ExpectedError

COMMAND = (sys.executable, "-P", "-m", "flows.engine")
"""Starts it; -P keeps the working folder off the path until then."""

CHECK_SECONDS = 1.0
"""How often a served run looks whether its local server is still there."""
FAILURE_LOGGERS = ("prefect.engine", "prefect.flow_runs", "prefect.task_runs")
"""They log the exception that ends a run."""


def drop_traceback(record: logging.LogRecord) -> bool:
    """Reduce the record of an `ExpectedError` to its message. For a logger's filters."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, ExpectedError):
        record.msg, record.args, record.exc_info = "%s", (str(error),), None
    return True


def end_without_server(home: Path, api_url: str) -> None:
    """End this process once the local server is gone: nobody can be told how the run ended."""
    while not is_gone(home, api_url):
        time.sleep(CHECK_SECONDS)
    end_process(1, f"error: {ServerLost()}\n")


if __name__ == "__main__":
    if is_local():
        server = (Path(os.environ["PREFECT_HOME"]), os.environ["PREFECT_API_URL"])
        threading.Thread(target=end_without_server, args=server, daemon=True).start()
    for name in FAILURE_LOGGERS:
        logging.getLogger(name).addFilter(drop_traceback)
    for name in SERVED_FLOWS:
        load_flow(name)
    runpy.run_module("prefect.engine", run_name="__main__", alter_sys=True)
