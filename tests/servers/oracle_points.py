"""The oracle's answers about key points, support by pages, and the quality of reports.

A key point is supported where one sentence of the report holds most of its words, contradicted
where that sentence has other numbers. Support is full, or partial where only some words stand in
a sentence. Ratings come of the number of different words. The key points of a document are its
sentences; those that are the same become one.
"""

import re
from collections.abc import Iterator
from typing import Any

from tests.servers.fences import Parsed

MOST, SOME = 0.6, 0.3
WORDS_A_POINT = 20
"""Different words of a report that are worth one point of ten."""
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_PASSAGE = re.compile(r"(?:\S+\s+){0,39}\S+")
_CRITERION = re.compile(r"^(\w[\w.-]*): \S.*$", re.M)

Answer = dict[str, Any]


def pointed(prompt: Parsed) -> Answer | None:
    """What to answer to one of these prompts; None to any other."""
    names = {block.name for block in prompt.blocks}
    if "pages" in names:
        return {"results": list(_support(prompt))}
    if "document" in names and "query" in names:
        return {"points": list(_found(prompt.texts("document")[0]))}
    if "key_point" in names:
        if "report" in names:
            return {"results": list(_checked(prompt))}
        return {"points": _merged(prompt.texts("key_point"))}
    if names == {"query", "report"} and (criteria := _CRITERION.findall(prompt.tail)):
        return {"results": list(_rated(prompt, criteria))}
    return None


def _checked(prompt: Parsed) -> Iterator[Answer]:
    sentences = _sentences(prompt.texts("report")[0])
    for block in prompt.blocks:
        if block.name == "key_point":
            passage, share, differs = _closest(block.text, sentences)
            verdict = "contradicted" if differs else "supported"
            found = share >= MOST
            yield {
                "passage": passage if found else "",
                "point": block.number,
                "reason": "One sentence holds most of its words." if found else "No sentence does.",
                "verdict": verdict if found else "omitted",
            }


def _support(prompt: Parsed) -> Iterator[Answer]:
    sentences = _sentences(prompt.texts("pages")[0])
    for block in prompt.blocks:
        if block.name == "statement":
            passage, share, differs = _closest(block.text, sentences)
            verdict = "none" if share < SOME else "partial"
            if share >= MOST and not differs:
                verdict = "full"
            yield {
                "statement": block.number,
                "passage": "" if verdict == "none" else passage,
                "reason": f"One sentence holds {share:.0%} of its words.",
                "verdict": verdict,
            }


def _rated(prompt: Parsed, criteria: list[str]) -> Iterator[Answer]:
    words = len(_words(prompt.texts("report")[0]))
    for criterion in criteria:
        score = str(min(10, words // WORDS_A_POINT))
        yield {"criterion": criterion, "reason": f"It has {words} words.", "score": score}


def _found(document: str) -> Iterator[Answer]:
    for sentence in dict.fromkeys(_sentences(document)):
        if not sentence.startswith("#"):
            yield {"point": sentence, "spans": [sentence]}


def _merged(points: list[str]) -> list[Answer]:
    merged: dict[str, list[int]] = {}
    for number, point in enumerate(points, start=1):
        merged.setdefault(point, []).append(number)
    return [{"merged_from": numbers, "point": point} for point, numbers in merged.items()]


def _closest(statement: str, sentences: list[str]) -> tuple[str, float, bool]:
    """The start of the sentence that holds most of a statement's words, which share of them, and
    whether it lacks a number of it."""
    said = _words(statement)
    numbers = {word for word in said if word[0].isdigit()}
    words = said - numbers
    best, share, differs = "", 0.0, False
    for sentence in sentences:
        there = _words(sentence)
        held = len(words & there) / len(words) if words else 0.0
        other_number = not numbers <= there
        if held > share or (held == share and differs and not other_number):
            best, share, differs = sentence, held, other_number
    found = _PASSAGE.search(best)
    return (found[0] if found else ""), share, differs


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
