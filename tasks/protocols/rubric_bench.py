"""DeepResearch Bench II: which items of an expert's rubric does a report meet?

Source: arXiv 2601.08536. The items of all dimensions are asked in batches; each gets 1 (met), 0
(not met) or -1 (met, but by citing the blocked work, which counts as not met). Differences from the
published code:

- Items are identified by id, not by repeating their text exactly (`compat_echo` does that), and any
  other score makes an answer unusable.
- A batch without a usable answer leaves its items open; the published code drops the whole report.
- The published code keys results by text, so that for the six items that its rubrics contain twice
  the first score is lost. Here both have an id and both count; only `rubric_total_compat` leaves
  the first out.
- The published code shows PDFs and the pictures in DOCX. `pdfs` and `pictures` do; as delivered,
  judges get the text, and files of scans alone.
- The published code cuts texts longer than `max_chars` silently. Here the verdicts, a step and a
  metric record the cut.

Besides the items' verdicts (a step for each dimension) a report has some that need no model:
`evidence` (is the judge's quotation in the report?), `shown` (how much of the text was judged) and
`double` (an item with the same text as another).
"""

from collections.abc import Sequence
from functools import partial

import polars as pl
from pydantic import NonNegativeInt, PositiveInt

from tasks.configuration.loading import ConfigModel
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import Judge, JudgeAnswer
from tasks.judges.llm.requests import ask_first_alone
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.judges.text import is_quoted_in
from tasks.protocols.case import Case, ItemAnswer, JudgedReports, Protocol
from tasks.protocols.declarations import OPEN_NOTE, Board, Bounds, build_version, parse_parameters
from tasks.protocols.figures import build_share
from tasks.warehouse.rows import OPEN_STATUSES, Status, canonical_values
from tasks.warehouse.rubrics import ALLOWED_VALUES, BundleSettings, Rubric

MET, ABSENT, FROM_BLOCKED = "1", "0", "-1"
PRESENTATION = "presentation"
DIMENSIONS = ("info_recall", "analysis", PRESENTATION)
EVIDENCE, SHOWN, DOUBLE = "evidence", "shown", "double"
"""Steps that need no model."""
FOUND, NOT_FOUND = "found", "not_found"
WHOLE, CUT = "whole", "cut"
EMPTY = "no such item was decided"
SCAN = "not_assessed: the report is a scan, its text is not known"
NO_EVIDENCE = "no evidence to look for: the judge gave none, or the report is a scan"
COLUMNS = {
    "rubric_total": "Total",
    "rubric_info_recall": "Recall",
    "rubric_analysis": "Analysis",
    "rubric_presentation": "Present.",
    "rubric_blocked": "Blocked",
    "rubric_total_compat": "Publ.",
    "rubric_evaluated_share": "Graded",
    "rubric_evidence_not_found": "Not found",
    "rubric_cut": "Cut",
}
BOARD = Board(
    frozenset({"rubric_bench"}),
    COLUMNS,
    ("rubric_total",),
    "rubric_total",
    "Percent of a task's items, means over reports: met in all, and by dimension. Blocked: met "
    "only by the blocked work, which counts as not met. Publ.: Total without items that a "
    "rubric has twice, as published. Graded: items that the judge decided. Not found: "
    "evidence that is not in the report. Cut: reports too long to be shown whole. –: "
    f"not assessed. {OPEN_NOTE}. Rank: by Total.",
    "DeepResearch Bench II",
)


class RubricBenchParameters(ConfigModel):
    chunk_size: NonNegativeInt = 50
    """Items per call; 0: all in one call."""
    max_chars: PositiveInt = 150_000
    """Longest report text; scans are not cut."""
    compat_echo: bool = False
    """Whether answers identify items by repeating their text exactly; published: yes."""
    attachments: bool = False
    """Whether to show scanned reports, instead of their text, to judges that read images."""
    pdfs: bool = False
    """Whether to show PDFs with text, instead of their text, to judges that read PDFs."""
    pictures: bool = False
    """Whether pictures in reports go along in calls with Presentation items."""


class RubricBench(Protocol):
    """Grades a report by the rubric of its task."""

    name = "rubric_bench"
    prompts = "rubric_bench"
    kinds: tuple[str, ...] = ("research",)
    bounds = Bounds(
        dict.fromkeys(DIMENSIONS, (FROM_BLOCKED, MET)),
        none={"rubric_evidence_not_found": "a refused item quotes nothing"},
    )
    boards = (BOARD,)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics, self.missing = entry.metrics, entry.missing
        self.parameters = parse_parameters(entry, RubricBenchParameters)
        self.inputs: tuple[str, ...] = ("query", "report", "rubric")
        switches = {"attachments": "files", "pdfs": "pdfs", "pictures": "pictures"}
        for switch, shown in switches.items():
            if getattr(self.parameters, switch):
                self.inputs += (shown,)
        # Showing files does not affect how texts are judged: it must not change their cells.
        settings = canonical_values(self.parameters, exclude={*switches})
        self.version = build_version(entry, settings)

    def supports(self, judge: Judge) -> bool:
        return GradeItems in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[ItemAnswer]:
        text = case.report.text
        if not case.attachments:
            text = text[: self.parameters.max_chars]  # PDFs are shown whole, as published
        scanned = bool(case.attachments) and not text
        batches = split_batches(
            case.rubric, self.parameters.chunk_size, apart=self.parameters.compat_echo
        )
        # The first batch alone, so that the provider has cached the report for the others.
        # Published: one batch after the other.
        grades = await ask_first_alone(partial(self._grade_batch, case, text, judge), batches)
        return [
            *grades,
            *(
                _check_quotation(grade, None if scanned else text)
                for grade in grades
                if grade.answer.status is Status.OK and grade.answer.evidence is not None
            ),
            *_find_duplicates(case.rubric),
            *([] if scanned else [_record_shown(case, text)]),
        ]

    async def _grade_batch(
        self, case: Case, text: str, judge: Judge, batch: Sequence[Rubric]
    ) -> list[ItemAnswer]:
        settings = case.bundle.settings if case.bundle else "{}"
        shown = any(rubric.dimension == PRESENTATION for rubric in batch)
        answers = await judge.decide(
            GradeItems(
                question=case.question,
                report=text,
                items=tuple(
                    RubricItem(
                        id=r.item, text=r.text, allowed=ALLOWED_VALUES.validate_json(r.allowed)
                    )
                    for r in batch
                ),
                blocked=BundleSettings.model_validate_json(settings).blocked,
                attachments=case.attachments,
                pictures=case.pictures if shown and not case.attachments else (),
                echo=self.parameters.compat_echo,
                prompt="rubric_bench/grade_items",
            )
        )
        share = len(text) / len(case.report.text) if len(text) < len(case.report.text) else None
        return [
            ItemAnswer(
                step=rubric.dimension,
                item=rubric.item,
                answer=answer.model_copy(update={"shown_share": share}),
            )
            for rubric, answer in zip(batch, answers, strict=True)
        ]

    def compute_figures(self, judged: JudgedReports, judge: Judge) -> pl.DataFrame:
        grades = judged.select_step(*DIMENSIONS)
        doubles = judged.select_step(DOUBLE)
        once = grades.join(doubles, on=["assignment", "item"], how="anti")
        met, blocked = pl.col("label") == MET, pl.col("label") == FROM_BLOCKED
        # Items that cannot be graded are decided, for the share of graded items alone.
        final = ~pl.col("status").is_in([str(s) for s in OPEN_STATUSES])
        status = pl.when(final).then(pl.lit(str(Status.OK))).otherwise(pl.col("status"))
        settled = grades.with_columns(status=status)
        figures = {
            "rubric_total": (grades, met),
            **{f"rubric_{name}": (judged.select_step(name), met) for name in DIMENSIONS},
            "rubric_blocked": (grades, blocked),
            "rubric_total_compat": (once, met),
            "rubric_evaluated_share": (settled, pl.col("label").is_not_null()),
        }
        rows = [build_share(metric, *each, judged, EMPTY) for metric, each in figures.items()]
        return pl.concat([*rows, *_compute_checks(judged, grades)])

    def count_missing(self, judged: JudgedReports, judge: Judge) -> dict[str, dict[str, int]]:
        if GradeItems not in judge.decides:
            return {}
        whole = judged.count_rubric_items()
        return {
            "rubric_total": whole,
            "rubric_total_compat": whole,
            **{f"rubric_{name}": judged.count_rubric_items(name) for name in DIMENSIONS},
        }


def split_batches(items: Sequence[Rubric], size: int, *, apart: bool) -> list[list[Rubric]]:
    """Split items into batches of at most `size` (0: one batch), in order; at least one batch.

    Args:
        apart: Whether to put items with the same text into different batches.
    """
    found: list[list[Rubric]] = [[]]
    for item in items:
        fits = (
            batch
            for batch in found
            if (not size or len(batch) < size)
            and not (apart and any(item.text == other.text for other in batch))
        )
        batch = next(fits, None)
        if batch is None:
            found.append(batch := [])
        batch.append(item)
    return found


def _check_quotation(grade: ItemAnswer, text: str | None) -> ItemAnswer:
    """Check whether an item's evidence is in the report's text; None for a report without text."""
    if text is None:
        answer = JudgeAnswer(status=Status.NOT_ASSESSED, reason=SCAN)
    else:
        found = FOUND if is_quoted_in(grade.answer.evidence or "", text) else NOT_FOUND
        answer = JudgeAnswer(status=Status.OK, label=found)
    return ItemAnswer(step=EVIDENCE, item=grade.item, answer=answer)


def _record_shown(case: Case, text: str) -> ItemAnswer:
    whole = len(case.report.text)
    answer = JudgeAnswer(
        status=Status.OK,
        label=CUT if len(text) < whole else WHOLE,
        score=len(text) / whole if whole else 1.0,
        reason=f"{len(text):,} of {whole:,} characters" if len(text) < whole else None,
    )
    return ItemAnswer(step=SHOWN, item="report", answer=answer)


def _find_duplicates(rubric: Sequence[Rubric]) -> list[ItemAnswer]:
    """Return each item whose text occurs again in its dimension, with the id of the last one."""
    last = {(item.dimension, item.text): item.item for item in rubric}
    return [
        ItemAnswer(
            step=DOUBLE,
            item=item.item,
            answer=JudgeAnswer(status=Status.OK, label=last[item.dimension, item.text]),
        )
        for item in rubric
        if last[item.dimension, item.text] != item.item
    ]


def _compute_checks(judged: JudgedReports, grades: pl.DataFrame) -> list[pl.DataFrame]:
    """Compute how reliable evidence and texts are. Open grades are open evidence."""
    still_open = grades.filter(pl.col("status").is_in([str(s) for s in OPEN_STATUSES]))
    evidence = pl.concat([judged.select_step(EVIDENCE), still_open])
    missing, cut = pl.col("label") == NOT_FOUND, pl.col("label") == CUT
    return [
        build_share("rubric_evidence_not_found", evidence, missing, judged, NO_EVIDENCE),
        build_share("rubric_cut", judged.select_step(SHOWN), cut, judged, SCAN),
    ]
