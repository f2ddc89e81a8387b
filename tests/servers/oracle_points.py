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
from tests.servers.oracle_words import MOST, closest, passage_of, sentences_of, words_of

SOME = 0.3
WORDS_A_POINT = 20
"""Different words of a report that are worth one point of ten."""
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
    sentences = sentences_of(prompt.texts("report")[0])
    words = [words_of(sentence) for sentence in sentences]
    for block in prompt.blocks:
        if block.name == "key_point":
            best, share, differs = closest(block.text, words)
            verdict = "contradicted" if differs else "supported"
            found = share >= MOST
            yield {
                "passage": passage_of(sentences[best]) if found else "",
                "point": block.number,
                "reason": "One sentence holds most of its words." if found else "No sentence does.",
                "verdict": verdict if found else "omitted",
            }


def _support(prompt: Parsed) -> Iterator[Answer]:
    sentences = sentences_of(prompt.texts("pages")[0])
    words = [words_of(sentence) for sentence in sentences]
    for block in prompt.blocks:
        if block.name == "statement":
            best, share, differs = closest(block.text, words)
            verdict = "none" if share < SOME else "partial"
            if share >= MOST and not differs:
                verdict = "full"
            yield {
                "statement": block.number,
                "passage": "" if verdict == "none" else passage_of(sentences[best]),
                "reason": f"One sentence holds {share:.0%} of its words.",
                "verdict": verdict,
            }


def _rated(prompt: Parsed, criteria: list[str]) -> Iterator[Answer]:
    words = len(words_of(prompt.texts("report")[0]))
    for criterion in criteria:
        score = str(min(10, words // WORDS_A_POINT))
        yield {"criterion": criterion, "reason": f"It has {words} words.", "score": score}


def _found(document: str) -> Iterator[Answer]:
    for sentence in dict.fromkeys(sentences_of(document)):
        if not sentence.startswith("#"):
            yield {"point": sentence, "spans": [sentence]}


def _merged(points: list[str]) -> list[Answer]:
    merged: dict[str, list[int]] = {}
    for number, point in enumerate(points, start=1):
        merged.setdefault(point, []).append(number)
    return [{"merged_from": numbers, "point": point} for point, numbers in merged.items()]
