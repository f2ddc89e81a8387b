"""Judging one cell, in this process or in a helper; protocol and judge travel by name."""

import asyncio
from functools import lru_cache

from tasks.configuration.errors import ConfigurationError
from tasks.judges.decisions import Judge
from tasks.judges.llm.counting import Asked, CountingAsker
from tasks.judges.registry import judge
from tasks.models.prices import ModelPrice
from tasks.protocols.case import Case, Decided, Protocol
from tasks.protocols.registry import PROTOCOLS, protocol


async def decide_with(
    protocol_name: str, judge: Judge, case: Case, version: str | None = None
) -> list[Decided]:
    """Every decision of one case, by a judge that waits rather than computes.

    Args:
        version: of the protocol, that its cell was planned for; whichever is at hand if None.

    Raises:
        ConfigurationError: the protocol is another version by now; nothing was asked.
    """
    return await protocol_as(protocol_name, version).judge(case, judge)


def decide(
    protocol_name: str, judge_name: str, case: Case, version: str | None = None
) -> list[Decided]:
    """The same by a judge that computes: what a helper process runs."""
    return asyncio.run(decide_with(protocol_name, _judge(judge_name), case, version))


def requests_of(
    protocol_name: str, judge_name: str, case: Case, price: ModelPrice | None
) -> list[Asked]:
    """What judging one case would ask of a model; nothing is asked."""
    asker = CountingAsker(price)
    asyncio.run(decide_with(protocol_name, judge(judge_name, asker), case))
    return list(asker.asked.values())


def protocol_as(name: str, version: str | None) -> Protocol:
    """The protocol in the version that was planned for; whichever is at hand if None.

    Raises:
        ConfigurationError: its file says another version by now.
    """
    # A rubric of one's own may be edited while this process lives.
    found = _built_in(name, version) if name in PROTOCOLS else protocol(name)
    if version not in (None, found.version):
        raise ConfigurationError(
            f"The file of {name} was changed while this run went on: planned was version "
            f"{version}, it now is {found.version}. Run again."
        )
    return found


# Kept for the life of the process: the weights are read once, and the pages a judge has
# prepared are found again by the next cell that cites them. Another version is read anew.
@lru_cache
def _built_in(name: str, version: str | None) -> Protocol:
    return protocol(name)


@lru_cache
def _judge(name: str) -> Judge:
    return judge(name)
