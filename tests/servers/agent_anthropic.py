"""Anthropic's Messages API with its web search tool, and turns that are paused."""

from typing import Any

from tests.servers.agent_base import AgentServer
from tests.servers.http import Request, Response, json_response

Block = dict[str, Any]


class AnthropicServer(AgentServer):
    """Answers with `parts`, one a request; all but the last are paused. `ends_with` ends it."""

    path = "/v1/messages"

    def __init__(self, *parts: list[Block], ends_with: str = "end_turn", **more: Any) -> None:
        super().__init__(**more)
        self.parts = parts or ([text("A report of some words.")],)
        self.ends_with = ends_with
        self.body: dict[str, Any] = {}

    def is_allowed(self, request: Request) -> bool:
        return super().is_allowed(request) or request.headers.get("x-api-key") == self.key

    def error(self, status: int, message: str, code: str) -> Response:
        body = {"type": "error", "error": {"type": code, "message": message}, "request_id": "r1"}
        return json_response(body, status)

    def route(self, request: Request) -> Response:
        if "anthropic-version" not in request.headers:
            return self.error(400, "anthropic-version: header is required", "invalid_request_error")
        return super().route(request)

    def answer(self, body: dict[str, Any]) -> Response:
        n_before = 0  # parts of this turn that the client sent back
        for message in reversed(body["messages"]):
            if message["role"] != "assistant":
                break
            n_before += 1
        if [m["content"] for m in body["messages"][len(body["messages"]) - n_before :]] != list(
            self.parts[:n_before]
        ):
            return self.error(400, "a paused turn was changed", "invalid_request_error")
        if n_before and body.get("container") != "container_1":
            return self.error(400, "the container is missing", "invalid_request_error")
        last = n_before + 1 >= len(self.parts)
        whole = {
            "id": f"msg_{self.bought}",
            "type": "message",
            "role": "assistant",
            "model": f"{body['model']}-20261101",
            "content": self.parts[min(n_before, len(self.parts) - 1)],
            "stop_reason": self.ends_with if last else "pause_turn",
            "stop_sequence": None,
            "container": {"id": "container_1", "expires_at": "2026-11-21T20:00:00Z"},
            "usage": {
                "input_tokens": 100,
                "cache_read_input_tokens": 40,
                "cache_creation_input_tokens": 10,
                "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 20},
                "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0},
            },
        }
        return json_response(whole | self.body)


def text(written: str, *cited: str) -> Block:
    """A text block; `cited`: addresses that support it."""
    citations = [
        {
            "type": "web_search_result_location", "url": url, "title": f"Title of {url[8:]}",
            "cited_text": "…", "encrypted_index": "Eo8B",
        }
        for url in cited
    ]  # fmt: skip
    return {"type": "text", "text": written, "citations": citations or None}


def search(query: str, *found: str) -> list[Block]:
    """A search and its result."""
    results = [
        {"type": "web_search_result", "url": url, "title": "T", "encrypted_content": "Ero"}
        for url in found
    ]
    name = f"srvtoolu_{len(query)}"
    return [
        {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": query},
         "caller": {"type": "direct"}},
        {"type": "web_search_tool_result", "tool_use_id": name, "content": results,
         "caller": {"type": "direct"}},
    ]  # fmt: skip
