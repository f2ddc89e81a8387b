"""What people do with the services of docker-compose.yml, in Docker or in this rig."""

import json
from typing import Protocol

from flows.registry import SERVED_FLOWS

ASK_SANDBOX = (
    "import sys, urllib.request as u; r = u.Request('http://sandbox:8100/search?query=lighthouse"
    "&format=json', headers={'x-api-key': sys.argv[1]}); print(u.urlopen(r).status)"
)
COUNT_RUNS = (
    "import base64, os, urllib.request as u;"
    "login = base64.b64encode(os.environ['PREFECT_API_AUTH_STRING'].encode()).decode();"
    "r = u.Request('http://server:4200/api/flow_runs/count', b'{}',"
    "{'content-type': 'application/json', 'authorization': f'Basic {login}'});"
    "print(u.urlopen(r).read().decode())"
)
ASSIGNMENT = "Eddystone_Lighthouse"
"""Of the sample edition."""
PROTOCOL = "wiki_fact"


class Within(Protocol):
    """Runs a command in a service's container and returns what it prints."""

    def __call__(self, service: str, /, *command: str) -> str: ...


def run_deployment(within: Within, flow: str, **parameters: object) -> None:
    """Run a deployment to its end; fails where the run does."""
    given = [f"--param={name}={json.dumps(value)}" for name, value in parameters.items()]
    within("worker", "prefect", "deployment", "run", f"{flow}/{SERVED_FLOWS[flow]}", *given,
           "--watch", "--watch-timeout", "600")  # fmt: skip


def evaluate_sample(within: Within) -> None:
    """Import the sample edition and have the worker evaluate and publish it."""
    within("worker", "evergreen", "demo")
    run_deployment(within, "evaluate", edition="sample", protocols=[PROTOCOL])
    board = within("worker", "evergreen", "leaderboard", "--edition", "sample", "--format", "json")
    assert PROTOCOL in board, board
    run_deployment(within, "publish", edition="sample", to="data/site")


def ask_sandbox(within: Within) -> None:
    """Search the sandbox with a token that the worker's key has made."""
    token = within("worker", "evergreen", "sandbox", "token", "--edition", "sample",
                   "--assignment", ASSIGNMENT, "--agent", "mine").strip()  # fmt: skip
    said = within("worker", "python", "-c", ASK_SANDBOX, token)
    assert said.strip() == "200", said


def count_runs(within: Within) -> int:
    """Ask the server, as the worker does, how many runs it has in its history."""
    return int(within("worker", "python", "-c", COUNT_RUNS))
