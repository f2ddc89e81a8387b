"""Another judge on the same reports: what cannot end well is refused first."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.warehouse.results import LeaderboardRow
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KEY, at_hand, configured, write_configs
from tests.servers.openai import OpenAiServer


@pytest.fixture(scope="module", autouse=True)
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with configured(write_configs(tmp_path_factory.mktemp("rejudge"))):
        yield


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sample, tmp_path / "warehouse.duckdb"))


def test_what_cannot_end_well_is_refused_before_anything_is_judged(
    warehouse: Path, tmp_path: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY, raising=False)
    common = ("rejudge", "--edition", "sample", "--judge", "openai", "--warehouse", warehouse)
    code, _, said = evergreen(*common, "--publish", tmp_path / "sites")
    assert (code, f"The judge openai has no key: set the variable {KEY}" in said) == (1, True)
    assert not (tmp_path / "sites").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    server = OpenAiServer()
    with at_hand(server, "openai"):
        code, _, said = evergreen(*common, "--publish", tmp_path / "mine")
        assert (code, "mine holds other files than before/" in said) == (1, True)
        with open_warehouse(warehouse) as store:
            store.write(Change(LeaderboardRow, [], replacing={"edition": "sample"}))
        code, _, said = evergreen(*common, "--publish", tmp_path / "sites")
        assert (code, "The leaderboard of sample is behind its scores" in said) == (1, True)
    assert "Traceback" not in said
    assert sum(server.log.answered().values()) == 0


def test_a_judge_is_not_compared_with_itself_and_what_is_not_there_is_named(
    warehouse: Path, evergreen: Evergreen
) -> None:
    common = ("rejudge", "--edition", "sample", "--warehouse", warehouse)
    code, _, said = evergreen(*common, "--judge", "offline")
    assert (code, "name one with --against" in said) == (1, True)
    with at_hand(OpenAiServer(), "openai"):
        code, _, said = evergreen(*common, "--judge", "openai", "--report", "sample_blogger/Venus")
        assert (code, "has no report 'sample_blogger/Venus'" in said) == (1, True)
        both = ("--agent", "sample_blogger", "--report", "sample_blogger/Venus")
        assert evergreen(*common, "--judge", "openai", *both)[0] == 2
