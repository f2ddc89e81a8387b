"""Tell raised numbers that cite from exponents and powers of units."""

import re

RAISED_NUMBER = re.compile(r"\[?\d{1,3}(?:[,;–-] ?\d{1,3})*\]?[,;]?")
"""A number, numbers or a range of them, with or without brackets."""
_SHORT_NUMBER = re.compile(r"(?:.*[^\d.,])?\d{1,2}", re.DOTALL)
_POWERED = re.compile(r"(?:.*\W)?(?:[^\W\d_]|[ckmµn]m|ft|mi|yd|in)", re.DOTALL | re.IGNORECASE)
"""Ends in a letter that stands for a number, or in a unit of length."""


def is_exponent(base: str, number: str) -> bool:
    """Return whether a raised number after a text is an exponent: 10⁶, km², R², but not 1907¹²."""
    end = base[-40:]
    if end[-1:].isdigit():
        return _SHORT_NUMBER.fullmatch(end) is not None
    return number in ("2", "3") and _POWERED.fullmatch(end) is not None
