"""Gemini's generateContent, through google-genai.

The SDK retries nothing here (its own retries ignore the server's hints) and does no automatic
continuation; time-outs are set, because its default is to wait for ever.
"""

import re
import time
from collections.abc import Awaitable
from typing import Any, TypeVar

import httpx
from google import genai
from google.genai import errors, types

from tasks.models.attachments import laid_out
from tasks.models.client import reading, redacted, refusal, retry_after
from tasks.models.errors import Misconfigured, ModelError, QuotaExhausted, Transient
from tasks.models.exchange import Finish, ModelRequest, Reply, Usage, parsed_schema
from tasks.models.failures import no_answer
from tasks.models.transport import MOST_BYTES, http_client

ResultT = TypeVar("ResultT")
BLOCKS = frozenset(
    {
        "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
        "MODEL_ARMOR", "IMAGE_SAFETY", "JAILBREAK", "ESCALATION",
    }
)  # fmt: skip
"""Why an answer was withheld: words of `finishReason` and `blockReason`."""
CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
WHOLE = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
HARM = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class GeminiClient:
    """One key and address; as many calls at once as `connections`."""

    most_answer_bytes = MOST_BYTES

    def __init__(
        self, key: str, *, base_url: str | None, connections: int, timeout_seconds: float
    ) -> None:
        """Open no connection yet.

        Raises:
            Misconfigured: the address is none.
        """
        try:
            httpx.URL(base_url or "")  # what the SDK says of it would look like a garbled answer
        except httpx.InvalidURL as error:
            raise no_answer(error, buying=False) from None
        self._key = key
        self._http = http_client(connections, timeout_seconds, self.most_answer_bytes)
        self._client = genai.Client(
            api_key=key,
            http_options=types.HttpOptions(
                base_url=base_url,
                timeout=round(timeout_seconds * 1000),
                httpx_async_client=self._http,
            ),
        )

    async def ask(self, request: ModelRequest) -> Reply:
        started = time.monotonic()
        answer = await self._called(
            self._client.aio.models.generate_content(
                model=request.model,
                contents=contents(request),
                config=generation_config(request),
            ),
            request.model,
        )
        reply = read_response(answer)
        return reply.model_copy(update={"latency_seconds": time.monotonic() - started})

    async def close(self) -> None:
        await self._http.aclose()

    async def _called(self, call: Awaitable[ResultT], what: str) -> ResultT:
        try:
            return await call
        except errors.APIError as error:
            raise self._meaning(error, what) from None
        except Exception as error:
            raise unheard(error, self._key) from None

    def _meaning(self, error: errors.APIError, model: str) -> ModelError:
        message = redacted(str(error.message or error.details), self._key)
        headers = getattr(error.response, "headers", None) or {}
        details = error_details(error.details)
        code = error.code or 0
        if code == 429:
            return too_many_requests(message, details, headers)
        if code == 400 and "API_KEY_INVALID" in str(details):
            return Misconfigured(
                f"{model}: the key is not accepted ({message[:200]}). Check the variable that "
                "`configs/judges.yaml` names for it."
            )
        return refusal(code, message, headers, model)


def unheard(error: Exception, key: str | None, *, buying: bool = True) -> Exception:
    """What an error of the SDK's means that is no refusal, whatever it stumbled over.

    The transport has said what goes wrong below it.
    """
    if isinstance(error, ModelError):
        return error
    unread = isinstance(error, UnicodeDecodeError)
    if isinstance(error, httpx.InvalidURL | UnicodeError) and not unread:  # nothing was sent
        return no_answer(error, buying=False)
    said = redacted(f"{type(error).__name__}: {error}", key)[:200]
    return Transient(f"the answer is not Gemini's JSON ({said})", "garbled", maybe_billed=buying)


def contents(request: ModelRequest) -> list[types.Content]:
    """The turns of a request in the SDK's form; files go before the text of the first."""
    turns = [types.Content(role=t.role, parts=[types.Part(text=t.text)]) for t in request.turns]
    if request.attachments:
        files = [
            types.Part(text=piece)
            if isinstance(piece, str)
            else types.Part(
                inline_data=types.Blob(data=piece.content(), mime_type=piece.media_type)
            )
            for piece in laid_out(request.attachments)
        ]
        turns[0] = types.Content(role=turns[0].role, parts=[*files, *(turns[0].parts or ())])
    return turns


def generation_config(request: ModelRequest) -> types.GenerateContentConfig:
    """How the answer is asked for: JSON by schema, nothing filtered, no continuation."""
    asked = request.parameters
    thinking: dict[str, Any] = {}
    if asked.thinking_budget is not None:
        thinking["thinking_budget"] = asked.thinking_budget
    if asked.thinking_level is not None:
        thinking["thinking_level"] = asked.thinking_level.upper()
    return types.GenerateContentConfig(
        system_instruction=request.system,
        temperature=asked.temperature,
        top_p=asked.top_p,
        seed=asked.seed,
        max_output_tokens=asked.max_output_tokens,
        response_mime_type="application/json",
        response_json_schema=parsed_schema(request.reply_schema),
        thinking_config=types.ThinkingConfig(**thinking) if thinking else None,
        safety_settings=[
            types.SafetySetting(category=category, threshold="BLOCK_NONE") for category in HARM
        ],
        automatic_continuation=False,
    )


def read_response(answer: types.GenerateContentResponse, delivery: str = "live") -> Reply:
    """One answer as the SDK gives it, as a reply.

    Raises:
        Transient: the body was empty: no candidate, and no word of a block; or of another form.
    """
    with reading("the answer is not Gemini's JSON"):
        return _reply(answer, delivery)


def _reply(answer: types.GenerateContentResponse, delivery: str) -> Reply:
    feedback = answer.prompt_feedback
    candidate = answer.candidates[0] if answer.candidates else None
    if candidate is None and not (feedback and feedback.block_reason):
        raise Transient("an empty answer (no candidate)", "garbled", maybe_billed=True)
    reason = candidate.finish_reason if candidate else feedback.block_reason if feedback else None
    word = _word(reason)
    parts = (candidate.content.parts if candidate and candidate.content else None) or []
    text = "".join(part.text for part in parts if part.text and not part.thought)
    finish = _finish(word, text, blocked=candidate is None)
    return Reply(
        finish=finish,
        text=text,
        stop_reason=word,
        usage=_usage(answer.usage_metadata),
        model_version=answer.model_version,
        response_id=answer.response_id,
        raw=None if finish == "ok" else answer.model_dump_json(exclude_none=True),
        delivery=delivery,
    )


def _finish(word: str | None, text: str, *, blocked: bool) -> Finish:
    if blocked or word in BLOCKS:
        return "blocked"
    if word in CUT:
        return "truncated"
    if not text:
        return "empty"
    return "ok" if word is None or word in WHOLE else "truncated"


def _word(reason: object) -> str | None:
    value = getattr(reason, "value", reason)
    return str(value) if value else None


def _usage(said: types.GenerateContentResponseUsageMetadata | None) -> Usage:
    if said is None:
        return Usage()
    return Usage(
        prompt=said.prompt_token_count,
        cached=said.cached_content_token_count or 0,
        output=said.candidates_token_count or 0,
        thinking=said.thoughts_token_count or 0,
    )


def error_details(body: Any) -> list[dict[str, Any]]:
    """The details of a Google API's error, whatever else its body holds."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return _objects(details)


def _objects(said: Any) -> list[dict[str, Any]]:
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


def too_many_requests(message: str, details: list[dict[str, Any]], headers: Any) -> ModelError:
    """A 429: of a minute or of spending (it passes), or of a day (it does not)."""
    quotas = [
        str(violation.get("quotaId"))
        for detail in details
        for violation in _objects(detail.get("violations"))
    ]
    if any("PerDay" in quota for quota in quotas):
        return QuotaExhausted(
            f"Gemini's quota of the day is used up ({', '.join(quotas)}). What was answered is "
            "kept; run again tomorrow, or raise the quota."
        )
    delays = [_DELAY.fullmatch(str(detail.get("retryDelay"))) for detail in details]
    hints = [float(found[1]) for found in delays if found]
    if (header := retry_after(headers)) is not None:
        hints.append(header)
    return Transient(
        f"HTTP 429: {message[:300]}",
        "rate_limit",
        hint_seconds=max(hints, default=None),
        code=429,
    )
