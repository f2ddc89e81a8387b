"""A judge's model, reachable: its endpoint and its key.

What takes seconds to load (google-genai, Prefect) is loaded here when it is needed, so that
commands which ask no model start at once.
"""

import os
from typing import Any

from tasks.configuration.models import LlmJudgeEntry
from tasks.configuration.secrets import how_to_give, secret
from tasks.models.batch_client import BatchClient
from tasks.models.client import ModelClient
from tasks.models.errors import Misconfigured

OPENAI_URL = "https://api.openai.com/v1"


async def open_client(name: str, entry: LlmJudgeEntry) -> ModelClient:
    """What asks the model live.

    Raises:
        Misconfigured: the judge has no key.
    """
    if entry.kind == "gemini":
        from tasks.models.gemini import GeminiClient

        return GeminiClient(await _key(name, entry) or "", **_endpoint(entry))
    from tasks.models.openai_chat import OpenAiChatClient

    return OpenAiChatClient(key=await _key(name, entry), **_chat_endpoint(entry))


async def open_batch_client(name: str, entry: LlmJudgeEntry) -> BatchClient:
    """What asks the model in batches.

    Raises:
        Misconfigured: the judge has no key.
    """
    if entry.kind == "gemini":
        from tasks.models.gemini_batch import GeminiBatchClient

        return GeminiBatchClient(await _key(name, entry) or "", **_endpoint(entry))
    from tasks.models.openai_batch import OpenAiBatchClient

    return OpenAiBatchClient(key=await _key(name, entry), **_chat_endpoint(entry))


def _endpoint(entry: LlmJudgeEntry) -> dict[str, Any]:
    url = (os.environ.get(entry.base_url_env) if entry.base_url_env else None) or entry.base_url
    # Room for those that have answered and are still being read.
    connections = entry.limits.concurrency + entry.limits.concurrency // 5
    return {"base_url": url, "connections": connections, "timeout_seconds": entry.timeout_seconds}


def _chat_endpoint(entry: LlmJudgeEntry) -> dict[str, Any]:
    endpoint = _endpoint(entry)
    return endpoint | {
        "base_url": endpoint["base_url"] or OPENAI_URL,
        "token_limit_field": entry.token_limit_field,
    }


async def _key(name: str, entry: LlmJudgeEntry) -> str | None:
    """The key, from the environment or a Prefect Secret block; never from a file."""
    if key := await secret(entry.key_env, entry.key_block):
        return key
    if not entry.key_required or (entry.key_env is None and entry.key_block is None):
        return None
    how = how_to_give(entry.key_env, entry.key_block)
    raise Misconfigured(f"The judge {name} has no key: {how}.")
