"""Open the clients of judges' models, live and batch, with their endpoints and keys.

Slow imports (google-genai, Prefect) happen on use, so that commands without model calls start fast.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from tasks.agents.kinds.anthropic import AnthropicAsk
from tasks.configuration.models import LlmJudgeEntry
from tasks.configuration.secrets import read_address
from tasks.models.batch_client import BatchClient
from tasks.models.client import ModelClient
from tasks.models.errors import Misconfigured
from tasks.warehouse.calls import BatchJob
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change

DEFAULT_URLS = {"openai_chat": "https://api.openai.com/v1", "anthropic": AnthropicAsk.provider_url}
"""The providers' addresses by kind of judge; Gemini's is with its client."""


async def open_client(name: str, entry: LlmJudgeEntry) -> ModelClient:
    """Open the client for live calls.

    Raises:
        Misconfigured: the judge has no key.
    """
    if entry.kind == "gemini":
        from tasks.models.gemini import GeminiClient

        return GeminiClient(await _load_key(name, entry) or "", **_build_endpoint(entry))
    if entry.kind == "anthropic":
        from tasks.models.anthropic import MessagesClient

        return MessagesClient(key=await _load_key(name, entry), **_build_endpoint(entry))
    from tasks.models.openai_chat import OpenAiChatClient

    return OpenAiChatClient(key=await _load_key(name, entry), **_build_chat_endpoint(entry))


async def open_batch_client(name: str, entry: LlmJudgeEntry) -> BatchClient:
    """Open the client for batches.

    Raises:
        Misconfigured: the judge has no key.
    """
    if entry.kind == "gemini":
        from tasks.models.gemini_batch import GeminiBatchClient

        return GeminiBatchClient(await _load_key(name, entry) or "", **_build_endpoint(entry))
    from tasks.models.openai_batch import OpenAiBatchClient

    return OpenAiBatchClient(key=await _load_key(name, entry), **_build_chat_endpoint(entry))


def _build_endpoint(entry: LlmJudgeEntry) -> dict[str, Any]:
    url = read_address(entry.base_url_env) or entry.base_url or DEFAULT_URLS.get(entry.kind)
    # More connections than calls: answered ones are still being read.
    connections = entry.limits.concurrency + entry.limits.concurrency // 5
    return {"base_url": url, "connections": connections, "timeout_seconds": entry.timeout_seconds}


def _build_chat_endpoint(entry: LlmJudgeEntry) -> dict[str, Any]:
    return _build_endpoint(entry) | {"token_limit_field": entry.token_limit_field}


async def _load_key(name: str, entry: LlmJudgeEntry) -> str | None:
    """Load the key from the environment or a Prefect Secret block, never from a file."""
    key = await entry.load_key()
    if key is None and (how := entry.describe_setup()):
        raise Misconfigured(f"The judge {name} has no key: {how}.")
    return key


class WarehouseBatchStore:
    """Stores the batch jobs of one judge and model."""

    def __init__(self, warehouse: Warehouse, provider: str, model: str, judge: str) -> None:
        self._warehouse = warehouse
        self._whose = [provider, model, judge]

    async def load_open_jobs(self) -> Sequence[BatchJob]:
        """Return the jobs that are neither done nor failed, the oldest first."""
        rows = await asyncio.to_thread(
            self._warehouse.rows,
            BatchJob,
            "state IN ('creating', 'running') AND provider = $1 AND model = $2 AND judge = $3",
            self._whose,
        )
        return sorted(rows, key=lambda row: row.created_at)

    async def save(self, job: BatchJob) -> None:
        """Store a job's row; return once it is committed."""
        # In a thread: an interrupted run cancels this coroutine, but must not cancel the write.
        await asyncio.to_thread(self._warehouse.write, Change(BatchJob, [job]))

    async def find_saved(self, response_ids: Collection[str]) -> frozenset[str]:
        """Return those of the response ids that the ledger holds."""
        frame = await asyncio.to_thread(
            self._warehouse.frame,
            "SELECT response_id FROM calls WHERE provider = $1 AND model = $2 "
            "AND response_id IN (SELECT unnest($3))",
            [*self._whose[:2], list(response_ids)],
        )
        return frozenset(frame["response_id"])
