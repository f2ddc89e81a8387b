"""The baseline's answers to questions: the names that occur near a question's words.

It understands nothing, so most answers are wrong; but they are valid, sourced and never made up.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from tasks.agents.baseline.index import PageSearch, ReadablePage
from tasks.agents.baseline.research import PageStatement, find_names, read_statements, weigh_words
from tasks.judges.text import extract_terms, split_sentences
from tasks.warehouse.traces import SearchStep

HITS = 40
"""Statements considered for a query."""
PAGES = 10
"""Pages considered for a query."""
MAX_QUERIES = 6
"""The question, then its sentences one by one, up to this many."""
MAX_ANSWERS = 2
MIN_SHARE_OF_BEST = 0.6
"""A second name is only given if its score is at least this share of the first's."""
MAX_SOURCES = 3

_FIRST_LINE = re.compile(r"\AAnswer this question\b[^\n]*\n")
_HEADING = re.compile(r"^# ", re.MULTILINE)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_ASKS_YEAR = re.compile(r"\b(?:year|when|what date|which date)\b", re.IGNORECASE)
_ASKS_PERSON = re.compile(r"\b(?:who|whom|whose|person|name of the (?:man|woman))\b", re.IGNORECASE)


@dataclass
class _Candidate:
    score: float = 0.0
    urls: list[str] = field(default_factory=list)
    years: list[str] = field(default_factory=list)


def extract_question(prompt: str) -> str:
    """Return the question without the prompt's instructions on sources and format."""
    text = _FIRST_LINE.sub("", prompt.lstrip())
    heading = _HEADING.search(text)
    return (text[: heading.start()] if heading else text).strip()


def answer_question(search: PageSearch, prompt: str) -> tuple[str | None, tuple[SearchStep, ...]]:
    """Return the answer as JSON in Markdown, None if nothing was found, and the search trace."""
    question = extract_question(prompt)
    queries = [question, *(q for q in split_sentences(question) if q != question)][:MAX_QUERIES]
    asked = set(extract_terms(question))
    found: dict[str, _Candidate] = {}
    steps = []
    for index, query in enumerate(queries):
        pages = search.search(query)[:PAGES]
        opened = tuple(page.url for page in pages[:MAX_SOURCES])
        steps.append(SearchStep(query=query, opened=opened, parent=0 if index else None))
        for rank, (score, statement) in enumerate(_rank_statements(pages, query)[:HITS]):
            for name in dict.fromkeys(find_names(statement.text, asked)):
                one = found.setdefault(name, _Candidate())
                one.score += score / (rank + 2)
                one.urls.append(statement.page.url)
                one.years += _YEAR.findall(statement.text)
    claims = [_build_claim(name, found[name], question) for name in _choose_names(found, question)]
    if not claims:
        return None, tuple(steps)
    answer = json.dumps({"claims": claims}, indent=2, ensure_ascii=False)
    return f"```json\n{answer}\n```\n", tuple(steps)


def _rank_statements(
    pages: Sequence[ReadablePage], query: str
) -> list[tuple[float, PageStatement]]:
    """Return score and statement of those that share words with the query, the best first."""
    statements = [statement for page in pages for statement in read_statements(page)]
    weights = weigh_words(statements)
    asked = set(extract_terms(query))
    scored = [(fsum(weights[word] for word in asked & s.words), s) for s in statements]
    return sorted((one for one in scored if one[0] > 0), key=lambda one: -one[0])


def _choose_names(found: dict[str, _Candidate], question: str) -> list[str]:
    """Choose the names with the best scores; for a person, preferably names of several words."""
    eligible = found
    if _ASKS_PERSON.search(question):
        eligible = {name: one for name, one in found.items() if " " in name} or found
    ordered = sorted(eligible, key=lambda name: (-eligible[name].score, name))
    return [name for name in ordered[:MAX_ANSWERS]
            if eligible[name].score >= MIN_SHARE_OF_BEST * eligible[ordered[0]].score]  # fmt: skip


def _build_claim(name: str, one: _Candidate, question: str) -> dict[str, object]:
    year = max(sorted(set(one.years)), key=one.years.count, default=None)
    asked = year is not None and _ASKS_YEAR.search(question)
    return {
        "value": name,
        "sub_claims": [{"name": "year", "value": year}] if asked else [],
        "sources": list(dict.fromkeys(one.urls))[:MAX_SOURCES],
    }
