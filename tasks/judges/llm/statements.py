"""Decisions about claims by a model: verifying them against the sentences retrieved for each, or
against the page they cite, and which claims of an answer are true, and how far.

Many statements on a page take several calls; a page too long for the model is cut to an excerpt per
call.
"""

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from tasks.judges.batches import split_batches
from tasks.judges.decisions import (
    NO_TRUTH,
    NOT_SUPPORT,
    GradeValues,
    JudgeAnswer,
    MatchClaims,
    VerifyAgainstPage,
    VerifyClaims,
    truth_label,
)
from tasks.judges.forms.form import ItemResults
from tasks.judges.forms.verdicts import (
    CitationVerdict,
    ClaimMatch,
    ClaimMatches,
    ClaimVerdict,
    ClaimVerdicts,
    PageVerdict,
    SupportVerdict,
    ValueGrades,
)
from tasks.judges.llm.excerpts import EXCERPT_VERSION, LongPage, count_bytes
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.judges.research import CheckCitations, VerifySupport
from tasks.judges.text import collapse_whitespace, verify_quote
from tasks.models.gateway import InvalidReply
from tasks.warehouse.rows import Status

PROMPTS_PER_TURN = 8
"""Prompts rendered before control returns to the event loop, so that rendering does not leave the
model idle."""
NO_EVIDENCE = "the other text has no sentence; no model was asked"
PassageT = TypeVar("PassageT", PageVerdict, SupportVerdict, CitationVerdict)
"""A result with a statement, a passage and a verdict."""


async def verify_claims(model: PromptedModel, request: VerifyClaims) -> list[JudgeAnswer]:
    """Answer for each claim; claims without retrieved sentences need no call."""
    pool = [collapse_whitespace(sentence) for sentence in request.pool]
    evidence = [tuple(pool[index] for index in found) for found in request.retrieved]
    asked = [index for index, found in enumerate(evidence) if found]
    groups = split_batches(asked, model.entry.claims_per_call)
    asked_for = []
    for number, group in enumerate(groups, start=1):
        items = [(request.claims[index], evidence[index]) for index in group]
        asking = asyncio.create_task(_verify_group(model, request.prompt, items))
        # Retrieved, in case this cell is cancelled before it awaits them.
        asking.add_done_callback(lambda done: done.cancelled() or done.exception())
        asked_for.append(asking)
        if number % PROMPTS_PER_TURN == 0:
            await asyncio.sleep(0)
    decided = await asyncio.gather(*asked_for)
    answers = [
        JudgeAnswer(status=Status.OK, label=NOT_SUPPORT, reason=NO_EVIDENCE) for _ in request.claims
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
    outcome = await model.ask_items(prompt, values, ClaimVerdicts, "item", range(1, n + 1))

    def read(said: ClaimVerdict) -> Said:
        _, evidence = items[said.item - 1]
        return Said(said.verdict, said.reason, _quote_evidence(said, evidence))

    return make_answers(outcome, n, read)


def _quote_evidence(verdict: ClaimVerdict, evidence: Sequence[str]) -> str | None:
    """Return the evidence that a verdict refers to, ignoring unknown numbers."""
    named = [evidence[n - 1] for n in verdict.evidence if 1 <= n <= len(evidence)]
    return "\n".join(dict.fromkeys(named)) or None


async def match_claims(model: PromptedModel, request: MatchClaims) -> list[JudgeAnswer]:
    """Answer for each answered claim, all in one call."""
    n, n_truths = request.n_items, len(request.truths)
    values = {
        "question": request.question,
        "note": request.note,
        "truths": list(request.truths),
        "claims": list(request.answered),
    }

    def check(results: Sequence[ClaimMatch]) -> None:
        wrong = [r.truth for r in results if not 0 <= r.truth <= n_truths]
        if wrong:
            raise InvalidReply(f"truth: {wrong[0]} is none of 0 to {n_truths}")

    def read(match: ClaimMatch) -> Said:
        if not match.truth:
            return Said(NO_TRUTH, match.reason)
        index = match.truth - 1
        return Said(truth_label(index), match.reason, request.truths[index])

    outcome = await model.ask_items(
        request.prompt, values, ClaimMatches, "claim", range(1, n + 1), check
    )
    return make_answers(outcome, n, read)


async def grade_values(model: PromptedModel, request: GradeValues) -> list[JudgeAnswer]:
    """Answer for each value, all in one call."""
    n = request.n_items
    outcome = await model.ask_items(
        request.prompt, request.template_values(), ValueGrades, "item", range(1, n + 1)
    )
    return make_answers(outcome, n, lambda grade: Said(grade.score, grade.reason))


async def verify_statements(
    form: type[ItemResults[PassageT]],
    model: PromptedModel,
    request: VerifyAgainstPage | VerifySupport | CheckCitations,
) -> list[JudgeAnswer]:
    """Answer for each claim, in order; a failed call does not affect the others."""
    text = request.page
    long_page = LongPage(text, model.notice()) if count_bytes(text) > model.page_bytes else None

    def read(said: PassageT) -> Said:
        return Said(said.verdict, said.reason, verify_quote(said.passage, text))

    async def ask(claims: Sequence[str]) -> list[JudgeAnswer]:
        excerpt = long_page.make_excerpt(claims, model.page_bytes) if long_page else None
        values = {
            "page": excerpt.text if excerpt else text,
            "claims": [collapse_whitespace(claim) for claim in claims],
        }
        outcome = await model.ask_items(
            request.prompt,
            values,
            form,
            "statement",
            range(1, len(claims) + 1),
            attachments=model.notice() if excerpt else None,
        )
        shown = excerpt.shown_share if excerpt else None
        return make_answers(outcome, len(claims), read, shown)

    groups = split_evenly(request.claims, model.entry.page_claims_per_call)
    answered = await asyncio.gather(*(ask(group) for group in groups))
    return [answer for answers in answered for answer in answers]


def page_key_parts(model: PromptedModel, longest_bytes: int, max_claims: int) -> tuple[str, ...]:
    """Return what sets these requests apart from those on short pages with few statements.

    longest_bytes: UTF-8 bytes of the longest page.
    max_claims: the most claims that cite one page.
    """
    reading = []
    if longest_bytes > model.page_bytes:
        reading.append(f"excerpts {EXCERPT_VERSION} of {model.page_bytes} {model.notice().sha}")
    if max_claims > model.entry.page_claims_per_call:
        reading.append(f"at most {model.entry.page_claims_per_call} statements a call")
    return tuple(reading)


def split_evenly(claims: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Split the claims, in order, into the fewest groups of at most `most`, of similar size."""
    size = ceil(len(claims) / ceil(len(claims) / most)) if claims else 1
    return [tuple(claims[start : start + size]) for start in range(0, len(claims), size)]
