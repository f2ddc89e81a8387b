"""The course of a run with several steps: how each ended, and what that makes of the whole."""

from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from flows.display.console import remark
from flows.runtime.artifacts import leave_table
from flows.runtime.task_runs import reason_of
from tasks.planning.month import refreshed_message

DONE, PARTIAL, WAITING, LEFT_OUT = "Completed", "Partial", "Waiting", "Left out"
"""Names of states that steps end in. `Waiting`: another run goes on with it once a person has
decided; this one is done."""


class Stopped(Exception):
    """A step after which no other may be taken."""


@dataclass
class Course:
    """How the steps of a run ended, in their order."""

    of: str
    """What the run is about: an edition."""
    ends: list[dict[str, str]] = field(default_factory=list)
    """By step: `step`, `ended`, `said`."""
    stop: State[Any] | None = None
    """How the run ends at once, where a step failed or was cancelled."""

    async def take(self, step: str, running: Any) -> None:
        """Run a step (a flow called with `return_state=True`) to its end; keep how that was.

        Raises:
            Stopped: it failed or was cancelled: nothing may follow it.
        """
        state: State[Any] = await running
        said = str(state.message or "")
        if not state.is_completed():
            self.stop, said = await self._stop(step, state)
        self.note(step, str(state.name), said)
        if self.stop:
            raise Stopped(step)

    def note(self, step: str, ended: str, said: str) -> None:
        """Keep how a step ended, and say it."""
        self.ends.append({"step": step, "ended": ended, "said": said})
        remark(f"{step}: {ended}. {said}")

    async def follow(self, steps: Awaitable[None]) -> None:
        """Have them taken until all are, or one has stopped the run."""
        with suppress(Stopped):
            await steps

    @property
    def is_complete(self) -> bool:
        """Whether every step so far left nothing to do."""
        return all(end["ended"] in (DONE, WAITING) for end in self.ends)

    def outcome(self) -> State[Any]:
        """How the whole ended: as its worst step, in words that name the steps that matter."""
        if self.stop:
            return self.stop
        last = self.ends[-1]
        if self.is_complete:
            return Completed(message=refreshed_message(self.of, last["said"]))
        partial = [end for end in self.ends if end["ended"] == PARTIAL]
        if not partial:
            return Completed(name=last["ended"], message=last["said"])
        left = "\n".join(f"{end['step']}: {end['said']}" for end in partial)
        also = "" if last in partial else f"\n{last['step']}: {last['said']}"
        return Completed(
            name=PARTIAL,
            message=f"{self.of} is not done; run it again.\n{left}{also}",
        )

    async def leave(self) -> None:
        """The steps as a table in the Prefect UI."""
        await leave_table("steps", self.ends, f"{self.of}: how each step ended.")

    async def _stop(self, step: str, state: State[Any]) -> tuple[State[Any], str]:
        if state.is_cancelled():
            said = f"{self.of}: cancelled while in the step {step}."
            return Cancelled(message=said), said
        error = await state.aresult(raise_on_failure=False)
        if not isinstance(error, BaseException):
            error = RuntimeError(str(state.message))
        said = reason_of(error)
        message = f"{self.of}: the step {step} failed, and no later one was begun. {said}"
        return Failed(message=message, data=error), said
