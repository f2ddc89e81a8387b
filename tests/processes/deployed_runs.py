"""Runs of deployments, by the Prefect server's API."""

from typing import Any

import httpx

from tests import patient
from tests.waiting import until


def run_of(api: str, deployment: str, **parameters: Any) -> str:
    """A new run of a deployment; a server that is busy with another test's runs is asked again."""

    def made() -> Any:
        address = f"{api}/deployments/{deployment}/create_flow_run"
        answer = patient.post(address, json={"parameters": parameters})
        assert answer.is_success or answer.status_code >= 500, answer.text
        return answer.json()["id"] if answer.is_success else None

    return str(until("run", made))


def state_of(api: str, run: str) -> dict[str, Any]:
    """A run's state, as soon as the server says it."""

    def said() -> Any:
        answer = patient.get(f"{api}/flow_runs/{run}")
        return answer.json()["state"] if answer.is_success else None

    found: dict[str, Any] = until("state", said)
    return found


def is_taken(answer: httpx.Response) -> bool:
    """Whether a run that waits for a person took the answer; else give it again.

    The run is shown as waiting a moment before Prefect keeps the form of its input; and a server
    that is busy with another test's runs says 503.
    """
    if not answer.is_success:
        assert answer.status_code >= 500, answer.text
        return False
    said = answer.json()
    if said["status"] != "ACCEPT":
        assert said["details"]["reason"] == "Run input schema not found.", said
        return False
    return True


def answer_run(api: str, run: str, **run_input: Any) -> None:
    """Resume a run that waits for a person, with this person's answer."""
    until(
        "answer taken",
        lambda: is_taken(
            patient.post(f"{api}/flow_runs/{run}/resume", json={"run_input": run_input})
        ),
    )
