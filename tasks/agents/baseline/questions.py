"""The baseline's answers to questions: the names that occur near a question's words.

It understands nothing, so most answers are wrong; but they are valid, sourced and never made up.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.agents.baseline.index import StatementSearch
from tasks.agents.baseline.research import find_names
from tasks.extraction.bans import parse_bans
from tasks.judges.text import extract_numbers, extract_terms, split_sentences
from tasks.warehouse.traces import SearchStep

HITS = 40
"""Statements considered for a query."""
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
    pages: list[int] = field(default_factory=list)
    years: list[str] = field(default_factory=list)


def extract_question(prompt: str) -> str:
    """Return the question without the prompt's instructions on sources and format."""
    text = _FIRST_LINE.sub("", prompt.lstrip())
    heading = _HEADING.search(text)
    return (text[: heading.start()] if heading else text).strip()


def answer_question(
    archive: StatementSearch, prompt: str, banned: Sequence[str]
) -> tuple[str | None, tuple[SearchStep, ...]]:
    """Return the answer as JSON in Markdown, None if nothing was found, and the search trace.

    Raises:
        InvalidBan: `banned` holds neither a URL nor a host.
    """
    question, named = extract_question(prompt), parse_bans(banned)
    queries = [question, *(q for q in split_sentences(question) if q != question)][:MAX_QUERIES]
    asked = set(extract_terms(question))
    found: dict[str, _Candidate] = {}
    steps = []
    for index, query in enumerate(queries):
        hits = [hit for hit in archive.search(query, HITS)
                if not named.matches(archive.pages[hit.page].url)]  # fmt: skip
        opened = tuple(dict.fromkeys(archive.pages[hit.page].url for hit in hits[:MAX_SOURCES]))
        steps.append(SearchStep(query=query, opened=opened, parent=0 if index else None))
        for rank, hit in enumerate(hits):
            text = archive.text(hit.statement)
            for name in dict.fromkeys(find_names(text)):
                if (
                    not asked & set(extract_terms(name))
                    and extract_terms(name)
                    and not extract_numbers(name)
                ):
                    one = found.setdefault(name, _Candidate())
                    one.score += hit.score / (rank + 2)
                    one.pages.append(hit.page)
                    one.years += _YEAR.findall(text)
    claims = [
        _build_claim(archive, name, found[name], question)
        for name in _choose_names(found, question)
    ]
    if not claims:
        return None, tuple(steps)
    return f"```json\n{json.dumps({'claims': claims}, indent=2, ensure_ascii=False)}\n```\n", tuple(
        steps
    )


def _choose_names(found: dict[str, _Candidate], question: str) -> list[str]:
    """Choose the names with the best scores; for a person, preferably names of several words."""
    eligible = found
    if _ASKS_PERSON.search(question):
        eligible = {name: one for name, one in found.items() if " " in name} or found
    ordered = sorted(eligible, key=lambda name: (-eligible[name].score, name))
    return [name for name in ordered[:MAX_ANSWERS]
            if eligible[name].score >= MIN_SHARE_OF_BEST * eligible[ordered[0]].score]  # fmt: skip


def _build_claim(
    archive: StatementSearch, name: str, one: _Candidate, question: str
) -> dict[str, object]:
    pages = list(dict.fromkeys(one.pages))[:MAX_SOURCES]
    year = max(sorted(set(one.years)), key=one.years.count, default=None)
    asked = year is not None and _ASKS_YEAR.search(question)
    return {
        "value": name,
        "sub_claims": [{"name": "year", "value": year}] if asked else [],
        "sources": [archive.pages[page].url for page in pages],
    }
