"""The clients of the four job interfaces, each against the server that speaks its protocol."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from tasks.agents.agent import AgentClient, ConversationMessage, JobAnswer, JobRequest, JobStatus
from tasks.agents.registry import open_agent, read_answer
from tasks.agents.wire.polled_jobs import PolledClient
from tests.servers.http import Handler
from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityJobs
from tests.servers.jobs import JobScript
from tests.servers.serving import serving
from tests.tasks.agents.conversations import KEY, PLACE, PROMPT, entry, question, using

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Kind:
    """One way to ask, and who answers it."""

    name: str
    server: Callable[..., Any]
    model: str
    under: str = ""
    """What the client's address has after the server's."""


GEMINI = Kind("gemini_deep_research", GeminiJobs, "deep-research-preview-04-2026")
OPENAI = Kind("openai_responses", OpenAiJobs, "gpt-5.5", "/v1")
PERPLEXITY = Kind("perplexity", PerplexityJobs, "openai/gpt-5.5")
KINDS = (GEMINI, OPENAI, PERPLEXITY)


def ask_of(kind: Kind, address: str, **more: Any) -> Any:
    """An agent's `ask`, as `configs/agents.yaml` would hold it."""
    model = {"model": kind.model} if kind.model else {}
    return entry(kind.name, address + kind.under, **model | more)


def request_of(kind: Kind, asked: JobRequest, **more: Any) -> dict[str, Any]:
    """What a client sends to buy a report."""
    client = open_agent("an-agent", ask_of(kind, "http://x", **more), KEY, PLACE)
    assert isinstance(client, PolledClient)
    return client.build_request(asked)


def reply_to(seen: JobStatus, asked: str, reply: str = "Decide yourself.") -> JobRequest:
    """The second turn, after the agent asked something back."""
    turns = (
        ConversationMessage(role="user", text=PROMPT),
        ConversationMessage(role="agent", text=asked),
    )
    return question(reply, job="job-2", history=turns, previous_remote_id=seen.remote_id)


def with_client(
    kind: Kind,
    server: Handler,
    use: Callable[[AgentClient], Awaitable[ResultT]],
    *,
    key: str | None = KEY,
    **more: Any,
) -> ResultT:
    with serving(server) as address:
        of_kind = {"model": kind.model} | more if kind.model else more
        found: ResultT = using(kind.name, address + kind.under, use, key=key, **of_kind)
    return found


async def finished(client: AgentClient, asked: JobRequest | None = None) -> JobStatus:
    """A job, looked at until it has ended."""
    seen = await client.start(asked or question())
    while not seen.ended:
        assert seen.remote_id
        seen = await client.poll(seen.remote_id)
    return seen


def answer_of(kind: Kind, script: JobScript | None = None, **options: Any) -> JobAnswer:
    """What one job brings, asked and waited for over the wire."""
    seen = with_client(kind, kind.server(script, **options), finished)
    assert seen.raw
    return read_answer(kind.name, seen.raw)


def spans(answer: JobAnswer) -> list[str | None]:
    """What the annotations cover."""
    return [
        None if a.start is None or a.end is None else answer.text[a.start : a.end]
        for a in answer.annotations
    ]
