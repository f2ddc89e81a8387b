"""The process of a served run: Prefect's engine, with our flows imported before it looks for them.

Prefect puts the working folder first on Python's path while it imports a flow. Half of all projects
have a `tasks.py` or a `flows.py` there, which would be taken for ours.
"""

import runpy
import sys

from flows.registry import SERVED_FLOWS, load_flow

COMMAND = (sys.executable, "-P", "-m", "flows.engine")
"""Starts it; -P keeps the working folder off the path until then."""

if __name__ == "__main__":
    for name in SERVED_FLOWS:
        load_flow(name)
    runpy.run_module("prefect.engine", run_name="__main__", alter_sys=True)
