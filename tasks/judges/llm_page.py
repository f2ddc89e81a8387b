"""Statements put to a model with the page they cite: in one call, or in a few where they are many;
with the page whole, or with an excerpt for each call where it is too long for the model."""

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import Any

from tasks.judges.asking import Asking, ok, still_open
from tasks.judges.decisions import Answer, VerifyAgainstPage
from tasks.judges.excerpts import VERSION, LongPage, n_bytes
from tasks.judges.replies import PageVerdict, PageVerdicts
from tasks.judges.text import one_line, stands_in
from tasks.models.gateway import Outcome


async def answers_against_page(asking: Asking, request: VerifyAgainstPage) -> list[Answer]:
    """One answer per statement, in order; a call that fails leaves those of the others."""
    page = None
    if n_bytes(request.page) > asking.page_bytes:
        page = LongPage(request.page, asking.notice())
    groups = in_groups(request.claims, asking.entry.page_claims_per_call)
    answered = await asyncio.gather(*(_asked(asking, request, claims, page) for claims in groups))
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


async def _asked(
    asking: Asking, request: VerifyAgainstPage, claims: Sequence[str], page: LongPage | None
) -> list[Answer]:
    n = len(claims)
    excerpt = page.excerpt(claims, asking.page_bytes) if page else None
    values: dict[str, Any] = {
        "page": excerpt.text if excerpt else request.page,
        "claims": [one_line(claim) for claim in claims],
    }
    outcome: Outcome[list[PageVerdict]] = await asking.decided(
        request.prompt, values, PageVerdicts, "statement", range(1, n + 1),
        beside=asking.notice() if excerpt else None,
    )  # fmt: skip
    if outcome.value is None:
        return [still_open(outcome, n)] * n
    return [
        ok(
            outcome,
            n,
            verdict.verdict,
            verdict.reason,
            _passage(verdict, request.page),
            excerpt.shown_share if excerpt else None,
        )
        for verdict in outcome.value
    ]


def _passage(verdict: PageVerdict, page: str) -> str | None:
    """The passage a verdict quotes, if it does stand on the page."""
    return verdict.passage.strip() if stands_in(verdict.passage, page) else None
