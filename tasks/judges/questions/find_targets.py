"""What in an article can be identified by its properties?

No answer is trusted, as of all questions of problem inversion: `tasks.inversion` checks whatever
can be checked without a model. Source: LiveDRBench, problem inversion.
"""

from tasks.judges.decisions import StepAnswer, StepRequest
from tasks.judges.llm.requests import PromptedModel
from tasks.judges.replies import Limited, Line, Lines, ReplyModel
from tasks.warehouse.truths import QuestionCategory


class TargetProperty(ReplyModel):
    """A distinctive property of an answer, in words that name neither it nor the article."""

    text: Line
    sentence: Line
    """The article's sentence behind it, as the judge copied it."""


class SubClaim(ReplyModel):
    """A further fact to be found about an answer."""

    name: Line
    """What it states, e.g. `year of construction`."""
    value: Line
    sentence: Line


class QuestionTarget(ReplyModel):
    """An entity or finding of an article that a question can ask for by its properties."""

    answer: Line
    also: Lines
    """Its other names."""
    sentence: Line
    """The article's sentence that names it."""
    kind: Line
    """Its kind, e.g. `a lighthouse`."""
    category: QuestionCategory
    properties: Limited[TargetProperty]
    """The most telling first."""
    sub_claims: Limited[SubClaim]


class ReplyTargets(ReplyModel):
    targets: list[QuestionTarget]


class FindTargets(StepRequest[tuple[QuestionTarget, ...]]):
    """What in this article can be identified by its properties?"""

    forms = (ReplyTargets,)

    title: str
    text: str
    n_targets: int
    n_properties: int
    prompt: str = "inversion/find_targets"

    async def ask(self, model: PromptedModel) -> StepAnswer[tuple[QuestionTarget, ...]]:
        """Find targets, at most `n_targets`, the best first."""
        return await model.answer_step(
            self, ReplyTargets, lambda reply: tuple(reply.targets[: self.n_targets])
        )
