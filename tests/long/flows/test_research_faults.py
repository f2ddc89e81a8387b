"""All protocols with endpoints that fail in every way; two of them are among the guarantees."""

import pytest

from tests.guarantees.flows import test_research_faults as of_two

calm, chosen, path, prepared = of_two.calm, of_two.chosen, of_two.path, of_two.prepared
test_alike = of_two.test_both_kinds_of_judge_decide_alike
test_passing = of_two.test_faults_that_pass_leave_every_verdict_as_it_was
test_lasting = of_two.test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open


@pytest.fixture(params=[name for name, _ in of_two.PLACES])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
