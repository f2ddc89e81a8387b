"""The oracle's answers about citations of a page (FACT), and about two articles (RACE).

A statement is supported where a sentence of the page holds some of its words; a page of a few
words is none. An article's score comes of the number of its different words, and of the
criterion, so that two articles differ.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.servers.fences import Block, Parsed
from tests.servers.oracle_words import passage_of, sentences_of, words_of

SOME = 0.3
FEWEST_WORDS = 5
WORDS_A_POINT = 15
"""Different words of an article that are worth one point of ten."""

Answer = dict[str, Any]


def compared_as_published(prompt: Parsed) -> Answer | None:
    """What to answer to one of these prompts; None to any other."""
    names = {block.name for block in prompt.blocks}
    if "source" in names:
        return {"results": list(_cited(prompt))}
    if {"task", "article_1", "article_2"} <= names:
        return {"results": list(_scored(prompt))}
    return None


def _cited(prompt: Parsed) -> Iterator[Answer]:
    page = prompt.texts("source")[0]
    sentences = sentences_of(page)
    for block in prompt.blocks:
        if block.name == "statement":
            said = words_of(block.text)
            best = max(sentences, key=lambda s: len(said & words_of(s)), default="")
            held = len(said & words_of(best)) / len(said) if said else 0.0
            verdict = "supported" if held >= SOME else "unsupported"
            if len(words_of(page)) < FEWEST_WORDS:
                verdict = "unknown"
            yield {
                "passage": passage_of(best) if verdict == "supported" else "",
                "reason": f"One sentence holds {held:.0%} of its words.",
                "statement": block.number,
                "verdict": verdict,
            }


def _scored(prompt: Parsed) -> Iterator[Answer]:
    counts = [len(words_of(prompt.texts(name)[0])) for name in ("article_1", "article_2")]
    for block in prompt.blocks:
        if block.name == "criterion":
            yield {
                "criterion": block.heading.split()[-1],
                "reason": f"They have {counts[0]} and {counts[1]} words.",
                "score_1": _score(counts[0], block),
                "score_2": _score(counts[1], block),
            }


def _score(n_words: int, criterion: Block) -> float:
    more = sha256(f"{n_words} {criterion.text}".encode()).digest()[0] % 4 / 2
    return min(10.0, n_words // WORDS_A_POINT / 2 + more)
