"""Jobs over JSON and HTTP: one POST makes a job, each GET shows how it is."""

import json
from typing import Any
from urllib.parse import quote

from tasks.agents.agent import Gone, Seen
from tasks.agents.http import JsonApi, check_reached
from tasks.agents.json_values import string
from tasks.configuration.agents import ApiAsk
from tasks.models.client import redacted
from tasks.models.errors import ModelError, Rejected, Transient
from tasks.warehouse.rows import storable

NO_SUCH_JOB = "evergreen-check-there-is-no-such-job"
"""Asked for by `check`: "not found" means that the key was accepted."""


class PolledJobs:
    """One agent's jobs at one address."""

    def __init__(
        self, agent: str, ask: ApiAsk, key: str | None, *, base_url: str, path: str,
        ends: frozenset[str],
    ) -> None:  # fmt: skip
        """path: where jobs are made; `path/ID` is one of them. ends: words for "it has ended"."""
        self._agent = agent
        self._base_url = base_url
        self._path = path
        self._ends = ends
        self._key = key
        self._api = JsonApi(
            agent,
            base_url,
            {"Authorization": f"Bearer {key}"} if key else {},
            secret=key,
            timeout_seconds=ask.limits.timeout_seconds,
            connections=max(16, ask.limits.concurrency),
        )

    async def start(self, body: dict[str, Any]) -> Seen:
        """Make a job: exactly one request.

        Raises:
            Transient, Rejected, StopsTheStage: as `AgentClient.start`.
        """
        answer = await self._api.buy(self._path, body)
        seen = self._seen(answer, None)
        if seen is None or seen.remote_id is None:
            raise Transient(
                "the answer names no job: a job may have been made", "garbled", maybe_billed=True
            )
        return seen

    async def look(self, remote_id: str) -> Seen:
        """Look at a job once.

        Raises:
            Transient, Gone, StopsTheStage: as `AgentClient.look`.
        """
        try:
            answer = await self._api.get(f"{self._path}/{quote(remote_id, safe='')}")
        except Rejected as error:  # not "unknown": what was paid for is not given up for that
            raise Transient(str(error), "server", code=error.code) from None
        seen = self._seen(answer, remote_id)
        if seen is None:
            raise Transient("the answer is no JSON object with a job in it", "garbled")
        return seen

    async def check(self, path: str) -> Any:
        """GET something that costs nothing.

        Raises:
            Gone: HTTP 404, for the caller to say what that means.
            ModelError: what is wrong, in words a person can act on.
        """
        try:
            return await self._api.get(path)
        except Gone:
            raise
        except ModelError as error:
            raise check_reached(error, self._agent, self._base_url) from None

    async def check_key(self) -> str:
        """Ask for a job that cannot exist; what that shows of address and key.

        Raises:
            ModelError: what is wrong, in words a person can act on.
        """
        try:
            await self.check(f"{self._path}/{NO_SUCH_JOB}")
        except (Gone, Rejected):
            return (
                f"{self._agent}: {self._base_url} answers and accepts the key. Whether the model "
                "exists shows only when a report is bought."
            )
        return (
            f"{self._agent}: {self._base_url} answers, but knows a job that cannot exist. Check "
            "that `base_url` in configs/agents.yaml is the provider's."
        )

    async def close(self) -> None:
        await self._api.close()

    def _seen(self, answer: Any, remote_id: str | None) -> Seen | None:
        """A job as the answer shows it; None where it shows none.

        remote_id: its name where that is known already.
        """
        if not isinstance(answer, dict):
            return None
        word = string(answer.get("status")) or ""
        named = string(answer.get("id"))
        ended = word in self._ends
        try:
            raw = json.dumps(answer, ensure_ascii=False) if ended else None
        except RecursionError:
            return None
        return Seen(
            remote_id=remote_id or (storable(named) if named else None),
            word=word,
            ended=ended,
            raw=None if raw is None else redacted(raw, self._key),
        )
