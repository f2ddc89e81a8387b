"""Serve the flows as deployments: started from the Prefect UI or its API, one at a time."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect import serve as serve_deployments
from prefect.deployments.runner import RunnerDeployment
from prefect.types.entrypoint import EntrypointType

from flows.run import flow_named
from flows.serve_cli import NAMES

SERVED: dict[str, Flow[..., Any]] = {name: flow_named(name) for name in NAMES}
AT_ONCE = 1
"""Runs at once: one process owns the warehouse. One that waits for a decision takes no place."""


def deployments(warehouse: Path, names: Sequence[str] = ()) -> list[RunnerDeployment]:
    """A deployment for each of the named flows, or for all of them, that works on a warehouse.

    Descriptions, and what is said of each parameter in the form of the UI, are the docstrings of
    the flows.
    """
    path = warehouse.resolve()
    return [
        served.to_deployment(  # type: ignore[misc]  # awaitable only where a loop runs
            name=path.stem,
            description=_description(served),
            parameters={"warehouse": str(path)},
            tags=["evergreen"],
            # Found by its module's name: its file imports others of the project.
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        for name, served in SERVED.items()
        if not names or name in names
    ]


def serve(warehouse: Path, names: Sequence[str] = ()) -> None:
    """Look for runs of these flows and start each in a process of its own, until Ctrl-C or
    SIGTERM."""
    os.environ["EVERGREEN_WAREHOUSE"] = str(warehouse.resolve())
    served = deployments(warehouse, names)
    with warnings.catch_warnings():
        # Ended by SIGTERM, Prefect forgets to wait for a coroutine of its own.
        warnings.filterwarnings("ignore", "coroutine 'Runner.astop'", RuntimeWarning)
        serve_deployments(*served, limit=AT_ONCE, print_starting_message=False)


def _description(served: Flow[..., Any]) -> str:
    """What its docstring says before it comes to the parameters."""
    text = (served.fn.__doc__ or "").split("Args:")[0]
    return "\n".join(line.strip() for line in text.strip().splitlines())
