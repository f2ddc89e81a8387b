"""The inputs of cells, read a batch at a time.

DuckDB decompresses a column by blocks of 2,048 rows: one report or page costs as much to
read as a batch of them. Read cell by cell, inputs took longer than judging them.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tasks.cells import CellPlan
from tasks.models.attachments import Attachment
from tasks.protocols.case import Case
from tasks.report_usage import usage_of
from tasks.scans import scans
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.files import files_folder
from tasks.warehouse.rows import Article, Citation, Claim, Extraction, Fact, Page, Report
from tasks.warehouse.rubrics import KeyPoint, PointSet, Rubric, RubricBundle
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import GroundTruth

BATCH = 24
"""Cells whose inputs are held at once: some 10 MB of pages on the published edition."""

OF_REPORTS = "edition = $1 AND (agent, assignment) IN (SELECT unnest($2), unnest($3))"
OF_ARTICLES = (
    "edition = $1 AND article IN (SELECT article FROM assignments "
    "WHERE edition = $1 AND assignment IN (SELECT unnest($2)))"
)
OF_PAGES = f"edition = $1 AND url IN (SELECT url FROM citations WHERE {OF_REPORTS})"


class UnreadableScan(Exception):
    """A file that is to be shown to a judge is missing or damaged; the message says which. Only
    its own cell fails."""


def load_cases(warehouse: Warehouse, plans: Sequence[CellPlan]) -> dict[str, Case]:
    """cell_id → everything a protocol may look at; the plans are of one edition."""
    edition = plans[0].edition
    reports_key = [edition, [p.agent for p in plans], [p.assignment for p in plans]]
    articles_key = [edition, [p.assignment for p in plans]]
    article_of = dict(
        warehouse.frame(
            "SELECT assignment, article FROM assignments WHERE edition = $1", [edition]
        ).iter_rows()
    )
    articles = {a.article: a for a in warehouse.rows(Article, OF_ARTICLES, articles_key)}
    facts = _grouped(warehouse.rows(Fact, OF_ARTICLES, articles_key), "article")
    of_report = {
        model: _grouped(warehouse.rows(model, OF_REPORTS, reports_key), "agent", "assignment")
        for model in (Report, Claim, Citation, Extraction, SearchTrace)
    }
    truths = {
        truth.assignment: truth
        for truth in warehouse.rows(
            GroundTruth, "edition = $1 AND assignment IN (SELECT unnest($2))", articles_key
        )
    }
    queries = dict(
        warehouse.frame(
            "SELECT assignment, query FROM assignments WHERE edition = $1", [edition]
        ).iter_rows()
    )
    bundles, rubrics, points, point_sets = _measures(warehouse, plans)
    usage = usage_of(warehouse, edition)
    pages = {page.url: page for page in warehouse.rows(Page, OF_PAGES, reports_key)}
    scanned = any(r.status == "scanned" for (r, *_) in of_report[Report].values())
    files = scans(warehouse, edition) if scanned else {}
    folder = files_folder(warehouse.path)

    def case(plan: CellPlan) -> Case:
        key, article = (plan.agent, plan.assignment), article_of[plan.assignment]
        citations = of_report[Citation][key]
        cited = sorted({citation.url for citation in citations} & pages.keys())
        return Case.model_construct(  # every row of it has been validated
            article=articles.get(article),
            report=of_report[Report][key][0],
            facts=tuple(facts[article,]),
            claims=tuple(of_report[Claim][key]),
            citations=tuple(citations),
            pages=tuple(pages[url] for url in cited),
            extraction=next(iter(of_report[Extraction][key]), None),
            truth=truths.get(plan.assignment),
            trace=next(iter(of_report[SearchTrace][key]), None),
            query=queries[plan.assignment],
            rubric=tuple(rubrics[plan.protocol, plan.assignment]),
            bundle=next(iter(bundles[plan.protocol, plan.assignment]), None),
            key_points=tuple(points[plan.assignment,]),
            point_set=next(iter(point_sets[plan.assignment,]), None),
            usage=usage.get(key),
            attachments=tuple(
                Attachment(
                    media_type=file.media_type,
                    sha=file.sha,
                    n_bytes=file.n_bytes,
                    n_pages=file.n_pages,
                    folder=folder,
                )
                for file in files.get(key, ())
            ),
        )

    return {plan.cell_id: case(plan) for plan in plans}


def _measures(
    warehouse: Warehouse, plans: Sequence[CellPlan]
) -> tuple[dict[tuple[str, ...], list[Any]], ...]:
    """What research queries are measured by: bundles and rubrics by protocol and assignment, key
    points and how they were obtained by assignment."""
    of = "edition = $1 AND assignment IN (SELECT unnest($2))"
    key = [plans[0].edition, [plan.assignment for plan in plans]]
    return (
        _grouped(warehouse.rows(RubricBundle, of, key), "protocol", "assignment"),
        _grouped(
            sorted(warehouse.rows(Rubric, of, key), key=lambda rubric: rubric.number),
            "protocol", "assignment",
        ),
        _grouped(warehouse.rows(KeyPoint, of, key), "assignment"),
        _grouped(warehouse.rows(PointSet, of, key), "assignment"),
    )  # fmt: skip


class CaseLoader:
    """Hands out cases in any order and from any thread, loading them in batches."""

    def __init__(self, warehouse: Warehouse, plans: Sequence[CellPlan]) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._ready: dict[str, Case] = {}
        self._pending: dict[str, Sequence[CellPlan]] = {}
        for start in range(0, len(plans), BATCH):
            batch = plans[start : start + BATCH]
            self._pending.update({plan.cell_id: batch for plan in batch})

    def case(self, plan: CellPlan) -> Case:
        """The inputs of one cell; asked again (a retry), they are read again."""
        with self._lock:
            if plan.cell_id not in self._ready:
                batch = self._pending.get(plan.cell_id, [plan])
                for other in batch:
                    self._pending.pop(other.cell_id, None)
                self._ready.update(load_cases(self._warehouse, batch))
            return self._ready.pop(plan.cell_id)


_loaders: dict[Warehouse, CaseLoader] = {}


@contextmanager
def loading(warehouse: Warehouse, plans: Sequence[CellPlan]) -> Iterator[None]:
    """While open, `load_case` reads these plans' inputs in batches."""
    _loaders[warehouse] = CaseLoader(warehouse, plans)
    try:
        yield
    finally:
        del _loaders[warehouse]


def load_case(warehouse: Warehouse, plan: CellPlan) -> Case:
    """The inputs of one cell.

    Raises:
        UnreadableScan: a file of it cannot be shown.
    """
    loader = _loaders.get(warehouse)
    case = loader.case(plan) if loader else load_cases(warehouse, [plan])[plan.cell_id]
    for attachment in case.attachments:
        try:
            attachment.content()
        except DamagedWarehouse as error:
            raise UnreadableScan(str(error)) from None
    return case


def _grouped(rows: Sequence[Any], *columns: str) -> dict[tuple[str, ...], list[Any]]:
    grouped: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for row in rows:
        grouped[tuple(getattr(row, column) for column in columns)].append(row)
    return grouped
