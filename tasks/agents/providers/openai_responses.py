"""OpenAI's Responses API with web search, in the background.

The provider stores the answers (`store`), so that they can be read after a killed run.
"""

from typing import Any
from urllib.parse import quote

from tasks.agents.agent import (
    AgentUsage,
    Gone,
    JobAnswer,
    JobRequest,
    JobStatus,
    UnreadableJobAnswer,
)
from tasks.agents.http import CONFIGURED_IN, get_base_url
from tasks.agents.json_values import child, count, parse_object, string
from tasks.agents.kinds import AgentFolders
from tasks.agents.polled_jobs import PolledJobs
from tasks.agents.providers.responses_output import ResponsesOutput, describe_problem, parse_output
from tasks.configuration.agents import OpenAiResponsesAsk
from tasks.models.errors import Misconfigured

BASE_URL = "https://api.openai.com/v1"
END_STATES = frozenset({"completed", "failed", "cancelled", "incomplete"})
"""Jobs in any other state, known (`queued`, `in_progress`) or not, are polled again."""
JOB_FIELD = "evergreen_job"
"""The field of a response's metadata that holds our job id."""


class OpenAiResponsesClient:
    """A client of one agent."""

    def __init__(self, agent: str, ask: OpenAiResponsesAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._base_url = get_base_url(ask, BASE_URL)
        self._jobs = PolledJobs(
            agent, ask, key, base_url=self._base_url, path="/responses", end_states=END_STATES
        )

    async def start(self, request: JobRequest) -> JobStatus:
        return await self._jobs.start(build_request(self._ask, request))

    async def poll(self, remote_id: str) -> JobStatus:
        return await self._jobs.poll(remote_id)

    async def check(self) -> str:
        model = self._ask.model
        try:
            await self._jobs.check(f"/models/{quote(model, safe='')}")
        except Gone as error:
            raise Misconfigured(
                f"{self._agent}: {self._base_url} knows no model {model!r} ({error}). Check "
                f"`model` and `base_url` in {CONFIGURED_IN}."
            ) from None
        return f"{self._agent}: {self._base_url} accepts the key and knows the model {model}."

    async def close(self) -> None:
        await self._jobs.close()


def open_client(
    agent: str, ask: OpenAiResponsesAsk, key: str | None, folders: AgentFolders
) -> OpenAiResponsesClient:
    return OpenAiResponsesClient(agent, ask, key)


def build_request(ask: OpenAiResponsesAsk, request: JobRequest) -> dict[str, Any]:
    """Build the request for a report; `parameters` override everything but our job id."""
    body: dict[str, Any] = {
        "model": ask.model,
        "input": request.prompt,
        "background": True,
        "store": True,
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "include": ["web_search_call.action.sources"],
    }
    if request.previous_remote_id:
        body["previous_response_id"] = request.previous_remote_id
    body |= ask.parameters
    given = body.get("metadata")
    body["metadata"] = (given if isinstance(given, dict) else {}) | {JOB_FIELD: request.job}
    return body


def read(raw: str) -> JobAnswer:
    """Read a response that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body = parse_object(raw, "a response of the Responses API")
    if "status" not in body and "output" not in body:
        raise UnreadableJobAnswer(
            "expected a response of the Responses API with `status` and `output`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    output = parse_output(body.get("output"))
    problem = describe_problem(body, output)
    return JobAnswer(
        outcome="failed" if problem else "report",
        text=output.text,
        annotations=output.annotations,
        marker_placement="instead",
        trace=output.trace,
        n_reasoning_steps=output.n_reasoning_steps,
        model_version=string(body.get("model")),
        usage=_parse_usage(body.get("usage"), output),
        error=problem,
    )


def _parse_usage(usage: Any, output: ResponsesOutput) -> AgentUsage:
    tokens = count(child(usage, "output_tokens"))
    reasoning = count(child(usage, "output_tokens_details", "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count(child(usage, "input_tokens")),
        cached_tokens=count(child(usage, "input_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (reasoning or 0)),
        reasoning_tokens=reasoning,
        searches=output.n_searches,
    )
