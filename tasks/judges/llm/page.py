"""Statements put to a model with the page they cite: in one call, or in a few where they are many;
with the page whole, or with an excerpt for each call where it is too long for the model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tasks.judges.decisions import Answer, VerifyAgainstPage
from tasks.judges.forms.deepresearch import CitationVerdicts
from tasks.judges.forms.replies import PageVerdicts
from tasks.judges.forms.support import SupportVerdicts
from tasks.judges.llm.excerpts import VERSION, LongPage, n_bytes
from tasks.judges.llm.requests import Asking, ok, still_open
from tasks.judges.text import one_line, quoted
from tasks.models.gateway import Outcome

Form = type[PageVerdicts] | type[SupportVerdicts] | type[CitationVerdicts]


async def answers_against_page(asking: Asking, request: VerifyAgainstPage) -> list[Answer]:
    """One answer per statement, in order."""
    return await held_against(asking, request.prompt, request.claims, request.page, PageVerdicts)


async def held_against(
    asking: Asking, prompt: str, statements: Sequence[str], text: str, form: Form
) -> list[Answer]:
    """One answer per statement, in order; a call that fails leaves those of the others.

    text: what they cite.
    form: of the answers; all speak of statements, with a passage and a verdict.
    """
    page = LongPage(text, asking.notice()) if n_bytes(text) > asking.page_bytes else None
    asked = _Asked(asking, prompt, text, form, page)
    groups = in_groups(statements, asking.entry.page_claims_per_call)
    answered = await asyncio.gather(*(asked.about(group) for group in groups))
    return [answer for answers in answered for answer in answers]


def page_reading(asking: Asking, longest_bytes: int, most_claims: int) -> tuple[str, ...]:
    """What sets these questions apart from those about short pages with few statements.

    longest_bytes: of the pages that are asked about.
    most_claims: that one of them is asked about.
    """
    reading = []
    if longest_bytes > asking.page_bytes:
        reading.append(f"excerpts {VERSION} of {asking.page_bytes} {asking.notice().sha}")
    if most_claims > asking.entry.page_claims_per_call:
        reading.append(f"at most {asking.entry.page_claims_per_call} statements a call")
    return tuple(reading)


def in_groups(claims: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """The claims in order, in as few groups of at most `most` as can be, alike in size."""
    size = ceil(len(claims) / ceil(len(claims) / most)) if claims else 1
    return [tuple(claims[start : start + size]) for start in range(0, len(claims), size)]


@dataclass(frozen=True)
class _Asked:
    """One text that groups of statements are held against."""

    asking: Asking
    prompt: str
    text: str
    form: Form
    page: LongPage | None
    """The text, where it is too long to be shown whole."""

    async def about(self, statements: Sequence[str]) -> list[Answer]:
        n = len(statements)
        excerpt = self.page.excerpt(statements, self.asking.page_bytes) if self.page else None
        values: dict[str, Any] = {
            "page": excerpt.text if excerpt else self.text,
            "claims": [one_line(statement) for statement in statements],
        }
        outcome: Outcome[list[Any]] = await self.asking.decided(
            self.prompt, values, self.form, "statement", range(1, n + 1),
            beside=self.asking.notice() if excerpt else None,
        )  # fmt: skip
        if outcome.value is None:
            return [still_open(outcome, n)] * n
        shown = excerpt.shown_share if excerpt else None
        return [
            ok(outcome, n, said.verdict, said.reason, quoted(said.passage, self.text), shown)
            for said in outcome.value
        ]
