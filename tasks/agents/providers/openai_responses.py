"""OpenAI's Responses API with web search, in the background.

Answers are stored by the provider (`store`), so that a run which was killed finds them again.
"""

from typing import Any
from urllib.parse import quote

from tasks.agents.agent import AgentUsage, Answer, Gone, Question, Seen, UnreadableAnswer
from tasks.agents.http import CONFIGURED_IN, endpoint
from tasks.agents.json_values import child, count, parsed_object, string
from tasks.agents.kinds import Place
from tasks.agents.polled import PolledJobs
from tasks.agents.providers.responses_output import ResponsesOutput, problem_of, read_output
from tasks.configuration.agents import OpenAiResponsesAsk
from tasks.models.errors import Misconfigured

BASE_URL = "https://api.openai.com/v1"
ENDS = frozenset({"completed", "failed", "cancelled", "incomplete"})
"""Every other word, known (`queued`, `in_progress`) or not, is waited for."""
NAME = "evergreen_job"
"""The field of a response's metadata that holds our name for the job."""


class OpenAiResponsesClient:
    """One agent."""

    def __init__(self, agent: str, ask: OpenAiResponsesAsk, key: str | None) -> None:
        self._agent = agent
        self._ask = ask
        self._base_url = endpoint(ask, BASE_URL)
        self._jobs = PolledJobs(
            agent, ask, key, base_url=self._base_url, path="/responses", ends=ENDS
        )

    async def start(self, question: Question) -> Seen:
        return await self._jobs.start(request_body(self._ask, question))

    async def look(self, remote_id: str) -> Seen:
        return await self._jobs.look(remote_id)

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
    agent: str, ask: OpenAiResponsesAsk, key: str | None, place: Place
) -> OpenAiResponsesClient:
    return OpenAiResponsesClient(agent, ask, key)


def request_body(ask: OpenAiResponsesAsk, question: Question) -> dict[str, Any]:
    """What is sent to buy a report; `parameters` go over everything but our name for the job."""
    body: dict[str, Any] = {
        "model": ask.model,
        "input": question.prompt,
        "background": True,
        "store": True,
        "reasoning": {"effort": "high", "summary": "auto"},
        "tools": [{"type": "web_search"}],
        "include": ["web_search_call.action.sources"],
    }
    if question.earlier_id:
        body["previous_response_id"] = question.earlier_id
    body |= ask.parameters
    given = body.get("metadata")
    body["metadata"] = (given if isinstance(given, dict) else {}) | {NAME: question.job}
    return body


def read(raw: str) -> Answer:
    """A response that has ended.

    Raises:
        UnreadableAnswer: it is no response.
    """
    body = parsed_object(raw, "a response of the Responses API")
    if "status" not in body and "output" not in body:
        raise UnreadableAnswer(
            "expected a response of the Responses API with `status` and `output`, got an object "
            f"with {sorted(map(str, body))[:10]}"
        )
    output = read_output(body.get("output"))
    problem = problem_of(body, output)
    return Answer(
        outcome="failed" if problem else "report",
        text=output.text,
        annotations=output.annotations,
        annotated="instead",
        trace=output.trace,
        n_reasoning_steps=output.n_reasoning_steps,
        model_version=string(body.get("model")),
        usage=_usage(body.get("usage"), output),
        error=problem,
    )


def _usage(said: Any, output: ResponsesOutput) -> AgentUsage:
    tokens = count(child(said, "output_tokens"))
    reasoning = count(child(said, "output_tokens_details", "reasoning_tokens"))
    return AgentUsage(
        input_tokens=count(child(said, "input_tokens")),
        cached_tokens=count(child(said, "input_tokens_details", "cached_tokens")),
        output_tokens=None if tokens is None else max(0, tokens - (reasoning or 0)),
        reasoning_tokens=reasoning,
        searches=output.n_searches,
    )
