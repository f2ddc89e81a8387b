"""Tell raised numbers that cite from exponents and powers of units."""

import re

_BASE = re.compile(r"(?s:.*[^\w.,-])?(?:10|\d|(?!a)[a-z])")
_SQUARED = re.compile(r"(?s:.*\W)?(?:[^\W\d_ai]|[b-df-hj-np-tv-xzµ]{2}|mi|in)", re.IGNORECASE)
"""Ends in a letter that stands for something, or in a unit or letters without a vowel."""


def is_exponent(base: str, number: str) -> bool:
    """Return whether a raised number after a text is an exponent: 10⁶, km², R², but not 1907¹²."""
    end = base[-40:]
    squared = number in ("2", "3") and _SQUARED.fullmatch(end) is not None
    return squared or _BASE.fullmatch(end) is not None
