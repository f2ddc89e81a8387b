"""A small research agent over an edition's archived pages: `python -m tasks.agents.baseline`.

It runs like any program (see `command`): it reads the assignment from EVERGREEN_ASSIGNMENT and the
pages from EVERGREEN_ARCHIVE, keeps its index in EVERGREEN_CACHE, and writes the report to standard
output and its trace to `answer.json`. It uses no model, no network and no key: it searches for the
title or the query (BM25), then for the names that it finds, and quotes the most informative
statements word for word with their sources, in sections named by topic. Any other agent should beat
it.

With EVERGREEN_SANDBOX, the relay to an `evergreen sandbox`, it searches and fetches there instead.

A question it answers with the names that occur near its words. It understands nothing, so most
answers are wrong; but they are valid, sourced and never made up.

Neither holds what an assignment bans. It opens no file of the archive but `pages.parquet`: no
article, fact, report or verdict. But since other agents cited those pages, its search is easier
than theirs was.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from tasks.agents.baseline.index import PageSearch, ReadablePage, UnreadableArchive, open_archive
from tasks.agents.baseline.research import (
    MIN_NAMED,
    MIN_NAMED_QUERY,
    PageStatement,
    ResearchResult,
    choose_statements,
    find_names,
    read_statements,
    refers_back,
    research,
    share_named,
    weigh_words,
)
from tasks.agents.baseline.sandbox import SandboxPages
from tasks.base import Frozen
from tasks.judges.text import extract_terms, split_sentences
from tasks.warehouse.rows import AssignmentKind
from tasks.warehouse.traces import SearchStep

VERSION = "baseline-2"
ARTICLE_WORDS = 1800
"""The length of an article. A longer one covers more facts (1,000 words: 13.4 %, 1,500: 16.1,
1,800: 17.6, 2,500: 20.1, 3,000: 21.6; soft coverage by the offline judge on the shared edition),
but the other agents write 1,300, and a longer list of sentences is unreadable."""
ANSWER_FILE = Path("answer.json")
LEAD_STATEMENTS = 4
MIN_SECTION_STATEMENTS = 3
MAX_SECTIONS = 8
PARAGRAPH_STATEMENTS = 5
REST_HEADING = "Further details"
MAX_TITLE_CHARS = 200
_DEFINING = re.compile(r"\b(?:is|was|are|were) (?:a|an|the)\b")
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


class BaselineAssignment(Frozen, extra="ignore"):
    """The fields of `assignment.json` that the baseline uses."""

    title: str
    kind: AssignmentKind
    query: str | None = None
    prompt: str = ""
    assignment: str = ""


class CannotWrite(Exception):
    """The baseline cannot write a report; the message says why."""


def main(environment: Mapping[str, str]) -> int:
    try:
        assignment = _load_assignment(environment)
        report, trace = write_report(_open_search(environment, assignment), assignment)
    except (CannotWrite, UnreadableArchive) as error:
        print(f"baseline: {error}", file=sys.stderr)
        return 1
    steps = [step.model_dump() for step in trace]
    answer = {"trace": steps, "cost_usd": 0.0, "model_version": VERSION,
            "usage": {"searches": len(steps)}}  # fmt: skip
    ANSWER_FILE.write_text(json.dumps(answer), "utf-8")
    sys.stdout.buffer.write(report.encode("utf-8", "replace"))
    return 0


def write_report(
    archive: PageSearch, assignment: BaselineAssignment
) -> tuple[str, tuple[SearchStep, ...]]:
    """Return the report and the search trace.

    Raises:
        CannotWrite: the archive holds nothing on the subject.
    """
    if assignment.kind == "find_claims":
        reply, trace = answer_question(archive, assignment.prompt)
        if reply is None:
            raise CannotWrite("no archived page has a name near the question's words")
        return reply, trace
    subject = assignment.query or assignment.title
    least = MIN_NAMED_QUERY if assignment.query else MIN_NAMED
    found = research(archive, subject, least)
    chosen = choose_statements(found, ARTICLE_WORDS)
    if not chosen:
        raise CannotWrite(
            f"none of the {archive.n_pages} usable archived pages is about {subject!r}; "
            "nothing was written"
        )
    return render_article(found, chosen), found.trace


def _open_search(environment: Mapping[str, str], assignment: BaselineAssignment) -> PageSearch:
    if environment.get("EVERGREEN_SANDBOX"):
        return SandboxPages(environment["EVERGREEN_SANDBOX"], assignment.assignment)
    cache = Path(environment.get("EVERGREEN_CACHE", "cache"))
    return open_archive(Path(_require_variable(environment, "EVERGREEN_ARCHIVE")), cache)


def _load_assignment(environment: Mapping[str, str]) -> BaselineAssignment:
    path = _require_variable(environment, "EVERGREEN_ASSIGNMENT")
    try:
        return BaselineAssignment.model_validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise CannotWrite(f"{path} is not an assignment: {error}") from None


def _require_variable(environment: Mapping[str, str], name: str) -> str:
    if not environment.get(name):
        raise CannotWrite(f"{name} is not set; `evergreen` sets it for agents of kind `command`")
    return environment[name]


def render_article(result: ResearchResult, chosen: Sequence[PageStatement]) -> str:
    """Render the article as Markdown: a lead, sections, and the references for `[n]`."""
    lead = _choose_lead(result, chosen)
    rest = set(chosen).difference(lead)
    left = [statement for statement in result.statements if statement in rest]
    pages: dict[ReadablePage, int] = {}
    parts = [_render_cited(lead, pages)]
    for _ in range(MAX_SECTIONS):
        if (name := _find_frequent_name(result, left)) is None:
            break
        named = [statement for statement in left if name in find_names(statement.text)]
        parts += [f"## {name}", *_render_paragraphs(named, pages)]
        left = [statement for statement in left if statement not in named]
    if left:
        parts += [f"## {REST_HEADING}", *_render_paragraphs(left, pages)]
    references = [f"[{number}] {_clean_title(page)}. {page.url}" for page, number in pages.items()]
    return "\n\n".join([*parts, "## References", "\n\n".join(references)]) + "\n"


def _find_frequent_name(result: ResearchResult, statements: Sequence[PageStatement]) -> str | None:
    """Return the most frequent name outside the title; None if none is frequent enough."""
    named = (set(find_names(statement.text, result.subject)) for statement in statements)
    times = Counter(name for names in named for name in names)
    eligible = [name for name, n in times.items() if n >= MIN_SECTION_STATEMENTS and len(name) >= 3]
    return min(eligible, key=lambda name: (-times[name], -len(name), name), default=None)


def _choose_lead(result: ResearchResult, chosen: Sequence[PageStatement]) -> list[PageStatement]:
    """Choose statements that name the subject and need no context, definitions first."""
    eligible = [
        s
        for s in chosen
        if share_named(result.subject, s.words) >= MIN_NAMED and not refers_back(s.text)
    ] or chosen
    return sorted(eligible, key=lambda s: not _DEFINING.search(s.text[:120]))[:LEAD_STATEMENTS]


def _render_paragraphs(
    statements: Sequence[PageStatement], pages: dict[ReadablePage, int]
) -> list[str]:
    """Render paragraphs, each with statements of one page."""
    paragraphs: list[str] = []
    for _, group in groupby(statements, key=lambda statement: statement.page):
        on_page = list(group)
        for at in range(0, len(on_page), PARAGRAPH_STATEMENTS):
            paragraphs.append(_render_cited(on_page[at : at + PARAGRAPH_STATEMENTS], pages))
    return paragraphs


def _render_cited(statements: Sequence[PageStatement], pages: dict[ReadablePage, int]) -> str:
    return " ".join(f"{s.text}[{pages.setdefault(s.page, len(pages) + 1)}]" for s in statements)


def _clean_title(page: ReadablePage) -> str:
    """Return a page's title without Markdown's link characters, or its host if it has none."""
    words = " ".join(page.title.translate(str.maketrans("[]()<>|", "       ")).split())
    return words[:MAX_TITLE_CHARS].rstrip(" .") or urlsplit(page.url).hostname or page.url


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
