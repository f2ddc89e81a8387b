"""The oracle's answers about claims: by a table that the question's own texts carry.

A true claim `X` is stated by an answered claim that holds X's words in any order, or by one that
ends with `[= X]`: a test's way to write another wording. A found value is graded 3 for the same
words in any order, 2 for one that ends with `[~]`, else 0.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.servers.fences import Parsed

_WORD = re.compile(r"\w+")
_ALIAS = re.compile(r"\[= (.*?)\]")


def decide_claims(prompt: Parsed) -> dict[str, Any] | None:
    """What to answer to a prompt about claims; None for any other prompt."""
    names = {block.name for block in prompt.blocks}
    if "claim" in names:
        return {"results": list(_matched(prompt))}
    if "found_value" in names:
        return {"results": list(_graded(prompt))}
    return None


def _matched(prompt: Parsed) -> Iterator[dict[str, Any]]:
    truths = [_words(text) for text in prompt.texts("truth")]
    for number, claim in enumerate(prompt.texts("claim"), start=1):
        alias = _ALIAS.search(claim)
        said = _words(alias[1] if alias else claim)
        same = [index for index, true in enumerate(truths, start=1) if said and said == true]
        yield {
            "claim": number,
            "reason": "The same words." if same else "Other words.",
            "truth": same[0] if same else 0,
        }


def _graded(prompt: Parsed) -> Iterator[dict[str, Any]]:
    pairs = zip(prompt.texts("true_value"), prompt.texts("found_value"), strict=True)
    for number, (true, found) in enumerate(pairs, start=1):
        same = _words(true) == _words(found)
        grade = "2" if found.endswith("[~]") else "3" if same else "0"
        yield {"item": number, "reason": "By its words.", "score": grade}


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
