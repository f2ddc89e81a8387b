"""What every provider's client is, and what they share in reading an endpoint's refusals."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import httpx

from tasks.models.errors import Misconfigured, ModelError, Rejected, Transient
from tasks.models.exchange import ModelRequest, Reply
from tasks.models.transport import may_have_arrived

RETRIED_CODES = frozenset({408, 429})
"""Besides 5xx. Everything else means the same tomorrow."""
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
    """What an HTTP status of 400 and more means for the caller.

    configured_in: the file that names the model, for what is said to people.
    """
    shown = f"HTTP {code}: {message[:SHOWN]}"
    if code in RETRIED_CODES or code >= 500:
        kind = "rate_limit" if code == 429 else "server"
        return Transient(shown, kind, hint_seconds=retry_after(headers), code=code)  # type: ignore[arg-type]
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


def no_answer(error: httpx.TransportError) -> Transient:
    """A request whose answer did not arrive."""
    cause = error.__cause__ or error
    said = f"{type(cause).__name__}: {cause}".strip(": ")
    arrived = may_have_arrived(error)
    timed_out = isinstance(error, httpx.TimeoutException) and isinstance(cause, TimeoutError)
    return Transient(said, "timeout" if timed_out and arrived else "connection",
                     maybe_billed=arrived)  # fmt: skip


def redacted(text: str, key: str | None) -> str:
    """The text without the key, in case an endpoint repeats it."""
    return text.replace(key, "[key]") if key else text
