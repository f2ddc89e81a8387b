"""From an article to a drafted bundle: rubrics, a second look at them, keywords, difficulty.

Source: Rigorous Bench, whose bundles people wrote in such steps. Here a model drafts, checks
without a model and a second look by it sort out what cannot be used, and a person reviews the rest.
What could not be used is named to the model when it is asked again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol, TypeVar

from tasks.benchmarks.rigorous import LEAST_RUBRICS, QUERY_POINTS
from tasks.benchmarks.rigorous_drafts import KEYWORDS
from tasks.configuration.drafting import DraftingSettings
from tasks.drafting.checks import Subject, keyword_problem, rubric_problem, worth
from tasks.judges.decisions import Answer
from tasks.judges.drafting import (
    CheckRubrics,
    DraftedRubric,
    Drafter,
    DraftKeywords,
    DraftRubrics,
    WriteClosedBook,
)
from tasks.judges.inversion import Said
from tasks.judges.research import GradeItems, RubricItem
from tasks.protocols.rigorous import GRADE_ITEM
from tasks.warehouse.rows import Status

NAMED = 20
"""Problems that the model is told of when it is asked again."""
ValueT = TypeVar("ValueT")


class DraftOpen(Exception):
    """The judge gave no usable answer to a step; the next run goes on there."""


class Grader(Protocol):
    """What grades the answer from memory: a judge."""

    async def decide(self, request: GradeItems) -> Sequence[Answer]:
        """One answer per item, in order."""


@dataclass(frozen=True)
class Bench:
    """One article with what drafts from it."""

    subject: Subject
    drafter: Drafter
    grader: Grader
    settings: DraftingSettings


@dataclass(frozen=True)
class Draft:
    """What a bundle is made of, still to be reviewed."""

    rubrics: tuple[DraftedRubric, ...]
    focus: tuple[str, ...]
    deviation: tuple[str, ...]
    closed_book_share: float
    """Of the points, 0-1, what an answer from memory gets."""
    too_easy: bool
    problems: tuple[str, ...]
    """What a person must mend before the bundle is one."""
    sorted_out: tuple[str, ...]
    """What could not be used, with the reason."""


async def draft_bundle(bench: Bench) -> Draft:
    """A bundle of one article, and what is wrong with it.

    Raises:
        DraftOpen: the judge gave no usable answer.
    """
    kept, useless = await drafted_rubrics(bench)
    focus, deviation, unfit = await drafted_keywords(bench)
    rubrics = worth(kept, bench.settings.most_points)
    share = await closed_book_share(bench, rubrics)
    return Draft(
        rubrics=rubrics,
        focus=focus,
        deviation=deviation,
        closed_book_share=share,
        too_easy=share > bench.settings.most_closed_book_share,
        problems=tuple(_problems(rubrics, focus, deviation)),
        sorted_out=(*useless, *unfit),
    )


async def drafted_rubrics(bench: Bench) -> tuple[list[DraftedRubric], list[str]]:
    """Rubrics that stand the checks and the second look, asked for until they are enough."""
    subject, settings = bench.subject, bench.settings
    kept: list[DraftedRubric] = []
    useless: list[str] = []
    for _ in range(settings.rubric_rounds):
        said = await bench.drafter.draft_rubrics(
            DraftRubrics(
                title=subject.title,
                facts=subject.facts,
                n_rubrics=settings.rubrics_wanted,
                known=tuple(rubric.text for rubric in kept),
                problems=tuple(useless[-NAMED:]),
            )
        )
        found: list[DraftedRubric] = []
        for rubric in _heard(said, "draft_rubrics"):
            known = [other.text for other in (*kept, *found)]
            if problem := rubric_problem(rubric, known, subject, settings):
                useless.append(f"{rubric.text} ({problem})")
            else:
                found.append(rubric)
        looked = await _second_look(bench, found)
        useless += [f"{r.text} (second look: {why})" for r, why in looked.items() if why]
        kept += [rubric for rubric, why in looked.items() if not why]
        if len(kept) >= LEAST_RUBRICS and sum(r.points for r in kept) >= QUERY_POINTS:
            break
    return kept, useless


async def _second_look(
    bench: Bench, rubrics: Sequence[DraftedRubric]
) -> dict[DraftedRubric, str | None]:
    """Why each rubric should go; None: it may stay."""
    if not rubrics:
        return {}
    said = await bench.drafter.check_rubrics(
        CheckRubrics(
            title=bench.subject.title,
            rubrics=tuple(rubric.text for rubric in rubrics),
            grounds=tuple(map(bench.subject.grounds, rubrics)),
        )
    )
    checks = _heard(said, "check_rubrics")
    return {
        rubric: None if check.keep else check.reason or "no reason given"
        for rubric, check in zip(rubrics, checks, strict=True)
    }


async def drafted_keywords(
    bench: Bench,
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Focus and deviation keywords that stand the checks, and those that do not."""
    subject, settings = bench.subject, bench.settings
    kept: dict[bool, list[str]] = {True: [], False: []}
    unfit: list[str] = []
    for _ in range(settings.keyword_rounds):
        said = await bench.drafter.draft_keywords(
            DraftKeywords(
                title=subject.title,
                facts=subject.facts,
                n_keywords=settings.keywords_wanted,
                problems=tuple(unfit[-NAMED:]),
            )
        )
        stated = _heard(said, "draft_keywords")
        for focus, words in ((True, stated.focus), (False, stated.deviation)):
            for word in words:
                known = [*kept[True], *kept[False]]
                if problem := keyword_problem(word, known, subject, settings, focus=focus):
                    unfit.append(f"{word} ({problem})")
                elif len(kept[focus]) < KEYWORDS:
                    kept[focus].append(word)
        if min(map(len, kept.values())) == KEYWORDS:
            break
    return tuple(kept[True]), tuple(kept[False]), list(dict.fromkeys(unfit))


async def closed_book_share(bench: Bench, rubrics: Sequence[DraftedRubric]) -> float:
    """Share of the rubrics' points, 0-1, that an answer from memory gets; 0 if there is none."""
    said = await bench.drafter.write_closed_book(WriteClosedBook(title=bench.subject.title))
    report = _heard(said, "write_closed_book")
    if not report or not rubrics:
        return 0.0
    answers = await bench.grader.decide(
        GradeItems(
            question=bench.subject.title,
            report=report,
            items=tuple(
                RubricItem(id=f"query-{n}", text=rubric.text, allowed=allowed(rubric))
                for n, rubric in enumerate(rubrics, start=1)
            ),
            prompt=GRADE_ITEM,
        )
    )
    for answer in answers:
        if answer.status is not Status.OK or answer.label is None:
            raise DraftOpen(f"grade_item: {answer.reason}")
    given = fsum(float(answer.label or 0) for answer in answers)
    return given / sum(rubric.points for rubric in rubrics)


def allowed(rubric: DraftedRubric) -> tuple[str, ...]:
    """The values it may be given, the highest first."""
    between = (str(rubric.points // 2),) if rubric.ternary and rubric.points > 1 else ()
    return (str(rubric.points), *between, "0")


def _problems(
    rubrics: Sequence[DraftedRubric], focus: Sequence[str], deviation: Sequence[str]
) -> list[str]:
    points = sum(rubric.points for rubric in rubrics)
    found = []
    if len(rubrics) < LEAST_RUBRICS:
        found.append(f"{len(rubrics)} rubrics stand the checks; {LEAST_RUBRICS} are needed")
    if points != QUERY_POINTS:
        found.append(f"the rubrics are worth {points} points; {QUERY_POINTS} are needed")
    for kind, words in (("focus", focus), ("deviation", deviation)):
        if len(words) < KEYWORDS:
            found.append(f"{len(words)} {kind} keywords stand the checks; {KEYWORDS} are needed")
    return found


def _heard(said: Said[ValueT], step: str) -> ValueT:
    """What was said.

    Raises:
        DraftOpen: nothing that can be used.
    """
    if said.value is None:
        raise DraftOpen(f"{step}: {said.reason or said.status.value}")
    return said.value
