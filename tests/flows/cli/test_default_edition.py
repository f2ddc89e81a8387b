"""An edition that is not named: the newest one, also while a run owns the warehouse."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.rows import Edition, utc_now
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.cli.test_commands import TABLE
from tests.flows.conftest import Evergreen

CHOSEN = "Edition older, the newest of 2; choose with --edition."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A warehouse with the edition `first`, exported."""
    path = tmp_path / "w.duckdb"
    add_edition(path, "first", days_ago=3)
    return path


def add_edition(path: Path, name: str, days_ago: int) -> None:
    row = LeaderboardRow(
        edition=name, protocol="wiki_fact", agent=f"agent_of_{name}", metric="coverage_wiki",
        judge="offline", value=0.5, macro=0.5, micro=0.5, n_items=1, n_reports=1, n_open=0,
        provisional=False, n_delivered=1, n_missing=0, n_assignments=1,
    )  # fmt: skip
    with open_warehouse(path) as warehouse:
        imported_at = utc_now() - timedelta(days=days_ago)
        edition = Edition(edition=name, source="wlc", title=name, imported_at=imported_at)
        warehouse.write(Change(Edition, [edition]), Change(LeaderboardRow, [row]))
        export_edition(warehouse, name)


def find_agents(evergreen: Evergreen, path: Path) -> tuple[set[str], str]:
    code, out, said = evergreen("leaderboard", "--format", "json", "--warehouse", path)
    assert code == 0, said
    return {row["agent"] for row in json.loads(out)}, said


def test_the_only_edition_is_meant_without_a_word(path: Path, evergreen: Evergreen) -> None:
    assert find_agents(evergreen, path) == ({"agent_of_first"}, "")


def test_of_several_the_newest_is_meant_and_named(path: Path, evergreen: Evergreen) -> None:
    add_edition(path, "older", days_ago=2)  # the name comes later, too
    agents, said = find_agents(evergreen, path)
    assert (agents, CHOSEN in said) == ({"agent_of_older"}, True)
    add_edition(path, "aaa", days_ago=1)
    assert find_agents(evergreen, path)[0] == {"agent_of_aaa"}
    assert evergreen("--quiet", "leaderboard", "--warehouse", path)[2] == ""


def test_while_a_run_owns_the_warehouse_its_export_says_which(
    path: Path, evergreen: Evergreen
) -> None:
    add_edition(path, "older", days_ago=2)
    with lock_warehouse(path):
        agents, said = find_agents(evergreen, path)
    assert agents == {"agent_of_older"}
    assert "Edition older, the newest of the last export; choose with --edition." in said
    assert said.count("reading its snapshot") == 1


def test_without_an_edition_it_is_said_how_to_make_one(
    tmp_path: Path, evergreen: Evergreen
) -> None:
    path = tmp_path / "w.duckdb"
    code, _, said = evergreen("evaluate", "--warehouse", path)
    assert (code, "there is no warehouse yet" in said) == (1, True)
    assert not [*tmp_path.iterdir()]
    with open_warehouse(path):
        pass
    code, _, said = evergreen("evaluate", "--warehouse", path)
    assert (code, "has no edition yet. Import one (" in said) == (1, True)


def test_no_command_needs_the_name_of_an_edition() -> None:
    parameters = {name: command.command.params for name, command in TABLE.items()}
    assert [
        name
        for name, found in parameters.items()
        if any("--edition" in param.opts and param.required for param in found)
    ] == []
