"""Turns outcomes into Prefect's states, and back. Nothing else asks what a state means.

What is not done is of the type FAILED, so that the UI's dashboard and automations see it: red means
that somebody must act.
"""

from typing import Any

from prefect.client.schemas.objects import State, StateType

from tasks.outcome import NAMES, Kind, Outcome, PartLeft

TYPES: dict[Kind, StateType] = {
    "done": StateType.COMPLETED,
    "cached": StateType.COMPLETED,
    "open": StateType.COMPLETED,
    "partial": StateType.FAILED,
    "failed": StateType.FAILED,
    "cancelled": StateType.CANCELLED,
}
KINDS: dict[str, Kind] = {name: kind for kind, name in NAMES.items()}


def to_state(outcome: Outcome) -> State[Any]:
    """Return the state that shows an outcome.

    A flow that is called without `return_state` raises the error of a state that is FAILED.
    """
    error = outcome.error
    if error is None and outcome.kind == "partial":
        error = PartLeft(outcome.message)
    kind = TYPES[outcome.kind]
    return State(type=kind, name=outcome.name, message=outcome.message, data=error)


async def read_outcome(state: State[Any]) -> Outcome:
    """Return the outcome that a final state shows; a crash is a failure."""
    message, name = str(state.message or ""), str(state.name)
    if state.is_completed():
        other = "" if name in KINDS else name
        return Outcome(KINDS.get(name, "done"), message, other_name=other)
    error = await state.aresult(raise_on_failure=False)
    if not isinstance(error, BaseException):
        error = RuntimeError(message)
    kind: Kind = "cancelled" if state.is_cancelled() else "failed"
    if state.is_failed() and name == NAMES["partial"]:
        kind = "partial"
    return Outcome(kind, message, error=error)
