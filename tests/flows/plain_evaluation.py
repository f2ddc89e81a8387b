"""An evaluation by the flow, without Prefect: no server, no history."""

import asyncio
from pathlib import Path
from typing import Any

from tasks.models.errors import StopStage
from tests.flows.plain_prefect import plain_prefect
from tests.in_this_process import no_helpers

PERMITTED_USD = 1000.0
"""For whom a test names to extract; nothing here costs as much."""


def evaluate_plainly(
    path: Path,
    protocols: tuple[str, ...],
    agents: tuple[str, ...] = (),
    judge: str | None = None,
    extractor: str | None = None,
    *,
    extract_again: bool = False,
) -> None:
    """Judge, score and rank the sample edition; offline, unless a judge is named.

    Raises:
        StopStage: something was left.
    """
    from flows.evaluate import evaluate

    with plain_prefect(), no_helpers():
        running: Any = evaluate(
            edition="sample", protocols=list(protocols), agents=list(agents), judge=judge,
            extractor=extractor, budget_usd=PERMITTED_USD, extract_again=extract_again,
            warehouse=str(path), return_state=True,
        )  # fmt: skip
        state = asyncio.run(running)
    if state.name == "Partial":
        raise StopStage(state.message)
    if not state.is_completed():
        asyncio.run(state.aresult())
