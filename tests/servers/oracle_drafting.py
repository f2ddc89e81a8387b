"""How the oracle drafts rubrics: a question for each fact, the facts' long words as keywords.

It knows the prompts of `configs/prompts/drafting` by the names of their blocks. Its second look
drops what holds a `~`, and from memory it knows what it is given.
"""

import re
from collections.abc import Sequence
from typing import Any

from tests.servers.fences import Parsed

Answer = dict[str, Any]
_FACT = re.compile(r"^\[(\d+)\] (.*)$", re.M)
_LONG = re.compile(r"[^\W\d_]{6,}")
ELSEWHERE = (
    "submarine cable", "glass harmonica", "tidal lagoon", "paper currency", "sheep breeding",
    "quantum annealing", "opera libretto", "chess endgame", "soil acidity", "comet tail",
)  # fmt: skip
"""Keywords that none of our articles holds."""


def drafted(prompt: Parsed, memory: Sequence[str] = ()) -> Answer | None:
    """The answer to a step of drafting; None to any other prompt.

    memory: sentences that it knows by heart.
    """
    names = {block.name for block in prompt.blocks}
    if "subject_from_memory" in names:
        return {"report": "\n".join(memory)}
    if "drafted_rubric" in names:
        return {"results": [_looked(n, text) for n, text in
                            enumerate(prompt.texts("drafted_rubric"), start=1)]}  # fmt: skip
    if "known_facts" not in names:
        return None
    facts = _FACT.findall(prompt.texts("known_facts")[0])
    most = int(re.findall(r"(?:Write|Choose) (\d+)", prompt.tail)[-1])
    if "keywords of each kind" in prompt.tail:
        return _keywords(prompt.texts("subject")[0], facts, most)
    known = {*prompt.texts("rubric_there_already")}
    rubrics = [_rubric(int(number), fact) for number, fact in facts]
    return {"rubrics": [r for r in rubrics if r["rubric"] not in known][:most]}


def _rubric(number: int, fact: str) -> Answer:
    return {
        "facts": [number],
        "kind": "ternary" if number % 5 == 0 else "binary",
        "points": 2,
        "rubric": f"Does the report say this: {fact.rstrip('.')}?",
    }


def _looked(number: int, text: str) -> Answer:
    keep = "~" not in text
    reason = "One thing, as its fact has it." if keep else "It holds a tilde."
    return {"reason": reason, "rubric": number, "verdict": "keep" if keep else "drop"}


def _keywords(title: str, facts: list[tuple[str, str]], most: int) -> Answer:
    counted: dict[str, int] = {}
    for _, fact in facts:
        for word in _LONG.findall(fact):
            counted[word] = counted.get(word, 0) + 1
    named = sorted(counted, key=lambda word: (-counted[word], word))
    return {"deviation": [title, *ELSEWHERE][:most], "focus": [title, *named][:most]}
