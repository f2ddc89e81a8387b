"""A month that cannot end well: what is said, and that nothing follows."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import rows
from tests.flows.months import collect, refresh, renew, steps_of
from tests.flows.plain_prefect import Artifacts
from tests.rigs.month_world import AGENTS, BASELINE, World
from tests.rigs.paper_wiki import PaperWiki
from tests.servers.jobs import JobScript

BOTH = ", ".join(AGENTS)
STEPS = ["collect", "assign wiki_writing", f"ask {BOTH}", "fetch", f"ask {BASELINE}", "fetch",
         "evaluate", "publish"]  # fmt: skip


@pytest.fixture(autouse=True)
def renewed(outside: World) -> None:
    renew(outside)


@pytest.fixture(scope="module")
def collected(outside: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the frozen edition, to be copied."""
    path = tmp_path_factory.mktemp("collected") / "warehouse.duckdb"
    renew(outside)  # whatever the test before it did
    collect(path)
    return path


@pytest.fixture
def path(collected: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(collected, tmp_path / "warehouse.duckdb"))


@pytest.mark.parametrize(("answers", "ended"), [(0, "Failed"), (6, "Partial")])
def test_where_the_edition_is_not_frozen_nothing_follows(
    plain: Artifacts, outside: World, tmp_path: Path, answers: int, ended: str
) -> None:
    assert isinstance(outside.wiki, PaperWiki)
    outside.wiki.answers = answers  # then it asks to wait for hours
    state = refresh(tmp_path / "warehouse.duckdb", to_publish=False)
    assert state.name == ended
    assert steps_of(plain) == {"collect": ended}
    assert "asks to wait 9,999 seconds" in state.message
    jobs = [server.n_made for server in outside.agents.values()]
    assert jobs == [0] * len(AGENTS)


def test_without_any_report_nothing_is_fetched_or_judged(
    plain: Artifacts, outside: World, path: Path
) -> None:
    outside.scripts[AGENTS[0]] = JobScript(ends="failed")
    outside.renewed()
    state = refresh(path, agents=[AGENTS[0], BASELINE])
    assert state.name == "Partial"
    assert list(steps_of(plain)) == [*STEPS[:2], f"ask {AGENTS[0]}", f"ask {BASELINE}"]
    assert "No archived page to search" in state.message
    assert rows(path, "SELECT DISTINCT agent FROM jobs") == [(AGENTS[0],)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"judge": "nobody"}, "no judge 'nobody'"),
        ({"extractor": "nobody"}, "no judge 'nobody'"),
        ({"agents": ["grok"]}, "grok has no `ask`"),
        ({"agents": ["openai_gpt_5_5"]}, "has no key"),
        ({"agents": ["local_model", "grok_4_5"], "budget_usd": 5.0}, "grok_4_5"),
        ({"batch": True}, "nothing to ask in batches"),
        ({"edition": "no/name"}, "cannot be an edition's name"),
    ],
)
def test_what_cannot_end_well_is_refused_before_anybody_is_asked(
    outside: World, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    state = refresh(tmp_path / "warehouse.duckdb", **wrong)
    assert state.type.value == "FAILED"
    assert said in state.message
    assert set(outside.counts().values()) == {0}


def test_a_dry_run_says_what_would_be_refused_also_where_it_is_quiet(
    outside: World, evergreen: Evergreen, tmp_path: Path
) -> None:
    path = tmp_path / "warehouse.duckdb"
    code, _, said = evergreen(
        "--quiet", "refresh", "--dry-run", "--agent", "openai_gpt_5_5", "--warehouse", path
    )
    assert code == 1
    assert "The month cannot start: " in said
    assert "has no key" in " ".join(said.split())
    assert not path.exists()
    assert evergreen("refresh", "--dry-run", "--edition", "", "--warehouse", path)[0] == 1


def test_a_folder_that_holds_something_else_is_refused_before_anybody_is_asked(
    outside: World, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    state = refresh(tmp_path / "warehouse.duckdb", site=str(tmp_path))
    assert "not a site by Evergreen" in state.message
    assert "with --site" in state.message
    assert set(outside.counts().values()) == {0}
