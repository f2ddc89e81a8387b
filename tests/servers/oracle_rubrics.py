"""The oracle's answers about the items of a rubric: by the words of each in the report.

Where most of an item's words stand in one sentence of the report, it is given its highest value,
else `0` (or its lowest). A sentence that names an address of the blocked work makes it `-1`.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.servers.fences import Block, Parsed

MOST = 0.6
_HEADING = re.compile(r"Item (\S*) ?\(allowed: ([^)\n]*)\)\s*\Z")
_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_URL = re.compile(r"https?://\S+")


def graded(prompt: Parsed) -> dict[str, Any] | None:
    """What to answer to a prompt about items; None for any other prompt."""
    items = [block for block in prompt.blocks if block.name == "item"]
    if not items:
        return None
    sentences = [s for s in _SENTENCE_END.split(prompt.texts("report")[0]) if s.strip()]
    blocked = [url for text in prompt.texts("blocked") for url in _URL.findall(text)]
    return {"results": list(_results(items, sentences, blocked))}


def _results(
    items: list[Block], sentences: list[str], blocked: list[str]
) -> Iterator[dict[str, Any]]:
    words = [words_of(sentence) for sentence in sentences]
    for block in items:
        heading = _HEADING.search(block.heading)
        assert heading, block.heading
        allowed = heading[2].split(", ")
        wanted = words_of(block.text)
        shares = [len(wanted & there) / len(wanted) if wanted else 0.0 for there in words]
        best = max(range(len(shares)), key=shares.__getitem__, default=-1)
        found = best >= 0 and shares[best] >= MOST
        score = max(allowed, key=float) if found else min(allowed, key=lambda v: abs(float(v)))
        if found and "-1" in allowed and any(url in sentences[best] for url in blocked):
            score = "-1"
        yield {
            "evidence": sentences[best].strip() if found else "",
            "item": heading[1] or block.text,
            "reason": "Most of its words stand in one sentence." if found else "Few words agree.",
            "score": score,
        }


def words_of(text: str) -> set[str]:
    """Words; of Chinese, which writes none, characters."""
    return set(_WORD.findall(_CJK.sub(" ", text.lower()))) | set(_CJK.findall(text))
