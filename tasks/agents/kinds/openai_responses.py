"""OpenAI's Responses API with web search, in the background.

The provider stores the answers (`store`), so that they can be read after a killed run.
"""

from typing import Any, Literal

from tasks.agents.agent import JobAnswer, JobRequest
from tasks.agents.kind import AgentKind, ApiAsk
from tasks.agents.wire.polled_jobs import PolledClient
from tasks.agents.wire.responses_output import build_answer, parse_response, parse_usage

JOB_FIELD = "evergreen_job"
"""The field of a response's metadata that holds our job id."""


class OpenAiResponsesAsk(ApiAsk):
    provider_url = "https://api.openai.com/v1"
    kind: Literal["openai_responses"]
    """OpenAI's Responses API with web search, in background mode."""


class OpenAiResponsesClient(PolledClient[ApiAsk]):
    path = "/responses"
    end_states = frozenset({"completed", "failed", "cancelled", "incomplete"})

    def build_request(self, request: JobRequest) -> dict[str, Any]:
        """Build the request for a report; `parameters` override everything but our job id."""
        body: dict[str, Any] = {
            "model": self.ask.model,
            "input": request.prompt,
            "background": True,
            "store": True,
            "reasoning": {"effort": "high", "summary": "auto"},
            "tools": [{"type": "web_search"}],
            "include": ["web_search_call.action.sources"],
        }
        if request.previous_remote_id:
            body["previous_response_id"] = request.previous_remote_id
        body |= self.ask.parameters
        given = body.get("metadata")
        body["metadata"] = (given if isinstance(given, dict) else {}) | {JOB_FIELD: request.job}
        return body

    async def check(self) -> str:
        return await self.check_model(self.ask.model)


def read(raw: str) -> JobAnswer:
    """Read a response that has ended.

    Raises:
        UnreadableJobAnswer: `raw` is not a response.
    """
    body, output = parse_response(raw, "a response of the Responses API")
    usage = parse_usage(body.get("usage"), output.n_searches)
    return build_answer(body, output, marker_placement="instead", usage=usage)


KIND = AgentKind(OpenAiResponsesAsk, OpenAiResponsesClient, read)
