"""Verifying statements against the page they cite, by a model.

Many statements take several calls; a page too long for the model is cut to an excerpt per call.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tasks.judges.decisions import JudgeAnswer, VerifyAgainstPage
from tasks.judges.forms.deepresearch import CitationVerdicts
from tasks.judges.forms.points import SupportVerdicts
from tasks.judges.forms.wiki import PageVerdicts
from tasks.judges.llm.excerpts import EXCERPT_VERSION, LongPage, count_bytes
from tasks.judges.llm.requests import PromptedModel, make_answer, make_open_answer
from tasks.judges.text import collapse_whitespace, verify_quote
from tasks.models.gateway import Outcome

Form = type[PageVerdicts] | type[SupportVerdicts] | type[CitationVerdicts]


async def verify_against_page(
    model: PromptedModel, request: VerifyAgainstPage
) -> list[JudgeAnswer]:
    """Answer for each statement, in order."""
    return await verify_statements(
        model, request.prompt, request.claims, request.page, PageVerdicts
    )


async def verify_statements(
    model: PromptedModel, prompt: str, statements: Sequence[str], text: str, form: Form
) -> list[JudgeAnswer]:
    """Answer for each statement, in order; a failed call does not affect the others.

    text: the cited text.
    form: a reply form whose results have a statement, a passage and a verdict.
    """
    page = LongPage(text, model.notice()) if count_bytes(text) > model.page_bytes else None
    question = _PageQuestion(model, prompt, text, form, page)
    groups = split_evenly(statements, model.entry.page_claims_per_call)
    answered = await asyncio.gather(*(question.ask(group) for group in groups))
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


@dataclass(frozen=True)
class _PageQuestion:
    """A text that groups of statements are verified against."""

    model: PromptedModel
    prompt: str
    text: str
    form: Form
    page: LongPage | None
    """Set if the text is too long to be sent whole."""

    async def ask(self, statements: Sequence[str]) -> list[JudgeAnswer]:
        n = len(statements)
        excerpt = self.page.make_excerpt(statements, self.model.page_bytes) if self.page else None
        values: dict[str, Any] = {
            "page": excerpt.text if excerpt else self.text,
            "claims": [collapse_whitespace(statement) for statement in statements],
        }
        outcome: Outcome[list[Any]] = await self.model.ask_items(
            self.prompt, values, self.form, "statement", range(1, n + 1),
            attachments=self.model.notice() if excerpt else None,
        )  # fmt: skip
        if outcome.value is None:
            return [make_open_answer(outcome, n)] * n
        shown = excerpt.shown_share if excerpt else None
        return [
            make_answer(
                outcome, n, said.verdict, said.reason, verify_quote(said.passage, self.text), shown
            )
            for said in outcome.value
        ]
