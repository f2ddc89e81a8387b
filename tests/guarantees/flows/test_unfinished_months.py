"""A month that begins while an earlier one is unfinished names it and collects what is ready."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.changed_configs import change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import rows
from tests.flows.months import ARTICLES, EDITION, refresh, renew, steps_of
from tests.flows.plain_prefect import Artifacts
from tests.rigs.month_places import SINCE, UNTIL
from tests.rigs.month_world import AGENTS, World
from tests.servers.http import Response
from tests.servers.jobs import JobScript

NEXT = "2026-01"
MONTH = ("refresh", "--edition", EDITION, "--agent", AGENTS[0], "--no-publish")
COMMAND = f"evergreen {' '.join(MONTH)}"
WINDOW = ("--since", f"{SINCE:%Y-%m-%d}", "--until", f"{UNTIL:%Y-%m-%d}")
STATES = "SELECT edition, agent, state, count(*)::INT FROM jobs GROUP BY ALL ORDER BY ALL"


@pytest.fixture
def hasty(outside: World) -> Iterator[World]:
    """Its first agent is waited for a moment, and takes longer."""

    def limit(settings: Any, minutes: float) -> None:
        settings["agents"][AGENTS[0]]["ask"]["limits"]["deadline_minutes"] = minutes

    change(outside.configs / "agents.yaml", lambda settings: limit(settings, 0.005))
    renew(outside)
    outside.agents[AGENTS[0]].script = JobScript(polls=10**6)
    yield outside
    change(outside.configs / "agents.yaml", lambda settings: limit(settings, 5))


@pytest.fixture
def path(hasty: World, tmp_path: Path, evergreen: Evergreen) -> Path:
    """A month that its jobs have left unfinished."""
    path = tmp_path / "warehouse.duckdb"
    code, _, told = evergreen(*MONTH, *WINDOW, "--warehouse", path)
    assert (code, f"{EDITION} is not complete. Go on: {COMMAND}\n" in told) == (1, True)
    assert rows(path, STATES) == [(EDITION, AGENTS[0], "overdue", ARTICLES)]
    hasty.agents[AGENTS[0]].script = JobScript()
    return path


def test_an_unfinished_month_is_named_and_the_new_one_begins_whatever_became_of_it(
    plain: Artifacts, hasty: World, path: Path, evergreen: Evergreen
) -> None:
    server = hasty.agents[AGENTS[0]]
    hasty._standing[AGENTS[0]].server = lambda request: Response(500)
    said = f"{EDITION} is unfinished, with {ARTICLES} paid jobs under way. Finish it: {COMMAND};"
    code, _, told = evergreen("refresh", "--dry-run", "--edition", NEXT, "--warehouse", path)
    assert (code, said in told) == (0, True)
    second = refresh(path, edition=NEXT, agents=[AGENTS[1]], to_publish=False)
    assert second.name == "Completed", second.message
    assert next(iter(steps_of(plain).items())) == (EDITION, "Waiting")
    assert rows(path, STATES) == [
        (EDITION, AGENTS[0], "overdue", ARTICLES),
        (NEXT, AGENTS[1], "done", ARTICLES),
    ]
    assert (server.n_made, hasty.agents[AGENTS[1]].n_made) == (ARTICLES, ARTICLES)
    assert rows(path, "SELECT DISTINCT edition FROM cells") == [(NEXT,)], "judged by its command"


def test_paid_jobs_of_an_earlier_month_are_looked_at_and_bought_once(
    hasty: World, path: Path, evergreen: Evergreen
) -> None:
    state = refresh(path, edition=NEXT, agents=["openai_gpt_5_5"], to_publish=False)
    assert (state.type.value, "has no key" in state.message) == ("FAILED", True)
    assert rows(path, STATES) == [(EDITION, AGENTS[0], "done", ARTICLES)]

    code, _, told = evergreen(*MONTH, *WINDOW, "--warehouse", path)
    assert (code, "Completed" in told) == (0, True), told
    assert hasty.agents[AGENTS[0]].n_made == ARTICLES
    assert "unfinished" not in evergreen("refresh", "--dry-run", "--edition", NEXT,
                                         "--warehouse", path)[2]  # fmt: skip
