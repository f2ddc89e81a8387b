"""The steps of a run: how each ended, and the run's outcome."""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field

from flows.display.console import print_message
from flows.runtime.artifacts import add_table_artifact
from flows.runtime.task_runs import format_error
from tasks.outcome import Outcome, find_worst
from tasks.planning.month import describe_refreshed

WAITING, LEFT_OUT = "Waiting", "Left out"
"""Names of outcomes of steps. `Waiting`: another run continues once a person decides."""


class StepFailed(Exception):
    """A step failed or was cancelled, so no other may follow."""


@dataclass
class RunSteps:
    """Runs the steps of a run and records how each ended."""

    subject: str
    """The run's edition."""
    command: str
    """What goes on with it."""
    results: list[tuple[str, Outcome]] = field(default_factory=list)
    stop: Outcome | None = None
    """The run's outcome, once a step has failed or was cancelled."""

    async def run(self, step: str, running: Awaitable[Outcome]) -> None:
        """Run a step and record how it ended. One that is partial stops no other.

        Raises:
            StepFailed: it failed or was cancelled.
        """
        outcome = await running
        if outcome.kind in ("failed", "cancelled"):
            outcome, self.stop = self._stop(step, outcome)
        self.record(step, outcome)
        if self.stop:
            raise StepFailed(step)

    def record(self, step: str, outcome: Outcome) -> None:
        """Record how a step ended, and print it."""
        self.results.append((step, outcome))
        print_message(f"{step}: {outcome.name}. {outcome.message}")

    async def run_all(self, steps: Awaitable[None]) -> None:
        """Run steps until all are done or one stops the run."""
        with suppress(StepFailed):
            await steps

    @property
    def is_complete(self) -> bool:
        """Whether no step so far has left anything pending."""
        return all(end.is_complete or end.other_name == WAITING for _, end in self.results)

    def outcome(self) -> Outcome:
        """Return the run's outcome: that of its worst step, with a message that names it."""
        if self.stop:
            return self.stop
        last_step, last = self.results[-1]
        kind = find_worst([end.kind for _, end in self.results])
        if self.is_complete:
            return Outcome(kind, describe_refreshed(self.subject, last.message))
        left = [(step, end) for step, end in self.results if end.kind in ("open", "partial")]
        if not left:
            return last
        said = "\n".join(f"{step}: {end.message}" for step, end in left)
        final = "" if left[-1][0] == last_step else f"\n{last_step}: {last.message}"
        again = f"{self.subject} is not complete. Go on: {self.command}"
        return Outcome(kind, f"{again}\n{said}{final}")

    def has_ended(self, step: str) -> bool:
        """Whether a step has done all it was to do."""
        return any(name == step and end.is_complete for name, end in self.results)

    async def add_artifact(self) -> None:
        """Add the table of the steps in the Prefect UI."""
        rows = [
            {"step": step, "ended": end.name, "said": end.message} for step, end in self.results
        ]
        await add_table_artifact("steps", rows, f"{self.subject}: how each step ended.")

    def _stop(self, step: str, outcome: Outcome) -> tuple[Outcome, Outcome]:
        """Return what is said of a step that stops the run, and the run's outcome."""
        if outcome.kind == "cancelled":
            message = f"{self.subject}: cancelled during the step {step}."
            cancelled = Outcome("cancelled", message)
            return cancelled, cancelled
        reason = format_error(outcome.error or RuntimeError(outcome.message))
        message = f"{self.subject}: the step {step} failed, and no later one was started. {reason}"
        return Outcome("failed", reason), Outcome("failed", message, error=outcome.error)
