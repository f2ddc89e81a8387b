"""xAI's Responses API: answers in one request, cites by links, counts money in ticks."""

import re
from typing import Any

from tests.servers.agent_base import AgentServer
from tests.servers.http import Response, json_response

_LINK = re.compile(r"\[\[(\d+)\]\]\((\S+?)\)")


class XaiServer(AgentServer):
    """`body` goes over the response."""

    path = "/responses"

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.body: dict[str, Any] = {}
        self.without_places = False
        """Annotations from 0 to 0, as they come for some answers."""

    def answer(self, body: dict[str, Any]) -> Response:
        said = body["input"]
        text = self.report(said if isinstance(said, str) else said[-1]["content"])
        links = list(_LINK.finditer(text))
        annotations = [
            {
                "type": "url_citation",
                "url": link[2],
                "title": link[1],
                "start_index": 0 if self.without_places else link.start(),
                "end_index": 0 if self.without_places else link.end(),
            }
            for link in links
        ]
        whole = {
            "id": f"resp_{self.bought}",
            "object": "response",
            "created_at": 1_795_000_000,
            "status": "completed",
            "model": f"{body['model']}-0709",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools", []),
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed"},
                {
                    "type": "web_search_call", "id": "ws_1", "status": "completed",
                    "action": {"type": "search", "query": "the town", "sources": []},
                },
                {
                    "type": "web_search_call", "id": "ws_2", "status": "completed",
                    "action": {"type": "open_page", "url": "https://a.org/one"},
                },
                {
                    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [
                        {"type": "output_text", "text": text, "annotations": annotations,
                         "logprobs": []}
                    ],
                },
            ],
            "citations": [*dict.fromkeys(link[2] for link in links), "https://met.org/only"],
            "usage": {
                "input_tokens": 7583,
                "input_tokens_details": {"cached_tokens": 3072},
                "output_tokens": 3192,
                "output_tokens_details": {"reasoning_tokens": 192},
                "total_tokens": 10775,
                "num_sources_used": 0,
                "num_server_side_tools_used": 3,
                "cost_in_usd_ticks": 292_331_500,
                "server_side_tool_usage_details": {"web_search_calls": 3, "x_search_calls": 0},
            },
        }  # fmt: skip
        return json_response(whole | self.body)
