"""What is estimated is what is bought, and what has been bought is not estimated again."""

import asyncio
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from tasks.claims import find_pending_extractions
from tasks.configuration.models import LlmJudgeEntry
from tasks.extraction.texts import PendingExtraction
from tasks.judges.decisions import Judge
from tasks.judges.registry import load_judge, load_judge_entry
from tasks.judging.cases import load_cases
from tasks.judging.cells import CellPlan, plan_cells
from tasks.judging.session import find_current_price
from tasks.planning.estimate import COLUMNS, estimate_cells, estimate_extraction
from tasks.processes.answers import decode_answer, encode_value
from tasks.protocols.cell import judge_case
from tasks.protocols.registry import get_protocol
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import sample_warehouse
from tests.tasks.answering import JUDGE, server
from tests.tasks.runs import open_judge

__all__ = ["server"]
ENTRY = cast(LlmJudgeEntry, load_judge_entry(JUDGE)[1])
WHOLE = pl.Series(["wiki_fact", "wiki_writing"])


class InThread:
    """A helper without a process of its own, which takes a second to start."""

    async def run(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
        work = pickle.dumps((function, arguments))

        def helped() -> bytes:
            called, given = pickle.loads(work)
            return encode_value(called, called(*given))

        return decode_answer(function, await asyncio.to_thread(helped), ())


HELPERS: Any = InThread()


def pending(warehouse: Warehouse) -> list[CellPlan]:
    return [
        plan
        for name in WHOLE
        for plan in plan_cells(warehouse, "sample", get_protocol(name), load_judge(JUDGE))
        if plan.state == "pending" and plan.state_reason is None
    ]


def estimated(warehouse: Warehouse, plans: Sequence[CellPlan]) -> pl.DataFrame:
    looked_at: list[int] = []
    found = estimate_cells(warehouse, HELPERS, ENTRY, plans, looked_at.append)
    assert sum(looked_at) == found["cells"].sum() == len(plans)
    assert found.columns == list(COLUMNS)
    return found


def bought(warehouse: Warehouse, plans: Sequence[CellPlan]) -> tuple[int, float]:
    """Judge all of it without Prefect; calls and dollars."""
    cases = load_cases(warehouse, plans)

    async def run() -> tuple[int, float]:
        async with open_judge(warehouse, JUDGE) as session:
            decider: Judge = session.judge
            decided = await asyncio.gather(
                *(judge_case(plan.protocol, decider, cases[plan.cell_id]) for plan in plans)
            )
            assert session.gateway
        items = [item for items in decided for item in items]
        assert {item.answer.status for item in items} <= {Status.OK, Status.UNFETCHABLE}
        return session.gateway.n_bought, session.gateway.spent

    return asyncio.run(run())


def test_a_run_buys_what_was_estimated_and_then_there_is_nothing_left_to_buy(
    tmp_path: Path, server: GeminiServer
) -> None:
    with open_warehouse(sample_warehouse(tmp_path)) as warehouse:
        plans = pending(warehouse)
        assert {plan.protocol for plan in plans} == set(WHOLE)
        before = estimated(warehouse, plans)
        assert before["in_ledger"].sum() == 0
        assert server.log.entries == [], "an estimate asks nobody"

        n_bought, spent = bought(warehouse, plans)
        totals = server.log.summary()
        assert before["calls"].sum() == n_bought == totals["answered"] == totals["requests"]
        assert totals["bought_again"] == 0
        assert 0 < spent <= before["usd_at_most"].sum()
        assert before["usd_batch"].sum() < before["usd"].sum() < before["usd_at_most"].sum()
        assert spent / 5 < before["usd"].sum() < spent * 5

        after = estimated(warehouse, plans)
        assert after["calls"].sum() == 0
        assert after["in_ledger"].sum() == n_bought
        assert after.select("usd", "usd_batch", "usd_at_most").sum().row(0) == (0, 0, 0)
        assert bought(warehouse, plans) == (0, 0)
        assert server.log.summary()["answered"] == n_bought


def test_half_a_run_leaves_the_other_half_to_buy(tmp_path: Path, server: GeminiServer) -> None:
    with open_warehouse(sample_warehouse(tmp_path)) as warehouse:
        plans = [plan for plan in pending(warehouse) if plan.protocol == "wiki_writing"]
        half = plans[: len(plans) // 2]
        n_half, _ = bought(warehouse, half)
        rest = estimated(warehouse, plans)
        assert rest["in_ledger"].sum() == n_half > 0
        n_rest, _ = bought(warehouse, plans)
        assert rest["calls"].sum() == n_rest > 0


def test_an_extraction_is_estimated_as_it_is_bought(tmp_path: Path, server: GeminiServer) -> None:
    with open_warehouse(sample_warehouse(tmp_path)) as warehouse:
        extractor = load_judge(JUDGE)
        items: list[PendingExtraction] = find_pending_extractions(
            warehouse, "sample", extractor=extractor
        )
        found = estimate_extraction(warehouse, JUDGE, ENTRY, items)
        assert found["calls"].sum() == len(items) == 7
        assert set(found["agent"]) == {"(articles)", "sample_blogger", "sample_sketch"}
        assert found["usd"].sum() > 0


def test_the_price_is_that_of_today() -> None:
    known = find_current_price(ENTRY)
    assert known
    assert (known.provider, known.model) == (ENTRY.provider, ENTRY.model)
