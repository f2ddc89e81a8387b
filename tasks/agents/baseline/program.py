"""A small research agent over an edition's archived pages: `python -m tasks.agents.baseline`.

It runs like any program (see `command`): it reads the assignment from EVERGREEN_ASSIGNMENT and the
pages from EVERGREEN_ARCHIVE, keeps its index in EVERGREEN_CACHE, and writes the report to standard
output and its trace to `answer.json`. It uses no model, no network and no key: it searches for the
title or the query (BM25), then for the names that it finds, and quotes the most informative
statements word for word with their sources. Any other agent should beat it.

With EVERGREEN_SANDBOX, the relay to an `evergreen sandbox`, it searches and fetches there instead.

Neither holds what an assignment bans. It opens no file of the archive but `pages.parquet`: no
article, fact, report or verdict. But since other agents cited those pages, its search is easier
than theirs was.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.agents.baseline.article import render_article
from tasks.agents.baseline.index import PageSearch, UnreadableArchive, open_archive
from tasks.agents.baseline.questions import answer_question
from tasks.agents.baseline.research import MIN_NAMED, MIN_NAMED_QUERY, choose_statements, research
from tasks.agents.baseline.sandbox import SandboxPages
from tasks.warehouse.rows import AssignmentKind
from tasks.warehouse.traces import SearchStep

VERSION = "baseline-2"
ARTICLE_WORDS = 1800
"""The length of an article. A longer one covers more facts (1,000 words: 13.4 %, 1,500: 16.1,
1,800: 17.6, 2,500: 20.1, 3,000: 21.6; soft coverage by the offline judge on the shared edition),
but the other agents write 1,300, and a longer list of sentences is unreadable."""
ANSWER_FILE = Path("answer.json")


class BaselineAssignment(BaseModel):
    """The fields of `assignment.json` that the baseline uses."""

    model_config = ConfigDict(frozen=True, extra="ignore")

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
