"""A claim's outcome in one word: the rule by hand, and against the view that the figures share."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.analysis.explanation import explain_reports
from tasks.analysis.outcomes import ClaimMarking, determine_outcome, find_markings
from tasks.warehouse.explanations import OUTCOMES, ExplainedCitation, ExplainedVerdict, ReportScore
from tasks.warehouse.results import Score, Verdict
from tasks.warehouse.rows import Status
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.tasks.citing import ASSIGNMENT, EDITION, page, write_edition

DONE = ClaimMarking("wiki_fact", "done")
DECIDED = [Status.OK, Status.BLOCKED, Status.UNFETCHABLE, Status.NOT_ASSESSED, Status.SKIPPED]
"""Statuses of finished cells."""
SAME = {
    "supports": "supported", "contradicts": "conflicting", "does_not_support": "not_supported",
    "open": "never_fetched", "refused": "not_assessed",
}  # fmt: skip
"""Outcomes of the view `cited_claims` in the words of people; any other is a page's state."""


def decision(
    status: str,
    label: str | None = None,
    protocol: str = "wiki_fact",
    step: str = "citation",
    judge: str = "j",
) -> ExplainedVerdict:
    return ExplainedVerdict(
        judge=judge, protocol=protocol, step=step, item="claim:0 u", status=status, label=label,
        score=None, reason=None, evidence=None, model_version=None, prompt_sha="p", attempt=1,
        call_id=None, asked_together=None, shown_share=None,
    )  # fmt: skip


def cited(*said: ExplainedVerdict) -> list[ExplainedCitation]:
    """A citation for each decision."""
    return [ExplainedCitation("u", "u", None, "published", None, (each,)) for each in said]


def ok(label: str) -> ExplainedVerdict:
    return decision("ok", label)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([ok("support")], "supported"),
        ([ok("not_support"), ok("conflict"), ok("support")], "supported"),
        ([ok("not_support"), ok("conflict")], "conflicting"),
        ([ok("not_support"), decision("unfetchable")], "not_supported"),
        ([ok("not_support"), decision("judge_error")], "not_supported"),
        ([decision("judge_error"), decision("skipped")], "open"),
        ([decision("unparsable")], "open"),
        ([decision("unfetchable"), decision("skipped")], "never_fetched"),
        ([decision("unfetchable"), decision("blocked")], "not_assessed"),
        ([decision("unfetchable"), decision("unfetchable")], "unreachable"),
        ([ok("a label of another kind")], "not_assessed"),
        ([], "uncited"),
    ],
)
def test_a_claim_is_what_its_best_page_makes_it(
    said: list[ExplainedVerdict], expected: str
) -> None:
    assert determine_outcome(DONE, "j", cited(*said), [], reliable=True) == expected


def test_pairs_that_cannot_be_trusted_decide_nothing() -> None:
    assert determine_outcome(DONE, "j", cited(ok("support")), [], reliable=False) == "untrusted"
    assert determine_outcome(DONE, "j", [], [], reliable=False) == "untrusted"


@pytest.mark.parametrize("state", ["pending", "failed"])
def test_a_report_that_waits_is_open_and_what_was_answered_counts(state: str) -> None:
    waiting = ClaimMarking("wiki_fact", state)
    silent = [ExplainedCitation("u", "u", None, "published", None, ())]
    assert determine_outcome(waiting, "j", silent, [], reliable=True) == "open"
    assert determine_outcome(waiting, "j", cited(ok("support")), [], reliable=True) == "supported"


def test_another_judge_and_another_protocol_do_not_count() -> None:
    others = cited(decision("ok", "support", judge="other"), decision("ok", "supported", "fact"))
    assert determine_outcome(DONE, "j", others, [], reliable=True) == "never_fetched"
    not_assessed = ClaimMarking("wiki_fact", "not_assessed")
    assert determine_outcome(not_assessed, "j", others, [], reliable=True) == "not_assessed"


def test_protocols_without_a_reference_mark_claims_in_their_own_way() -> None:
    gym = ClaimMarking("research_gym", "done")
    pages = [ExplainedCitation("u", "u", None, "published", None, ())]

    def of_claim(status: str, label: str | None = None) -> str:
        return determine_outcome(
            gym, "j", pages, [decision(status, label, "research_gym")], reliable=True
        )

    assert of_claim("ok", "full") == "supported"
    assert of_claim("ok", "partial") == "partly_supported"
    assert of_claim("ok", "none") == "not_supported"
    assert of_claim("skipped") == "never_fetched"
    assert of_claim("unfetchable") == "unreachable"
    assert determine_outcome(gym, "j", pages, [], reliable=True) == "not_assessed"
    fact = ClaimMarking("fact", "done")
    double = decision("skipped", None, "fact", "double")
    assert determine_outcome(fact, "j", cited(double), [], reliable=True) == "not_assessed"
    supported = cited(decision("ok", "supported", "fact"))
    assert determine_outcome(fact, "j", supported, [], reliable=True) == "supported"


def test_the_first_protocol_that_a_judge_has_begun_with_marks() -> None:
    def score(judge: str, protocol: str, state: str) -> ReportScore:
        return ReportScore(protocol, judge, "m", None, 0, 0, state, None)

    found = find_markings(
        [
            score("a", "wiki_fact", "not_assessed"), score("a", "research_gym", "done"),
            score("b", "wiki_fact", "pending"), score("b", "research_gym", "done"),
            score("c", "wiki_fact", "not_assessed"), score("c", "wiki_writing", "done"),
            score("d", "wiki_writing", "done"),
        ]
    )  # fmt: skip
    assert found == {
        "a": ClaimMarking("research_gym", "done"),
        "b": ClaimMarking("wiki_fact", "pending"),
        "c": ClaimMarking("wiki_fact", "not_assessed"),
    }


PAIRS = st.lists(
    st.one_of(
        st.sampled_from(DECIDED).filter(lambda status: status != Status.OK).map(lambda s: (s, "")),
        st.sampled_from(["support", "conflict", "not_support"]).map(
            lambda label: (Status.OK, label)
        ),
        st.none(),
    ),
    max_size=4,
)
"""Of one claim: what was said of each of its pages; None: nothing."""


@settings(max_examples=4, deadline=None)
@given(claims=st.lists(PAIRS, min_size=40, max_size=60))
def test_the_outcomes_are_those_of_the_view_behind_the_figures(
    claims: list[list[tuple[Status, str] | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("outcomes") / "w.duckdb"
    urls = [f"https://{n}.org" for n in range(4)]
    with open_warehouse(path) as warehouse:
        texts = [(f"claim {n}", urls[: len(pairs)]) for n, pairs in enumerate(claims)]
        write_edition(warehouse, {"a": texts}, [page(url, status="bot_wall") for url in urls])
        of = {"edition": EDITION, "protocol": "wiki_fact", "agent": "a", "assignment": ASSIGNMENT,
              "judge": "j"}  # fmt: skip
        verdicts = [
            Verdict(**of, cell_id="c", step="citation", item=f"claim:{number} {url}",
                    model_version=None, prompt_sha="p", label=said[1] or None, status=said[0])
            for number, pairs in enumerate(claims)
            for url, said in zip(urls, pairs, strict=False) if said
        ]  # fmt: skip
        score = Score(**of, metric="m", value=None, state="done", cell_id="c", scorer_version="1")
        warehouse.write(Change(Verdict, verdicts, appending=True), Change(Score, [score]))
        (report,) = explain_reports(warehouse, EDITION, "a")
        view = dict(warehouse.frame("SELECT number, outcome FROM cited_claims").rows())
    for claim in report.claims:
        expected = (
            SAME.get(view[claim.number], "unreachable") if claims[claim.number] else "uncited"
        )
        assert claim.outcomes == {"j": expected}
        assert expected in OUTCOMES
