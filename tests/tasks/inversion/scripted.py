"""An article, a target that passes every check, and a judge by script."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tasks.configuration.inversion import InversionSettings, load_inversion
from tasks.inversion.checks import SourceArticle
from tasks.inversion.context import InversionContext, build_surroundings
from tasks.inversion.draft import QuestionDraft
from tasks.inversion.steps import invert
from tasks.judges.decisions import (
    NO_TRUTH,
    JudgeAnswer,
    StepAnswer,
    StepRequest,
    ValueT,
    truth_label,
)
from tasks.judges.questions.answer_question import FoundAnswer
from tasks.judges.questions.estimate_difficulty import Effort
from tasks.judges.questions.find_targets import QuestionTarget, SubClaim, TargetProperty
from tasks.judges.questions.match_claims import MatchClaims
from tasks.warehouse.rows import Status

TITLE = "Port Ellery harbour railway"
URL = "https://en.wikipedia.org/wiki/Port_Ellery_harbour_railway"
NAMED = "The contract went to Marguerite Oakeshott, who had drained the marshes of Lower Venn."
SHED = "Oakeshott roofed the engine shed with timber taken from three wrecked herring boats."
LAMPS = "She lit the quay with forty lamps fed by gas from the town's own coke ovens."
STRIKE = "During the strike of 1874 she paid the navvies out of her sister's dowry."
BRIDGE = "Her swing bridge turned on a ring of cannon balls bought from the disbanded garrison."
DIED = "Oakeshott died in 1891 at a boarding house in Quarrington."
TEXT = f"""# {TITLE}

The Port Ellery harbour railway was a short line in the north. {NAMED} {SHED}

## Building
{LAMPS} {STRIKE} {BRIDGE} A branch to the fish market never paid its way.

## Later years
{DIED} The line was taken up for scrap, and gardens cover the yard today.
"""
BRIDGES = """# Bridges of the Venn

The valley of the Venn has eleven bridges. Most of them were drawn by Grace Holloway in Quarrington.

## Work
In 1852 the surveyor Grace Holloway measured every crossing between Ashdown and Tarrant.
The magistrates of Tarrant commissioned Grace Holloway to replace 14 wooden footbridges.
Against all custom Grace Holloway preferred limestone from the quarries at Pell to imported granite.
An inquest in Ashdown cleared Grace Holloway after the collapse of scaffolding in the flood.
The notebooks of Grace Holloway passed to the Mechanics Institute, which catalogued 212 drawings.
"""
"""Enough for the oracle to find a target in."""
SOURCE = SourceArticle(title=TITLE, url=URL, text=TEXT)
TARGET = QuestionTarget(
    answer="Marguerite Oakeshott",
    also=("M. Oakeshott",),
    sentence=NAMED,
    kind="a civil engineer",
    category="entities",
    properties=(
        TargetProperty(text="reused wood of lost fishing vessels as a roof", sentence=SHED),
        TargetProperty(text="had gas light made from a municipality's fuel works", sentence=LAMPS),
        TargetProperty(text="covered wages with a relative's marriage portion", sentence=STRIKE),
        TargetProperty(text="let a crossing rotate upon old artillery shot", sentence=BRIDGE),
    ),
    sub_claims=(SubClaim(name="year of death", value="1891", sentence=DIED),),
)
QUESTION = (
    "Which civil engineer reused wood of lost fishing vessels as a roof, had gas light made from a "
    "municipality's fuel works, and covered wages with a relative's marriage portion? Say when "
    "this person died, with sources."
)
HARD = Effort(
    queries=tuple(f"engineer archive {n} herring" for n in range(12)),
    units=tuple(f"fact number {n}" for n in range(20)),
    minutes=45,
)
RIGHT = (FoundAnswer(value="marguerite OAKESHOTT", sub_claims=(("year of death", "1891"),)),)
WRONG = (FoundAnswer(value="Thomas Brassey", sub_claims=(("year of death", "1870"),)),)
REFERENCE = "https://archive.example.org/engineers"
PAGE = "Annals of the county. Many engineers worked on roofs and gas works along this coast. " * 3

Reply = Any
"""A value, a `StepAnswer` without one, or a function of (request, number of earlier calls)."""


class ScriptedInverter:
    """Does every step well, but for those that `changes` name."""

    name = "scripted"
    model_version = "scripted-1"

    def __init__(self, **changes: Reply) -> None:
        good: dict[str, Reply] = {
            "find_targets": (TARGET,), "pose_question": QUESTION, "find_others": (),
            "answer_closed_book": (), "answer_from_page": (), "estimate_difficulty": HARD,
            "match_claims": (),
        }  # fmt: skip
        assert not changes.keys() - good.keys()
        self._replies = good | changes
        self.asked: list[tuple[str, Any]] = []

    def steps(self) -> list[str]:
        return [step for step, _ in self.asked]

    def requests(self, step: str) -> list[Any]:
        return [request for asked, request in self.asked if asked == step]

    def prompt_sha(self, protocol: str) -> str:
        return f"sha-of-{protocol}"

    async def answer(self, request: StepRequest[ValueT]) -> StepAnswer[ValueT]:
        return self._said(request.prompt.partition("/")[2], request)

    async def decide(self, request: MatchClaims) -> Sequence[JudgeAnswer]:
        """By (answered, true) pairs; a `StepAnswer` without a value is every answer's status."""
        said = self._said("match_claims", request)
        if said.value is None:
            return [JudgeAnswer(status=said.status, reason=said.reason)] * len(request.answered)
        labels = [
            next(
                (
                    truth_label(index)
                    for index, truth in enumerate(request.truths)
                    if (claim, truth) in said.value
                ),
                NO_TRUTH,
            )
            for claim in request.answered
        ]
        return [
            JudgeAnswer(status=Status.OK, label=label, call_id="call-match") for label in labels
        ]

    def _said(self, step: str, request: Any) -> StepAnswer[Any]:
        reply = self._replies[step]
        if callable(reply):
            reply = reply(request, self.steps().count(step))
        self.asked.append((step, request))
        if isinstance(reply, StepAnswer):
            return reply
        return StepAnswer(
            Status.OK, reply, call_id=f"call-{len(self.asked)}", model_version="scripted-1"
        )


def failed(status: Status = Status.JUDGE_ERROR) -> StepAnswer[Any]:
    return StepAnswer(status, reason="a scripted failure", call_id="call-failed")


def settings(**changes: Any) -> InversionSettings:
    return InversionSettings.model_validate(load_inversion().model_dump() | changes)


def bench(
    inverter: ScriptedInverter,
    archived: Sequence[tuple[str, str]] = ((REFERENCE, PAGE),),
    references: Sequence[str] = (REFERENCE,),
    source: SourceArticle = SOURCE,
    **changes: Any,
) -> InversionContext:
    chosen = settings(**changes)
    around = build_surroundings(source, archived, references, chosen)
    return InversionContext(source, around, inverter, inverter, chosen)


def drafted(inverter: ScriptedInverter, **more: Any) -> QuestionDraft:
    """What becomes of the first target."""
    return asyncio.run(invert(bench(inverter, **more))).drafts[0]


def target(**changes: Any) -> tuple[QuestionTarget, ...]:
    return (TARGET.model_copy(update=changes),)


def once(first: Reply, then: Reply) -> Callable[[Any, int], Reply]:
    """One reply to the first request of a step, another to all that follow."""
    return lambda request, before: then if before else first
