"""The baseline's answers to questions: the names that stand beside a question's words.

Nothing is understood, so most answers are wrong; they are valid, sourced and never made up.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.agents.baseline.index import Sources
from tasks.agents.baseline.research import names_in
from tasks.extraction.banned import read_banned
from tasks.judges.text import numbers, sentences, terms
from tasks.warehouse.traces import SearchStep

HITS = 40
"""Statements that a query looks at."""
QUERIES = 6
"""The question, then its sentences one by one."""
MOST_ANSWERS = 2
LEAST_OF_BEST = 0.6
"""A second name that is worth less than this share of the first is not given."""
MOST_SOURCES = 3

_FIRST_LINE = re.compile(r"\AAnswer this question\b[^\n]*\n")
_HEADING = re.compile(r"^# ", re.MULTILINE)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_ASKS_YEAR = re.compile(r"\b(?:year|when|what date|which date)\b", re.IGNORECASE)
_ASKS_PERSON = re.compile(r"\b(?:who|whom|whose|person|name of the (?:man|woman))\b", re.IGNORECASE)


@dataclass
class _Candidate:
    worth: float = 0.0
    pages: list[int] = field(default_factory=list)
    years: list[str] = field(default_factory=list)


def question_of(prompt: str) -> str:
    """The question itself, without what the prompt says of sources and form."""
    said = _FIRST_LINE.sub("", prompt.lstrip())
    heading = _HEADING.search(said)
    return (said[: heading.start()] if heading else said).strip()


def answer(
    archive: Sources, prompt: str, banned: Sequence[str]
) -> tuple[str | None, tuple[SearchStep, ...]]:
    """The answer in the form that questions ask for, and the search.

    The answer is None where nothing was found.

    Raises:
        UnreadableBan: what is banned cannot be read.
    """
    question, named = question_of(prompt), read_banned(banned)
    queries = [question, *(q for q in sentences(question) if q != question)][:QUERIES]
    asked = set(terms(question))
    found: dict[str, _Candidate] = {}
    steps = []
    for index, query in enumerate(queries):
        hits = [hit for hit in archive.search(query, HITS)
                if not named.names(archive.pages[hit.page].url)]  # fmt: skip
        opened = tuple(dict.fromkeys(archive.pages[hit.page].url for hit in hits[:MOST_SOURCES]))
        steps.append(SearchStep(query=query, opened=opened, parent=0 if index else None))
        for rank, hit in enumerate(hits):
            text = archive.text(hit.statement)
            for name in dict.fromkeys(names_in(text)):
                if not asked & set(terms(name)) and terms(name) and not numbers(name):
                    one = found.setdefault(name, _Candidate())
                    one.worth += hit.score / (rank + 2)
                    one.pages.append(hit.page)
                    one.years += _YEAR.findall(text)
    claims = [_claim(archive, name, found[name], question) for name in _best(found, question)]
    if not claims:
        return None, tuple(steps)
    return f"```json\n{json.dumps({'claims': claims}, indent=2, ensure_ascii=False)}\n```\n", tuple(
        steps
    )


def _best(found: dict[str, _Candidate], question: str) -> list[str]:
    """The weightiest names; where a person is asked for, those of two words and more."""
    able = found
    if _ASKS_PERSON.search(question):
        able = {name: one for name, one in found.items() if " " in name} or found
    ordered = sorted(able, key=lambda name: (-able[name].worth, name))
    return [name for name in ordered[:MOST_ANSWERS]
            if able[name].worth >= LEAST_OF_BEST * able[ordered[0]].worth]  # fmt: skip


def _claim(archive: Sources, name: str, one: _Candidate, question: str) -> dict[str, object]:
    pages = list(dict.fromkeys(one.pages))[:MOST_SOURCES]
    year = max(sorted(set(one.years)), key=one.years.count, default=None)
    asked = year is not None and _ASKS_YEAR.search(question)
    return {
        "value": name,
        "sub_claims": [{"name": "year", "value": year}] if asked else [],
        "sources": [archive.pages[page].url for page in pages],
    }
