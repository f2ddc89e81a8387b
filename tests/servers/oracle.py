"""A model that answers our prompts by counting words: cheap, and the same every time.

It knows the prompts in `configs/prompts` by the names of their fenced blocks, and answers the
first user turn only, so a repair turn gets the same answer again. It keeps nothing.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tests.servers.fences import Parsed, parse
from tests.servers.oracle_claims import decide_claims
from tests.servers.oracle_deepresearch import compared_as_published
from tests.servers.oracle_drafting import drafted
from tests.servers.oracle_inversion import inverted
from tests.servers.oracle_keywords import rated
from tests.servers.oracle_points import pointed
from tests.servers.oracle_rubrics import graded
from tests.servers.oracle_words import MOST, closest, passage_of, sentences_of, words_of

_EVIDENCE = re.compile(r"^\[(\d+)\] (.*)$", re.M)
_CRITERION = re.compile(r"^(\w[\w.-]*): \S.*$", re.M)
_MARKER = r"\[\^?\d+\]|【\d+[^】]*】|\[[^\]\n]*\]\(https?://[^)\s]+\)|https?://[^\s)\]]+"
_MARKERS = re.compile(_MARKER)
_MAY_CITE = re.compile(r"[\[【]|http")
_END = re.compile(rf"[.!?](?:\s?(?:{_MARKER}))*(?=\s|$)")
_REFERENCES = re.compile(r"^\W*(references|sources|bibliography|works cited)\W*$", re.I)
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")

Answer = dict[str, Any]


class Oracle:
    """Word overlap for statements, a hash for articles, sentences for extraction."""

    def answer(self, system: str, user: str, schema: dict[str, Any] | None) -> str:
        """The JSON that the prompt asks for."""
        found = self.decide(parse(user), schema)
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    def decide(self, prompt: Parsed, schema: dict[str, Any] | None) -> Answer:
        names = {block.name for block in prompt.blocks}
        if (claims := decide_claims(prompt)) is not None:
            return claims
        if (turned := inverted(prompt)) is not None:
            return turned
        if (grades := graded(prompt)) is not None:
            return grades
        if (ratings := rated(prompt)) is not None:
            return ratings
        if (draft := drafted(prompt)) is not None:
            return draft
        if (points := pointed(prompt)) is not None:
            return points
        if (beside := compared_as_published(prompt)) is not None:
            return beside
        if "evidence" in names:
            return {"results": list(_verified(prompt))}
        if "page" in names:
            return {"results": list(_verified_against_page(prompt))}
        if "article_1" in names:
            return {"results": self._compared(prompt)}
        if "report" in names:
            return {"claims": list(_claims(prompt.texts("report")[0]))}
        if "article" in names:
            return {"facts": [{"statement": s} for s, _ in _sentences(prompt.texts("article")[0])]}
        return _least(schema or {}, schema or {}) if schema else {}

    def _compared(self, prompt: Parsed) -> list[Answer]:
        """By hash of the criterion and both texts: the same article wins in either order."""
        first, second = (_digest(prompt.texts(f"article_{n}")[0]) for n in (1, 2))
        pair = sorted((first, second))
        may_tie = "`tie`" in prompt.tail
        return [
            {
                "criterion": criterion,
                "reason": f"Decided for {criterion} by hash.",
                "winner": _winner(criterion, first, pair, may_tie),
            }
            for criterion in criteria(prompt.tail)
        ]


def _winner(criterion: str, first: bytes, pair: list[bytes], may_tie: bool) -> str:
    drawn = sha256(criterion.encode() + pair[0] + pair[1]).digest()
    if may_tie and (pair[0] == pair[1] or drawn[1] < 32):
        return "tie"
    return "article_1" if pair[drawn[0] & 1] == first else "article_2"


def criteria(text: str) -> list[str]:
    """The ids of `id: text` lines."""
    return [found[1] for found in _CRITERION.finditer(text)]


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _verdict(statement: str, texts: list[set[str]]) -> tuple[int, str]:
    """Index of the text (as words) that holds most of a statement's words, and what that means."""
    best, share, differs = closest(statement, texts)
    if share < MOST:
        return best, "not_support"
    return best, "inconsistent" if differs else "consistent"


def _verified(prompt: Parsed) -> Iterator[Answer]:
    number = 0
    statement = ""
    for block in prompt.blocks:
        if block.name == "statement":
            number, statement = block.number, block.text
        elif block.name == "evidence":
            pieces = _EVIDENCE.findall(block.text)
            best, verdict = _verdict(statement, [words_of(text) for _, text in pieces])
            rests_on = [] if verdict == "not_support" else [int(pieces[best][0])]
            reason = f"Most of its words stand in {rests_on}." if rests_on else "Few words agree."
            yield {"item": number, "reason": reason, "evidence": rests_on, "verdict": verdict}


def _verified_against_page(prompt: Parsed) -> Iterator[Answer]:
    sentences = sentences_of(prompt.texts("page")[0])
    texts = [words_of(sentence) for sentence in sentences]
    names = {"consistent": "support", "inconsistent": "conflict", "not_support": "not_support"}
    for block in prompt.blocks:
        if block.name != "statement":
            continue
        best, verdict = _verdict(block.text, texts)
        found = passage_of(sentences[best]) if verdict != "not_support" else ""
        yield {
            "statement": block.number,
            "reason": "One sentence holds most of its words." if found else "No sentence does.",
            "passage": found,
            "verdict": names[verdict],
        }


def _sentences(text: str) -> Iterator[tuple[str, list[str]]]:
    """Sentences without their markers, and the markers; no headings, no reference list."""
    for line in text.splitlines():
        if _REFERENCES.match(line):
            return
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        for sentence in _split(_BULLET.sub("", line)):
            markers = _MARKERS.findall(sentence) if _MAY_CITE.search(sentence) else []
            bare = _MARKERS.sub(" ", sentence) if markers else sentence
            statement = " ".join(bare.split()).replace(" .", ".")
            if statement.strip(" .;,"):
                yield statement, markers


def _split(line: str) -> Iterator[str]:
    """Its sentences; markers right after a full stop belong to the sentence before it."""
    start = 0
    for found in _END.finditer(line):
        yield line[start : found.end()]
        start = found.end()
    yield line[start:]


def _claims(text: str) -> Iterator[Answer]:
    """Statements with markers; one without shares those that come next, as the prompt asks."""
    waiting: list[str] = []
    for statement, markers in _sentences(text):
        waiting.append(statement)
        if markers:
            yield from ({"statement": s, "markers": markers} for s in waiting)
            waiting = []
    yield from ({"statement": s, "markers": []} for s in waiting)


def _least(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """The smallest value a schema allows: the answer to a prompt that is none of ours."""
    if "$ref" in schema:
        return _least(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        return {name: _least(part, root) for name, part in properties.items()}
    empty = {"array": [], "integer": 0, "number": 0, "boolean": False, "string": ""}
    return empty.get(schema.get("type", ""))
