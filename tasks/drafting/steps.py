"""The steps from an article to a drafted bundle: rubrics, their review, keywords, difficulty.

Source: Rigorous Bench, whose bundles people wrote in such steps. Here a model drafts. Checks
without a model, and a second look by the model, remove unusable drafts; the next request lists
their problems. A person reviews the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol, TypeVar

from tasks.benchmarks.rigorous import LEAST_RUBRICS, QUERY_POINTS
from tasks.benchmarks.rigorous_drafts import KEYWORDS
from tasks.configuration.inversion import DraftingSettings
from tasks.drafting.checks import (
    DraftSubject,
    assign_points,
    find_keyword_problem,
    find_rubric_problem,
)
from tasks.judges.decisions import JudgeAnswer, StepAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.check_rubrics import CheckRubrics
from tasks.judges.questions.draft_keywords import DraftKeywords
from tasks.judges.questions.draft_rubrics import DraftedRubric, DraftRubrics
from tasks.judges.questions.grade_items import GradeItems, RubricItem
from tasks.judges.questions.write_closed_book import WriteClosedBook
from tasks.models.errors import may_pass
from tasks.outcome import PartLeft
from tasks.protocols.rigorous.protocol import GRADE_ITEM
from tasks.warehouse.rows import Status

MAX_PROBLEMS = 20
"""The most problems that a repeated request lists."""
ValueT = TypeVar("ValueT")


class DraftOpen(PartLeft):
    """The judge gave no usable answer to a step; the next run continues there."""


class Grader(Protocol):
    """A judge that grades the answer from memory."""

    async def decide(self, request: GradeItems) -> Sequence[JudgeAnswer]:
        """Return one answer per item, in order."""


@dataclass(frozen=True)
class DraftingContext:
    """One article, the models that draft and grade, and the settings."""

    subject: DraftSubject
    drafter: LlmJudge
    grader: Grader
    settings: DraftingSettings


@dataclass(frozen=True)
class DraftedBundle:
    """A drafted bundle, to be reviewed."""

    rubrics: tuple[DraftedRubric, ...]
    focus: tuple[str, ...]
    deviation: tuple[str, ...]
    closed_book_share: float
    """Share of the points, 0-1, that an answer from memory gets."""
    too_easy: bool
    problems: tuple[str, ...]
    """Problems that a person must fix before the bundle can be imported."""
    sorted_out: tuple[str, ...]
    """Unusable rubrics and keywords, with the reasons."""


async def draft_bundle(context: DraftingContext) -> DraftedBundle:
    """Draft the bundle of one article, and list its problems.

    Raises:
        DraftOpen: the judge gave no usable answer.
    """
    kept, useless = await draft_rubrics(context)
    focus, deviation, unfit = await draft_keywords(context)
    rubrics = assign_points(kept, context.settings.most_points)
    share = await measure_closed_book_share(context, rubrics)
    return DraftedBundle(
        rubrics=rubrics,
        focus=focus,
        deviation=deviation,
        closed_book_share=share,
        too_easy=share > context.settings.most_closed_book_share,
        problems=tuple(_find_problems(rubrics, focus, deviation)),
        sorted_out=(*useless, *unfit),
    )


async def draft_rubrics(context: DraftingContext) -> tuple[list[DraftedRubric], list[str]]:
    """Draft rubrics until enough pass the checks and the review; also return unusable ones."""
    subject, settings = context.subject, context.settings
    kept: list[DraftedRubric] = []
    useless: list[str] = []
    for _ in range(settings.rubric_rounds):
        answer = await context.drafter.answer(
            DraftRubrics(
                title=subject.title,
                facts=subject.facts,
                n_rubrics=settings.rubrics_wanted,
                known=tuple(rubric.text for rubric in kept),
                problems=tuple(useless[-MAX_PROBLEMS:]),
            )
        )
        found: list[DraftedRubric] = []
        for rubric in _require_value(answer, "draft_rubrics"):
            known = [other.text for other in (*kept, *found)]
            if problem := find_rubric_problem(rubric, known, subject, settings):
                useless.append(f"{rubric.text} ({problem})")
            else:
                found.append(rubric)
        reviewed = await _review_rubrics(context, found)
        useless += [f"{r.text} (second look: {why})" for r, why in reviewed.items() if why]
        kept += [rubric for rubric, why in reviewed.items() if not why]
        if len(kept) >= LEAST_RUBRICS and sum(r.points for r in kept) >= QUERY_POINTS:
            break
    return kept, useless


async def _review_rubrics(
    context: DraftingContext, rubrics: Sequence[DraftedRubric]
) -> dict[DraftedRubric, str | None]:
    """Let the model review rubrics; return why each should be dropped, or None to keep it."""
    if not rubrics:
        return {}
    answer = await context.drafter.answer(
        CheckRubrics(
            title=context.subject.title,
            rubrics=tuple(rubric.text for rubric in rubrics),
            grounds=tuple(map(context.subject.find_grounds, rubrics)),
        )
    )
    checks = _require_value(answer, "check_rubrics")
    return {
        rubric: None if check.keep else check.reason or "no reason given"
        for rubric, check in zip(rubrics, checks, strict=True)
    }


async def draft_keywords(
    context: DraftingContext,
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Draft focus and deviation keywords that pass the checks; also return unusable ones."""
    subject, settings = context.subject, context.settings
    kept: dict[bool, list[str]] = {True: [], False: []}
    unfit: list[str] = []
    for _ in range(settings.keyword_rounds):
        answer = await context.drafter.answer(
            DraftKeywords(
                title=subject.title,
                facts=subject.facts,
                n_keywords=settings.keywords_wanted,
                problems=tuple(unfit[-MAX_PROBLEMS:]),
            )
        )
        keywords = _require_value(answer, "draft_keywords")
        for focus, words in ((True, keywords.focus), (False, keywords.deviation)):
            for word in words:
                known = [*kept[True], *kept[False]]
                if problem := find_keyword_problem(word, known, subject, settings, focus=focus):
                    unfit.append(f"{word} ({problem})")
                elif len(kept[focus]) < KEYWORDS:
                    kept[focus].append(word)
        if min(map(len, kept.values())) == KEYWORDS:
            break
    return tuple(kept[True]), tuple(kept[False]), list(dict.fromkeys(unfit))


async def measure_closed_book_share(
    context: DraftingContext, rubrics: Sequence[DraftedRubric]
) -> float:
    """Return the share of the points, 0-1, that an answer from memory gets; 0 without answer."""
    written = await context.drafter.answer(WriteClosedBook(title=context.subject.title))
    report = _require_value(written, "write_closed_book")
    if not report or not rubrics:
        return 0.0
    answers = await context.grader.decide(
        GradeItems(
            question=context.subject.title,
            report=report,
            items=tuple(
                RubricItem(id=f"query-{n}", text=rubric.text, allowed=list_allowed_values(rubric))
                for n, rubric in enumerate(rubrics, start=1)
            ),
            prompt=GRADE_ITEM,
        )
    )
    for answer in answers:
        if answer.status is not Status.OK or answer.label is None:
            raise DraftOpen(f"grade_item: {answer.reason}", may_pass=may_pass(answer.reason))
    given = fsum(float(answer.label or 0) for answer in answers)
    return given / sum(rubric.points for rubric in rubrics)


def list_allowed_values(rubric: DraftedRubric) -> tuple[str, ...]:
    """Return the values that a judge may give, highest first."""
    between = (str(rubric.points // 2),) if rubric.ternary and rubric.points > 1 else ()
    return (str(rubric.points), *between, "0")


def _find_problems(
    rubrics: Sequence[DraftedRubric], focus: Sequence[str], deviation: Sequence[str]
) -> list[str]:
    points = sum(rubric.points for rubric in rubrics)
    found = []
    if len(rubrics) < LEAST_RUBRICS:
        found.append(f"{len(rubrics)} rubrics pass the checks; {LEAST_RUBRICS} are needed")
    if points != QUERY_POINTS:
        found.append(f"the rubrics are worth {points} points; {QUERY_POINTS} are needed")
    for kind, words in (("focus", focus), ("deviation", deviation)):
        if len(words) < KEYWORDS:
            found.append(f"{len(words)} {kind} keywords pass the checks; {KEYWORDS} are needed")
    return found


def _require_value(answer: StepAnswer[ValueT], step: str) -> ValueT:
    """Return the answer's value.

    Raises:
        DraftOpen: there is no usable answer.
    """
    if answer.value is None:
        raise DraftOpen(
            f"{step}: {answer.reason or answer.status.value}", may_pass=may_pass(answer.reason)
        )
    return answer.value
