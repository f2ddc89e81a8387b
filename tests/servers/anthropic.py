"""Anthropic's Messages API as judges use it: JSON by a schema, and marks for its cache."""

from base64 import b64decode
from hashlib import sha256
from typing import Any

from tests.servers.anthropic_forms import (
    check_request,
    checked_message,
    error_body,
    load_types,
    said_of,
)
from tests.servers.asked import Asked, File
from tests.servers.base import ModelServer, Said
from tests.servers.faults import ANTHROPIC_FAULTS
from tests.servers.http import Request, Response, json_response
from tests.servers.openai_forms import hints_of

CACHED_FROM_TOKENS = 512
THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "Eq0B"}
_STOP = {
    "max_tokens": "max_tokens",
    "thoughts_only": "max_tokens",
    "refusal": "refusal",
    "unknown_finish": "frobnicated",
}
_SILENT = frozenset({"thoughts_only", "refusal"})
_UNTYPED = frozenset({"no_candidate", "missing_usage", "unknown_finish"})
"""Faults whose answers the package's types do not know."""


class MessagesServer(ModelServer):
    """Serve it at `base_url` as it is; the client adds `/v1/messages`.

    `bodies` and `headers` are of the requests that came. Prompts are cached up to their marks.
    """

    known_faults = ANTHROPIC_FAULTS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        load_types()  # in a request it would take longer than some clients wait
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._cache: set[bytes] = set()

    def route(self, request: Request) -> Response:
        self.headers.append(request.headers)
        if self.key is not None and request.headers.get("x-api-key") != self.key:
            return self.error(401, f"invalid x-api-key {request.headers.get('x-api-key')}")
        if "anthropic-version" not in request.headers:
            return self.error(400, "anthropic-version: header is required")
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return self.error(404, "Not found")
        body = request.json()
        self.bodies.append(body)
        check_request(body)
        if not self.exists(body["model"]):
            return self.error(404, f"model: {body['model']}")
        return self.live(self.asked(body))

    def error(self, status: int, message: str, **more: Any) -> Response:
        return json_response(error_body(status, message, **more), status)

    def refusal(self, fault: str) -> Response:
        status, message, code = said_of(fault, self.key or "")
        response = self.error(status, message, error_code=code)
        response.headers = hints_of(fault, self.faults.hint_seconds)
        if fault == "quota_per_day":  # it names no time
            response.headers = ()
        return response

    def body(self, asked: Asked, said: Said, fault: str | None) -> dict[str, Any]:
        blocks = [] if fault in _SILENT else [{"type": "text", "text": said.text}]
        thought = said.thinking_tokens or fault == "thoughts_only"
        details = {"type": "refusal", "category": "bio", "explanation": "It may harm."}
        whole = {
            "id": f"msg_{said.response_id}",
            "type": "message",
            "role": "assistant",
            "model": said.version,
            "content": [THOUGHT, *blocks] if thought else blocks,
            "stop_reason": _STOP.get(fault or "", "max_tokens" if said.cut else "end_turn"),
            "stop_sequence": None,
            "stop_details": details if fault == "refusal" else None,
            "usage": self._usage(said, fault),
        }
        if fault == "missing_usage":
            del whole["usage"]
        if fault == "no_candidate":
            del whole["content"]
        return whole if fault in _UNTYPED else checked_message(whole)

    def asked(self, body: dict[str, Any]) -> Asked:
        contents = [(turn["role"], _blocks(turn["content"])) for turn in body["messages"]]
        return Asked(
            model=body["model"],
            system=_text(_blocks(body["system"])),
            turns=tuple(("model" if r == "assistant" else r, _text(c)) for r, c in contents),
            schema=body["output_config"]["format"]["schema"],
            max_output_tokens=body["max_tokens"],
            files=tuple(_file(b) for _, c in contents for b in c if b["type"] != "text"),
        )

    def _usage(self, said: Said, fault: str | None) -> dict[str, Any]:
        read, written = self._count_cache(self.bodies[-1])
        output = 0 if fault in _SILENT else said.output_tokens
        return {
            "input_tokens": max(0, said.prompt_tokens - read - written),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output + said.thinking_tokens,
            "output_tokens_details": {"thinking_tokens": said.thinking_tokens},
        }  # fmt: skip

    def _count_cache(self, body: dict[str, Any]) -> tuple[int, int]:
        """Tokens read and written: up to each mark what was written before, or is now."""
        state, n_bytes, read, written = sha256(), 0, 0, 0
        blocks = [*_blocks(body["system"]), *_blocks(body["messages"][0]["content"])]
        for block in blocks:
            data = block.get("text", "").encode("utf-8", "surrogatepass")
            state.update(data)
            n_bytes += len(data)
            if "cache_control" not in block or n_bytes < 4 * CACHED_FROM_TOKENS:
                continue
            if state.digest() in self._cache:
                read, written = n_bytes // 4, 0
            else:
                written = n_bytes // 4 - read
            self._cache.add(state.digest())
        return read, written


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(blocks: list[dict[str, Any]]) -> str:
    return "".join(block.get("text", "") for block in blocks)


def _file(block: dict[str, Any]) -> File:
    source = block["source"]
    content = b64decode(source["data"], validate=True)
    return File(source["media_type"], sha256(content).hexdigest(), len(content))
