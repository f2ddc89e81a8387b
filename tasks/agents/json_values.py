"""Values of somebody else's JSON, each taken only where it is what it should be.

Anything may stand anywhere in an answer: what is of another kind counts as not said, so one odd
field costs neither the report nor the run.
"""

import json
import math
from typing import Any

from tasks.agents.agent import UnreadableAnswer

MOST = 2**63 - 1
"""The largest whole number that the warehouse can hold."""


def parsed_object(raw: str, expected: str) -> dict[str, Any]:
    """The JSON object that an ended job brought.

    expected: what it should be, for the message: "a response of OpenAI's Responses API".

    Raises:
        UnreadableAnswer: it is none.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise UnreadableAnswer(f"expected {expected} as JSON, got {_begin(raw)}") from None
    if not isinstance(body, dict):
        raise UnreadableAnswer(f"expected {expected}: a JSON object, got {_begin(raw)}")
    return body


def child(value: Any, *names: str) -> Any:
    """What stands under `names`, one inside the other; None where any is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def strings(value: Any) -> list[str]:
    """The texts of a list that are not empty."""
    return [item for item in value if string(item)] if isinstance(value, list) else []


def count(value: Any) -> int | None:
    """A whole number from 0 on that the warehouse can hold."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        return None
    return value


def amount(value: Any) -> float | None:
    """A number from 0 on: money."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _begin(raw: str) -> str:
    return repr(raw[:80]) if raw else "nothing"
