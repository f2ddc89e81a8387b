"""All protocols with endpoints that fail in every way; two of them are among the guarantees."""

import pytest

from tests.guarantees.flows.test_research_faults import (
    PLACES,
    calm,
    chosen,
    path,
    prepared,
    test_both_kinds_of_judge_decide_alike,
    test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open,
    test_faults_that_pass_leave_every_verdict_as_it_was,
)

__all__ = [
    "calm",
    "chosen",
    "path",
    "prepared",
    "test_both_kinds_of_judge_decide_alike",
    "test_faults_that_last_spoil_no_other_item_and_healing_buys_only_what_was_open",
    "test_faults_that_pass_leave_every_verdict_as_it_was",
]


@pytest.fixture(params=[name for name, _ in PLACES])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
