"""DeepResearch Bench II: which items of an expert's rubric does a report meet?

Source: arXiv 2601.08536. The items of all dimensions are asked for in batches; each is given 1
(met), 0 (not met) or -1 (met, but by citing the blocked work, which counts as not met). As
published but for this:

- Items are told apart by ids, not by texts repeated character by character (`compat_echo` does
  that), and a score that is none of the three makes an answer unusable.
- A batch without a usable answer leaves its own items open; there, the whole report is dropped.
- The published results are kept by text, so that of the six items that the published rubrics hold
  twice the first one's score is lost. Here both have their id and both count; only
  `rubric_total_compat` leaves the first out.
- A text longer than `max_chars` is cut there without a word. Here its verdicts, a step of their
  own and a metric say so.

Beside the items' verdicts (a step for each dimension) a report has some that need no model:
`evidence` (does what the judge quotes stand in the report?), `shown` (how much of the text was
judged) and `double` (an item whose text another one has as well).
"""

import asyncio
from collections.abc import Sequence

import polars as pl
from pydantic import NonNegativeInt, PositiveInt

from tasks.configuration.loading import Configured
from tasks.configuration.models import ProtocolEntry
from tasks.judges.decisions import Answer, Judge
from tasks.judges.quotations import quoted_in
from tasks.judges.research import GradeItems, RubricItem
from tasks.metrics.shares import shares
from tasks.protocols.case import Case, Decided, Judged, figures_of
from tasks.protocols.versions import checked_parameters, version_of
from tasks.warehouse.rows import OPEN_STATUSES, Status, canonical_values
from tasks.warehouse.rubrics import ALLOWED, BundleSettings, Rubric

MET, ABSENT, FROM_BLOCKED = "1", "0", "-1"
DIMENSIONS = ("info_recall", "analysis", "presentation")
EVIDENCE, SHOWN, DOUBLE = "evidence", "shown", "double"
"""The steps that need no model."""
FOUND, NOT_FOUND = "found", "not_found"
WHOLE, CUT = "whole", "cut"
EMPTY = "no such item was decided"
SCAN = "not_assessed: the report is a scan, its text is not known"
NO_EVIDENCE = "no evidence to look for: the judge gave none, or the report is a scan"


class RubricBenchParameters(Configured):
    chunk_size: NonNegativeInt = 50
    """Items asked for in one call; 0: all at once."""
    max_chars: PositiveInt = 150_000
    """Of a report's text; no scan is cut."""
    compat_echo: bool = False
    """Items are told apart by their text, repeated exactly; published: yes."""
    attachments: bool = False
    """Reports that came as scans are shown to judges that see, in place of the text."""


class RubricBench:
    """One report against the rubric of its task."""

    name = "rubric_bench"
    prompts = "rubric_bench"
    kinds: tuple[str, ...] = ("research",)

    def __init__(self, entry: ProtocolEntry) -> None:
        self.metrics = entry.metrics
        self.parameters = checked_parameters(entry, RubricBenchParameters)
        self.inputs: tuple[str, ...] = ("query", "report", "rubric")
        if self.parameters.attachments:
            self.inputs += ("files",)
        # Whether scans are judged is no setting of how texts are: their cells stay what they are.
        settings = canonical_values(self.parameters, exclude={"attachments"})
        self.version = version_of(entry, settings)

    def assesses(self, judge: Judge) -> bool:
        return GradeItems in judge.decides

    async def judge(self, case: Case, judge: Judge) -> list[Decided]:
        text = case.report.text[: self.parameters.max_chars]
        grades = await self._graded(case, text, judge)
        return [
            *grades,
            *(
                _quoted(grade, None if case.attachments else text)
                for grade in grades
                if _says(grade)
            ),
            *_doubles(case.rubric),
            *([] if case.attachments else [_shown(case, text)]),
        ]

    async def _graded(self, case: Case, text: str, judge: Judge) -> list[Decided]:
        """All items: the first batch alone, so that a provider's cache holds the report when the
        others come. Published: one after the other."""
        first, *others = batches(
            case.rubric, self.parameters.chunk_size, apart=self.parameters.compat_echo
        )
        graded = await self._batch(case, text, judge, first)
        for more in await asyncio.gather(*(self._batch(case, text, judge, b) for b in others)):
            graded += more
        return graded

    async def _batch(
        self, case: Case, text: str, judge: Judge, batch: Sequence[Rubric]
    ) -> list[Decided]:
        settings = case.bundle.settings if case.bundle else "{}"
        answers = await judge.decide(
            GradeItems(
                question=case.question,
                report=text,
                items=tuple(
                    RubricItem(id=r.item, text=r.text, allowed=ALLOWED.validate_json(r.allowed))
                    for r in batch
                ),
                blocked=BundleSettings.model_validate_json(settings).blocked,
                attachments=case.attachments,
                echo=self.parameters.compat_echo,
                prompt="rubric_bench/grade_items",
            )
        )
        share = len(text) / len(case.report.text) if len(text) < len(case.report.text) else None
        return [
            Decided(
                step=rubric.dimension,
                item=rubric.item,
                answer=answer.model_copy(update={"shown_share": share}),
            )
            for rubric, answer in zip(batch, answers, strict=True)
        ]

    def figures(self, judged: Judged, judge: Judge) -> pl.DataFrame:
        grades = judged.verdicts.filter(pl.col("step").is_in(DIMENSIONS))
        doubles = judged.verdicts.filter(pl.col("step") == DOUBLE)
        once = grades.join(doubles, on=["assignment", "item"], how="anti")
        met, blocked = pl.col("label") == MET, pl.col("label") == FROM_BLOCKED
        return pl.concat(
            [
                figures_of("rubric_total", shares(grades, met), judged, EMPTY),
                *(
                    figures_of(
                        f"rubric_{dimension}",
                        shares(grades.filter(pl.col("step") == dimension), met),
                        judged,
                        EMPTY,
                    )
                    for dimension in DIMENSIONS
                ),
                figures_of("rubric_blocked", shares(grades, blocked), judged, EMPTY),
                figures_of("rubric_total_compat", shares(once, met), judged, EMPTY),
                *_checks(judged, grades),
            ]
        )


def batches(items: Sequence[Rubric], size: int, *, apart: bool) -> list[list[Rubric]]:
    """Items in batches of at most `size` (0: one batch), in order; at least one batch.

    apart: an item whose text stands in a batch already goes to a later one.
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


def _says(grade: Decided) -> bool:
    return grade.answer.status is Status.OK and grade.answer.evidence is not None


def _quoted(grade: Decided, text: str | None) -> Decided:
    """Whether the evidence of an item stands in the report's text; None: there is none."""
    if text is None:
        answer = Answer(status=Status.NOT_ASSESSED, reason=SCAN)
    else:
        found = FOUND if quoted_in(grade.answer.evidence or "", text) else NOT_FOUND
        answer = Answer(status=Status.OK, label=found)
    return Decided(step=EVIDENCE, item=grade.item, answer=answer)


def _shown(case: Case, text: str) -> Decided:
    whole = len(case.report.text)
    answer = Answer(
        status=Status.OK,
        label=CUT if len(text) < whole else WHOLE,
        score=len(text) / whole if whole else 1.0,
        reason=f"{len(text):,} of {whole:,} characters" if len(text) < whole else None,
    )
    return Decided(step=SHOWN, item="report", answer=answer)


def _doubles(rubric: Sequence[Rubric]) -> list[Decided]:
    """Each item whose text a later one of its dimension has as well, with that one's id."""
    last = {(item.dimension, item.text): item.item for item in rubric}
    return [
        Decided(
            step=DOUBLE,
            item=item.item,
            answer=Answer(status=Status.OK, label=last[item.dimension, item.text]),
        )
        for item in rubric
        if last[item.dimension, item.text] != item.item
    ]


def _evaluated(grades: pl.DataFrame) -> pl.DataFrame:
    """How many of the items were graded; those that never will be count here, and only here."""
    final = ~pl.col("status").is_in([str(s) for s in OPEN_STATUSES])
    every = pl.when(final).then(pl.lit(str(Status.OK))).otherwise(pl.col("status"))
    return shares(grades.with_columns(status=every), pl.col("label").is_not_null())


def _checks(judged: Judged, grades: pl.DataFrame) -> list[pl.DataFrame]:
    """How far evidence and texts can be relied upon. A grade that is open may yet bring some."""
    evidence = judged.verdicts.filter(pl.col("step") == EVIDENCE)
    still_open = grades.filter(pl.col("status").is_in([str(s) for s in OPEN_STATUSES]))
    cut = judged.verdicts.filter(pl.col("step") == SHOWN)
    missing = shares(pl.concat([evidence, still_open]), pl.col("label") == NOT_FOUND)
    return [
        figures_of("rubric_evidence_not_found", missing, judged, NO_EVIDENCE),
        figures_of("rubric_evaluated_share", _evaluated(grades), judged, EMPTY),
        figures_of("rubric_cut", shares(cut, pl.col("label") == CUT), judged, SCAN),
    ]
