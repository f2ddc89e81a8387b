"""Another judge on the same reports: what cannot end well is refused first."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import at_hand, configured, write_configs
from tests.servers.openai import OpenAiServer


@pytest.fixture(scope="module", autouse=True)
def configs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with configured(write_configs(tmp_path_factory.mktemp("rejudge"))):
        yield


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sample, tmp_path / "warehouse.duckdb"))


def test_a_judge_is_not_compared_with_itself_and_what_is_not_there_is_named(
    warehouse: Path, evergreen: Evergreen
) -> None:
    common = ("rejudge", "--edition", "sample", "--warehouse", warehouse)
    code, _, said = evergreen(*common, "--judge", "offline")
    assert (code, "so there is nothing to compare" in said) == (1, True)
    with at_hand(OpenAiServer(), "openai"):
        code, _, said = evergreen(*common, "--judge", "openai", "--report", "sample_blogger/Venus")
        assert (code, "has no report 'sample_blogger/Venus'" in said) == (1, True)
        both = ("--agent", "sample_blogger", "--report", "sample_blogger/Venus")
        assert evergreen(*common, "--judge", "openai", *both)[0] == 2
