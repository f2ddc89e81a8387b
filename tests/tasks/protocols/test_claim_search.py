"""Search traces: what they cover of the queries a question needs, how deep, how wide."""

import pytest

from tasks.judges.questions.match_claims import MatchClaims
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


def test_searches_pages_repeated_queries_and_returns_are_counted() -> None:
    steps = (
        SearchStep(query="peers"),
        SearchStep(query="Ada"),
        SearchStep(opened=("https://a.org/x", "https://b.org"), parent=0),
        SearchStep(opened=("http://www.a.org/x/",), parent=1),
        SearchStep(query=" PEERS"),
    )
    trace = TRACE.dump_json(steps).decode()
    _, found = judged_by(ScriptedJudge(), case(published("entities"), ["A"], trace))
    names = ("count", "opened", "repeated", "returns")
    assert [found[f"search_{name}"][0] for name in names] == [3, 2, 1, 2]


def test_a_search_without_repeats_and_returns_has_0_of_them() -> None:
    trace = '[{"query": "peers"}, {"opened": ["https://a.org"], "parent": 0}]'
    _, found = judged_by(ScriptedJudge(), case(published("entities"), ["A"], trace))
    assert found["search_repeated"] == found["search_returns"] == (0, 0, None)


def test_a_trace_without_queries_made_none_of_those_needed() -> None:
    truth = published("entities", needed_queries=("a", "b"))
    judge = ScriptedJudge()
    _, found = judged_by(judge, case(truth, ["A"], '[{"opened": ["https://a.org"]}]'))
    assert found["query_coverage"] == (0, 0, None)


@pytest.mark.parametrize(
    ("trace", "needed", "metric", "says"),
    [
        (None, ("a",), "query_coverage", "there is no search trace"),
        (None, ("a",), "search_depth", "there is no search trace"),
        (STEPS, (), "query_coverage", "nobody says which queries"),
        ('[{"query": "a"}]', (), "search_depth", "which step follows from which"),
        ('[{"query": "a"}]', (), "search_branching", "which step follows from which"),
        ('[{"query": "a"}]', (), "search_returns", "which step follows from which"),
        (None, (), "search_returns", "there is no search trace"),
        (None, (), "search_count", "there is no search trace"),
        ('[{"query": "a"}]', (), "search_opened", "names no page"),
        ('[{"opened": ["https://a.org"]}]', (), "search_count", "names no query"),
        ('[{"opened": ["https://a.org"]}]', (), "search_repeated", "names no query"),
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
