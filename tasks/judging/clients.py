"""Open the clients of judges' models, with their endpoints and keys.

Slow imports (google-genai, Prefect) happen on use, so that commands without model calls start fast.
"""

import os
from typing import Any

from tasks.configuration.models import LlmJudgeEntry
from tasks.configuration.secrets import describe_key_setup, load_secret
from tasks.models.batch_client import BatchClient
from tasks.models.client import ModelClient
from tasks.models.errors import Misconfigured

OPENAI_URL = "https://api.openai.com/v1"


async def open_client(name: str, entry: LlmJudgeEntry) -> ModelClient:
    """Open the client for live calls.

    Raises:
        Misconfigured: the judge has no key.
    """
    if entry.kind == "gemini":
        from tasks.models.gemini import GeminiClient

        return GeminiClient(await _load_key(name, entry) or "", **_build_endpoint(entry))
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
    url = (os.environ.get(entry.base_url_env) if entry.base_url_env else None) or entry.base_url
    # More connections than calls: answered ones are still being read.
    connections = entry.limits.concurrency + entry.limits.concurrency // 5
    return {"base_url": url, "connections": connections, "timeout_seconds": entry.timeout_seconds}


def _build_chat_endpoint(entry: LlmJudgeEntry) -> dict[str, Any]:
    endpoint = _build_endpoint(entry)
    return endpoint | {
        "base_url": endpoint["base_url"] or OPENAI_URL,
        "token_limit_field": entry.token_limit_field,
    }


async def _load_key(name: str, entry: LlmJudgeEntry) -> str | None:
    """Load the key from the environment or a Prefect Secret block, never from a file."""
    if key := await load_secret(entry.key_env, entry.key_block):
        return key
    if not entry.key_required or (entry.key_env is None and entry.key_block is None):
        return None
    how = describe_key_setup(entry.key_env, entry.key_block)
    raise Misconfigured(f"The judge {name} has no key: {how}.")
