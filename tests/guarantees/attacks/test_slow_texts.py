"""An agent whose report is made to take long to read."""

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tasks.agents.agent import JobAnswer, UnreadableJobAnswer
from tasks.claims import CLAIMS, ExtractionFailed, Extractor, find_pending_extractions
from tasks.diagnostics import DIAGNOSTICS, MeasuringFailed, find_pending_diagnostics
from tasks.jobs.rows import SHORT_CHARS, render_text
from tasks.leaderboard import find_pending_rows
from tasks.processes.helper import LimitExceeded
from tasks.processes.pool import CELL_SECONDS, TEXT_SECONDS, HelperProcesses
from tasks.publishing import reports as report_pages
from tasks.verdicts import VERDICTS, list_cells, write_failure
from tasks.warehouse.rows import Report, content_sha
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.attacks.taken_over import SlowClaim, SlowReport, render_slowly
from tests.tasks.annotated import sample_warehouse
from tests.tasks.runs import do_pending, plan_of

AGENT = "sample_scholar"
SLOW = "".join(f"- a {n} [1].\n" for n in range(60_000))
"""A list item, a citation and a sentence in each few letters: seconds for each of the parsers."""
SECONDS = 1.0
"""Long enough for any honest report on a busy machine."""


@pytest.fixture(scope="module", autouse=True)
def helpers() -> None:
    """Those here are processes."""


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    """The sample edition, where one report of an agent is slow, and limits to wait for."""
    for module in ("claims", "diagnostics"):
        monkeypatch.setattr(f"tasks.{module}.TEXT_SECONDS", SECONDS)
    with open_warehouse(sample_warehouse(tmp_path)) as store:
        first, *_ = store.rows(Report, "agent = $1", [AGENT])
        slow = first.model_copy(update={"text": SLOW, "text_sha": content_sha(SLOW)})
        store.write(Change(Report, [slow]))
        yield store


def slow_assignment(warehouse: Warehouse) -> str:
    found = warehouse.value("SELECT assignment FROM reports WHERE text_sha = $1",
                            [content_sha(SLOW)])  # fmt: skip
    return str(found)


def test_a_slow_report_has_no_claims_and_stops_no_other(warehouse: Warehouse) -> None:
    """A report that takes too long to extract has no claims; the agent's others have theirs."""
    [item] = [i for i in find_pending_extractions(warehouse, "sample") if i.agent == AGENT]
    slow = slow_assignment(warehouse)
    every = {report.assignment for report in warehouse.rows(Report, "agent = $1", [AGENT])}
    others = every - {slow}
    assert others
    # The others wait behind it.
    items = [item, *(item.model_copy(update={"assignment": other}) for other in others)]
    [error] = do_pending(warehouse, CLAIMS, "sample", items)
    assert isinstance(error, ExtractionFailed)
    assert re.match(rf"1 of {len(items)} texts: .*took more than 1 ", str(error))
    offline = "SELECT DISTINCT assignment FROM {} WHERE agent = $1 AND source = 'offline'"
    for table in ("claims", "extractions"):
        assert {*warehouse.frame(offline.format(table), [AGENT])["assignment"]} == others
    current = "SELECT count(*) FROM extractions WHERE input_sha = $1"
    assert warehouse.value(current, [content_sha(SLOW)]) == 0
    left = [item.assignment for item in find_pending_extractions(warehouse, "sample", [AGENT])
            if item.agent]  # fmt: skip
    assert left == [slow]


def cells(warehouse: Warehouse) -> list[Any]:
    return plan_of(warehouse, "sample", protocols=("wiki_fact",), agents=(AGENT,)).ask(list_cells)


def test_a_slow_report_waits_and_has_no_score(warehouse: Warehouse) -> None:
    """A report whose claims take too long waits for them: it is never judged, and has no score."""
    items = [i for i in find_pending_extractions(warehouse, "sample") if i.agent == AGENT]
    assert len(do_pending(warehouse, CLAIMS, "sample", items)) == 1
    slow = slow_assignment(warehouse)
    [cell] = [c for c in cells(warehouse) if c.assignment == slow]
    assert (cell.state, cell.is_waiting) == ("pending", True)
    assert "claims" in (cell.state_reason or "")


class Model:
    """A model that finds a claim in every text."""

    async def extract(self, _: object) -> Any:
        return SimpleNamespace(value=[SimpleNamespace(text="a", markers=["[1]"])])


def test_a_judges_claims_are_located_in_bounds(warehouse: Warehouse) -> None:
    """A model's claims are looked for in a slow report in a helper, within the same limit."""
    items = [i for i in find_pending_extractions(warehouse, "sample") if i.agent == AGENT]
    with closing(HelperProcesses(1)) as helpers:
        extractor = Extractor(warehouse, helpers, Model())
        with pytest.raises(ExtractionFailed, match=r"1 of 1 texts: .* in it took more than 1 "):
            asyncio.run(extractor.extract(items, lambda n: None))
    asked = "SELECT count(*) FROM extractions WHERE source = 'judge'"
    assert warehouse.value(asked) == 0


def test_the_style_of_a_slow_report_is_unknown(warehouse: Warehouse) -> None:
    """A report whose style takes too long to measure has no figures; the agent's others have."""
    [error] = do_pending(warehouse, DIAGNOSTICS, "sample", [(AGENT, "all of them")])
    assert isinstance(error, MeasuringFailed)
    assert re.search(r"texts: .*measuring its style took more than 1 ", str(error))
    slow = slow_assignment(warehouse)
    left = find_pending_diagnostics(warehouse, "sample", [AGENT])
    assert [each for each in left if each[0]] == [(AGENT, slow)]
    figures = "SELECT count(*) FROM diagnostics WHERE agent = $1 AND assignment {} $2"
    assert warehouse.value(figures.format("="), [AGENT, slow]) == 0
    assert warehouse.value(figures.format("<>"), [AGENT, slow]) > 0


def test_a_cell_that_takes_too_long_has_failed(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report that takes the judge too long has failed: it has no verdict, no score, no retry."""
    monkeypatch.setattr("tasks.verdicts.CELL_SECONDS", 0.001)
    slow = slow_assignment(warehouse)
    cell = next(c for c in cells(warehouse) if c.assignment != slow)

    [error] = do_pending(warehouse, VERDICTS, "sample", [cell])
    assert isinstance(error, LimitExceeded)
    assert not isinstance(error, VERDICTS.retry_on)
    asyncio.run(write_failure(warehouse, cell, error))
    [again] = [c for c in cells(warehouse) if c.cell_id == cell.cell_id]
    assert again.state == "failed"
    assert "took more than 0.001 seconds" in (again.state_reason or "")
    for table in ("verdicts", "scores"):
        asked = f"SELECT count(*) FROM {table} WHERE cell_id = $1"
        assert warehouse.value(asked, [cell.cell_id]) == 0
    rows = find_pending_rows(plan_of(warehouse, "sample", protocols=("wiki_fact",)))
    assert all(row.value is None for row in rows)


def test_a_page_of_a_slow_report_comes_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that takes too long to render is published without its text, and says so."""
    monkeypatch.setattr(report_pages, "TEXT_SECONDS", SECONDS)
    monkeypatch.setattr(report_pages, "render_report_pages", render_slowly)
    helpers = HelperProcesses(1)
    report: Any = SlowReport(text=SLOW, claims=(SlowClaim(position=0),))
    nothing: Any = None
    try:
        rendering = report_pages._Rendering(helpers, nothing, report, nothing, {}, ("", ""))
        pages = rendering.finish(helpers)
    finally:
        helpers.close()
    said = "*This report's text is not shown: rendering it took more than 1 seconds.*"
    assert pages == {"page": said, "position": "None"}


def test_every_limit_is_a_minute_or_a_few() -> None:
    """The longest that a text of an agent keeps a helper busy is a minute, a cell five."""
    assert TEXT_SECONDS <= 60
    assert CELL_SECONDS <= 300


def test_a_slow_answer_holds_up_no_other_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer whose citations take too long to read is unreadable; other jobs go on meanwhile."""
    monkeypatch.setattr("tasks.jobs.rows.TEXT_SECONDS", 2 * SECONDS)
    slow = JobAnswer(outcome="report", text=SLOW)

    async def look(seen: list[float]) -> None:
        while True:
            seen.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def ask() -> list[float]:
        seen: list[float] = []
        looking = asyncio.create_task(look(seen))
        with (
            closing(HelperProcesses(1)) as helpers,
            pytest.raises(UnreadableJobAnswer, match=r"its citations took more than 2 seconds"),
        ):
            await render_text(helpers, slow, "research", None)
        looking.cancel()
        return seen

    seen = asyncio.run(ask())
    assert max(later - before for before, later in pairwise(seen)) < SECONDS


def test_a_short_answer_is_read_at_once() -> None:
    """No answer that is read where other jobs wait is long enough to hold them up."""
    nobody: Any = None
    for unit in ("- a\n", "|-|-|\n", "[1] a. ", "## References\n[1] http://a.b/c\n"):
        text = (unit * SHORT_CHARS)[:SHORT_CHARS]
        begun = time.process_time()
        asyncio.run(render_text(nobody, JobAnswer(outcome="report", text=text), "research", None))
        assert time.process_time() - begun < 0.5
