"""An OpenAI-compatible chat completions endpoint, with what gateways add to it."""

from typing import Any

from tests.servers.agent_base import AgentServer
from tests.servers.http import Response, json_response


class ChatAgentServer(AgentServer):
    """`extra` goes over the message, `body` over the completion, `finish_reason` is its end;
    `refusals` come first, as answers of HTTP 200 for which nothing is billed."""

    path = "/chat/completions"
    finish_reason: str | None = "stop"

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.extra: dict[str, Any] = {}
        self.body: dict[str, Any] = {}
        self.refusals: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> Response:
        if body["model"] not in self.models:
            self.bought -= 1
            return self.error(404, "no such model", "model_not_found")
        if self.refusals:
            self.bought -= 1
            return json_response(self.refusals.pop(0))
        said = body["messages"][-1]["content"]
        message = {"role": "assistant", "content": self.report(said)} | self.extra
        whole = {
            "id": f"chatcmpl-{self.bought}",
            "object": "chat.completion",
            "created": 1_795_000_000,
            "model": f"{body['model']}-2026-11",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            "usage": {
                "prompt_tokens": 120,
                "completion_tokens": 80,
                "total_tokens": 200,
                "prompt_tokens_details": {"cached_tokens": 20},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
        }
        return json_response(whole | self.body)
