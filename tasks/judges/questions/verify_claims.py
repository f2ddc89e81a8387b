"""Is each claim consistent with the evidence retrieved for it?"""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from tasks.judges.decisions import NOT_SUPPORT, DecisionRequest, JudgeAnswer
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers, split_batches
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.judges.text import collapse_whitespace
from tasks.warehouse.rows import Status

PROMPTS_PER_TURN = 8
"""Prompts rendered before control returns to the event loop, so that rendering does not leave the
model idle."""
NO_EVIDENCE = "the other text has no sentence; no model was asked"


class ClaimVerdict(ReplyModel):
    item: int
    reason: str
    evidence: list[int]
    """1-based numbers of the evidence behind the verdict."""
    verdict: Literal["consistent", "inconsistent", "not_support"]


class VerifyClaims(DecisionRequest):
    """Is each claim consistent with the evidence retrieved for it?

    Labels: `consistent` (any one sentence supports it), `inconsistent` (contradicted by at
    least one), `not_support`. Source: Wiki Live Challenge, fact verification.
    """

    action: ClassVar[str] = "verify claims"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[ClaimVerdict],)

    claims: tuple[str, ...]
    pool: tuple[str, ...]
    """All candidate sentences of the other text."""
    retrieved: tuple[tuple[int, ...], ...]
    """For each claim the indices into `pool` of its evidence, best first."""
    subject: str = ""
    """What all claims are about, such as the article's title; a lexical judge expects its words
    less than others, since texts say "it" and "the tower"."""
    prompt: str = "wiki_fact/verify_claims"

    def select(self, indices: Sequence[int]) -> Self:
        return self._keep(indices, "claims", "retrieved")

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        """Answer for each claim; claims without retrieved sentences need no call."""
        pool = [collapse_whitespace(sentence) for sentence in self.pool]
        evidence = [tuple(pool[index] for index in found) for found in self.retrieved]
        asked = [index for index, found in enumerate(evidence) if found]
        groups = split_batches(asked, model.entry.claims_per_call)
        asked_for = []
        for number, group in enumerate(groups, start=1):
            items = [(self.claims[index], evidence[index]) for index in group]
            asking = asyncio.create_task(_verify_group(model, self.prompt, items))
            # Retrieved, in case this cell is cancelled before it awaits them.
            asking.add_done_callback(lambda done: done.cancelled() or done.exception())
            asked_for.append(asking)
            if number % PROMPTS_PER_TURN == 0:
                await asyncio.sleep(0)
        decided = await asyncio.gather(*asked_for)
        answers = [
            JudgeAnswer(status=Status.OK, label=NOT_SUPPORT, reason=NO_EVIDENCE)
            for _ in self.claims
        ]
        for group, found_answers in zip(groups, decided, strict=True):
            for index, answer in zip(group, found_answers, strict=True):
                answers[index] = answer
        return answers


async def _verify_group(
    model: PromptedModel, prompt: str, items: Sequence[tuple[str, tuple[str, ...]]]
) -> list[JudgeAnswer]:
    n = len(items)
    values = {
        "items": [
            {
                "number": number,
                "claim": collapse_whitespace(claim),
                "evidence": "\n".join(f"[{i}] {text}" for i, text in enumerate(evidence, 1)),
            }
            for number, (claim, evidence) in enumerate(items, start=1)
        ]
    }
    form = ItemResults[ClaimVerdict]
    outcome = await model.ask_items(prompt, values, form, "item", range(1, n + 1))

    def read(said: ClaimVerdict) -> ItemReading:
        _, evidence = items[said.item - 1]
        # Unknown numbers are ignored.
        named = [evidence[number - 1] for number in said.evidence if 1 <= number <= len(evidence)]
        quoted = "\n".join(dict.fromkeys(named))
        return ItemReading(said.verdict, said.reason, quoted or None)

    return make_answers(outcome, n, read)
