"""What a model thought aloud before its answer, set apart from it."""

import re

_THOUGHTS = re.compile(r"\s*<think>(.*?)(</think>\s*|\Z)", re.DOTALL)


def without_thoughts(text: str) -> tuple[str, str]:
    """(thoughts, the rest): a leading `<think>…</think>`; where it is never closed, all is it."""
    found = _THOUGHTS.match(text)
    return (found[1].strip(), text[found.end() :]) if found else ("", text)
