"""A Prefect server for all tests of a run, beside the command and the sample of the quick tests."""

from collections.abc import Iterator

import pytest

from flows.runtime.server import local_server
from tests.conftest import PREFECT_HOME
from tests.flows.conftest import agent_configs, evergreen, sample, small
from tests.flows.months import small_world
from tests.rigs.month_world import World

__all__ = ["agent_configs", "evergreen", "sample", "small"]


@pytest.fixture(scope="session")
def local_api() -> Iterator[str]:
    """The address of the server that commands and flows of this run use."""
    with local_server(PREFECT_HOME) as url:
        yield url


@pytest.fixture(scope="session", autouse=True)
def api(local_api: str) -> str:
    return local_api


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """What a month of this process meets: a wiki, agents, cited pages; `renew` it for each test."""
    with small_world(tmp_path_factory.mktemp("month")) as found:
        yield found
