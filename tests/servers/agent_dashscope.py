"""DashScope's qwen-deep-research: a question back first, then the research, as a stream."""

from typing import Any

from tests.servers.agent_base import AgentServer, events
from tests.servers.http import Request, Response, json_response

Chunk = tuple[str, Any]


class DashScopeServer(AgentServer):
    """`chunks`, where they are given, are the answer to everything."""

    path = "/api/v1/services/aigc/text-generation/generation"
    lists_models = False
    question = "Which decades matter, and 哪些方面?"
    chunks: list[Chunk] | None = None

    def error(self, status: int, message: str, code: str) -> Response:
        return json_response({"code": code, "message": message, "request_id": "r1"}, status)

    def route(self, request: Request) -> Response:
        if request.path == self.path:
            if not request.json()["input"]["messages"]:
                return self.error(400, "messages must not be empty", "InvalidParameter")
            if request.headers.get("x-dashscope-sse") != "enable":
                return self.error(400, "this model only supports stream", "InvalidParameter")
        return super().route(request)

    def answer(self, body: dict[str, Any]) -> Response:
        if self.chunks is not None:
            return events(self.chunks)
        said = body["input"]["messages"]
        if len(said) == 1:
            return events([*typed("answer", self.question), finished("answer")])
        sources = [
            {"index_number": 2, "title": "二", "url": "https://b.org/two", "description": "d"},
            {"index_number": 1, "title": "One", "url": "https://a.org/one", "icon": ""},
        ]
        return events(
            [
                *typed("ResearchPlanning", "The plan is this.\u2028Then that."),
                finished("ResearchPlanning"),
                chunk("WebResearch", "streamingQueries", research={"id": 1, "query": "人工"}),
                chunk("WebResearch", "streamingQueries", research={"id": 1, "query": "智能 town"}),
                chunk(
                    "WebResearch", "streamingWebResult",
                    research={"id": 1, "webSites": [{"title": "A", "url": "https://a.org/one"}]},
                ),
                chunk(
                    "WebResearch", "streamingWebResult",
                    research={"id": 1, "learningMap": {"1": "x"}},
                ),
                chunk("WebResearch", "WebResultFinished", research={"id": 1}),
                chunk("WebResearch", "streamingQueries", research={"id": 2, "query": "second"}),
                finished("WebResearch"),
                chunk("KeepAlive", "typing"),
                chunk("answer", "typing", "#", references=sources),
                *typed("answer", self.report(said[-1]["content"])),
                chunk("KeepAlive", "typing"),
                finished("answer"),
            ]
        )  # fmt: skip


def chunk(phase: str, status: str, content: str = "", **extra: Any) -> Chunk:
    message = {
        "phase": phase, "role": "assistant", "content": content,
        "extra": {"deep_research": extra}, "status": status,
    }  # fmt: skip
    output = {"message": message, "fininshed": False, "fininshed_reason": "null"}
    usage = {"input_tokens": 652, "output_tokens": 8930}
    return "result", {"output": output, "usage": usage, "request_id": "eee227a4"}


def typed(phase: str, text: str) -> list[Chunk]:
    """A text in pieces of three characters."""
    return [chunk(phase, "typing", text[at : at + 3]) for at in range(0, len(text), 3)]


def finished(phase: str) -> Chunk:
    return chunk(phase, "finished")
