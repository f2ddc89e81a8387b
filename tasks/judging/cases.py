"""Load the inputs of cells in batches.

DuckDB decompresses columns in blocks of 2,048 rows, so reading one report or page costs as much as
a batch. Loading inputs cell by cell took longer than judging.
"""

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tasks.judging.cells import CellPlan
from tasks.judging.inputs import USABLE_DOCUMENTS, load_usage
from tasks.models.attachments import Attachment
from tasks.protocols.case import Case
from tasks.warehouse.contents import files_folder
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.jobs import ReportFile
from tasks.warehouse.pages import Page
from tasks.warehouse.rows import Article, Citation, Claim, Extraction, Fact, Report, Row
from tasks.warehouse.rubrics import KeyPoint, PointSet, Rubric, RubricBundle
from tasks.warehouse.store import Warehouse
from tasks.warehouse.traces import SearchTrace
from tasks.warehouse.truths import GroundTruth

BATCH = 24
"""Cells whose inputs are in memory at once: some 10 MB of pages in the published edition."""

OF_REPORTS = "edition = $1 AND (agent, assignment) IN (SELECT unnest($2), unnest($3))"
OF_ASSIGNMENTS = "edition = $1 AND assignment IN (SELECT unnest($2))"
OF_ARTICLES = (
    "edition = $1 AND article IN (SELECT article FROM assignments "
    "WHERE edition = $1 AND assignment IN (SELECT unnest($2)))"
)
OF_PAGES = f"edition = $1 AND url IN (SELECT url FROM citations WHERE {OF_REPORTS})"
MEASURES: dict[type[Row], tuple[str, ...]] = {
    GroundTruth: ("assignment",),
    RubricBundle: ("protocol", "assignment"),
    Rubric: ("protocol", "assignment"),
    KeyPoint: ("assignment",),
    PointSet: ("assignment",),
}
"""Tables that an assignment's reports are judged against, with their grouping columns."""


class UnreadableScan(Exception):
    """A file that a judge is to see is missing or damaged; the message says which. Only its cell
    fails."""


def load_cases(warehouse: Warehouse, plans: Sequence[CellPlan]) -> dict[str, Case]:
    """Return cell_id → all inputs of a protocol; the plans are of one edition."""
    inputs = CaseInputs(warehouse, plans)
    return {plan.cell_id: inputs.case(plan) for plan in plans}


class CaseInputs:
    """The warehouse rows that a batch of cells is judged on."""

    def __init__(self, warehouse: Warehouse, plans: Sequence[CellPlan]) -> None:
        edition = plans[0].edition
        assignments = [plan.assignment for plan in plans]
        of_assignments = [edition, assignments]
        of_reports = [edition, [plan.agent for plan in plans], assignments]
        asked = warehouse.frame(
            "SELECT assignment, article, query FROM assignments WHERE edition = $1", [edition]
        )
        self.article_and_query = {key: (article, query) for key, article, query in asked.rows()}
        self.articles = {
            row.article: row for row in warehouse.rows(Article, OF_ARTICLES, of_assignments)
        }
        self.facts = _group_by(warehouse.rows(Fact, OF_ARTICLES, of_assignments), "article")
        self.of_report = {
            model: _group_by(warehouse.rows(model, OF_REPORTS, of_reports), "agent", "assignment")
            for model in (Report, Claim, Citation, Extraction, SearchTrace)
        }
        self.of_assignment = {
            model: _group_by(warehouse.rows(model, OF_ASSIGNMENTS, of_assignments), *columns)
            for model, columns in MEASURES.items()
        }
        self.clicked = set(
            warehouse.frame(f"SELECT DISTINCT assignment FROM ({USABLE_DOCUMENTS})", [edition])[
                "assignment"
            ]
        )
        self.usage = load_usage(warehouse, edition)
        self.pages = {page.url: page for page in warehouse.rows(Page, OF_PAGES, of_reports)}
        self.folder = files_folder(warehouse.location)

    def case(self, plan: CellPlan) -> Case:
        """Return the inputs of one cell."""
        key, rubric_key = (plan.agent, plan.assignment), (plan.protocol, plan.assignment)
        article, query = self.article_and_query[plan.assignment]
        citations = self.of_report[Citation][key]
        cited = sorted({citation.url for citation in citations} & self.pages.keys())
        measures, alone = self.of_assignment, (plan.assignment,)
        return Case.model_construct(  # its rows are validated already
            article=self.articles.get(article),
            report=self.of_report[Report][key][0],
            facts=tuple(self.facts[article,]),
            claims=tuple(self.of_report[Claim][key]),
            citations=tuple(citations),
            pages=tuple(self.pages[url] for url in cited),
            extraction=_first_or_none(self.of_report[Extraction][key]),
            truth=_first_or_none(measures[GroundTruth][alone]),
            trace=_first_or_none(self.of_report[SearchTrace][key]),
            query=query,
            rubric=tuple(sorted(measures[Rubric][rubric_key], key=lambda item: item.number)),
            bundle=_first_or_none(measures[RubricBundle][rubric_key]),
            key_points=tuple(measures[KeyPoint][alone]),
            point_set=_first_or_none(measures[PointSet][alone]),
            clicked_documents=plan.assignment in self.clicked,
            usage=self.usage.get(key),
            attachments=tuple(self._attach(file) for file in plan.shown.instead),
            pictures=tuple(
                self._attach(file).model_copy(update={"name": file.name})
                for file in plan.shown.beside
            ),
        )

    def _attach(self, file: ReportFile) -> Attachment:
        """Attach a file; its name, which may be a stranger's, stays out of prompts."""
        settings = file.model_dump(include={*Attachment.model_fields} - {"name"})
        return Attachment(**settings, folder=self.folder)


class CaseLoader:
    """Returns cases in any order and to any thread, loading them in batches."""

    def __init__(self, warehouse: Warehouse, plans: Sequence[CellPlan]) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._ready: dict[str, Case] = {}
        self._pending: dict[str, Sequence[CellPlan]] = {}
        for start in range(0, len(plans), BATCH):
            batch = plans[start : start + BATCH]
            self._pending.update({plan.cell_id: batch for plan in batch})

    def load(self, plan: CellPlan) -> Case:
        """Return the inputs of one cell; a second request (a retry) reads them again.

        Raises:
            UnreadableScan: one of its files is missing or damaged.
        """
        with self._lock:
            if plan.cell_id not in self._ready:
                batch = self._pending.get(plan.cell_id, [plan])
                for other in batch:
                    self._pending.pop(other.cell_id, None)
                self._ready.update(load_cases(self._warehouse, batch))
            case = self._ready.pop(plan.cell_id)
        for attachment in (*case.attachments, *case.pictures):
            try:
                attachment.content()
            except DamagedWarehouse as error:
                raise UnreadableScan(str(error)) from None
        return case


def _group_by(rows: Sequence[Any], *columns: str) -> dict[tuple[str, ...], list[Any]]:
    grouped: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for row in rows:
        grouped[tuple(getattr(row, column) for column in columns)].append(row)
    return grouped


def _first_or_none(rows: Sequence[Any]) -> Any | None:
    return rows[0] if rows else None
