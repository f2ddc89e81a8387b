"""Thoughts that a model writes before its answer."""

import re

_THOUGHTS = re.compile(r"\s*<think>(.*?)(</think>\s*|\Z)", re.DOTALL)


def split_thoughts(text: str) -> tuple[str, str]:
    """Split off a leading `<think>…</think>`, to the end if unclosed; return (thoughts, rest)."""
    match = _THOUGHTS.match(text)
    return (match[1].strip(), text[match.end() :]) if match else ("", text)
