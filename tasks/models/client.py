"""The clients' protocol, and how they interpret error responses."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import httpx

from tasks.models.errors import Misconfigured, ModelError, RequestRejected, TransientError
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.usage_counts import count_tokens
from tasks.warehouse.rows import replace_surrogates

CONFIGURED_IN = "configs/judges.yaml"
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of OpenAI's errors for an account without credit."""
RETRYABLE_CODES = frozenset({408, 429})
"""Retryable besides 5xx; all other codes are permanent."""
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
) -> ModelError:
    """Return the error for an HTTP status that is not a success.

    configured_in: the file that names the model, for messages.
    key_env: the variable that holds the key, if it is known here.
    """
    shown = f"HTTP {code}: {message[:MAX_MESSAGE_CHARS]}"
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


def parse_json(response: httpx.Response, *, billable: bool = True) -> Any:
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


def parse_error(response: httpx.Response) -> tuple[str, str | None]:
    """Return the message and code of an error response, in any of the known forms."""
    try:
        body: Any = response.json()
    except (ValueError, RecursionError):
        return _read_text(response), None  # callers truncate it after redacting the key
    return parse_error_body(body.get("error", body) if isinstance(body, dict) else body)[:2]


def parse_error_body(error: Any) -> tuple[str, str | None, int | None]:
    """Return the message, code and HTTP status of an error object, in any of the known forms."""
    if not isinstance(error, dict):
        return str(error), None, None
    message = error.get("message") or error.get("detail") or error
    word = error.get("code") or error.get("type")
    status = next(filter(None, (count_tokens(error.get(n)) for n in ("code", "status"))), None)
    return str(message), word if isinstance(word, str) else None, status


def _read_text(response: httpx.Response) -> str:
    """Return the text of an answer, without the markup of a page."""
    if "html" not in response.headers.get("content-type", ""):
        return response.text
    from selectolax.lexbor import LexborHTMLParser  # only for errors

    page = LexborHTMLParser(response.text)
    page.strip_tags(["head", "script", "style"])
    return " ".join(page.text(separator=" ").split())


def redact_key(text: str, key: str | None) -> str:
    """Return a foreign text fit for storage, without the key, which an endpoint may echo."""
    return replace_surrogates(text.replace(key, "[key]") if key else text)
