"""How good are a report and a reference, side by side?"""

from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import ConfigDict

from tasks.judges.decisions import Criterion, DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.models.gateway import InvalidReply

MAX_SCORE = 10


class PairScore(ReplyModel):
    # Scores must be finite numbers; "7" and true are not accepted.
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    criterion: str
    reason: str
    score_1: float
    """Score of article 1, 0 to 10."""
    score_2: float


class ScorePair(DecisionRequest):
    """How good are a report and a reference, side by side, by each criterion?

    There are two answers per criterion, the report's first: labels are numbers from 0 to 10, also
    fractions such as `7.5`. Source: DeepResearch Bench, RACE.
    """

    action: ClassVar[str] = "score reports beside a reference"
    forms = (ItemResults[PairScore],)

    task: str
    report: str
    reference: str
    criteria: tuple[Criterion, ...]
    report_first: bool = True
    """The published order."""
    prompt: str = "race/score_pair"

    @property
    def n_items(self) -> int:
        return 2 * len(self.criteria)

    def select(self, indices: Sequence[int]) -> Self:
        # One call answers for both articles: it is refused for both.
        return self._keep(sorted({index // 2 for index in indices}), "criteria")

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Return two answers per criterion, the report's first, regardless of the articles'
        order."""
        n = len(self.criteria)
        texts = (self.report, self.reference)
        values = {
            "task": self.task,
            "first": texts[0] if self.report_first else texts[1],
            "second": texts[1] if self.report_first else texts[0],
            "criteria": [criterion.model_dump() for criterion in self.criteria],
        }
        ids = [criterion.id for criterion in self.criteria]
        outcome = await model.ask_items(
            self.prompt, values, ItemResults[PairScore], "criterion", ids, _check_scores
        )
        first = make_answers(outcome, n, lambda said: ItemReading(f"{said.score_1:g}", said.reason))
        second = make_answers(
            outcome, n, lambda said: ItemReading(f"{said.score_2:g}", said.reason)
        )
        pairs = zip(first, second, strict=True)
        return [answer for pair in pairs for answer in (pair if self.report_first else pair[::-1])]


def _check_scores(results: Sequence[PairScore]) -> None:
    for said in results:
        for score in (said.score_1, said.score_2):
            if not 0 <= score <= MAX_SCORE:
                raise InvalidReply(
                    f"criterion {said.criterion[:40]!r}: {score} is not 0 to {MAX_SCORE}"
                )
