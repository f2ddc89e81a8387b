"""All protocols with endpoints that fail in every way; some of them are among the guarantees."""

import pytest

from tests.guarantees.flows import test_llm_faults as of_some

calm, chosen, path, prepared = of_some.calm, of_some.chosen, of_some.path, of_some.prepared
test_alike = of_some.test_both_kinds_of_judge_decide_alike
test_passing = of_some.test_faults_that_pass_leave_every_verdict_as_it_was
test_lasting = of_some.test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open
AMONG_GUARANTEES = ("wiki", "rubric_bench", "race")


@pytest.fixture(params=[name for name, _ in of_some.PLACES if name not in AMONG_GUARANTEES])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
