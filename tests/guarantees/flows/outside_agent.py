"""A kind of agents as somebody else would bring it: this file, and one line of an entry point.

An encyclopedist answers a POST of `{"article", "task"}` with `{"text", "pages", "dollars"}`.
"""

import json
from typing import Any

import httpx

import evergreen
from tasks.agents.agent import AgentUsage, ReportSource
from tasks.models.errors import Misconfigured, RequestRejected, TransientError

SECONDS = 60


class EncyclopedistClient(evergreen.BaseAgentClient):
    async def write_report(self, request: evergreen.JobRequest) -> str:
        body = {"article": request.title, "task": request.prompt}
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                answer = await client.post(self.settings["url"], json=body, headers=headers)
        except httpx.ConnectError as error:
            raise TransientError(str(error), "connection") from None
        except httpx.TransportError as error:
            raise TransientError(str(error), "connection", maybe_billed=True) from None
        if answer.status_code == 429:
            raise TransientError("busy", "rate_limit", code=429)
        if answer.status_code == 401:
            raise Misconfigured(f"{self.agent}: the key is not accepted.")
        if not answer.is_success:
            raise RequestRejected(answer.text[:300], answer.status_code)
        return answer.text

    async def check(self) -> str:
        return f"{self.settings['url']} is asked once a report is bought."

    @staticmethod
    def read(raw: str) -> evergreen.JobAnswer:
        said: dict[str, Any] = json.loads(raw)
        return evergreen.JobAnswer(
            outcome="report",
            text=said["text"],
            sources=tuple(ReportSource(url=url) for url in said["pages"]),
            usage=AgentUsage(searches=len(said["pages"])),
            cost_usd=said["dollars"],
        )
