"""Counting a judge's requests without sending them: its code runs with a recording sender."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tasks.base import Frozen
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.extract_statements import ExtractClaims, ExtractFacts
from tasks.judges.questions.merge_key_points import MergeKeyPoints
from tasks.judges.registry import load_judge
from tasks.judges.text import split_sentences
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import RequestOutcome
from tasks.models.prices import BYTES_PER_TOKEN, ModelPrice
from tasks.warehouse.rows import Status

ValueT = TypeVar("ValueT")


class CountedRequest(Frozen):
    """A request that would be sent."""

    request_id: str
    step: str
    """Protocol and step, as in the ledger."""
    n_items: int
    prompt_tokens: float
    """Estimated from the prompt's length."""
    output_tokens: float
    """The typical length of answers by the prompt file."""
    most_usd: float | None
    """An upper bound of the cost if its first answer is usable; None without a price."""


class CountingSender:
    """Records requests without sending them; every outcome is `skipped`."""

    def __init__(self, price: ModelPrice | None) -> None:
        self._price = price
        self.requests: dict[str, CountedRequest] = {}

    async def ask(
        self, request: ModelRequest, read: Callable[[str], ValueT]
    ) -> RequestOutcome[ValueT]:
        purpose = request.purpose
        self.requests[request.request_id] = CountedRequest(
            request_id=request.request_id,
            step=f"{purpose.protocol}/{purpose.step}",
            n_items=purpose.n_items,
            prompt_tokens=request.prompt_bytes / BYTES_PER_TOKEN,
            output_tokens=request.typical_output_tokens,
            most_usd=self._price.max_cost(request) if self._price else None,
        )
        return RequestOutcome(Status.SKIPPED, reason="only counted")


def collect_requests(
    judge_name: str, price: ModelPrice | None, ask: Callable[[Any], Awaitable[object]]
) -> list[CountedRequest]:
    """Return the requests that a judge would send when it is asked so."""
    sender = CountingSender(price)

    async def count() -> None:
        await ask(load_judge(judge_name, sender))

    asyncio.run(count())
    return list(sender.requests.values())


def collect_extraction_requests(
    judge_name: str, asked: ExtractClaims | ExtractFacts, price: ModelPrice | None, *, again: bool
) -> list[CountedRequest]:
    """Return the requests for extracting the statements of one text. again: its list is empty."""

    async def ask(extractor: LlmJudge) -> None:
        for doubted in (False, True)[: 1 + again]:
            await extractor.extract(asked, again=doubted)

    return collect_requests(judge_name, price, ask)


def collect_key_point_requests(
    judge_name: str, title: str, documents: Sequence[str], price: ModelPrice | None
) -> list[CountedRequest]:
    """Return the requests for extracting and merging the key points of each document.

    The points to merge are not known yet; the documents' sentences stand in for them.
    """

    async def ask(finder: LlmJudge) -> None:
        for document in documents:
            await finder.answer(ExtractKeyPoints(question=title, document=document))
        points = tuple(point for document in documents for point in split_sentences(document))
        await finder.answer(MergeKeyPoints(question=title, points=points))

    return collect_requests(judge_name, price, ask)
