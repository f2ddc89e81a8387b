"""Anthropic's requests, answers and refusals, held against the types of its own package.

The package takes a second to load, so only what needs it loads it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter

_KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
    403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip
CREDIT = "Your credit balance is too low to access the Anthropic API."


def load_types() -> None:
    """Load the package, and make of its types what checks requests."""
    _requests()


@cache
def _requests() -> TypeAdapter[Any]:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return TypeAdapter(MessageCreateParamsNonStreaming)


def check_request(body: dict[str, Any]) -> None:
    """Raise ValueError unless a request has the form that the package sends, and nothing more."""
    known = _plain(_requests().validate_python(body))
    if known != body:
        raise ValueError(f"Extra inputs are not permitted: {_first_difference(known, body)}")


def _plain(value: Any) -> Any:
    """What was validated, without the iterators and models that the types make of it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, str | int | float | None):
        return value
    return [_plain(each) for each in value]


def _first_difference(known: Any, body: Any) -> str:
    if isinstance(known, dict) and isinstance(body, dict):
        for name, value in body.items():
            if name not in known:
                return str(name)
            if known[name] != value:
                return f"{name}.{_first_difference(known[name], value)}"
    if isinstance(known, list) and isinstance(body, list):
        for number, pair in enumerate(zip(known, body, strict=True)):
            if pair[0] != pair[1]:
                return f"{number}.{_first_difference(*pair)}"
    return repr(body)


def checked_message(body: dict[str, Any]) -> dict[str, Any]:
    """The message, if it is one."""
    from anthropic.types import Message

    Message.model_validate(body)
    return body


def error_body(status: int, message: str, error_code: str | None = None) -> dict[str, Any]:
    """A refusal; `error_code` says more than its type does."""
    from anthropic.types import ErrorResponse

    error = {"type": _KINDS.get(status, "api_error"), "message": message}
    details = {"details": {"error_code": error_code}} if error_code else {}
    body = {"type": "error", "error": error | details, "request_id": "req_1"}
    ErrorResponse.model_validate(body)
    return body


def said_of(fault: str, key: str) -> tuple[int, str, str | None]:
    """Status, message and code of a planned refusal."""
    known: dict[str, tuple[int, str, str | None]] = {
        "quota_per_day": (429, "The monthly limit is reached.", "enforced_spend_limit_reached"),
        "spend_cap": (400, CREDIT, None),
        "key_echoed": (500, f"Internal server error (x-api-key: {key})", None),
        "unavailable_503": (503, "Service unavailable", None),
        "timeout_408": (408, "Request timed out", None),
        "server_500": (500, "Internal server error", None),
    }
    return known.get(fault, (429, "This request would exceed your rate limit.", None))
