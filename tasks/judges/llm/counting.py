"""What a judge would ask, without asking: the same code runs, the requests are only noted."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tasks.base import Frozen
from tasks.judges.decisions import ExtractClaims, ExtractFacts
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.registry import judge
from tasks.judges.research import ExtractKeyPoints, MergeKeyPoints
from tasks.judges.text import sentences
from tasks.models.exchange import ModelRequest
from tasks.models.gateway import Outcome
from tasks.models.prices import BYTES_PER_TOKEN, ModelPrice
from tasks.warehouse.rows import Status

ValueT = TypeVar("ValueT")


class Asked(Frozen):
    """One request that would be made."""

    request_id: str
    step: str
    """As the ledger names it: protocol and step."""
    n_items: int
    prompt_tokens: float
    """Estimated from its length."""
    output_tokens: float
    """As the prompt's file says answers usually are."""
    most_usd: float | None
    """More than it can cost, if its first answer can be used; None without a price."""


class CountingAsker:
    """Notes what it is asked; every answer is `skipped`."""

    def __init__(self, price: ModelPrice | None) -> None:
        self._price = price
        self.asked: dict[str, Asked] = {}

    async def ask(self, request: ModelRequest, read: Callable[[str], ValueT]) -> Outcome[ValueT]:
        purpose = request.purpose
        self.asked[request.request_id] = Asked(
            request_id=request.request_id,
            step=f"{purpose.protocol}/{purpose.step}",
            n_items=purpose.n_items,
            prompt_tokens=request.prompt_bytes / BYTES_PER_TOKEN,
            output_tokens=request.typical_output_tokens,
            most_usd=self._price.at_most(request) if self._price else None,
        )
        return Outcome(Status.SKIPPED, reason="only counted")


def extraction_requests(
    judge_name: str, title: str, text: str, *, of_report: bool, price: ModelPrice | None
) -> list[Asked]:
    """What extracting the statements of one text would ask."""
    asker = CountingAsker(price)
    extractor = judge(judge_name, asker)
    assert isinstance(extractor, LlmJudge)
    if of_report:
        asyncio.run(extractor.extract_claims(ExtractClaims(title=title, text=text)))
    else:
        asyncio.run(extractor.extract_facts(ExtractFacts(title=title, text=text)))
    return list(asker.asked.values())


def key_point_requests(
    judge_name: str, title: str, document: str, price: ModelPrice | None
) -> list[Asked]:
    """What making key points of one document would ask. Which points there will be to merge nobody
    knows yet: the document's own sentences stand for them."""
    asker = CountingAsker(price)
    finder = judge(judge_name, asker)
    assert isinstance(finder, LlmJudge)
    asyncio.run(finder.extract_key_points(ExtractKeyPoints(question=title, document=document)))
    asyncio.run(finder.merge_key_points(MergeKeyPoints(question=title, points=sentences(document))))
    return list(asker.asked.values())
