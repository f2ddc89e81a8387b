"""Rigorous Bench on small cases whose figures are computed by hand from the formulas."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import load_protocol
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.questions.grade_items import GradeItems
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.protocols.case import Case, ReportUsage
from tasks.protocols.rigorous.evidence import count_links, page_key
from tasks.protocols.rigorous.protocol import Rigorous
from tasks.warehouse.rows import Status
from tasks.warehouse.rubrics import BundleSettings
from tests.tasks.protocols.framed import Told, decided, failed, ok, scored, value_of
from tests.tasks.rigorous_cases import ITEMS, SETTINGS, case, item, query

ENTRY = load_protocol("rigorous")
PROTOCOL = Rigorous(ENTRY)
TEXT = (
    "# QUIC\n\nNewReno, newreno and NewReno again; 0-RTT once [1]. SPDY and SPDY.\n\n"
    "## References\n\n[1] One. https://rfc.org/rfc1\n[2] NewReno. https://rfc.org/other\n"
    "[3] Else. https://else.org/\n"
)
GRADES = {"query-1": "20", "query-2": "0", "general-1": "0", "general-2": "23"}
RATINGS = {"NewReno": "5", "0-RTT": "4", "SPDY": "2"}
# By hand from TEXT, GRADES and RATINGS.
QUALITY = 0.5 * 20 / 30 + 0.5 * 23 / 73
FOCUS_DRIFT = 1 - (1 * 5 / 5 + 1 / 3 * 4 / 5) / 2
DEVIATION_DRIFT = 2 / 3 * 2 / 5
DRIFT = 0.7 * FOCUS_DRIFT + 0.3 * DEVIATION_DRIFT
BOOST = 1 + 0.2 * (0.7 * 1 / 2 + 0.3 * (2 - 1) / (3 + 1))


def told(
    grades: Mapping[str, str | None] = GRADES, ratings: Mapping[str, str | None] = RATINGS
) -> Told:
    """Grades and rates as it is told; a null is an answer that never came."""

    def answer(label: str | None) -> JudgeAnswer:
        return failed() if label is None else ok(label)

    return Told(
        {
            GradeItems: lambda asked: [answer(grades[i.id]) for i in asked.items],
            RateKeywords: lambda asked: [answer(ratings[k]) for k in asked.keywords],
        }
    )


def figures(
    of: Case, judge: Any = None, protocol: Rigorous = PROTOCOL
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """Metric → value, and metric → the whole row."""
    rows = scored(protocol, of, judge or told())
    return {metric: value_of(row) for metric, row in rows.items()}, rows


def test_every_figure_is_what_the_formulas_give() -> None:
    usage = ReportUsage(output_tokens=5_000, searches=7, reasoning_steps=3)
    opened = ["https://rfc.org/rfc1", "https://www.rfc.org/rfc1/#a", "https://b.org"]
    found, rows = figures(case(text=TEXT, opened=opened, usage=usage))
    integrated = QUALITY * (1 - DRIFT) * BOOST
    assert found == {
        **found,
        "rigorous_query_rubrics": pytest.approx(20 / 30),
        "rigorous_general_rubrics": pytest.approx(23 / 73),
        "rigorous_quality": pytest.approx(QUALITY),
        "rigorous_focus_drift": pytest.approx(FOCUS_DRIFT),
        "rigorous_deviation_drift": pytest.approx(DEVIATION_DRIFT),
        "rigorous_drift": pytest.approx(DRIFT),
        "rigorous_trust_boost": pytest.approx(BOOST),
        "rigorous_integrated": pytest.approx(integrated),
        "rigorous_focus_frequency": pytest.approx((1 + 1 / 3) / 2),
        "rigorous_deviation_frequency": pytest.approx(2 / 3),
        "rigorous_per_token": pytest.approx(integrated * 100 / 5_000),
        "rigorous_retrieval_index": pytest.approx(3 / (2 + 1)),
        "rigorous_output_tokens": 5_000,
        "rigorous_searches": 7,
        "rigorous_reasoning_steps": 3,
    }
    assert found.keys() == {metric.name for metric in PROTOCOL.metrics}
    assert rows["rigorous_query_rubrics"]["n_items"] == 2
    assert rows["rigorous_integrated"]["n_items"] == 4 + 3 + 1


def test_sensitivity_rows_are_what_other_settings_give() -> None:
    found, _ = figures(case(text=TEXT))
    linear = 0.7 * (1 - (1 + 1 / 3 * 3 / 4) / 2) + 0.3 * (2 / 3 * 1 / 4)
    by_hand = {
        "eps1": 0.7 * (1 - (1 + 4 / 5) / 2) + 0.3 * 2 / 5,
        "eps3": DRIFT,
        "eps5": 0.7 * (1 - (3 / 5 + 1 / 5 * 4 / 5) / 2) + 0.3 * 2 / 5 * 2 / 5,
        "other_norm": linear,
        "code": 0.7 * (1 - (1 + 1 / 2 * 4 / 5) / 2) + 0.3 * 2 / 5,
    }
    for name, drift in by_hand.items():
        assert found[f"rigorous_drift_{name}"] == pytest.approx(drift), name
        assert found[f"rigorous_integrated_{name}"] == pytest.approx(
            QUALITY * (1 - drift) * BOOST
        ), name
    protocol = Rigorous(ENTRY.model_copy(update={"parameters": {"relevance": "linear"}}))
    found, _ = figures(case(text=TEXT), protocol=protocol)
    assert found["rigorous_drift"] == pytest.approx(linear)
    assert found["rigorous_drift_other_norm"] == pytest.approx(DRIFT)


def test_the_equation_counts_a_cited_trusted_page_as_its_host_s_too() -> None:
    protocol = Rigorous(ENTRY.model_copy(update={"parameters": {"host_mode": "formula"}}))
    found, _ = figures(case(text=TEXT), protocol=protocol)
    assert found["rigorous_trust_boost"] == pytest.approx(1 + 0.2 * (0.7 * 1 / 2 + 0.3 * 2 / 4))


def test_a_judge_is_shown_the_report_and_one_thing_to_judge() -> None:
    judge = told()
    decided(PROTOCOL, case(text=TEXT), judge)
    graded = [asked for asked in judge.asked if isinstance(asked, GradeItems)]
    rated = [asked for asked in judge.asked if isinstance(asked, RateKeywords)]
    assert [asked.items[0].allowed for asked in graded] == [
        ("20", "0"), ("10", "0"), ("50", "0"), ("23", "0"),
    ]  # fmt: skip
    assert {(asked.report, asked.question) for asked in graded} == {(TEXT, "How?")}
    assert [asked.keywords for asked in rated] == [("NewReno",), ("0-RTT",), ("SPDY",)]
    assert all("http" not in a.report and "References" not in a.report for a in rated)
    together = {"rubrics_per_call": 50, "keywords_per_call": 10}
    judge = told()
    found = decided(
        Rigorous(ENTRY.model_copy(update={"parameters": together})), case(text=TEXT), judge
    )
    assert len(judge.asked) == 3, "two dimensions and the keywords"
    assert {(d.step, d.item): d.answer.label for d in found if d.step == "query"} == {
        ("query", "query-1"): "20", ("query", "query-2"): "0",
    }  # fmt: skip


def test_cited_addresses_are_listed_where_the_text_holds_none() -> None:
    cited = ("https://b.org/", "https://rfc.org/rfc1")
    for text, shown in (
        (
            "No address.",
            "No address.\n\nCited addresses:\n- https://b.org/\n- https://rfc.org/rfc1",
        ),
        ("See https://a.org/x.", "See https://a.org/x."),
    ):
        judge = told()
        found = decided(PROTOCOL, case(text=text, cited=cited), judge)
        assert {a.report for a in judge.asked if isinstance(a, GradeItems)} == {shown}
        counts = {d.item: d.answer.label for d in found if d.step == "links"}
        assert (counts["exact"], counts["trusted"]) == ("1", "2"), "cited either way"
    judge = told()
    decided(PROTOCOL, case(text="No address."), judge)
    assert {a.report for a in judge.asked if isinstance(a, GradeItems)} == {"No address."}


def test_pages_meet_without_query_fragment_scheme_www_and_slash() -> None:
    for url in ("http://WWW.rfc.org/rfc1", "https://rfc.org/rfc1/?a=b", "https://rfc.org/rfc1#x"):
        assert page_key(url) == "https://rfc.org/rfc1"
    assert page_key("no address") is None
    assert count_links(["https://a.org/1", "http://www.a.org/1/"], ["https://a.org/1?x"] * 2) == (
        1, 1, 1, 1,
    )  # fmt: skip
    elsewhere = ["https://a.org/2", "https://a.org/3", "https://b.org"]
    assert count_links(["https://a.org/1"], elsewhere) == (1, 0, 2, 3)
    assert count_links([], ["https://a.org/1"]) == (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("judge", "null", "there"),
    [
        (told({**GRADES, "query-1": None}), "quality", "drift"),
        (told({**GRADES, "general-2": None}), "quality", "drift"),
        (told(ratings={**RATINGS, "SPDY": None}), "drift", "quality"),
    ],
)
def test_a_product_has_no_value_while_a_part_is_open(judge: Told, null: str, there: str) -> None:
    found, rows = figures(case(text=TEXT), judge)
    for name in (null, "integrated", "integrated_eps1", "quality_share", "per_token"):
        assert found[f"rigorous_{name}"] is None, name
        assert rows[f"rigorous_{name}"]["n_open"] == 1
    assert rows["rigorous_integrated"]["reason"] == "waits for 1 open items"
    assert found[f"rigorous_{there}"] is not None


def test_an_unjudged_item_changes_no_share() -> None:
    found, rows = figures(case(text=TEXT), told({**GRADES, "query-2": None}))
    assert found["rigorous_query_rubrics"] == 1, "20 of 20 points"
    row = rows["rigorous_query_rubrics"]
    assert (row["n_items"], row["n_open"]) == (1, 1)
    found, _ = figures(case(text=TEXT), told(ratings={**RATINGS, "0-RTT": None}))
    assert found["rigorous_focus_drift"] == 0


def test_the_offline_judge_counts_and_assesses_nothing_else() -> None:
    of = case(text=TEXT)
    judge = OfflineJudge()
    assert PROTOCOL.supports(judge)
    found, rows = figures(of, judge)
    assert {name for name, value in found.items() if value is not None} == {
        "rigorous_focus_frequency", "rigorous_deviation_frequency", "rigorous_trust_boost",
    }  # fmt: skip
    assert rows["rigorous_quality"]["reason"] == (
        "not_assessed: the judge offline cannot grade the items of a rubric"
    )
    assert (
        rows["rigorous_drift"]["reason"] == "not_assessed: the judge offline cannot rate keywords"
    )
    assert {row["n_open"] for row in rows.values()} == {0}


def test_what_is_not_there_is_null_with_its_reason() -> None:
    bare = case(query(items=ITEMS[:2], settings=BundleSettings()), text="A word.")
    found, rows = figures(bare)
    said = {name: rows[f"rigorous_{name}"]["reason"] for name in (
        "general_rubrics", "integrated", "focus_drift", "drift", "focus_frequency", "per_token",
        "retrieval_index", "searches")}  # fmt: skip
    assert said == {
        "general_rubrics": "the rubric has no items of the dimension general",
        "integrated": "the rubric has no items of the dimension general",
        "focus_drift": "there are no focus keywords",
        "drift": "there are no focus keywords",
        "focus_frequency": "there are no focus keywords",
        "per_token": "the rubric has no items of the dimension general",
        "retrieval_index": "not_assessed: no search trace names a page that the agent opened",
        "searches": "not_assessed: the agent does not say how often it searched",
    }
    assert found["rigorous_trust_boost"] == 1
    found, rows = figures(case(text=TEXT, usage=ReportUsage(output_tokens=0)))
    assert rows["rigorous_per_token"]["reason"] == "the report took no tokens"
    found, rows = figures(case(text=TEXT, opened=[]))
    assert found["rigorous_retrieval_index"] is None


@pytest.mark.parametrize("never", ["query-2", "all"])
def test_an_item_that_can_not_be_judged_is_left_out_for_good(never: str) -> None:
    judge = told()
    graded = judge.says[GradeItems]

    def refusing(asked: GradeItems) -> list[JudgeAnswer]:
        return [
            failed(Status.NOT_ASSESSED) if never in (i.id, "all") else answer
            for i, answer in zip(asked.items, graded(asked), strict=True)
        ]

    judge.says = {**judge.says, GradeItems: refusing}
    found, rows = figures(case(text=TEXT), judge)
    assert rows["rigorous_integrated"]["n_open"] == 0
    if never == "all":
        assert rows["rigorous_quality"]["reason"] == "no item is decided: not_assessed"
    else:
        assert found["rigorous_quality"] == pytest.approx(0.5 + 0.5 * 23 / 73)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(2)), st.permutations(range(2)))
def test_the_order_of_items_keywords_and_links_changes_nothing(
    items: Sequence[int], keywords: Sequence[int], links: Sequence[int]
) -> None:
    shuffled = SETTINGS.model_copy(
        update={
            "focus_keywords": tuple(SETTINGS.focus_keywords[n] for n in keywords),
            "trusted_links": tuple(SETTINGS.trusted_links[n] for n in links),
        }
    )
    of = query(items=tuple(ITEMS[n] for n in items), settings=shuffled)
    assert figures(case(of, TEXT))[0] == figures(case(text=TEXT))[0]


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=400))
def test_no_text_is_too_odd_to_be_counted(text: str) -> None:
    found, _ = figures(case(text=text))
    assert 0 <= (found["rigorous_integrated"] or 0) <= 1.2
    assert 1 <= (found["rigorous_trust_boost"] or 0) <= 1.2


def test_an_assignment_without_a_rubric_is_no_case() -> None:
    with pytest.raises(ValueError, match="x: the assignment has no rubric"):
        decided(PROTOCOL, case().model_copy(update={"bundle": None}), told())


def test_a_ternary_rubric_gives_what_lies_between() -> None:
    half = item("query-1", 30).model_copy(update={"allowed": ("30", "15", "0")})
    found, _ = figures(case(query(items=(half, ITEMS[2])), TEXT),
                       told({"query-1": "15", "general-1": "50"}))  # fmt: skip
    assert found["rigorous_quality"] == pytest.approx(0.75)
