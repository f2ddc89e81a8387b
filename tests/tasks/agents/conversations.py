"""What agents are asked in tests, and asking them over a real socket."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tasks.agents.agent import AgentClient, ConversationMessage, JobAnswer, JobRequest, JobStatus
from tasks.agents.citations.markdown import render_report
from tasks.agents.kind import AgentFolders
from tasks.agents.registry import AskEntry, open_agent, read_answer
from tasks.extraction.claims import extract_claims
from tests.servers.http import Handler
from tests.servers.serving import serving

KEY = "test-key"
ASK: TypeAdapter[Any] = TypeAdapter(AskEntry)
QUICK = {
    "timeout_seconds": 5, "first_wait_seconds": 0.01, "start_tries": 3, "longest_hint_seconds": 1,
}  # fmt: skip
PROMPT = "Write about Ærø, in full."
PLACE = AgentFolders(work=Path("nowhere"), archive=None)
SAID = (
    ConversationMessage(role="user", text="Write about the town."),
    ConversationMessage(role="agent", text="Which decades?"),
)

TOLD = [
    {"role": "user", "content": "Write about the town."},
    {"role": "assistant", "content": "Which decades?"},
    {"role": "user", "content": "Decide yourself."},
]
"""The same with a reply, as most interfaces are sent it."""


def question(prompt: str = PROMPT, **more: Any) -> JobRequest:
    about = {"edition": "e", "assignment": "a1", "title": "The Straße", "kind": "write_article"}
    return JobRequest.model_validate({"job": "job-1", "prompt": prompt} | about | more)


def entry(kind: str, address: str, **more: Any) -> Any:
    """An agent's `ask`."""
    own = {"url": address} if kind == "http" else {"base_url": address, "model": "a-model"}
    return ASK.validate_python({"kind": kind, "limits": QUICK} | own | more)


def using(
    kind: str,
    address: str,
    what: Callable[[AgentClient], Any],
    *,
    key: str | None = KEY,
    **more: Any,
) -> Any:
    """What a client of an agent at an address comes to."""

    async def run() -> Any:
        client = open_agent("agent-1", entry(kind, address, **more), key, PLACE)
        try:
            return await what(client)
        finally:
            await client.close()

    return asyncio.run(run())


def start(
    kind: str, server: Handler, asked: JobRequest | None = None, *, path: str = "", **more: Any
) -> JobStatus:
    """One report bought of a server."""
    with serving(server) as address:
        seen: JobStatus = using(
            kind, address + path, lambda c: c.start(asked or question()), **more
        )
    return seen


def bought(
    kind: str, server: Handler, asked: JobRequest | None = None, *, path: str = "", **more: Any
) -> JobAnswer:
    """One report bought of a server, and read."""
    seen = start(kind, server, asked, path=path, **more)
    assert seen.ended
    assert seen.raw is not None
    return read_answer(kind, seen.raw)


def check(kind: str, server: Handler, *, path: str = "", **more: Any) -> str:
    with serving(server) as address:
        said: str = using(kind, address + path, lambda c: c.check(), **more)
    return said


def cited(answer: JobAnswer) -> list[tuple[str, ...]]:
    """What each claim of a report cites."""
    written = render_report(answer, kind="write_article", citations=None)
    claims = extract_claims("", written).claims
    return [tuple(citation.url for citation in claim.citations) for claim in claims]
