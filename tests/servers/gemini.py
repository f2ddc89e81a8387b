"""Gemini's generateContent and its batches, as google-genai 3.4.0 sees them on the wire."""

import re
from typing import Any

from tests.servers.asked import Asked
from tests.servers.attached import MOST_GEMINI_BYTES, gemini_files
from tests.servers.base import ModelServer, Said
from tests.servers.batches import Batch, BatchDesk, BatchScript
from tests.servers.faults import GEMINI_FAULTS
from tests.servers.gemini_batches import GeminiBatches
from tests.servers.gemini_forms import error_body, quota_details
from tests.servers.http import Request, Response, json_response
from tests.servers.prefixes import PrefixCache

CACHED_FROM_TOKENS = 4096
_CALL = re.compile(r"/v1(?:beta)?/models/([^/:]+):(\w+)")
_FINISH = {
    "max_tokens": "MAX_TOKENS",
    "thoughts_only": "MAX_TOKENS",
    "safety": "SAFETY",
    "recitation": "RECITATION",
    "unknown_finish": "FROBNICATED",
    "continuation": "CONTINUATION",
}
_WITHOUT_PARTS = frozenset({"thoughts_only", "safety", "recitation"})


class GeminiServer(ModelServer):
    """Serve it at `base_url` as it is; the SDK adds `/v1`.

    Besides the options of every `ModelServer`: `batches` says how batches go.
    """

    known_faults = GEMINI_FAULTS

    def __init__(self, *, batches: BatchScript | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.desk = BatchDesk(batches or BatchScript())
        self._batches = GeminiBatches(self, self.desk)
        self._cache = PrefixCache(CACHED_FROM_TOKENS)

    @property
    def batches(self) -> dict[str, Batch]:
        """Jobs by name; what a test takes out is gone for the client too."""
        return self.desk.jobs

    def route(self, request: Request) -> Response:
        if self.key is not None and request.headers.get("x-goog-api-key") != self.key:
            return self._wrong_key()
        found = _CALL.fullmatch(request.path)
        if found and request.method == "POST":
            return self._call(found[1], found[2], request)
        if found := re.fullmatch(r"/v1(?:beta)?/models/([^/:]+)", request.path):
            return self._model(found[1])
        return self._batches.route(request) or self.error(404, f"{request.path} was not found.")

    def error(self, status: int, message: str, **more: Any) -> Response:
        return json_response(error_body(status, message, **more), status)

    def refusal(self, fault: str) -> Response:
        hint = self.faults.hint_seconds
        headers: tuple[tuple[str, str], ...] = ()
        if fault == "rate_limit_retry_after":
            headers = (("Retry-After", f"{hint:g}"),)
        status, message, details = quota_details(fault, hint, self.key or "")
        response = self.error(status, message, details=details)
        response.headers = headers
        return response

    def body(self, asked: Asked, said: Said, fault: str | None) -> dict[str, Any]:
        usage = self._usage(asked, said, fault)
        whole: dict[str, Any] = {
            "usageMetadata": usage,
            "modelVersion": said.version,
            "responseId": said.response_id,
        }
        if fault == "missing_usage":
            del whole["usageMetadata"]
        if fault == "no_candidate":
            return whole
        if fault == "prompt_block":
            return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **whole}
        return {"candidates": [_candidate(said, fault)], **whole}

    def asked(self, model: str, body: dict[str, Any]) -> Asked:
        """A request's body, in the spelling of either case."""
        settings = dict(_either(body, "generationConfig", "generation_config") or {})
        system = _either(body, "systemInstruction", "system_instruction") or {}
        schema = _either(settings, "responseJsonSchema", "response_json_schema")
        limit = _either(settings, "maxOutputTokens", "max_output_tokens")
        return Asked(
            model=model,
            system=_text(system),
            turns=tuple((c.get("role", "user"), _text(c)) for c in body["contents"]),
            schema=schema or _either(settings, "responseSchema", "response_schema"),
            settings={n: settings[n] for n in ("temperature", "seed") if n in settings},
            max_output_tokens=limit,
            files=gemini_files(body),
        )

    def _call(self, model: str, method: str, request: Request) -> Response:
        if not self.exists(model):
            return self.error(
                404, f"models/{model} is not found for API version v1, or is not supported"
            )
        if len(request.body) > MOST_GEMINI_BYTES:
            return self.error(400, f"Request payload size exceeds {MOST_GEMINI_BYTES} bytes.")
        body = request.json()
        if method == "batchGenerateContent":
            return self._batches.create(model, body)
        asked = self.asked(model, body)
        if method == "generateContent":
            return self.live(asked)
        return self.error(404, f"{method} was not found.")

    def _model(self, model: str) -> Response:
        if not self.exists(model):
            return self.error(404, f"models/{model} is not found.")
        limits = {"inputTokenLimit": 1048576, "outputTokenLimit": 65536}
        return json_response({"name": f"models/{model}", "version": "001", **limits})

    def _wrong_key(self) -> Response:
        details = [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            }
        ]
        return self.error(400, "API key not valid. Please pass a valid API key.", details=details)

    def _usage(self, asked: Asked, said: Said, fault: str | None) -> dict[str, int]:
        output = 0 if fault in _WITHOUT_PARTS or fault == "prompt_block" else said.output_tokens
        thinking = said.thinking_tokens or (64 if fault == "thoughts_only" else 0)
        usage = {
            "promptTokenCount": said.prompt_tokens,
            "totalTokenCount": said.prompt_tokens + output + thinking,
        }
        optional = {
            "candidatesTokenCount": output,
            "thoughtsTokenCount": thinking,
            "cachedContentTokenCount": self._cache.cached_tokens(asked.text),
        }
        return usage | {name: value for name, value in optional.items() if value}


def _candidate(said: Said, fault: str | None) -> dict[str, Any]:
    finish = _FINISH.get(fault or "", "MAX_TOKENS" if said.cut else "STOP")
    candidate: dict[str, Any] = {"index": 0, "finishReason": finish}
    if fault in _WITHOUT_PARTS or not said.text:
        return candidate
    text = said.text
    if fault == "continuation":
        text = text[: len(text) // 2]
        candidate["continuationToken"] = "more"
    parts: list[dict[str, Any]] = [{"text": text}]
    return {"content": {"role": "model", "parts": parts}, **candidate}


def _text(content: Any) -> str:
    """A content's text; it may be a bare text, one part, or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content.get("parts", ()))


def _either(body: dict[str, Any], camel: str, snake: str) -> Any:
    return body[camel] if camel in body else body.get(snake)
