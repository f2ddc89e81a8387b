"""Import of a published edition: its frame, then agent by agent, then the snapshot; and marking of
its pages that are walls.

A known report that has not changed is left alone, and so is everything made from it. The Prefect
tasks are in `tasks/reports.py`.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tasks.base import Frozen
from tasks.benchmarks.reports import AgentReports
from tasks.benchmarks.wlc import PublishedEdition, read_agent, read_wlc
from tasks.editions.manifest import check_not_collected
from tasks.foreign_text import refuse_hidden
from tasks.warehouse.jobs import ImportIssue
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import (
    Agent,
    Article,
    Assignment,
    Citation,
    Claim,
    Edition,
    Extraction,
    Fact,
    Report,
)
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tasks.web.walls import classify_text, describe_wall

PUBLISHED = "edition = $1 AND coalesce(source, 'published') = 'published' AND text IS NOT NULL"
BATCH_SIZE = 50
"""Texts in memory at once."""
RowT = TypeVar("RowT", Claim, Citation, Fact)


class ImportSummary(Frozen):
    """The result of importing an edition."""

    edition: str
    articles: int
    agents: int
    reports: int
    facts: int
    claims: int
    pages: int
    new_reports: int
    unreadable: int
    remarks: int


def import_edition(
    warehouse: Warehouse,
    folder: Path,
    edition: str,
    agents: Sequence[str] = (),
    on_agent: Callable[[str, int, int], None] = lambda agent, done, total: None,
) -> ImportSummary:
    """Import the edition under `folder`, agent by agent, and export its snapshot.

    Importing the same files again changes nothing. Changed facts of an article are replaced.

    Args:
        on_agent: called after each agent with its id, the number done, and the total.

    Raises:
        EditionError: not an edition, an unknown agent, or the name of a collected edition.
        HiddenCharacters: a name has them.
    """
    check_not_collected(warehouse, edition)
    refuse_hidden(edition, "The edition")
    published = read_wlc(folder, edition, list(agents) or None)
    warehouse.write(
        Change(Edition, [published.edition], only_new=True),
        Change(Agent, published.agents),
        Change(Article, published.articles),
        Change(Assignment, _keep_prompts(warehouse, edition, published.assignments)),
        Change(ImportIssue, published.issues, replacing={"edition": edition, "scope": ""}),
        *_changed_facts(warehouse, edition, published),
    )
    articles = {article.article for article in published.articles}
    new = 0
    for number, agent in enumerate(published.agents, start=1):
        read = read_agent(folder, edition, agent.agent, articles)
        new += _write_agent(warehouse, edition, agent.agent, read)
        on_agent(agent.agent, number, len(published.agents))
    export_edition(warehouse, edition)
    return _summarize(warehouse, edition, new)


def _write_agent(warehouse: Warehouse, edition: str, agent: str, read: AgentReports) -> int:
    """Write an agent's rows and return the number of its reports that are new or changed."""
    of_agent = "edition = $1 AND agent = $2"
    known = set(
        warehouse.frame(
            f"SELECT assignment, text_sha FROM reports WHERE {of_agent}", [edition, agent]
        ).iter_rows()
    )
    issues = [issue.model_copy(update={"scope": agent}) for issue in read.issues]
    warehouse.write(
        Change(Report, read.reports),
        Change(ImportIssue, issues, replacing={"edition": edition, "scope": agent}),
        Change(Page, _select_pages(warehouse, edition, read.pages)),
        *_changed_claims(warehouse, edition, agent, read),
    )
    return sum((r.assignment, r.text_sha) not in known for r in read.reports)


def _select_pages(warehouse: Warehouse, edition: str, pages: Sequence[Page]) -> list[Page]:
    """Select the pages to write: those that are new, or replace an unusable copy. The first good
    copy is kept for ever.

    If we fetched the page ourselves, or found a published text to be a wall, a new copy must not be
    a wall either.
    """
    archived = {
        url: (status, looked)
        for url, status, looked in warehouse.frame(
            "SELECT url, status, coalesce(source, 'published') <> 'published' "
            "OR text IS NOT NULL FROM pages WHERE edition = $1",
            [edition],
        ).iter_rows()
    }

    def is_wanted(page: Page) -> bool:
        if page.url not in archived:
            return True
        status, looked = archived[page.url]
        if status == "ok" or page.status != "ok":
            return False
        return not looked or classify_text(page.url, page.title, page.text or "")[0] == "ok"

    return [page for page in pages if is_wanted(page)]


def _changed_claims(
    warehouse: Warehouse, edition: str, agent: str, read: AgentReports
) -> list[Change]:
    claims, citations = _group(read.claims, "assignment"), _group(read.citations, "assignment")
    changes = []
    for extraction in _select_new(warehouse, edition, agent, read.extractions):
        key = {"edition": edition, "agent": agent, "assignment": extraction.assignment}
        changes += [
            Change(Claim, claims[extraction.assignment], replacing=key),
            Change(Citation, citations[extraction.assignment], replacing=key),
            Change(Extraction, [extraction], replacing=key),
        ]
    return changes


def _group(rows: Sequence[RowT], column: str) -> dict[str, list[RowT]]:
    grouped: dict[str, list[RowT]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, column)].append(row)
    return grouped


def _select_new(
    warehouse: Warehouse, edition: str, agent: str, extractions: Sequence[Extraction]
) -> list[Extraction]:
    """Select the extractions whose results are not stored yet. agent: empty for facts."""
    known = set(warehouse.rows(Extraction, "edition = $1 AND agent = $2", [edition, agent]))
    return [extraction for extraction in extractions if extraction not in known]


def _summarize(warehouse: Warehouse, edition: str, new_reports: int) -> ImportSummary:
    counts = {
        table: warehouse.value(f"SELECT count(*) FROM {table} WHERE edition = $1", [edition])
        for table in ("articles", "agents", "reports", "facts", "claims", "pages")
    }
    issues = "SELECT count(*) FROM import_issues WHERE edition = $1 AND severity = $2"
    return ImportSummary(
        edition=edition,
        new_reports=new_reports,
        unreadable=warehouse.value(issues, [edition, "unreadable"]),
        remarks=warehouse.value(issues, [edition, "remark"]),
        **counts,
    )


def _keep_prompts(
    warehouse: Warehouse, edition: str, assignments: Sequence[Assignment]
) -> list[Assignment]:
    """Keep the prompts that were made here, because reports answer them; the publisher has none."""
    made = {
        stored.assignment: {"prompt": stored.prompt, "prompt_sha": stored.prompt_sha}
        for stored in warehouse.rows(Assignment, "edition = $1 AND prompt IS NOT NULL", [edition])
    }
    return [a.model_copy(update=made.get(a.assignment, {})) for a in assignments]


def _changed_facts(warehouse: Warehouse, edition: str, published: PublishedEdition) -> list[Change]:
    facts = _group(published.facts, "article")
    changes = []
    for extraction in _select_new(warehouse, edition, "", published.extractions):
        article = extraction.assignment
        key = {"edition": edition, "agent": "", "assignment": article}
        changes += [
            Change(Fact, facts[article], replacing={"edition": edition, "article": article}),
            Change(Extraction, [extraction], replacing=key),
        ]
    return changes


def mark_walls(warehouse: Warehouse, edition: str) -> int:
    """Mark published pages that are walls, whose texts are kept but no longer judged: classify the
    texts like those of pages that we fetched, and return how many statuses changed.

    An import uses the published rule (no error, more than 100 characters), so that figures are
    comparable. By that rule robot tests and "not found" pages count as evidence.

    The next evaluation judges the reports that cite these pages again. A second call changes
    nothing.
    """
    urls = warehouse.frame(f"SELECT url FROM pages WHERE {PUBLISHED} ORDER BY url", [edition])
    n = 0
    for part in urls["url"].to_frame().iter_slices(BATCH_SIZE):
        of_part = f"{PUBLISHED} AND url IN (SELECT unnest($2))"
        pages = warehouse.rows(Page, of_part, [edition, part["url"].to_list()])
        changed = [looked for page in pages if (looked := _reclassify(page)) != page]
        before = {page.url: page.status for page in pages}
        n += sum(page.status != before[page.url] for page in changed)
        warehouse.write(Change(Page, changed))
    if n:
        export_edition(warehouse, edition)
    return n


def _reclassify(page: Page) -> Page:
    status, signals = classify_text(page.url, page.title, page.text or "")
    return page.model_copy(
        update={
            "status": status,
            "error": None if status == "ok" else describe_wall(status, signals),
            "signals": json.dumps(signals) if signals else None,
            "source": "published",
        }
    )
