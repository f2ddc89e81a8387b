"""Chat completions and the Batch API, as OpenAI and the servers that copy it answer them."""

import re
from collections.abc import Collection
from typing import Any

from tests.servers.asked import Asked
from tests.servers.attached import openai_files
from tests.servers.base import ModelServer, Said
from tests.servers.batches import Batch, BatchDesk, BatchScript
from tests.servers.faults import OPENAI_FAULTS
from tests.servers.http import Request, Response, json_response
from tests.servers.openai_batches import OpenAiBatches
from tests.servers.openai_forms import error_body, hints_of, said_of
from tests.servers.prefixes import PrefixCache

LADDER = ("json_schema", "json_object", "prompt")
CACHED_FROM_TOKENS = 1024
_REFUSED = "I'm sorry, but I can't help with that."
_FINISH = {
    "max_tokens": "length",
    "thoughts_only": "length",
    "safety": "content_filter",
    "recitation": "content_filter",
    "unknown_finish": "frobnicated",
}
_SILENT = frozenset({"thoughts_only", "safety", "refusal"})


class OpenAiServer(ModelServer):
    """Serve it, and give the client `base_url + "/v1"`.

    Besides the options of every `ModelServer`:

    - `ladder`: the ways of asking for JSON that it takes; `ladder_code` answers the others.
    - `context_tokens`: a longer prompt is cut to it without a word, as Ollama does.
    - `batches`: how batches go.
    """

    known_faults = OPENAI_FAULTS

    def __init__(
        self,
        *,
        ladder: Collection[str] = LADDER,
        ladder_code: int = 400,
        context_tokens: int | None = None,
        batches: BatchScript | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.desk = BatchDesk(batches or BatchScript())
        self._batches = OpenAiBatches(self, self.desk)
        self._ladder = ladder
        self._ladder_code = ladder_code
        self._context_tokens = context_tokens
        self._cache = PrefixCache(CACHED_FROM_TOKENS)

    @property
    def batches(self) -> dict[str, Batch]:
        """Jobs by id; what a test takes out is gone for the client too."""
        return self.desk.jobs

    def route(self, request: Request) -> Response:
        if self.key is not None and (wrong := self._wrong_key(request)):
            return wrong
        if request.path == "/v1/chat/completions" and request.method == "POST":
            return self._chat(request.json())
        if request.path == "/v1/models":
            data = [{"id": name, "object": "model"} for name in self.models or ("oracle",)]
            return json_response({"object": "list", "data": data})
        known = self._batches.route(request)
        return known or self.error(404, f"Invalid URL ({request.method} {request.path})")

    def error(self, status: int, message: str, **more: Any) -> Response:
        return json_response(error_body(status, message, **more), status)

    def refusal(self, fault: str) -> Response:
        status, message, code = said_of(fault, self.key or "")
        response = self.error(status, message, code=code)
        response.headers = hints_of(fault, self.faults.hint_seconds)
        return response

    def body(self, asked: Asked, said: Said, fault: str | None) -> dict[str, Any]:
        whole = {
            "id": f"chatcmpl-{said.response_id}",
            "object": "chat.completion",
            "created": 1795262400,
            "model": said.version,
            "choices": [] if fault == "no_candidate" else [_choice(said, fault)],
            "usage": self._usage(asked, said, fault),
        }
        if fault == "missing_usage":
            del whole["usage"]
        return whole

    def asked(self, body: dict[str, Any]) -> Asked:
        messages = body["messages"]
        system = [_content(m) for m in messages if m["role"] in ("system", "developer")]
        turns = tuple(
            ("model" if m["role"] == "assistant" else "user", _content(m))
            for m in messages
            if m["role"] in ("assistant", "user")
        )
        form = body.get("response_format") or {}
        return Asked(
            model=body["model"],
            system="\n".join(system),
            turns=turns,
            schema=(form.get("json_schema") or {}).get("schema") or form.get("schema"),
            settings={n: body[n] for n in ("temperature", "seed") if n in body},
            max_output_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
            files=openai_files(messages),
        )

    def takes(self, body: dict[str, Any]) -> Response | None:
        """A refusal, where it does not know the model or the way of asking for JSON."""
        if not self.exists(body["model"]):
            message = f"The model `{body['model']}` does not exist or you do not have access."
            return self.error(404, message, code="model_not_found")
        kind = (body.get("response_format") or {"type": "prompt"})["type"]
        if kind in self._ladder:
            return None
        return self.error(self._ladder_code, f"response_format of type {kind} is not supported")

    def _chat(self, body: dict[str, Any]) -> Response:
        return self.takes(body) or self.live(self.asked(body))

    def _usage(self, asked: Asked, said: Said, fault: str | None) -> dict[str, Any]:
        output = 0 if fault in _SILENT else said.output_tokens
        output += said.thinking_tokens
        prompt = min(said.prompt_tokens, self._context_tokens or said.prompt_tokens)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": self._cache.cached_tokens(asked.text)},
            "completion_tokens_details": {"reasoning_tokens": said.thinking_tokens},
        }

    def _wrong_key(self, request: Request) -> Response | None:
        given = re.sub(r"^Bearer ", "", request.headers.get("authorization", ""))
        if given == self.key:
            return None
        message = f"Incorrect API key provided: {given}. You can find your API key at …"
        return self.error(401, message, code="invalid_api_key")


def _choice(said: Said, fault: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None}
    if fault in _SILENT:
        message["content"] = None
    if fault == "recitation":
        message["content"] = said.text[: len(said.text) // 2]
    if fault == "refusal":
        message["refusal"] = _REFUSED
    finish = _FINISH.get(fault or "", "length" if said.cut else "stop")
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
