"""Gemini's refusals, word by word."""

from typing import Any

STATUS_WORDS = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
RPC_CODES = {400: 3, 403: 7, 404: 5, 408: 4, 429: 8, 500: 13, 503: 14}
"""What an item of a batch carries in place of an HTTP status."""
_QUOTA = "generativelanguage.googleapis.com/generate_content_paid_tier_requests"
_TYPE = "type.googleapis.com/google.rpc."


def error_body(
    status: int, message: str, details: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    error: dict[str, Any] = {
        "code": status,
        "message": message,
        "status": STATUS_WORDS.get(status, "UNKNOWN"),
    }
    if details:
        error["details"] = details
    return {"error": error}


def quota_details(fault: str, hint: float, key: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Status, message and details of a planned refusal."""
    if fault == "spend_cap":
        message = "Your project has exceeded its spending cap for the last 10 minutes."
        return 429, message, []
    if fault == "quota_per_day":
        details = [_failure("GenerateRequestsPerDayPerProjectPerModel"), _retry(hint)]
        return 429, "You exceeded your current quota, please check your plan.", details
    if fault.startswith("rate_limit"):
        details = [_failure("GenerateRequestsPerMinutePerProjectPerModel")]
        if fault == "rate_limit_retry_info":
            details.append(_retry(hint))
        return 429, "You exceeded your current quota, please check your plan.", details
    plain = {
        "key_echoed": (500, f"An internal error has occurred (request with key={key})."),
        "unavailable_503": (503, "The model is overloaded. Please try again later."),
        "timeout_408": (408, "The request timed out. Please try again."),
    }
    status, message = plain.get(fault, (500, "An internal error has occurred."))
    return status, message, []


def _failure(quota_id: str) -> dict[str, Any]:
    violation = {
        "quotaMetric": _QUOTA,
        "quotaId": quota_id,
        "quotaDimensions": {"location": "global", "model": "some-model"},
        "quotaValue": "10",
    }
    return {"@type": f"{_TYPE}QuotaFailure", "violations": [violation]}


def _retry(seconds: float) -> dict[str, Any]:
    return {"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{seconds:g}s"}
