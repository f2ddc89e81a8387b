"""The clients of the four job interfaces, each against the server that speaks its protocol."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from tasks.agents.agent import (
    AgentClient,
    ConversationMessage,
    JobAnswer,
    JobRequest,
    JobStatus,
    UnreadableJobAnswer,
)
from tasks.agents.kinds import AgentFolders, open_agent, read_answer
from tasks.agents.polled_jobs import PolledClient
from tasks.configuration.agents import AskEntry
from tests.servers.http import Request
from tests.servers.job_gemini import GeminiJobs
from tests.servers.job_openai import OpenAiJobs
from tests.servers.job_perplexity import PerplexityAsyncJobs, PerplexityJobs
from tests.servers.jobs import JobScript, JobServer
from tests.servers.serving import serving

KEY = "test-key"
PROMPT = "Write about Ærø, in full."
PLACE = AgentFolders(work=Path("nowhere"), archive=None)
ResultT = TypeVar("ResultT")
_ASK: TypeAdapter[Any] = TypeAdapter(AskEntry)


@dataclass(frozen=True)
class Kind:
    """One way to ask, and who answers it."""

    name: str
    server: Callable[..., JobServer]
    model: str
    under: str = ""
    """What the client's address has after the server's."""
    path: str = "/v1/responses"
    """Where jobs are made."""
    wraps: str | None = None
    """The field of a request that holds what others send as it stands."""


GEMINI = Kind(
    "gemini_deep_research", GeminiJobs, "deep-research-preview-04-2026", path="/v1/interactions"
)
OPENAI = Kind("openai_responses", OpenAiJobs, "gpt-5.5", "/v1")
PERPLEXITY = Kind("perplexity", PerplexityJobs, "openai/gpt-5.5")
PERPLEXITY_ASYNC = Kind(
    "perplexity_async",
    PerplexityAsyncJobs,
    "sonar-deep-research",
    path="/async/chat/completions",
    wraps="request",
)
KINDS = (GEMINI, OPENAI, PERPLEXITY, PERPLEXITY_ASYNC)


def ask_of(kind: Kind, address: str, seconds: float = 5.0, **entry: Any) -> Any:
    """An agent's `ask`, as `configs/agents.yaml` would hold it."""
    limits = {"timeout_seconds": seconds}
    given = {"kind": kind.name, "model": kind.model, "base_url": address + kind.under}
    return _ASK.validate_python(given | {"limits": limits} | entry)


def question(prompt: str = PROMPT, **more: Any) -> JobRequest:
    about = {"edition": "e", "assignment": "a", "title": "Ærø", "kind": "write_article"}
    return JobRequest.model_validate({"job": "job-1", "prompt": prompt} | about | more)


def request_of(kind: Kind, asked: JobRequest, **entry: Any) -> dict[str, Any]:
    """What a client sends to buy a report."""
    client = open_agent("an-agent", ask_of(kind, "http://x", **entry), KEY, PLACE)
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
    server: JobServer,
    use: Callable[[AgentClient], Awaitable[ResultT]],
    *,
    key: str | None = KEY,
    **entry: Any,
) -> ResultT:
    async def run(address: str) -> ResultT:
        client = open_agent("an-agent", ask_of(kind, address, **entry), key, PLACE)
        try:
            return await use(client)
        finally:
            await client.close()

    with serving(server) as address:
        return asyncio.run(run(address))


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


def brought(kind: Kind) -> Any:
    """The JSON of what a job brings, without a wire."""
    server = kind.server(JobScript(polls=0), key=None)
    body: dict[str, Any] = {
        "model": kind.model, "agent": kind.model, "input": PROMPT, "background": True,
        "messages": [{"role": "user", "content": PROMPT}],
        "agent_config": {"type": "deep-research"},
    }  # fmt: skip
    sent = json.dumps({kind.wraps: body} if kind.wraps else body).encode()
    response = server(Request("POST", kind.path, {}, sent))
    return json.loads(response.body)


def assert_sound(kind: Kind, raw: str) -> None:
    """Whatever `raw` is, it is read as something that makes sense, or said to be unreadable."""
    try:
        answer = read_answer(kind.name, raw)
    except UnreadableJobAnswer:
        return
    assert (answer.outcome == "failed") == (answer.error is not None)
    assert answer.outcome == "failed" or answer.text.strip()
    for annotation in answer.annotations:
        if annotation.start is not None or annotation.end is not None:
            assert annotation.start is not None
            assert annotation.end is not None
            assert 0 <= annotation.start <= annotation.end <= len(answer.text)
    for index, step in enumerate(answer.trace):
        assert step.parent is None or step.parent < index
    counted = answer.usage.model_dump().values()
    assert all(number is None or 0 <= number < 2**63 for number in counted)
    assert answer.cost_usd is None or answer.cost_usd >= 0
    assert answer.model_dump_json()


def spans(answer: JobAnswer) -> list[str | None]:
    """What the annotations cover."""
    return [
        None if a.start is None or a.end is None else answer.text[a.start : a.end]
        for a in answer.annotations
    ]
