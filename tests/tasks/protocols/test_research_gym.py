"""DeepResearchGym on small cases whose figures can be counted by hand."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.questions.check_points import CheckPoints
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.rate_report import RateReport
from tasks.judges.questions.verify_support import VerifySupport
from tasks.protocols.case import Case
from tasks.protocols.research_gym.figures import STILL_OPEN
from tasks.protocols.research_gym.protocol import ResearchGym
from tasks.warehouse.rows import CitationKind, Status
from tests.scripted_judge import ScriptedJudge
from tests.tasks.protocols.framed import Claims, decided
from tests.tasks.protocols.gym import PROTOCOL, A, B, C, D, case, figures, rows

RequestT = TypeVar("RequestT")


def test_six_supported_of_thirteen_key_points_is_six_thirteenths_and_none_is_contradicted() -> None:
    points = [f"point {chr(97 + n)}" for n in range(13)]
    found = figures(case(points, report=". ".join(points[:6])))
    assert found["kpr"] == (6 / 13, 13, None)
    assert found["kpc"] == (0.0, 13, None)
    assert found["kpr_published"] == (6 / 13, 1, None)


def test_what_the_report_denies_is_contradicted_and_not_supported() -> None:
    found = figures(case(["red tower", "not red tower", "blue door"]))
    assert (found["kpr"][:2], found["kpc"][:2]) == ((1 / 3, 3), (1 / 3, 3))


def test_a_query_without_key_points_has_no_recall_and_counts_zero_in_the_published_average() -> (
    None
):
    found = figures(case(()))
    why = "the query's documents hold no key points"
    assert found["kpr"] == found["kpc"] == (None, 0, why)
    zero = (0.0, 1, f"0 as in the published code: {why}")
    assert found["kpr_published"] == found["kpc_published"] == zero


@pytest.mark.parametrize(
    ("article", "says"),
    [(True, "evergreen evaluate --protocol research_gym --judge JUDGE"),
     (False, "nobody has published key points of this query")],
)  # fmt: skip
def test_key_points_that_nobody_has_made_are_null_everywhere(article: bool, says: str) -> None:
    found = figures(case(None, article=article))
    for metric in ("kpr", "kpc", "kpr_published", "kpc_published"):
        value, n_items, reason = found[metric]
        assert (value, n_items) == (None, 0)
        assert says in str(reason)


@pytest.mark.parametrize("able", [True, False])
def test_key_points_that_the_judge_can_still_make_leave_the_figures_open(able: bool) -> None:
    judge = ScriptedJudge()
    if able:
        judge.decides |= {ExtractKeyPoints}
    clicked = case(None).model_copy(update={"clicked_documents": True})
    for of, to_come in ((case(None, article=True), able), (clicked, able), (case(None), False)):
        found = rows(of, judge)
        for metric in ("kpr", "kpc", "kpr_published", "kpc_published"):
            row = found[metric]
            assert (row["numerator"], row["n_items"], row["n_open"]) == (None, 0, to_come)
            assert row["reason"]


def test_of_an_article_without_text_no_key_points_are_to_come() -> None:
    judge = ScriptedJudge()
    judge.decides |= {ExtractKeyPoints}
    of = case(None, article=True)
    bare = of.reference.model_copy(update={"text": ""})
    row = rows(of.model_copy(update={"article": bare}), judge)["kpr"]
    assert (row["n_open"], row["reason"]) == (0, "the reference article has no text")


def test_an_undecided_key_point_is_in_no_figure_and_stays_open() -> None:
    of = case(["red tower", "blue door", "green roof"])
    found = rows(of, ScriptedJudge(failing=frozenset({"green roof"})))
    for metric, items in (("kpr", 2), ("kpr_published", 1)):
        row = found[metric]
        assert (row["numerator"] / row["n_items"], row["n_items"]) == (0.5, items)
        assert row["n_open"] == 1


def test_a_judge_that_sees_no_contradiction_gives_recall_alone() -> None:
    judge = ScriptedJudge()
    judge.sees_conflict = False
    found = figures(case(["red tower"]), judge)
    assert found["kpr"][0] == 1.0
    for metric in ("kpc", "kpc_published"):
        assert found[metric][0] is None
        assert "cannot see contradiction" in str(found[metric][2])


CLAIMS: Claims = [
    ("red tower", [A]),
    ("half blue door", [B]),
    ("green roof", [A, B]),
    ("a view", []),
]
PAGES: dict[str, str | None] = {A: "the red tower", B: "a blue door"}


def asked_of(of: Case, kind: type[RequestT], protocol: ResearchGym = PROTOCOL) -> list[RequestT]:
    judge = ScriptedJudge()
    decided(protocol, of, judge)
    return [request for request in judge.asked if isinstance(request, kind)]


def test_support_is_full_in_part_or_none_over_all_of_a_claims_pages() -> None:
    found = figures(case((), CLAIMS, PAGES))
    assert found["citation_precision"] == (0.5, 3, None)  # (1 + 0.5 + 0) / 3
    assert found["citation_evaluated_share"] == (1.0, 3, None)
    assert found["citation_recall"] == (0.75, 4, None)
    asked = asked_of(case((), CLAIMS, PAGES), VerifySupport)
    assert asked[2].page == "the red tower\n\na blue door"


@pytest.mark.parametrize(
    ("claims", "pages", "asked"),
    [
        (CLAIMS, PAGES, [
            (("red tower",), ("the red tower",)),
            (("half blue door",), ("a blue door",)),
            (("green roof",), ("the red tower", "a blue door")),
        ]),
        # Claims that cite the same pages are asked together, and one page once.
        ([("one", [A, C]), ("two", [C, A]), ("three", [A])], {A: "text", C: "text"},
         [(("one", "two"), ("text",)), (("three",), ("text",))]),
        # No address on a page is shown.
        ([("red tower", [A])],
         {A: "See [the red tower](https://x.org/a_(b)) or www.y.org/c, and come."},
         [(("red tower",), ("See [the red tower]((b)) or  and come.",))]),
    ],
)  # fmt: skip
def test_a_claim_is_held_against_all_its_pages_together(
    claims: Claims, pages: dict[str, str | None], asked: list[Any]
) -> None:
    found = asked_of(case((), claims, pages), VerifySupport)
    assert [(request.claims, request.pages) for request in found] == asked


def test_three_claims_that_come_to_a_half_and_two_unread_ones_make_three_tenths() -> None:
    unread: Claims = [("a bell", [D]), ("a view", [D])]
    found = figures(case((), [*CLAIMS[:3], *unread], {**PAGES, D: None}))
    assert found["citation_precision"] == (0.3, 5, None)  # (1 + 0.5 + 0 + 0 + 0) / 5
    assert found["citation_precision_readable"] == (0.5, 3, None)
    assert found["citation_evaluated_share"] == (0.6, 5, None)


def test_a_claim_without_a_fetched_page_is_zero_and_left_out_of_readable_pages() -> None:
    claims = [("red tower", [A, B]), ("blue door", [B])]
    found = figures(case((), claims, {A: "red tower", B: None}))
    assert found["citation_precision_readable"] == (1.0, 1, None)
    assert found["citation_precision"] == (0.5, 2, None)
    assert found["citation_precision_published"] == (0.5, 1, None)
    assert found["citation_evaluated_share"] == (0.5, 2, None)


def test_a_claim_is_decided_when_all_its_pages_have_been_tried() -> None:
    judge = ScriptedJudge()
    claims = [("red tower", [A, B]), ("blue door", [C])]
    found = rows(case((), claims, {A: "nothing here", C: "blue door"}), judge)
    asked = [request.claims for request in judge.asked if isinstance(request, VerifySupport)]
    assert asked == [("blue door",)]
    for metric in ("citation_precision", "citation_precision_readable", "citation_evaluated_share",
                   "citation_precision_published"):  # fmt: skip
        row = found[metric]
        assert (row["numerator"], row["n_items"], row["n_open"]) == (1.0, 1, 1)
    row = rows(case((), claims[:1], {A: "nothing here"}))["citation_precision"]
    assert (row["n_open"], row["reason"]) == (1, STILL_OPEN)


@pytest.mark.parametrize("text", [" \n\t", "https://x.org/foo\n\n<www.y.org/a> ()\n"])
def test_a_page_of_nothing_but_addresses_is_no_page(text: str) -> None:
    judge = ScriptedJudge()
    found = figures(case((), [("red tower", [A])], {A: text}), judge)
    assert not any(isinstance(request, VerifySupport) for request in judge.asked)
    assert found["citation_precision_readable"][:2] == (None, 0)
    assert found["citation_precision"][:2] == (0.0, 1)
    assert found["citation_evaluated_share"] == (0.0, 1, None)
    beside = case((), [("red tower", [A, B])], {A: text, B: "the red tower"})
    assert figures(beside)["citation_precision"] == (1.0, 1, None)


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.NOT_ASSESSED])
def test_a_claim_that_its_judge_cannot_answer_is_in_no_figure(status: Status) -> None:
    class Silent(ScriptedJudge):
        async def verify_support(self, request: VerifySupport) -> Sequence[JudgeAnswer]:
            return [JudgeAnswer(status=status, reason="too much")] * len(request.claims)

    found = rows(case((), [("red tower", [A])], {A: "red tower"}), Silent())
    for metric in ("citation_precision", "citation_precision_readable"):
        row = found[metric]
        assert (row["numerator"], row["n_items"], row["n_open"]) == (None, 0, 0)


def test_a_report_without_claims_has_no_figures_but_the_published_zeros() -> None:
    found = figures(case((), reliable=False))
    assert found["citation_recall"] == (None, 0, "the report has no claims")
    assert found["citation_precision"] == (None, 0, "no list of sources")
    zero = (0.0, 1, "0 as in the published code: the report has no claims")
    assert found["citation_recall_published"] == found["citation_precision_published"] == zero


def test_a_report_that_names_no_url_cites_nothing() -> None:
    found = figures(case((), [("red tower", [])], report="The red tower [1].", reliable=False))
    assert found["citation_recall"] == (0.0, 1, None)
    assert found["citation_precision"] == (None, 0, "no list of sources")
    assert found["citation_precision_readable"][0] is None
    zero = (0.0, 1, "0 as in the published code: the report names no URL")
    assert found["citation_precision_published"] == zero
    assert found["citation_recall_published"][0] == 0.0


def test_pairs_that_cannot_be_trusted_give_no_citation_figures_and_are_not_judged() -> None:
    of = case((), [("red tower", [A])], {A: "red tower"}, reliable=False)
    judge = ScriptedJudge()
    found = figures(of, judge)
    assert not any(isinstance(request, VerifySupport) for request in judge.asked)
    for metric in found:
        if metric.startswith("citation_"):
            assert found[metric] == (None, 0, "no list of sources"), metric


@pytest.mark.parametrize(
    ("kind", "recall", "own", "judged"),
    [("explicit", 0.5, 0.5, 1), ("paragraph", 0.5, 0.0, 1), ("attributed", 0.5, 0.0, 1),
     ("published", 0.5, None, 1), ("inferred", 0.0, 0.0, 0)],
)  # fmt: skip
def test_pairs_count_by_their_kind(
    kind: CitationKind, recall: float, own: float | None, judged: int
) -> None:
    of = case((), [("red tower", [A]), ("blue door", [])], {A: "red tower"}, kind=kind)
    found = figures(of)
    assert found["citation_recall"][:2] == (recall, 2)
    assert found["citation_recall_published"][0] == recall
    assert found["citation_recall_own"][0] == own
    assert found["citation_precision"][:2] == ((1.0, 1) if judged else (None, 0))


@pytest.mark.parametrize("reliable", [True, False])
def test_published_pairs_are_never_zero_by_the_reports_text(reliable: bool) -> None:
    of = case((), [("red tower", [A] if reliable else [])], {A: "red tower"}, kind="published",
              report="No address.", reliable=reliable)  # fmt: skip
    found = figures(of)
    assert found["citation_recall"][0] == (1.0 if reliable else None)
    assert found["citation_precision_published"][0] == (1.0 if reliable else None)
    value, n_items, why = found["citation_recall_own"]
    assert (value, n_items) == (None, 0)
    assert "publisher does not say" in str(why)


def test_ratings_are_shares_of_ten_and_each_criterion_is_its_own() -> None:
    of = case((), report="one two three")
    found = figures(of, ScriptedJudge(failing=frozenset({"insight"})))
    assert found["clarity"] == (0.3, 1, None)
    assert found["insight"][:2] == (None, 0)
    asked = asked_of(case(), RateReport)
    assert [[each.id for each in one.criteria] for one in asked] == [["clarity"], ["insight"]]
    assert "repetition" in asked[0].criteria[0].text
    assert {each.question for each in asked} == {"Why is the tower red?"}


def test_both_ratings_may_be_asked_for_in_one_call() -> None:
    entry = load_protocol("research_gym")
    parameters = entry.parameters | {"quality_calls": "one"}
    together = ResearchGym(entry.model_copy(update={"parameters": parameters}))
    (asked,) = asked_of(case(), RateReport, together)
    assert [criterion.id for criterion in asked.criteria] == ["clarity", "insight"]


def test_a_judge_that_decides_a_part_gives_that_part_and_says_what_it_cannot() -> None:
    judge = ScriptedJudge()
    for able in (CheckPoints, VerifySupport, RateReport):
        judge.decides = frozenset({able})
        assert PROTOCOL.supports(judge)
        found = figures(case(["red tower"], CLAIMS, PAGES), judge)
        valued = {metric for metric, (value, _, _) in found.items() if value is not None}
        assert "citation_recall" in valued  # rests on the claims alone
        assert ("kpr" in valued, "citation_precision" in valued, "clarity" in valued) == tuple(
            able is kind for kind in (CheckPoints, VerifySupport, RateReport)
        )
        for metric, (value, _, reason) in found.items():
            assert (value is None) == str(reason).startswith("not_assessed: the judge"), metric
    judge.decides = frozenset()
    assert not PROTOCOL.supports(judge)


def test_every_configured_metric_is_given_for_every_report() -> None:
    names = [metric.name for metric in PROTOCOL.metrics]
    assert sorted(rows(case(["red tower"], CLAIMS, PAGES))) == sorted(names)
    assert sorted(rows(case(None, reliable=False), OfflineJudge())) == sorted(names)
