"""A judge that is a model extracts facts and claims through the flow: permitted, within a budget
and once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks.imports.wlc import import_edition
from tasks.warehouse.rows import Extraction
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.fetched_runs import fetch
from tests.flows.llm_runs import at_hand, configured, evaluate, rows, value, write_configs
from tests.sample_edition import AGENTS, ARTICLES, copy_part
from tests.servers.gemini import GeminiServer

FACT = {"protocols": ["wiki_fact"]}
N_TEXTS = 2  # an article and one of its two reports
SOURCES = "SELECT source, count(*) FROM extractions GROUP BY source ORDER BY source"
EXTRACTIONS = "SELECT count(*) FROM calls WHERE protocol = 'extraction'"


@pytest.fixture
def path(judges: Path, tmp_path: Path) -> Path:
    """An article and two agents of the sample edition, with published statements alone."""
    path = tmp_path / "warehouse.duckdb"
    with open_warehouse(path) as store:
        import_edition(store, copy_part(tmp_path / "part", ARTICLES[2:], AGENTS[:2]), "sample")
    return path


@pytest.mark.parametrize("stage", ["evaluate", "fetch"])
def test_without_a_budget_the_flow_ends_before_anything_is_bought(
    path: Path, tmp_path: Path, stage: str
) -> None:
    """Also the one that fetches pages, for which claims tell what reports cite."""
    server = GeminiServer()
    with configured(write_configs(tmp_path, default="gemini")), at_hand(server, "gemini"):
        state = fetch(path) if stage == "fetch" else evaluate(path, "gemini", **FACT)
    assert state.type.value == "FAILED"
    assert "there is no budget. Nothing was bought." in state.message
    assert server.log.entries == []
    assert rows(path, SOURCES) == [("published", 1)]


def test_a_budget_stops_the_extraction_and_a_bigger_one_goes_on(path: Path) -> None:
    server = GeminiServer()
    with at_hand(server, "gemini"):
        first = evaluate(path, "gemini", budget_usd=0.000001, **FACT)
        assert (first.name, server.log.entries) == ("Partial", [])
        assert "The budget of" in first.message
        assert rows(path, SOURCES) == [("published", 1)]
        second = evaluate(path, "gemini", budget_usd=100.0, **FACT)
        assert second.name == "Completed", second.message
        asked = len(server.log.entries)
        assert evaluate(path, "gemini", **FACT).name == "Cached", "nothing is left to permit"
    assert rows(path, SOURCES) == [("judge", N_TEXTS), ("published", 1)]
    assert value(path, EXTRACTIONS) == N_TEXTS
    assert len(server.log.entries) == asked
    assert server.log.n_bought_again == 0


def test_an_offline_extraction_is_named_before_the_model_judges_it(
    path: Path, evergreen: Evergreen
) -> None:
    assert evaluate(path, "offline", **FACT).name == "Completed"
    server = GeminiServer()
    command = ("evaluate", "--edition", "sample", "--judge", "gemini", "--protocol", "wiki_fact",
               "--agent", "sample_blogger", "--warehouse", path)  # fmt: skip
    with at_hand(server, "gemini"):
        code, _, said = evergreen(*command)
        assert code == 0, said
        told = " ".join(said.split())
        assert "Extracted already, and kept: claims of 1 report (extracted offline)" in told
        assert value(path, EXTRACTIONS) == 0
        code, _, said = evergreen(*command, "--extract-again", "--budget", "50")
        assert code == 0, said
    assert "Extracted already" not in said
    assert value(path, EXTRACTIONS) == N_TEXTS
    assert rows(path, SOURCES) == [("judge", N_TEXTS), ("published", 1)]


def test_another_judge_judges_the_same_claims_again_and_extracts_none_nor_what_is_missing(
    path: Path,
) -> None:
    from flows.rejudge import rejudge

    def again(judge: str) -> None:
        chosen: Any = {"judge": judge, "against": "gemini", "warehouse": str(path)}
        running: Any = rejudge(edition="sample", **chosen, return_state=True)
        state = asyncio.run(running)
        assert state.name == "Completed", state.message

    with at_hand(GeminiServer(), "gemini"):
        assert evaluate(path, "gemini", budget_usd=100.0, **FACT).name == "Completed"
        before = rows(path, "SELECT * FROM extractions ORDER BY ALL")
        again("pinned")
        assert rows(path, "SELECT * FROM extractions ORDER BY ALL") == before
        with open_warehouse(path) as store:
            gone = store.rows(Extraction, "source = 'judge' AND agent <> ''")[0]
            key = {"edition": "sample", "agent": gone.agent, "assignment": gone.assignment}
            store.write(Change(Extraction, [], replacing=key))
        again("hasty")
    assert value(path, EXTRACTIONS) == N_TEXTS
