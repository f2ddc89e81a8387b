"""Which true claim does each answered claim state?"""

from collections.abc import Sequence
from typing import ClassVar

from tasks.judges.decisions import NO_TRUTH, DecisionRequest, JudgeAnswer, truth_label
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.models.gateway import InvalidReply


class ClaimMatch(ReplyModel):
    claim: int
    reason: str
    truth: int
    """1-based number of the true claim that it states; 0 if it states none."""


class MatchClaims(DecisionRequest):
    """Which true claim, if any, does each answered claim state? Labels: `truth:<index>`, `none`.

    All claims are of one level: the answers to one question, or the sub-claims of one pair.
    """

    action: ClassVar[str] = "match claims"
    decided: ClassVar[str] = "answered"
    forms = (ItemResults[ClaimMatch],)

    question: str
    truths: tuple[str, ...]
    """Each in words: its value, accepted alternatives, what is known of it."""
    answered: tuple[str, ...]
    note: str = ""
    """The publisher's note on matching, e.g. that middle names may be missing."""
    prompt: str = "claim_discovery/match_claims"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each answered claim, all in one call."""
        n, n_truths = self.n_items, len(self.truths)
        values = {
            "question": self.question,
            "note": self.note,
            "truths": list(self.truths),
            "claims": list(self.answered),
        }

        def check(results: Sequence[ClaimMatch]) -> None:
            wrong = [r.truth for r in results if not 0 <= r.truth <= n_truths]
            if wrong:
                raise InvalidReply(f"truth: {wrong[0]} is none of 0 to {n_truths}")

        def read(match: ClaimMatch) -> ItemReading:
            if not match.truth:
                return ItemReading(NO_TRUTH, match.reason)
            index = match.truth - 1
            return ItemReading(truth_label(index), match.reason, self.truths[index])

        outcome = await model.ask_items(
            self.prompt, values, ItemResults[ClaimMatch], "claim", range(1, n + 1), check
        )
        return make_answers(outcome, n, read)
