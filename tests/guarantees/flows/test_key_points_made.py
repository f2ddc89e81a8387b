"""Key points of an articles' edition: made by the judge of a run, kept for all others."""

import json
import shutil
from pathlib import Path

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KINDS, at_hand, evaluate, rows, value
from tests.servers.faults import FaultPlan
from tests.servers.gemini import GeminiServer

GYM = ["research_gym"]
MADE = "SELECT * FROM key_points ORDER BY ALL"


@pytest.fixture
def path(small: Path, judges: Path, tmp_path: Path) -> Path:
    """A small edition, ready for a judge."""
    return Path(shutil.copy(small, tmp_path / "sample.duckdb"))


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
    assert len(sets) == 1
    assert all(
        source == "judge" and n_points > 10 and spans == verbatim
        for _, source, n_points, spans, verbatim in sets
    )
    made = rows(path, MADE)
    # Two calls an article, a point a call, two ratings of each of two reports, and pages.
    steps = dict(rows(path, "SELECT protocol || '/' || step, count(*) FROM calls GROUP BY ALL"))
    assert (steps["key_points/extract"], steps["key_points/merge"]) == (1, 1)
    assert steps["research_gym/check_points"] == 2 * sum(n for _, _, n, _, _ in sets)
    assert steps["research_gym/rate_report"] == 2 * 2
    other = KINDS["openai"][1]()
    with at_hand(other, "openai"):
        assert evaluate(path, "openai", protocols=GYM).name == "Completed"
    assert evaluate(path, "offline", protocols=GYM).name == "Completed"
    assert rows(path, MADE) == made
    by_judge = dict(
        rows(path, "SELECT judge, count(*) FROM scores WHERE metric = 'kpr' AND value IS NOT NULL "
                   "GROUP BY ALL")
    )  # fmt: skip
    assert by_judge == {"gemini": 2, "openai": 2, "offline": 2}


def test_points_that_cannot_be_made_are_named_and_made_by_the_next_run(
    path: Path, evergreen: Evergreen
) -> None:
    server = GeminiServer(faults=FaultPlan(("server_500",), share=1, times=None))
    run = {"protocols": GYM, "agents": ["sample_scholar"]}
    with at_hand(server, "gemini"):
        broken = evaluate(path, "hasty", **run)
        assert broken.name == "Partial"
        assert "Eddystone Lighthouse" in broken.message
        code, said, _ = evergreen("status", "--warehouse", path, "--edition", "sample",
                                  "--judge", "hasty", "--format", "json")  # fmt: skip
        assert code == 0
        (stage,) = [row for row in json.loads(said) if row["stage"] == "key points"]
        assert (stage["done"], stage["pending"]) == (0, 1)
        server.faults = FaultPlan()
        assert evaluate(path, "hasty", **run).name == "Completed"
    assert value(path, "SELECT count(*) FROM point_sets") == 1


def test_a_budget_stops_the_making_and_a_bigger_one_goes_on(path: Path) -> None:
    server = GeminiServer()
    run = {"protocols": GYM, "agents": ["sample_blogger"]}
    with at_hand(server, "gemini"):
        first = evaluate(path, "gemini", budget_usd=0.000001, **run)
        assert first.name == "Partial"
        assert "key points 1 of 1 are left" in first.message
        assert "The budget of" in first.message
        assert evaluate(path, "gemini", budget_usd=100.0, **run).name == "Completed"
    assert value(path, "SELECT count(*) FROM point_sets") == 1
    assert server.log.n_bought_again == 0
