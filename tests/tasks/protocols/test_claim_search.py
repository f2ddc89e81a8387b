"""Search traces: what they cover of the queries a question needs, how deep, how wide."""

import pytest

from tasks.judges.decisions import MatchClaims
from tasks.warehouse.traces import TRACE, SearchStep
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.posed import case, judged_by, published

STEPS = TRACE.dump_json(
    (SearchStep(query="ada lovelace engine"), SearchStep(query="Peers of the  realm", parent=0),
     SearchStep(opened=("https://example.org",), parent=0), SearchStep(query="x", parent=1))
).decode()  # fmt: skip


def test_a_search_trace_is_measured_against_the_queries_a_question_needs() -> None:
    truth = published("entities", needed_queries=("peers of the realm", "~ada", "emmy noether"))
    judge = ScriptedJudge()
    decided, found = judged_by(judge, case(truth, ["Ada Lovelace"], STEPS))
    [request] = judge.asked
    assert isinstance(request, MatchClaims)
    assert request.answered == ("~ada", "emmy noether")
    assert request.prompt == "claim_discovery/match_queries"
    assert len([d for d in decided if d.step == "query"]) == 3
    assert found["query_coverage"] == (pytest.approx(2 / 3), 0, None)
    assert found["search_depth"] == (3, 0, None)
    assert found["search_branching"] == (3 / 2, 0, None)


@pytest.mark.parametrize(
    ("trace", "needed", "metric", "says"),
    [
        (None, ("a",), "query_coverage", "there is no search trace"),
        (None, ("a",), "search_depth", "there is no search trace"),
        (STEPS, (), "query_coverage", "nobody says which queries"),
        ('[{"query": "a"}]', (), "search_depth", "which step follows from which"),
        ('[{"query": "a"}]', (), "search_branching", "which step follows from which"),
    ],
)
def test_what_a_trace_cannot_tell_is_null_with_the_reason(
    trace: str | None, needed: tuple[str, ...], metric: str, says: str
) -> None:
    truth = published("entities", needed_queries=needed)
    _, found = judged_by(ScriptedJudge(), case(truth, ["A"], trace))
    value, n_open, reason = found[metric]
    assert (value, n_open) == (None, 0)
    assert reason.startswith("not_assessed")
    assert says in reason
