"""From an article to questions, step by step, until one of them says that it is unfit.

Source: LiveDRBench, problem inversion: choose a target, ask for it by its properties, refine
until the answer is the only one, extend the ground truth by what else fits. The checks without
a model, the probes and the bounds are what makes a judge's word good enough.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace

from tasks.inversion.bench import Bench
from tasks.inversion.checks import check_target, figures_of, question_problem
from tasks.inversion.difficulty import too_easy
from tasks.inversion.draft import Draft
from tasks.inversion.naming import same_words
from tasks.inversion.probes import closed_book, single_pages
from tasks.inversion.truth import truths_of
from tasks.judges.inversion import (
    EstimateDifficulty,
    FindOthers,
    FindTargets,
    OtherAnswer,
    PoseQuestion,
    Said,
    Target,
)

Step = Callable[[Draft, Bench], Awaitable[Draft]]


@dataclass(frozen=True)
class Inverted:
    """What became of one article."""

    found: Said[tuple[Target, ...]]
    """The targets, or why there are none."""
    drafts: dict[int, Draft]
    """By the target's number; those that were decided before are not among them."""


async def invert(
    bench: Bench,
    decided: Collection[int] = (),
    on_draft: Callable[[int, int, Draft], Awaitable[None]] | None = None,
) -> Inverted:
    """Every target of one article, at the same time.

    decided: numbers of targets that an earlier run has decided.
    on_draft: awaited with its number, how many there are, and what became of it, as soon as a
        target's question is accepted, rejected or left open.
    """
    found = await bench.inverter.find_targets(
        FindTargets(
            title=bench.source.title,
            text=bench.source.text,
            n_targets=bench.settings.targets_per_article,
            n_properties=bench.settings.least_properties,
        )
    )
    drafts: dict[int, Draft] = {}

    async def work(number: int, target: Target) -> None:
        drafts[number] = await draft_of(target, bench, found)
        if on_draft:
            await on_draft(number, len(found.value or ()), drafts[number])

    await asyncio.gather(*(work(n, t) for n, t in enumerate(found.value or ()) if n not in decided))
    return Inverted(found, drafts)


async def draft_of(target: Target, bench: Bench, found: Said[tuple[Target, ...]]) -> Draft:
    """One target's question: accepted, rejected or open."""
    draft = Draft(target).heard(found)
    for step in STEPS:
        draft = await step(draft, bench)
        if draft.state != "under_way":
            return draft
    return replace(draft, state="accepted")


async def checked(draft: Draft, bench: Bench) -> Draft:
    """The target stands in the article; what does not is left out."""
    found = check_target(draft.target, bench.source, bench.settings)
    first = min(bench.settings.properties_at_first, len(found.target.properties))
    draft = replace(draft, target=found.target, dropped=found.dropped, n_properties=first)
    if found.problem:
        return draft.rejected(found.problem.reason, found.problem.detail)
    return draft


async def posed(draft: Draft, bench: Bench) -> Draft:
    """A question that stands the checks; asked for again, with the problem named, if not."""
    previous = problem = None
    for _ in range(bench.settings.pose_rounds):
        said = await bench.inverter.pose_question(
            PoseQuestion(
                kind=draft.target.kind,
                properties=draft.properties,
                asked_of_it=draft.asked_of_it,
                unnamed=(draft.target.answer, *draft.target.also, bench.source.title),
                previous=previous,
                problem=problem.detail if problem else None,
            )
        )
        draft = replace(draft.heard(said), pose_rounds=draft.pose_rounds + 1)
        if said.value is None:
            return draft.unanswered(said, "pose_question")
        figures = figures_of(said.value, bench.source, bench.settings)
        draft = replace(draft, question=said.value, figures=figures)
        problem = question_problem(said.value, draft.target, bench.source, bench.settings)
        if problem is None:
            return draft
        previous = said.value
    assert problem is not None
    return draft.rejected(problem.reason, problem.detail)


async def unique(draft: Draft, bench: Bench) -> Draft:
    """Refined until nothing else fits; what still does joins the ground truth, if it is little."""
    while True:
        assert draft.question is not None
        said = await bench.inverter.find_others(
            FindOthers(question=draft.question, answer=draft.target.answer)
        )
        draft = draft.heard(said)
        if said.value is None:
            return draft.unanswered(said, "find_others")
        draft = replace(draft, others=_other_than(draft.target, said.value))
        may_refine = (
            draft.n_properties < len(draft.target.properties)
            and draft.refinement_rounds < bench.settings.refinement_rounds
        )
        if not draft.others or not may_refine:
            break
        draft = await posed(
            replace(
                draft,
                n_properties=draft.n_properties + 1,
                refinement_rounds=draft.refinement_rounds + 1,
            ),
            bench,
        )
        if draft.state != "under_way":
            return draft
    if len(draft.others) > bench.settings.most_other_answers:
        return draft.rejected(
            "not_unique",
            f"{len(draft.others)} other answers after {draft.refinement_rounds} refinements; at "
            f"most {bench.settings.most_other_answers} may join the ground truth",
        )
    draft = replace(draft, added=draft.others)
    return replace(draft, truths=truths_of(draft, bench.around))


async def difficult(draft: Draft, bench: Bench) -> Draft:
    """Rejected as `too_easy` if it takes less than is asked of a question."""
    assert draft.question is not None
    said = await bench.inverter.estimate_difficulty(
        EstimateDifficulty(
            question=draft.question,
            answer=draft.target.answer,
            properties=draft.properties,
            asked_of_it=draft.asked_of_it,
        )
    )
    draft = draft.heard(said)
    if said.value is None:
        return draft.unanswered(said, "estimate_difficulty")
    draft = replace(draft, effort=said.value)
    if missing := too_easy(said.value, bench.settings):
        return draft.rejected("too_easy", missing)
    return draft


STEPS: tuple[Step, ...] = (checked, posed, unique, closed_book, single_pages, difficult)
"""In this order; the cheap ones first."""


def _other_than(target: Target, others: tuple[OtherAnswer, ...]) -> tuple[OtherAnswer, ...]:
    """Those that are not the answer itself by another name, each once."""
    known = [target.answer, *target.also]
    kept = []
    for other in others:
        if not any(same_words(other.value, name) for name in known):
            known.append(other.value)
            kept.append(other)
    return tuple(kept)
