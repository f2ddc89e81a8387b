"""Typed values from foreign JSON.

A value of an unexpected type counts as missing, so that one odd field costs neither the report
nor the run.
"""

import json
import math
from typing import Any

from tasks.agents.agent import MAX_INTEGER, UnreadableJobAnswer


def parse_object(raw: str, expected: str) -> dict[str, Any]:
    """Parse the JSON object that an ended job returned.

    expected: for the message, such as "a response of OpenAI's Responses API".

    Raises:
        UnreadableJobAnswer: it is not a JSON object.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableJobAnswer(f"expected {expected} as JSON, got {_quote_start(raw)}") from None
    if not isinstance(body, dict):
        raise UnreadableJobAnswer(f"expected {expected}: a JSON object, got {_quote_start(raw)}")
    return body


def unexpected_object(body: dict[str, Any], expected: str) -> UnreadableJobAnswer:
    """Return the error for an object without what `expected` says."""
    names = sorted(map(str, body))[:10]
    return UnreadableJobAnswer(f"expected {expected}, got an object with {names}")


def child(value: Any, *names: str) -> Any:
    """Return the value at the path `names` of nested objects; None where any is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """Return a non-empty string; None for anything else."""
    return value if isinstance(value, str) and value else None


def strings(value: Any) -> list[str]:
    """Return the non-empty strings in a list."""
    return [item for item in value if string(item)] if isinstance(value, list) else []


def count(value: Any) -> int | None:
    """Return an integer from 0 to MAX_INTEGER; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INTEGER:
        return None
    return value


def amount(value: Any) -> float | None:
    """Return a finite number from 0, such as an amount of money; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _quote_start(raw: str) -> str:
    return repr(raw[:80]) if raw else "nothing"
