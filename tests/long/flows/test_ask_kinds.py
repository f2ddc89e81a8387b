"""All kinds of agents that answer in one request; two of them are among the guarantees."""

import pytest

from tests.guarantees.flows.test_ask_kinds import (
    SERVERS,
    path,
    test_every_report_is_bought_once_and_a_second_run_asks_nothing,
)

__all__ = ["path", "test_every_report_is_bought_once_and_a_second_run_asks_nothing"]


@pytest.fixture(params=sorted(SERVERS))
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)
