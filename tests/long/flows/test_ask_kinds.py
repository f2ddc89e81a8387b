"""All kinds of agents that answer in one request; two of them are among the guarantees."""

import pytest

from tests.guarantees.flows import test_ask_kinds as of_two

path = of_two.path
test_once = of_two.test_every_report_is_bought_once_and_a_second_run_asks_nothing


@pytest.fixture(params=sorted(of_two.SERVERS))
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)
