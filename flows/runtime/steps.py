"""The steps of a run: how each ended, and the run's final state."""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.display.console import print_message
from flows.runtime.artifacts import add_table_artifact
from flows.runtime.task_runs import format_error
from tasks.planning.month import describe_refreshed

DONE, PARTIAL, WAITING, LEFT_OUT = "Completed", "Partial", "Waiting", "Left out"
"""Names of the states that steps end in. `Waiting`: another run continues once a person decides."""


class StepFailed(Exception):
    """A step failed or was cancelled, so no other may follow."""


@dataclass
class RunSteps:
    """Runs the steps of a run and records how each ended."""

    subject: str
    """The run's edition."""
    command: str
    """What goes on with it."""
    results: list[dict[str, str]] = field(default_factory=list)
    """One per step: `step`, `ended`, `said`."""
    stop: State[Any] | None = None
    """The run's final state, once a step has failed or was cancelled."""

    async def run(self, step: str, running: Any) -> None:
        """Run a step (a flow called with `return_state=True`) and record how it ended.

        Raises:
            StepFailed: it failed or was cancelled.
        """
        state: State[Any] = await running
        message = str(state.message or "")
        if not state.is_completed():
            self.stop, message = await self._stop(step, state)
        self.record(step, str(state.name), message)
        if self.stop:
            raise StepFailed(step)

    def record(self, step: str, ended: str, message: str) -> None:
        """Record how a step ended, and print it."""
        self.results.append({"step": step, "ended": ended, "said": message})
        print_message(f"{step}: {ended}. {message}")

    async def run_all(self, steps: Awaitable[None]) -> None:
        """Run steps until all are done or one stops the run."""
        with suppress(StepFailed):
            await steps

    @property
    def is_complete(self) -> bool:
        """Whether no step so far has left anything pending."""
        return all(end["ended"] in (DONE, WAITING) for end in self.results)

    def outcome(self) -> State[Any]:
        """Return the run's final state: that of its worst step, with a message that names it."""
        if self.stop:
            return self.stop
        last = self.results[-1]
        if self.is_complete:
            return Completed(message=describe_refreshed(self.subject, last["said"]))
        partial = [end for end in self.results if end["ended"] == PARTIAL]
        if not partial:
            return Completed(name=last["ended"], message=last["said"])
        left = "\n".join(f"{end['step']}: {end['said']}" for end in partial)
        final = "" if last in partial else f"\n{last['step']}: {last['said']}"
        return Completed(
            name=PARTIAL,
            message=f"{self.subject} is not complete. Go on: {self.command}\n{left}{final}",
        )

    async def add_artifact(self) -> None:
        """Add the table of the steps in the Prefect UI."""
        await add_table_artifact("steps", self.results, f"{self.subject}: how each step ended.")

    async def _stop(self, step: str, state: State[Any]) -> tuple[State[Any], str]:
        if state.is_cancelled():
            message = f"{self.subject}: cancelled during the step {step}."
            return Cancelled(message=message), message
        error = await state.aresult(raise_on_failure=False)
        if not isinstance(error, BaseException):
            error = RuntimeError(str(state.message))
        reason = format_error(error)
        message = f"{self.subject}: the step {step} failed, and no later one was started. {reason}"
        return Failed(message=message, data=error), reason
