"""A run of a deployment that would pay needs a budget, or the word `unlimited`."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.runtime import budgets
from tests.flows.asked_runs import agents_of, ask, askable, serving_agent
from tests.flows.llm_runs import at_hand, configured, evaluate, write_configs
from tests.flows.months import refresh, small_world
from tests.flows.plain_prefect import plain_prefect
from tests.rigs.month_world import AGENTS, BASELINE
from tests.servers.gemini import GeminiServer
from tests.servers.job_gemini import GeminiJobs


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Flows run as those of deployments do."""
    with plain_prefect():
        monkeypatch.setattr(budgets, "_is_served", lambda: True)
        yield


def judged(path: Path, configs: Path, judge: str, **given: Any) -> tuple[Any, GeminiServer]:
    """How an evaluation ends, and the server of the paid judge."""
    server = GeminiServer()
    with configured(configs), at_hand(server, "gemini"):
        return evaluate(path, judge, agents=["sample_sketch"], **given), server


def test_a_run_with_a_paid_judge_and_no_budget_fails_with_its_estimate_and_asks_nothing(
    sample: Path, tmp_path: Path
) -> None:
    path, configs = Path(shutil.copy(sample, tmp_path)), write_configs(tmp_path)
    state, server = judged(path, configs, "gemini", protocols=["wiki_fact"])
    assert state.is_failed()
    assert re.search(
        r"cost about \$0\.\d\d \(at most \$0\.\d\d\), and it has no budget", state.message
    )
    assert server.log.entries == []


@pytest.mark.parametrize("budget", [100.0, "unlimited"])
def test_a_paid_judge_is_asked_within_a_budget_or_without_limit_where_somebody_says_so(
    budget: object, sample: Path, tmp_path: Path
) -> None:
    path, configs = Path(shutil.copy(sample, tmp_path)), write_configs(tmp_path)
    given = {"protocols": ["wiki_fact"], "budget_usd": budget}
    state, server = judged(path, configs, "gemini", **given)
    assert state.is_completed()
    assert server.log.entries


def test_what_costs_nothing_needs_no_budget(sample: Path, tmp_path: Path) -> None:
    path, configs = Path(shutil.copy(sample, tmp_path)), write_configs(tmp_path)
    assert judged(path, configs, "offline", protocols=["wiki_fact"])[0].is_completed()


def test_without_limit_a_model_without_a_price_is_asked_too(sample: Path, tmp_path: Path) -> None:
    path, configs = Path(shutil.copy(sample, tmp_path)), write_configs(tmp_path)
    state, _ = judged(path, configs, "priceless", protocols=["wiki_fact"])
    assert "more at unknown prices" in state.message
    given = {"protocols": ["wiki_fact"], "budget_usd": "unlimited"}
    assert judged(path, configs, "priceless", **given)[0].is_completed()


def test_a_paid_agent_needs_a_budget(sample: Path, tmp_path: Path, agent_configs: Path) -> None:
    path, server = askable(sample, tmp_path), GeminiJobs()
    with agents_of(agent_configs), serving_agent(server, "gemini"):
        state = ask(path, "gemini")
        assert "This run would cost about $6.00 (at most $15.00)" in state.message
        assert server.n_made == 0
        assert ask(path, "gemini", budget_usd="unlimited").name == "Completed"


def test_a_month_with_paid_agents_does_not_begin_without_a_budget(tmp_path: Path) -> None:
    with small_world(tmp_path) as outside:
        state = refresh(tmp_path / "month.duckdb", agents=[AGENTS[0]])
        assert "This run would cost about $4.00 (at most $10.00" in state.message
        assert outside.counts()["pages"] == 0
        free = refresh(tmp_path / "month.duckdb", agents=[BASELINE])
        assert "budget" not in free.message
        assert outside.counts()[f"jobs {AGENTS[0]}"] == 0
