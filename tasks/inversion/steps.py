"""The steps from an article to questions; each step may reject a draft.

Source: LiveDRBench, problem inversion: choose a target, ask for it by its properties, refine
until the answer is unique, extend the ground truth by what else fits. Checks without a model,
probes and bounds make up for the judge's errors.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace

from tasks.inversion.checks import check_target, find_question_problem, measure_question
from tasks.inversion.context import InversionContext
from tasks.inversion.draft import QuestionDraft, build_truths, find_shortfall
from tasks.inversion.naming import are_same_words
from tasks.inversion.probes import probe_closed_book, probe_single_pages
from tasks.judges.decisions import StepAnswer
from tasks.judges.questions.estimate_difficulty import EstimateDifficulty
from tasks.judges.questions.find_others import FindOthers, OtherAnswer
from tasks.judges.questions.find_targets import FindTargets, QuestionTarget
from tasks.judges.questions.pose_question import PoseQuestion

Step = Callable[[QuestionDraft, InversionContext], Awaitable[QuestionDraft]]


@dataclass(frozen=True)
class InversionResult:
    """The result of inverting one article."""

    found: StepAnswer[tuple[QuestionTarget, ...]]
    """The targets, or why there are none."""
    drafts: dict[int, QuestionDraft]
    """By the target's number, without targets decided before."""


async def invert(
    context: InversionContext,
    decided: Collection[int] = (),
    on_draft: Callable[[int, int, QuestionDraft], Awaitable[None]] | None = None,
) -> InversionResult:
    """Develop questions for all targets of one article, concurrently.

    Args:
        decided: Numbers of targets that an earlier run has decided.
        on_draft: Awaited with a target's number, the number of targets, and its draft, as soon as
            the draft is accepted, reject or left open.
    """
    found = await context.inverter.answer(
        FindTargets(
            title=context.source.title,
            text=context.source.text,
            n_targets=context.settings.targets_per_article,
            n_properties=context.settings.least_properties,
        )
    )
    drafts: dict[int, QuestionDraft] = {}

    async def work(number: int, target: QuestionTarget) -> None:
        drafts[number] = await develop_draft(target, context, found)
        if on_draft:
            await on_draft(number, len(found.value or ()), drafts[number])

    await asyncio.gather(*(work(n, t) for n, t in enumerate(found.value or ()) if n not in decided))
    return InversionResult(found, drafts)


async def develop_draft(
    target: QuestionTarget, context: InversionContext, found: StepAnswer[tuple[QuestionTarget, ...]]
) -> QuestionDraft:
    """Develop one target's question until it is accepted, reject or open."""
    draft = QuestionDraft(target).record_answer(found)
    for step in STEPS:
        draft = await step(draft, context)
        if draft.state != "under_way":
            return draft
    return replace(draft, state="accepted")


async def check_draft(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Check the target against the article; drop properties and sub-claims that are not in it."""
    found = check_target(draft.target, context.source, context.settings)
    first = min(context.settings.properties_at_first, len(found.target.properties))
    draft = replace(draft, target=found.target, dropped=found.dropped, n_properties=first)
    if found.problem:
        return draft.reject(found.problem.reason, found.problem.detail)
    return draft


async def pose_question(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Pose a question that passes the checks, asking again with the problem if it does not."""
    previous = problem = None
    for _ in range(context.settings.pose_rounds):
        answer = await context.inverter.answer(
            PoseQuestion(
                kind=draft.target.kind,
                properties=draft.properties,
                asked_of_it=draft.asked_of_it,
                unnamed=(draft.target.answer, *draft.target.also, context.source.title),
                previous=previous,
                problem=problem.detail if problem else None,
            )
        )
        draft = replace(draft.record_answer(answer), pose_rounds=draft.pose_rounds + 1)
        if answer.value is None:
            return draft.stop_unanswered(answer, "pose_question")
        figures = measure_question(answer.value, context.source, context.settings)
        draft = replace(draft, question=answer.value, figures=figures)
        problem = find_question_problem(
            answer.value, draft.target, context.source, context.settings
        )
        if problem is None:
            return draft
        previous = answer.value
    assert problem is not None
    return draft.reject(problem.reason, problem.detail)


async def refine_until_unique(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Refine the question until its answer is unique; a few other answers may join the truth."""
    while True:
        assert draft.question is not None
        answer = await context.inverter.answer(
            FindOthers(question=draft.question, answer=draft.target.answer)
        )
        draft = draft.record_answer(answer)
        if answer.value is None:
            return draft.stop_unanswered(answer, "find_others")
        draft = replace(draft, others=_exclude_target(draft.target, answer.value))
        may_refine = (
            draft.n_properties < len(draft.target.properties)
            and draft.refinement_rounds < context.settings.refinement_rounds
        )
        if not draft.others or not may_refine:
            break
        draft = await pose_question(
            replace(
                draft,
                n_properties=draft.n_properties + 1,
                refinement_rounds=draft.refinement_rounds + 1,
            ),
            context,
        )
        if draft.state != "under_way":
            return draft
    if len(draft.others) > context.settings.most_other_answers:
        return draft.reject(
            "not_unique",
            f"{len(draft.others)} other answers after {draft.refinement_rounds} refinements; at "
            f"most {context.settings.most_other_answers} may join the ground truth",
        )
    draft = replace(draft, added=draft.others)
    return replace(draft, truths=build_truths(draft, context.surroundings))


async def check_difficulty(draft: QuestionDraft, context: InversionContext) -> QuestionDraft:
    """Reject the draft as `too_easy` if it takes less effort than a question must."""
    assert draft.question is not None
    answer = await context.inverter.answer(
        EstimateDifficulty(
            question=draft.question,
            answer=draft.target.answer,
            properties=draft.properties,
            asked_of_it=draft.asked_of_it,
        )
    )
    draft = draft.record_answer(answer)
    if answer.value is None:
        return draft.stop_unanswered(answer, "estimate_difficulty")
    draft = replace(draft, effort=answer.value)
    if missing := find_shortfall(answer.value, context.settings):
        return draft.reject("too_easy", missing)
    return draft


STEPS: tuple[Step, ...] = (
    check_draft,
    pose_question,
    refine_until_unique,
    probe_closed_book,
    probe_single_pages,
    check_difficulty,
)
"""The steps in order, cheap ones first."""


def _exclude_target(
    target: QuestionTarget, others: tuple[OtherAnswer, ...]
) -> tuple[OtherAnswer, ...]:
    """Return the other answers that are not the target itself, without duplicates."""
    known = [target.answer, *target.also]
    kept = []
    for other in others:
        if not any(are_same_words(other.value, name) for name in known):
            known.append(other.value)
            kept.append(other)
    return tuple(kept)
