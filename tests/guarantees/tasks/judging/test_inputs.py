"""A scanned report all the way from its estimate to its scores."""

import asyncio
from contextlib import closing
from typing import Any

from tasks.judges.registry import load_judge_entry
from tasks.judging.cases import CaseLoader
from tasks.judging.cells import plan_cells
from tasks.judging.session import find_current_price
from tasks.planning.estimate import estimate_cells
from tasks.processes.pool import HelperProcesses
from tasks.protocols.cell import judge_case
from tasks.protocols.registry import get_protocol
from tasks.verdicts import write_cell
from tasks.warehouse.store import Warehouse
from tests.guarantees.tasks.judging.test_scan_cells import (
    PDF,
    SEES,
    of_scan,
    scan,
    scores,
    warehouse,
)
from tests.servers.gemini import GeminiServer
from tests.tasks.annotated import ARTICLE, OTHER
from tests.tasks.answering import server
from tests.tasks.models.test_attachments import arrived
from tests.tasks.runs import open_judge

__all__ = ["server", "warehouse"]


def judged(warehouse: Warehouse, name: str, by: str) -> float:
    """Judge what is pending, as the stage does; dollars spent."""

    async def run() -> float:
        async with open_judge(warehouse, by) as session:
            for plan in plan_cells(warehouse, "sample", get_protocol(name), session.judge):
                if plan.state == "pending" and plan.state_reason is None:
                    case = CaseLoader(warehouse, [plan]).load(plan)
                    await write_cell(warehouse, plan, await judge_case(name, session.judge, case))
            assert session.gateway
            return session.gateway.spent

    return asyncio.run(run())


def test_a_scan_is_estimated_bought_scored_and_counted_like_a_text(
    warehouse: Warehouse, server: GeminiServer
) -> None:
    scan(warehouse, PDF)
    _, entry = load_judge_entry(SEES)
    assert find_current_price(entry)  # type: ignore[arg-type]
    asked: Any = entry
    with closing(HelperProcesses(1)) as helpers:
        cells = [of_scan(warehouse)]
        (before,) = estimate_cells(warehouse, helpers, asked, cells, lambda n: None).to_dicts()
    spent = judged(warehouse, "wiki_writing", SEES)
    shown = [entry for entry in server.log.entries if entry.files]
    plan = of_scan(warehouse)
    case = CaseLoader(warehouse, [plan]).load(plan)
    assert {entry.files for entry in shown} == {arrived(*case.attachments)}
    assert len(shown) == before["calls"] == 3
    assert before["tokens_in"] > 3 * 3 * 1_000, "three calls with three pages each"
    assert 0 < before["usd"] < before["usd_at_most"]
    of_files = warehouse.value(
        "SELECT sum(cost_usd) FROM calls WHERE contains(prompt, $1)", [case.attachments[0].sha]
    )
    assert 0 < of_files <= before["usd_at_most"]
    assert of_files < spent
    assert of_scan(warehouse).state == "done"
    assert judged(warehouse, "wiki_writing", SEES) == 0, "nothing is bought twice"

    by_report = {(s.agent, s.assignment): s for s in scores(warehouse, "wiki_writing", SEES)
                 if s.metric == "writing_overall"}  # fmt: skip
    assert by_report[OTHER, ARTICLE].n_items == 39
    assert by_report[OTHER, ARTICLE].value is not None
