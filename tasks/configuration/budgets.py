"""Budgets as people write them: an amount in USD, or `unlimited`."""

import math
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

UNLIMITED = "unlimited"
Usd = Annotated[
    float,
    Field(ge=0),
    BeforeValidator(lambda usd: math.inf if usd == UNLIMITED else usd),
    PlainSerializer(lambda usd: UNLIMITED if usd == math.inf else usd),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "enum": [UNLIMITED]}]}
    ),
]
"""A budget; infinite if somebody has said that it is unlimited."""


def to_limit(usd: float | None) -> float | None:
    """Return the limit that a budget sets; None: no limit."""
    return None if usd == math.inf else usd
