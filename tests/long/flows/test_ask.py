"""All kinds of agents whose reports are waited for; two of them are among the guarantees."""

import pytest

from tests.flows.asked_runs import KINDS
from tests.guarantees.flows import test_ask as of_two

path = of_two.path
test_calm_and_faulty = of_two.test_a_calm_run_and_a_faulty_one_bring_the_same_reports
test_once = of_two.test_every_missing_report_is_bought_once_and_a_second_run_asks_nothing


@pytest.fixture(params=sorted(KINDS))
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)
