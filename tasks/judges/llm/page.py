"""Verifying statements against the page they cite, by a model.

Many statements take several calls; a page too long for the model is cut to an excerpt per call.
"""

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import TypeVar

from tasks.judges.decisions import JudgeAnswer, VerifyAgainstPage
from tasks.judges.forms.form import ItemResults
from tasks.judges.forms.verdicts import CitationVerdict, PageVerdict, SupportVerdict
from tasks.judges.llm.excerpts import EXCERPT_VERSION, LongPage, count_bytes
from tasks.judges.llm.requests import PromptedModel, Said, make_answers
from tasks.judges.research import CheckCitations, VerifySupport
from tasks.judges.text import collapse_whitespace, verify_quote

PassageT = TypeVar("PassageT", PageVerdict, SupportVerdict, CitationVerdict)
"""A result with a statement, a passage and a verdict."""


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
