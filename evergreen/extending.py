"""Base classes for judges and kinds of agents of one's own, which entry points bring."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.agents.agent import AgentClient, Gone, JobAnswer, JobRequest, JobStatus
from tasks.base import Frozen
from tasks.judges.decisions import DecisionRequest, JudgeAnswer
from tasks.warehouse.rows import content_sha


class BaseJudge:
    """A judge of one's own: an entry point in the group `evergreen.judges`, named as `kind` by an
    entry of `judges.yaml`.

    Set `decides` and `model_version`, and write `decide`. Its verdicts are kept like any others.
    What it calls stands in no ledger and counts for no budget: it must cost nothing, or keep its
    own account.
    """

    decides: frozenset[type[Frozen]] = frozenset()
    """The requests it can answer; the others are `not_assessed`."""
    model_version: str
    """Change it with whatever changes the answers: it is part of every verdict's key."""
    reads: frozenset[str] = frozenset()
    sees_conflict = False
    lexical = False
    cpu_bound = False

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        """name: the entry's name in judges.yaml. settings: its `settings`."""
        self.name = name
        self.settings = settings

    def prompt_sha(self, protocol: str) -> str:
        """Return the sha of what its answers for a protocol rest on: its settings, unless a
        subclass has prompts."""
        return content_sha(*(f"{key}={self.settings[key]!r}" for key in sorted(self.settings)))

    def page_key_parts(self, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
        """Return how it reads long pages; nothing if it reads each whole."""
        return ()

    async def decide(self, request: DecisionRequest) -> Sequence[JudgeAnswer]:
        """Return one answer per item, in order."""
        raise NotImplementedError


class BaseAgentClient(AgentClient):
    """A kind of agents of one's own whose answer comes at once: an entry point in the group
    `evergreen.agents`, named as `kind` by an entry's `ask` in `agents.yaml`.

    Write `write_report`. For jobs that go on at the agent write `start` and `poll` instead.
    """

    def __init__(self, agent: str, ask: Any, key: str | None) -> None:
        """ask: the entry's `ask`, with its `settings`. key: the agent's, if the entry names one."""
        self.agent = agent
        self.settings: Mapping[str, Any] = ask.settings
        self.key = key

    async def write_report(self, request: JobRequest) -> str:
        """Return the report. An error of `tasks.models.errors` says whether one was bought."""
        raise NotImplementedError

    async def start(self, request: JobRequest) -> JobStatus:
        report = await self.write_report(request)
        return JobStatus(remote_id=None, remote_state="done", ended=True, raw=report)

    async def poll(self, remote_id: str) -> JobStatus:
        raise Gone(f"{self.agent} keeps no jobs")

    async def check(self) -> str:
        return f"{self.agent}: nothing to check."

    async def close(self) -> None:
        """Close all connections."""

    @staticmethod
    def read(raw: str) -> JobAnswer:
        """Read an answer as `start` or `poll` returned it."""
        return JobAnswer(outcome="report", text=raw)
