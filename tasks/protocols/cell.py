"""Judging one cell, in this process or in a helper; protocol and judge travel by name."""

import asyncio
from functools import lru_cache

from tasks.judges.decisions import Judge
from tasks.judges.registry import judge
from tasks.protocols.case import Case, Decided, Protocol
from tasks.protocols.registry import protocol


async def decide_here(protocol_name: str, judge_name: str, case: Case) -> list[Decided]:
    """Every decision of one case."""
    return await _protocol(protocol_name).judge(case, _judge(judge_name))


def decide(protocol_name: str, judge_name: str, case: Case) -> list[Decided]:
    """The same as a plain call: what a helper process runs."""
    return asyncio.run(decide_here(protocol_name, judge_name, case))


# Kept for the life of the process: the weights are read once, and the pages a judge has
# prepared are found again by the next cell that cites them.
@lru_cache
def _protocol(name: str) -> Protocol:
    return protocol(name)


@lru_cache
def _judge(name: str) -> Judge:
    return judge(name)
