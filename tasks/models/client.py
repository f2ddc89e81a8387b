"""What every provider's client is, and what they share in reading an endpoint's refusals."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import httpx

from tasks.models.errors import Misconfigured, ModelError, Rejected, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.warehouse.rows import storable

RETRIED_CODES = frozenset({408, 429})
"""Besides 5xx. Everything else means the same tomorrow."""
MOVED = frozenset({301, 302, 307, 308})
"""Redirects that say "nothing was done here"; they are not followed."""
SHOWN = 500


class ModelClient(Protocol):
    """One provider's API: one try of one request, no more."""

    async def ask(self, request: ModelRequest) -> Reply:
        """Send a request once.

        Raises:
            Transient, Rejected, StopsTheStage: see `errors`; no message holds the key.
        """

    async def close(self) -> None:
        """Close its connections."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asks to wait: `retry-after-ms`, or `Retry-After` as seconds or a date."""
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
    except (ValueError, TypeError, OverflowError):  # no date, or one beyond the calendar
        return None


def refusal(
    code: int,
    message: str,
    headers: Mapping[str, str],
    model: str,
    configured_in: str = "configs/judges.yaml",
) -> ModelError:
    """What any HTTP status but that of an answer means for the caller.

    configured_in: the file that names the model, for what is said to people.
    """
    shown = f"HTTP {code}: {message[:SHOWN]}"
    if code in RETRIED_CODES or code >= 500:
        kind = "rate_limit" if code == 429 else "server"
        return Transient(shown, kind, hint_seconds=retry_after(headers), code=code)  # type: ignore[arg-type]
    if code in MOVED:
        return Misconfigured(
            f"{model}: its endpoint sends its callers elsewhere (HTTP {code}), where no key is "
            f"taken to. Check `base_url` in `{configured_in}`."
        )
    if code < 400:  # no refusal, and no answer either
        return Transient(shown, "garbled", maybe_billed=True, code=code)
    if code in (401, 403):
        return Misconfigured(
            f"{model}: the key is not accepted ({shown}). Check the variable that "
            f"`{configured_in}` names for it."
        )
    if code == 404:
        return Misconfigured(
            f"{model}: there is no such model or address ({shown}). Check `model` and "
            f"`base_url` in `{configured_in}`."
        )
    return Rejected(shown, code)


@contextmanager
def reading(what: str, *, buying: bool = True) -> Iterator[None]:
    """Around the reading of a whole answer: one of another form is a garbled one.

    what: in words, for the message: "the answer is no chat completion".

    Raises:
        Transient: any place of it holds anything else than it should.
    """
    try:
        yield
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        raise Transient(what, "garbled", maybe_billed=buying) from None


def json_of(response: httpx.Response, *, buying: bool = True) -> Any:
    """The JSON of an answer.

    Raises:
        Transient: it is none.
    """
    kind = response.headers.get("content-type", "nothing")
    with reading(f"HTTP {response.status_code} with {kind} that is no JSON", buying=buying):
        return response.json()


def error_of(response: httpx.Response) -> tuple[str, str | None]:
    """The message of a refusal and the provider's word for it, in all forms that are known."""
    try:
        body: Any = response.json()
    except (ValueError, RecursionError):
        return response.text, None  # cut by whoever shows it, after the key is taken out
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return str(inner), None
    message = inner.get("message") or inner.get("detail") or inner
    word = inner.get("code") or inner.get("type")
    return str(message), word if isinstance(word, str) else None


def redacted(text: str, key: str | None) -> str:
    """A text from outside that can be kept: without the key, in case an endpoint repeats it."""
    return storable(text.replace(key, "[key]") if key else text)
