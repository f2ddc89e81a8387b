"""Refusals of OpenAI's interface, word by word."""

from typing import Any

_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 429: "requests"}


def error_body(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    kind = _TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def said_of(fault: str, key: str) -> tuple[int, str, str | None]:
    """Status, message and code of a planned refusal."""
    many = "rate_limit_exceeded"
    known: dict[str, tuple[int, str, str | None]] = {
        "quota_per_day": (429, "Rate limit reached on requests per day (RPD): Limit 200.", many),
        "spend_cap": (
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
        ),
        "key_echoed": (500, f"The server had an error (Authorization: Bearer {key}).", None),
        "unavailable_503": (503, "The engine is currently overloaded.", None),
        "timeout_408": (408, "Request timed out.", None),
        "server_500": (500, "The server had an error while processing your request.", None),
    }
    if fault in known:
        return known[fault]
    return 429, "Rate limit reached on requests per min (RPM): Limit 500.", many


DAY_SECONDS = 8640.0


def hints_of(fault: str, seconds: float) -> tuple[tuple[str, str], ...]:
    """The headers by which a refusal says when to come back."""
    if fault == "rate_limit_retry_after":
        return (("Retry-After", f"{seconds:g}"),)
    if fault == "rate_limit_retry_info":
        return (("retry-after-ms", f"{seconds * 1000:g}"),)
    if fault == "quota_per_day":
        return (("Retry-After", f"{DAY_SECONDS:g}"),)
    return ()
