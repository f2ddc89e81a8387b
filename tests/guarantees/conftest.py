"""The command and the sample edition of the quick tests; flows run without Prefect."""

from collections.abc import Iterator

import pytest

from tests.flows.conftest import agent_configs, evergreen, no_server, sample, small, whole
from tests.flows.months import small_world
from tests.flows.plain_prefect import Artifacts, plain_prefect
from tests.in_this_process import helpers
from tests.rigs.month_world import World
from tests.tasks.wikipedia.conftest import mediawiki

__all__ = [
    "agent_configs",
    "evergreen",
    "helpers",
    "mediawiki",
    "no_server",
    "sample",
    "small",
    "whole",
]


@pytest.fixture(scope="module", autouse=True)
def plain() -> Iterator[Artifacts]:
    """What the module's flows have added for the UI."""
    with plain_prefect() as artifacts:
        yield artifacts


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """What a month of this process meets: a wiki, agents, cited pages; `renew` it for each test."""
    with small_world(tmp_path_factory.mktemp("month")) as found:
        yield found
