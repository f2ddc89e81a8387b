"""Statements put to a model with the sentences retrieved for each."""

import asyncio
from collections.abc import Sequence

from tasks.judges.decisions import NOT_SUPPORT, Answer, VerifyClaims
from tasks.judges.forms.replies import ClaimVerdict, ClaimVerdicts
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.text import one_line
from tasks.models.gateway import Outcome
from tasks.warehouse.rows import Status

AT_ONCE = 8
"""Prompts made in one go; then what has been answered meanwhile has its turn, so that making
prompts does not leave the model idle."""
NO_EVIDENCE = "no sentence of the other text shares a word with it; no model was asked"


async def verified_claims(asking: Asking, request: VerifyClaims) -> Sequence[Answer]:
    """One answer per claim; a claim for which nothing was retrieved needs no call."""
    pool = [one_line(sentence) for sentence in request.pool]
    evidence = [tuple(pool[index] for index in found) for found in request.retrieved]
    asked = [index for index, found in enumerate(evidence) if found]
    size = asking.entry.claims_per_call
    groups = [asked[start : start + size] for start in range(0, len(asked), size)]
    asked_for = []
    for number, group in enumerate(groups, start=1):
        items = [(request.claims[index], evidence[index]) for index in group]
        asked_for.append(asyncio.create_task(_verified(asking, request.prompt, items)))
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    decided = await asyncio.gather(*asked_for)
    answers = [
        Answer(status=Status.OK, label=NOT_SUPPORT, reason=NO_EVIDENCE) for _ in request.claims
    ]
    for group, found_answers in zip(groups, decided, strict=True):
        for index, answer in zip(group, found_answers, strict=True):
            answers[index] = answer
    return answers


async def _verified(
    asking: Asking, prompt: str, items: Sequence[tuple[str, tuple[str, ...]]]
) -> list[Answer]:
    n = len(items)
    values = {
        "items": [
            {
                "number": number,
                "claim": one_line(claim),
                "evidence": "\n".join(f"[{i}] {text}" for i, text in enumerate(evidence, 1)),
            }
            for number, (claim, evidence) in enumerate(items, start=1)
        ]
    }
    outcome: Outcome[list[ClaimVerdict]] = await asking.decided(
        prompt, values, ClaimVerdicts, "item", range(1, n + 1)
    )
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [
        ok(outcome, n, verdict.verdict, verdict.reason, _pointed_at(verdict, evidence))
        for verdict, (_, evidence) in zip(outcome.value, items, strict=True)
    ]


def _pointed_at(verdict: ClaimVerdict, evidence: Sequence[str]) -> str | None:
    """The pieces of evidence a verdict names, those that exist."""
    named = [evidence[n - 1] for n in verdict.evidence if 1 <= n <= len(evidence)]
    return "\n".join(dict.fromkeys(named)) or None
