"""A small research agent over an edition's archived pages: `python -m tasks.agents.baseline`.

It runs as any program does (see `command`): what is asked lies in EVERGREEN_ASSIGNMENT, the pages
in EVERGREEN_ARCHIVE, its index in EVERGREEN_CACHE; the report goes to standard output and what it
did to `answer.json`. No model, no network, no key: it searches the title or the query (BM25), then
the names that it found, and puts the statements together that say most, each word for word and with
its source. A free agent that any other should beat.

With EVERGREEN_SANDBOX, the address of an `evergreen sandbox`, it searches and fetches there instead
(and sends EVERGREEN_SANDBOX_KEY, where that is set).

It opens no file of the archive but `pages.parquet`: no article, fact, report or verdict. But those
pages are what other agents have cited, so its search is easier than theirs was.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.agents.baseline.article import article
from tasks.agents.baseline.index import Sources, UnreadableArchive, open_archive
from tasks.agents.baseline.questions import answer
from tasks.agents.baseline.research import LEAST_NAMED, LEAST_OF_QUERY, choose, research
from tasks.agents.baseline.sandbox import SandboxPages
from tasks.extraction.banned import UnreadableBan
from tasks.warehouse.rows import AssignmentKind
from tasks.warehouse.traces import SearchStep

VERSION = "baseline-1"
WORDS = 1800
"""Of an article. More covers more (1,000: 13.2 % of the facts, 1,500: 15.9, 1,800: 17.3, 2,500:
19.7, 3,000: 21.0; soft coverage by the offline judge on the shared edition), but the agents there
write 1,300, and nobody reads a heap of sentences."""
ANSWER_FILE = Path("answer.json")


class Assignment(BaseModel):
    """What is asked, of what `assignment.json` holds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str
    kind: AssignmentKind
    query: str | None = None
    prompt: str = ""
    banned: tuple[str, ...] = ()
    assignment: str = ""


class CannotWrite(Exception):
    """There will be no report; the message says why."""


def main(environment: Mapping[str, str]) -> int:
    try:
        assignment = _assignment(environment)
        report, trace = write(_sources(environment, assignment), assignment)
    except (CannotWrite, UnreadableArchive, UnreadableBan) as error:
        print(f"baseline: {error}", file=sys.stderr)
        return 1
    steps = [step.model_dump() for step in trace]
    said = {"trace": steps, "cost_usd": 0.0, "model_version": VERSION,
            "usage": {"searches": len(steps)}}  # fmt: skip
    ANSWER_FILE.write_text(json.dumps(said), "utf-8")
    sys.stdout.buffer.write(report.encode("utf-8", "replace"))
    return 0


def write(archive: Sources, assignment: Assignment) -> tuple[str, tuple[SearchStep, ...]]:
    """The report, and how it searched.

    Raises:
        CannotWrite: the archive holds nothing on it.
        UnreadableBan: what is banned cannot be read.
    """
    if assignment.kind == "find_claims":
        said, trace = answer(archive, assignment.prompt, assignment.banned)
        if said is None:
            raise CannotWrite("none of the archived pages holds a name beside the question's words")
        return said, trace
    subject = assignment.query or assignment.title
    least = LEAST_OF_QUERY if assignment.query else LEAST_NAMED
    found = research(archive, subject, assignment.banned, least)
    chosen = choose(found, WORDS)
    if not chosen:
        raise CannotWrite(
            f"none of the {len(archive.pages)} archived pages that may be used is on "
            f"{subject!r}; nothing was written"
        )
    return article(archive, found, chosen), found.trace


def _sources(environment: Mapping[str, str], assignment: Assignment) -> Sources:
    if environment.get("EVERGREEN_SANDBOX"):
        key = environment.get("EVERGREEN_SANDBOX_KEY")
        return SandboxPages(environment["EVERGREEN_SANDBOX"], key, assignment.assignment)
    cache = Path(environment.get("EVERGREEN_CACHE", "cache"))
    return open_archive(Path(_named(environment, "EVERGREEN_ARCHIVE")), cache)


def _assignment(environment: Mapping[str, str]) -> Assignment:
    path = _named(environment, "EVERGREEN_ASSIGNMENT")
    try:
        return Assignment.model_validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        raise CannotWrite(f"{path} holds no assignment: {error}") from None


def _named(environment: Mapping[str, str], name: str) -> str:
    if not environment.get(name):
        raise CannotWrite(f"{name} is not set; `evergreen` sets it for agents of kind `command`")
    return environment[name]
