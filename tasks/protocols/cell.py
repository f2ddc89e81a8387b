"""Judging one cell, in this process or in a helper; protocol and judge travel by name."""

import asyncio
from functools import lru_cache

from tasks.judges.counting import Asked, CountingAsker
from tasks.judges.decisions import Judge
from tasks.judges.registry import judge
from tasks.models.prices import ModelPrice
from tasks.protocols.case import Case, Decided, Protocol
from tasks.protocols.registry import protocol


async def decide_with(protocol_name: str, judge: Judge, case: Case) -> list[Decided]:
    """Every decision of one case, by a judge that waits rather than computes."""
    return await _protocol(protocol_name).judge(case, judge)


def decide(protocol_name: str, judge_name: str, case: Case) -> list[Decided]:
    """The same by a judge that computes: what a helper process runs."""
    return asyncio.run(decide_with(protocol_name, _judge(judge_name), case))


def requests_of(
    protocol_name: str, judge_name: str, case: Case, price: ModelPrice | None
) -> list[Asked]:
    """What judging one case would ask of a model; nothing is asked."""
    asker = CountingAsker(price)
    asyncio.run(decide_with(protocol_name, judge(judge_name, asker), case))
    return list(asker.asked.values())


# Kept for the life of the process: the weights are read once, and the pages a judge has
# prepared are found again by the next cell that cites them.
@lru_cache
def _protocol(name: str) -> Protocol:
    return protocol(name)


@lru_cache
def _judge(name: str) -> Judge:
    return judge(name)
