"""How a judge is asked whether a page holds what the claims that cite it say.

Many statements on a page take several calls; a page too long for the model is cut to an excerpt per
call.
"""

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import Any, Protocol

from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.excerpts import LongPage, count_bytes
from tasks.judges.llm.requests import ItemReading, PromptedModel, make_answers
from tasks.judges.replies import ReplyModel
from tasks.judges.text import collapse_whitespace, verify_quote


class PassageVerdict(Protocol):
    """A result about one statement, with the passage that it rests on."""

    @property
    def passage(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def verdict(self) -> str: ...


class PageQuestion(Protocol):
    """A question about claims and the page, or the pages as one text, that they cite."""

    @property
    def forms(self) -> tuple[type[ReplyModel], ...]:
        """One form, whose results are `PassageVerdict`s."""

    @property
    def claims(self) -> tuple[str, ...]: ...
    @property
    def page(self) -> str: ...
    @property
    def prompt(self) -> str: ...


async def verify_statements(model: PromptedModel, question: PageQuestion) -> list[JudgeAnswer]:
    """Answer for each claim, in order; a failed call does not affect the others."""
    page = question.page
    form: Any = question.forms[0]
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
