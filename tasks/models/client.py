"""The clients' protocol, and how they interpret error responses."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Protocol

from tasks.masking import OWN_KEY, SecretMask
from tasks.models.errors import (
    Misconfigured,
    ModelError,
    QuotaExhausted,
    RequestRejected,
    TransientError,
)
from tasks.models.exchange import ModelRequest, Reply
from tasks.warehouse.rows import replace_surrogates

if TYPE_CHECKING:  # it is slow to load, and agents' settings are read beside their clients
    import httpx

CONFIGURED_IN = "configs/judges.yaml"
NO_CREDIT = re.compile(
    r"insufficient[ _-](?:\w+[ _])?(?:credit|balance|fund|quota)"
    r"|(?:credit|account)[ _]balance (?:is )?too low"
    r"|credits? (?:are|is|have been) (?:depleted|exhausted)|credit_balance_exhausted"
    r"|out of credit|no (?:remaining )?credits?\b|used all available credits"
    r"|(?:doesn't|does not) have (?:any|enough) credits|payment.required|arrearage|allocationquota"
    r"|billing_(?:error|hard_limit|not_active)|exceeded_current_quota"
    r"|spend_limit_(?:reached|exceeded)"
    r"|reached (?:its|your) (?:monthly spending limit|specified (?:workspace )?api usage limits)",
    re.I,
)
"""How makers and gateways say that an account has no credit left, in codes or in words."""
_MEANINGS = {
    r"rate.?limit|too many requests": 429, r"authentication_error|invalid_api_key": 401,
    "permission_error": 403, "not_found_error": 404, "invalid_request_error": 400,
}  # fmt: skip
"""The statuses that an error's words mean."""
PASSING = "in_flight_budget_exhausted"
"""OpenRouter's 402 while other requests under way hold the credit that is left."""
RETRYABLE_CODES = frozenset({408, 429})
"""Retryable besides 5xx; all other codes are permanent."""
_STATUS_NAMES = ("code", "status", "status_code")
REDIRECT_CODES = frozenset({301, 302, 307, 308})
"""Redirects, which are not followed: nothing was processed."""
MAX_MESSAGE_CHARS = 500


class ModelClient(Protocol):
    """A provider's API: one attempt per request, no retries."""

    async def ask(self, request: ModelRequest) -> Reply:
        """Send a request once.

        Raises:
            TransientError, RequestRejected, StopStage: see `errors`; no message holds the key.
        """

    async def close(self) -> None:
        """Close the connections."""


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds from `retry-after-ms` or `Retry-After` (seconds or date)."""
    milliseconds = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", milliseconds):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):  # no date, or out of range
        return None


def classify_status(
    code: int,
    message: str,
    headers: Mapping[str, str],
    model: str,
    configured_in: str = CONFIGURED_IN,
    key_env: str | None = None,
    word: str | None = None,
) -> ModelError:
    """Return the error for an HTTP status that is not a success.

    configured_in: the file that names the model, for messages.
    key_env: the variable that holds the key, if it is known here.
    word: the error's own code or type.
    """
    shown = f"HTTP {code}: {message[:MAX_MESSAGE_CHARS]}"
    words = f"{word} {message}"
    if code == 402 and PASSING in words:
        return TransientError(shown, "rate_limit", code=code)
    if code == 402 or (400 <= code < 500 and NO_CREDIT.search(words)):
        return QuotaExhausted(
            f"{model}: the account has no credit or quota left ({shown}). Answers so far are kept; "
            "top it up and run again."
        )
    if code in RETRYABLE_CODES or code >= 500:
        kind = "rate_limit" if code == 429 else "server"
        return TransientError(shown, kind, hint_seconds=parse_retry_after(headers), code=code)  # type: ignore[arg-type]
    if code in REDIRECT_CODES:
        return Misconfigured(
            f"{model}: the endpoint redirects elsewhere (HTTP {code}), and redirects are not "
            f"followed. Check `base_url` in `{configured_in}`."
        )
    if code < 400:  # neither an error nor an answer
        return TransientError(shown, "garbled", maybe_billed=True, code=code)
    if code in (401, 403):
        variable = key_env or f"the variable that `key_env` names in {configured_in}"
        return Misconfigured(
            f"{model}: the key is not accepted ({shown}). Check the key in {variable}."
        )
    if code == 404:
        return Misconfigured(
            f"{model}: there is no such model or address ({shown}). Check `model` and "
            f"`base_url` in `{configured_in}`."
        )
    return RequestRejected(shown, code)


def classify_response(response: "httpx.Response", key: str | None, model: str) -> ModelError:
    """Return the error for a response that is not a success, without the key."""
    message, word = parse_error(response)
    message = redact_key(message, key)
    return classify_status(response.status_code, message, response.headers, model, word=word)


@contextmanager
def catch_parse_errors(what: str, *, billable: bool = True) -> Iterator[None]:
    """Turn errors from parsing a complete answer into a transient "garbled" error.

    what: the message, e.g. "the answer is no chat completion".

    Raises:
        TransientError: the answer has an unexpected form.
    """
    try:
        yield
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        raise TransientError(what, "garbled", maybe_billed=billable) from None


def parse_json(response: "httpx.Response", *, billable: bool = True) -> Any:
    """Return the JSON of a response.

    Raises:
        TransientError: it is not JSON.
    """
    kind = response.headers.get("content-type", "no Content-Type")
    with catch_parse_errors(
        f"the answer cannot be read as JSON (HTTP {response.status_code}, {kind})",
        billable=billable,
    ):
        return response.json()


def read_answer(response: "httpx.Response", key: str | None, model: str) -> Any:
    """Parse the body of a response; raise the error that it is, or that its body states."""
    if not response.is_success:
        raise classify_response(response, key, model)
    answer = parse_json(response)
    if error := find_error(answer):
        raise classify_error_object(error, key, model)
    return answer


def parse_error(response: "httpx.Response") -> tuple[str, str | None]:
    """Return the message and code of an error response, in any of the known forms."""
    try:
        body: Any = response.json()
    except (ValueError, RecursionError):
        return _read_text(response), None  # callers truncate it after redacting the key
    return describe_error(body.get("error", body) if isinstance(body, dict) else body)


def describe_error(error: Any) -> tuple[str, str | None]:
    """Return the message and code of an error object. A gateway's message may say nothing, its
    `metadata.raw` what the provider said."""
    if not isinstance(error, dict):
        return str(error), None
    message = str(error.get("message") or error.get("detail") or error)
    metadata, details = (
        {} if not isinstance(one, dict) else one for one in map(error.get, ("metadata", "details"))
    )
    if raw := metadata.get("raw"):
        message += f" ({raw})"
    codes = [error.get("code"), error.get("type"), details.get("error_code")]
    words = [word for word in codes if isinstance(word, str)]
    return message, " ".join(words) or None


def find_error(answer: Any) -> Any:
    """Return the error that stands in a completion's place, in the body or in a choice; None if
    there is none."""
    if not isinstance(answer, dict):
        return None
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if error := answer.get("error") or (choice.get("error") if isinstance(choice, dict) else None):
        return error
    is_error = "error" in (answer.get("object"), answer.get("type"))
    return answer if is_error or (not choices and {"message", "detail"} & answer.keys()) else None


def classify_error_object(error: Any, key: str | None, model: str, **more: Any) -> ModelError:
    """Return the error for an error object inside HTTP 200, by the status that it names.

    more: as `classify_status`.
    """
    message, word = describe_error(error)
    message, code = redact_key(message, key), find_error_status(error) or 500
    found = classify_status(code, message, {}, model, word=word, **more)
    if isinstance(found, TransientError):
        found.maybe_billed = code != 429  # a model may have broken off in the middle of its answer
        found.code = None  # the endpoint took the request: its form is not what failed
    return found


def find_error_status(error: Any) -> int | None:
    """Return the HTTP status that an error object names, or that its words mean; None if
    neither says."""
    named = [error.get(name) for name in _STATUS_NAMES] if isinstance(error, dict) else []
    if said := [str(one) for one in named if re.fullmatch(r"[45]\d\d", str(one))]:
        return int(said[0])
    words = " ".join(filter(None, describe_error(error)))
    if NO_CREDIT.search(words):
        return 402
    return next((code for said, code in _MEANINGS.items() if re.search(said, words, re.I)), None)


def _read_text(response: "httpx.Response") -> str:
    """Return the text of an answer, without the markup of a page."""
    if "html" not in response.headers.get("content-type", ""):
        return response.text
    from selectolax.lexbor import LexborHTMLParser  # only for errors

    page = LexborHTMLParser(response.text)
    page.strip_tags(["head", "script", "style"])
    return " ".join(page.text(separator=" ").split())


def redact_key(text: str, key: str | None) -> str:
    """Return a foreign text fit for storage, without the key, which an endpoint may echo."""
    return replace_surrogates(SecretMask([key or ""], OWN_KEY).hide(text))
