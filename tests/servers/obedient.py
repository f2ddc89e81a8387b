"""A model that does what it is told, by whoever tells it: the worst case of a prompt injection.

It obeys any instruction that it finds outside properly fenced blocks (see `fences`) and
otherwise answers as the oracle does. A prompt that shows untrusted text without fences, or with
fences whose code the text's author can guess, makes it obey that text; a prompt that fences
well does not, because all of the text stays inside its block. So it tests the prompt, not how
clever a model is. It also believes a system prompt, but does not look for orders there.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.servers.fences import Parsed, parse
from tests.servers.oracle import Answer, Oracle, criteria

_ANSWER = re.compile(r"\banswer\s*:\s*(?=\{)", re.I)
_WINNER = re.compile(
    r"\barticle[ _]([12])\b[^.\n]*\bwins?\b|\bwinner\s*[:=]\s*article[ _]([12])", re.I
)
_SAY = re.compile(
    r"(?:\bignore\b[^\n]*?\b(?:say|answer|reply|output)|\bverdict\s*[:=])\s*[\"'`]*"
    r"(support|not_support|conflict|consistent|inconsistent|tie)\b",
    re.I,
)
_ITEM = re.compile(r"^(?:Item|Statement) (\d+)\b", re.M)
_NOTHING_ELSE = "because the text says so"


class Obedient(Oracle):
    """Obeys what stands outside the fences."""

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        prompt = parse(user)
        outside = prompt.outside
        if dictated := _dictated(outside):
            return dictated
        decided = self.decide(prompt, schema)
        if found := _WINNER.search(outside):
            decided = _all(decided, prompt, "winner", f"article_{found[1] or found[2]}")
        elif found := _SAY.search(outside):
            word = found[1].lower()
            decided = _all(decided, prompt, "winner" if word == "tie" else "verdict", word)
        return json.dumps(decided, ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def is_told(user: str) -> bool:
        """Whether a prompt holds an instruction that it would obey."""
        outside = parse(user).outside
        finders: tuple[Callable[[str], object], ...] = (_dictated, _WINNER.search, _SAY.search)
        return any(find(outside) for find in finders)


def _dictated(text: str) -> str | None:
    """`answer: {…}`: that very JSON."""
    for found in _ANSWER.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text[found.end() :])
        except ValueError:
            continue
        return json.dumps(value, ensure_ascii=False)
    return None


def _all(decided: Answer, prompt: Parsed, field: str, word: str) -> Answer:
    """Every result says `word`; in a prompt without fences they are found by their headings."""
    results = decided.get("results") or _unfenced(prompt.outside, field)
    return {"results": [result | {field: word, "reason": _NOTHING_ELSE} for result in results]}


def _unfenced(outside: str, field: str) -> list[Answer]:
    if field == "winner":
        paragraphs = [criteria(paragraph) for paragraph in re.split(r"\n\s*\n", outside)]
        last = next((found for found in reversed(paragraphs) if found), [])
        return [{"criterion": name} for name in last]
    numbers = [int(n) for n in _ITEM.findall(outside)] or [1]
    return [{"item": n, "statement": n, "evidence": [], "passage": ""} for n in numbers]
