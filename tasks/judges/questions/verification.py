"""Is each claim consistent with evidence retrieved for it, and do the pages that it cites hold it?

Many statements on a page take several calls; a page too long for the model is cut to an excerpt per
call.
"""

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import Any, ClassVar, Literal, Protocol, Self

from tasks.judges.decisions import NOT_SUPPORT, DecisionRequest, JudgeAnswer
from tasks.judges.llm.excerpts import LongPage, count_bytes
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers, split_batches
from tasks.judges.replies import ItemResults, ReplyModel
from tasks.judges.text import collapse_whitespace, verify_quote
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


class PassageVerdict(Protocol):
    """A result about one statement, with the passage that it rests on."""

    @property
    def passage(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def verdict(self) -> str: ...


async def verify_statements(
    model: PromptedModel, question: "CheckCitations | VerifyAgainstPage | VerifySupport"
) -> list[JudgeAnswer]:
    """Answer for each claim, in order; a failed call does not affect the others."""
    page = question.page
    form: Any = question.forms[0]  # its results are `PassageVerdict`s
    long_page = LongPage(page, model.notice()) if count_bytes(page) > model.page_bytes else None

    def read(said: PassageVerdict) -> ItemReading:
        return ItemReading(said.verdict, said.reason, verify_quote(said.passage, page))

    async def ask(group: Sequence[str]) -> list[JudgeAnswer]:
        excerpt = long_page.make_excerpt(group, model.page_bytes) if long_page else None
        values = {
            "page": excerpt.text if excerpt else page,
            "claims": [collapse_whitespace(claim) for claim in group],
        }
        outcome = await model.ask_items(
            question.prompt,
            values,
            form,
            "statement",
            range(1, len(group) + 1),
            attachments=model.notice() if excerpt else None,
        )
        shown = excerpt.shown_share if excerpt else None
        return make_answers(outcome, len(group), read, shown)

    groups = split_evenly(question.claims, model.entry.page_claims_per_call)
    answered = await asyncio.gather(*(ask(group) for group in groups))
    return [answer for answers in answered for answer in answers]


def split_evenly(claims: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Split the claims, in order, into the fewest groups of at most `most`, of similar size."""
    size = ceil(len(claims) / ceil(len(claims) / most)) if claims else 1
    return [tuple(claims[start : start + size]) for start in range(0, len(claims), size)]


class CitationVerdict(ReplyModel):
    passage: str
    """Quoted from the page; empty if it has nothing of the statement."""
    reason: str
    statement: int
    verdict: Literal["supported", "unsupported", "unknown"]


class CheckCitations(DecisionRequest):
    """Does the page hold what the claims that cite it say? Labels: `supported` (all or a part of
    it), `unsupported` (nothing), `unknown` (the page has no content to judge by). Source:
    DeepResearch Bench, FACT; in other protocols a part counts as nothing or as half."""

    action: ClassVar[str] = "check citations"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[CitationVerdict],)

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "fact/check_citations"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)


class PageVerdict(ReplyModel):
    statement: int
    reason: str
    passage: str
    """Quoted from the page; empty if nothing supports or contradicts."""
    verdict: Literal["support", "not_support", "conflict"]


class VerifyAgainstPage(DecisionRequest):
    """Does the page support each claim that cites it? Labels: support, not_support, conflict."""

    action: ClassVar[str] = "verify claims against a page"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[PageVerdict],)

    claims: tuple[str, ...]
    url: str
    page: str
    prompt: str = "wiki_fact/verify_against_page"

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)


class SupportVerdict(ReplyModel):
    statement: int
    passage: str
    """Quoted from the pages; empty if nothing supports the claim."""
    reason: str
    verdict: Literal["full", "partial", "none"]


class VerifySupport(DecisionRequest):
    """How far do the cited pages, taken together, support each claim? Labels: `full` (all key
    aspects), `partial`, `none`. Source: DeepResearchGym, citation precision."""

    action: ClassVar[str] = "grade the support of claims"
    decided: ClassVar[str] = "claims"
    forms = (ItemResults[SupportVerdict],)

    claims: tuple[str, ...]
    """Claims that cite exactly these pages."""
    pages: tuple[str, ...]
    """Their texts, without URLs."""
    prompt: str = "research_gym/verify_support"

    @property
    def page(self) -> str:
        """All pages as one text."""
        return "\n\n".join(self.pages)

    async def ask(self, model: PromptedModel) -> list[JudgeAnswer]:
        return await verify_statements(model, self)
