"""Key points of an articles' edition: made by the judge of a run, kept for all others."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PREFECT_HOME
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import (
    KINDS,
    ROOT,
    at_hand,
    configured,
    environment,
    evaluate,
    rows,
    value,
    verdicts,
    write_configs,
)
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer
from tests.waiting import until

GYM = ["research_gym"]
MADE = "SELECT * FROM key_points ORDER BY ALL"
AT_ONCE = 16
"""Calls under way at most: as many may be lost by a kill."""


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    configs = write_configs(tmp_path_factory.mktemp("judges"), timeout_seconds=30)
    with configured(configs):
        yield configs


@pytest.fixture
def path(sample: Path, judges: Path, tmp_path: Path) -> Path:
    """The sample edition, ready for a judge."""
    return Path(shutil.copy(sample, tmp_path / "sample.duckdb"))


def test_key_points_of_an_articles_edition_are_made_once_and_every_judge_goes_by_them(
    path: Path,
) -> None:
    assert evaluate(path, "offline", protocols=GYM).name == "Completed"
    ((why,),) = rows(path, "SELECT DISTINCT reason FROM scores WHERE metric = 'kpr'")
    assert "evergreen evaluate --protocol research_gym --judge JUDGE" in why
    server = GeminiServer()
    with at_hand(server, "gemini"):
        assert evaluate(path, "gemini", protocols=GYM).name == "Completed"
    sets = rows(path, "SELECT assignment, source, n_points, n_spans, n_verbatim FROM point_sets")
    assert len(sets) == 3
    assert all(
        source == "judge" and n_points > 10 and spans == verbatim
        for _, source, n_points, spans, verbatim in sets
    )
    made = rows(path, MADE)
    # Two calls an article, a point a call, two ratings of each of nine reports, and pages.
    steps = dict(rows(path, "SELECT protocol || '/' || step, count(*) FROM calls GROUP BY ALL"))
    assert (steps["key_points/extract"], steps["key_points/merge"]) == (3, 3)
    assert steps["research_gym/check_points"] == 3 * sum(n for _, _, n, _, _ in sets)
    assert steps["research_gym/rate_report"] == 2 * 9
    other = KINDS["openai"][1]()
    with at_hand(other, "openai"):
        assert evaluate(path, "openai", protocols=GYM).name == "Completed"
    assert evaluate(path, "offline", protocols=GYM).name == "Completed"
    assert rows(path, MADE) == made
    by_judge = dict(
        rows(path, "SELECT judge, count(*) FROM scores WHERE metric = 'kpr' AND value IS NOT NULL "
                   "GROUP BY ALL")
    )  # fmt: skip
    assert by_judge == {"gemini": 9, "openai": 9, "offline": 9}


def test_points_that_cannot_be_made_are_named_and_made_by_the_next_run(
    path: Path, evergreen: Evergreen
) -> None:
    server = GeminiServer(faults=FaultPlan(("server_500",), share=1, times=None))
    run = {"protocols": GYM, "agents": ["sample_scholar"]}
    with at_hand(server, "gemini"):
        broken = evaluate(path, "hasty", **run)
        assert broken.name == "Partial"
        assert "Mercury (planet)" in broken.message
        code, said, _ = evergreen("status", "--warehouse", path, "--edition", "sample",
                                  "--judge", "hasty", "--format", "json")  # fmt: skip
        assert code == 0
        (stage,) = [row for row in json.loads(said) if row["stage"] == "key points"]
        assert (stage["done"], stage["pending"]) == (0, 3)
        server.faults = FaultPlan()
        assert evaluate(path, "hasty", **run).name == "Completed"
    assert value(path, "SELECT count(*) FROM point_sets") == 3


def test_a_budget_stops_the_making_and_a_bigger_one_goes_on(path: Path) -> None:
    server = GeminiServer()
    run = {"protocols": GYM, "agents": ["sample_sketch"]}
    with at_hand(server, "gemini"):
        first = evaluate(path, "gemini", budget_usd=0.000001, **run)
        assert first.name == "Partial"
        assert "key points 3 of 3 are left" in first.message
        assert "The budget of" in first.message
        assert evaluate(path, "gemini", budget_usd=100.0, **run).name == "Completed"
    assert value(path, "SELECT count(*) FROM point_sets") == 3
    assert server.log.n_bought_again == 0


def killed_at(path: Path, configs: Path, server: GeminiServer, n_asked: int) -> None:
    """`evaluate` as a process of its own, killed when the server has been asked so often."""
    arguments = ["evaluate", "--edition", "sample", "--judge", "gemini", "--protocol", *GYM]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", *arguments, "--warehouse", str(path)],
        cwd=ROOT, env=environment(configs, PREFECT_HOME), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    until(f"question {n_asked}", lambda: len(server.log.entries) >= n_asked,
          pause=0.01, process=process)  # fmt: skip
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_killed_while_points_are_made_and_while_they_are_checked_it_ends_alike(
    path: Path, judges: Path, tmp_path: Path
) -> None:
    calm = Path(shutil.copy(path, tmp_path / "calm.duckdb"))
    with at_hand(GeminiServer(), "gemini"):
        assert evaluate(calm, "gemini", protocols=GYM).name == "Completed"
    server = GeminiServer(delay_seconds=0.3)
    with at_hand(server, "gemini"):
        for n_asked in (2, 5, 40):
            killed_at(path, judges, server, n_asked)
        assert evaluate(path, "gemini", protocols=GYM).name == "Completed"
    assert rows(path, MADE) == rows(calm, MADE)
    assert verdicts(path) == verdicts(calm)
    assert server.log.n_bought_again <= 3 * AT_ONCE
    assert value(path, "SELECT count(*) FROM calls") == value(calm, "SELECT count(*) FROM calls")
