"""How often an evaluation asks what is pending."""

import asyncio
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from flows.stages import extract_pending
from tasks.judging.cells import plan_cells
from tasks.pages import FETCH
from tasks.warehouse.pages import Page
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.plain_prefect import plain_prefect
from tests.tasks.archive.test_earlier_keys import CITED, OLD, TARGET
from tests.tasks.cited_pages import AGENT, EDITION, a_page, cite
from tests.tasks.runs import run_of

FACT = ("evaluate", "--edition", "sample", "--protocol", "wiki_fact", "--warehouse")


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the cells of a protocol are planned."""
    counts: Counter[str] = Counter()

    def count(source: Any, edition: str, protocol: Any, *given: Any) -> Any:
        counts[protocol.name] += 1
        return plan_cells(source, edition, protocol, *given)

    monkeypatch.setattr("tasks.verdicts.plan_cells", count)
    return counts


def test_an_evaluation_plans_its_cells_once_before_and_once_after_the_verdicts(
    small: Path, tmp_path: Path, evergreen: Evergreen, planned: Counter[str]
) -> None:
    path = Path(shutil.copy(small, tmp_path / "w.duckdb"))
    with open_warehouse(path) as store:
        for table in ("cells", "verdicts", "scores"):
            store._connection.execute(f"DELETE FROM {table}")
    with plain_prefect():
        code, _, said = evergreen(*FACT, path)
    assert (code, "sample is evaluated" in said) == (0, True)
    assert planned["wiki_fact"] == 2


def test_where_nothing_is_pending_they_are_planned_once(
    small: Path, tmp_path: Path, evergreen: Evergreen, planned: Counter[str]
) -> None:
    path = Path(shutil.copy(small, tmp_path / "w.duckdb"))
    with open_warehouse(path) as store:
        export_edition(store, "sample")
    assert "Nothing was pending" in evergreen(*FACT, path)[2]
    assert planned["wiki_fact"] == 1


def test_the_overview_plans_no_cell(
    small: Path, tmp_path: Path, evergreen: Evergreen, planned: Counter[str]
) -> None:
    path = Path(shutil.copy(small, tmp_path / "w.duckdb"))
    assert evergreen("--warehouse", path)[0] == 0
    assert planned == {}


def test_a_page_that_is_found_under_an_earlier_key_is_pending_no_more(tmp_path: Path) -> None:
    """A process was killed after it had extracted the claims: the plan knows nothing of it."""
    with (
        plain_prefect(), open_warehouse(tmp_path / "w.duckdb") as store,
        run_of(store, EDITION) as run,
    ):  # fmt: skip
        cite(store, {AGENT: [CITED]})
        store.write(Change(Page, [a_page(OLD, final_url=TARGET, source="direct")]))
        assert [page.url for page in run.plan.find_pending(FETCH["direct"])] == [TARGET]
        asyncio.run(extract_pending(run))
        assert run.plan.find_pending(FETCH["direct"]) == []
