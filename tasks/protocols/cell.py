"""Judge one cell, in this process or in a helper process; protocol and judge are passed by name."""

import asyncio
from functools import lru_cache

from tasks.configuration.errors import ConfigurationError
from tasks.judges.decisions import Judge
from tasks.judges.llm.counting import CountedRequest, collect_requests
from tasks.judges.registry import load_judge
from tasks.models.prices import ModelPrice
from tasks.protocols.case import Case, ItemAnswer, Protocol
from tasks.protocols.registry import PROTOCOLS, get_protocol


async def judge_case(
    protocol_name: str, judge: Judge, case: Case, version: str | None = None
) -> list[ItemAnswer]:
    """Judge one case with a judge that waits for I/O.

    Args:
        version: The protocol version that the cell was planned for; any version if None.

    Raises:
        ConfigurationError: the protocol's version has changed; nothing was asked.
    """
    return await get_protocol_version(protocol_name, version).judge(case, judge)


def judge_case_in_helper(
    protocol_name: str, judge_name: str, case: Case, version: str | None = None
) -> list[ItemAnswer]:
    """Judge one case with a judge that computes, in a helper process."""
    return asyncio.run(judge_case(protocol_name, _get_judge(judge_name), case, version))


def list_requests(
    protocol_name: str, judge_name: str, case: Case, price: ModelPrice | None
) -> list[CountedRequest]:
    """Return the requests that judging one case would send to a model, without sending them."""
    return collect_requests(judge_name, price, lambda judge: judge_case(protocol_name, judge, case))


def get_protocol_version(name: str, version: str | None) -> Protocol:
    """Return the protocol if it still has this version; any version if None.

    Raises:
        ConfigurationError: the version of its file has changed.
    """
    # The user may edit their rubric while this process runs.
    found = _get_built_in(name, version) if name in PROTOCOLS else get_protocol(name)
    if version not in (None, found.version):
        raise ConfigurationError(
            f"The file of {name} was changed during this run: planned version {version}, now "
            f"{found.version}. Run again."
        )
    return found


# Cached for the life of the process: weights are read once, and the pages that a judge has prepared
# serve the next cell that cites them. Another version is loaded again.
@lru_cache
def _get_built_in(name: str, version: str | None) -> Protocol:
    return get_protocol(name)


@lru_cache
def _get_judge(name: str) -> Judge:
    return load_judge(name)
