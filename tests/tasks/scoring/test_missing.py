"""Missing reports: an agent's own empty answers count 0 where the protocol says so, and the figure
can be had both ways."""

import asyncio
from pathlib import Path

import polars as pl
import pytest

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import validate_config
from tasks.configuration.models import MetricEntry, load_protocol
from tasks.judges.questions.compare_articles import CompareArticles
from tasks.judges.questions.grade_items import GradeItems
from tasks.judges.questions.rate_keywords import RateKeywords
from tasks.judges.questions.score_pair import ScorePair
from tasks.judges.registry import load_judge
from tasks.judging.cells import CellPlan, build_plan_frame, plan_cells
from tasks.protocols.case import JudgedReports, Protocol
from tasks.protocols.registry import PROTOCOLS, get_protocol
from tasks.protocols.wiki_fact.protocol import WikiFact
from tasks.protocols.wiki_writing import WikiWriting
from tasks.scores import compute_scores
from tasks.scoring.pending import has_outdated_scores
from tasks.scoring.rows import build_leaderboard_rows
from tasks.warehouse.results import LeaderboardRow, Score
from tasks.warehouse.rows import Article, Assignment, Extraction, Fact, Report
from tasks.warehouse.store import Warehouse
from tasks.warehouse.truths import TruthClaim, TruthSettings, make_ground_truth
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import EDITION, judge_pending, page, write_edition
from tests.tasks.protocols.framed import framed

URL = "https://a.org/1"
PAPERS = {
    "claim_discovery": "zero", "fact": "excluded", "race": "excluded", "research_gym": "zero",
    "rigorous": "zero", "rubric_bench": "excluded", "wiki_fact": "zero", "wiki_writing": "zero",
}  # fmt: skip


@pytest.fixture
def warehouse(warehouse: Warehouse) -> Warehouse:
    """Two articles: `ann` wrote of both, `bob` answered the second one with nothing."""
    said = [("The old mill stands.", [URL])]
    write_edition(warehouse, {"ann": said, "bob": said}, [page(URL, "The old mill stands there.")])
    changes = []
    for model, name in ((Article, "article"), (Assignment, "assignment"), (Fact, "article")):
        more = {name: "New_Mill"} | ({"article": "New_Mill"} if model is Assignment else {})
        rows = [row.model_copy(update=more) for row in warehouse.rows(model, "true")]
        changes.append(Change(model, rows))
    facts = warehouse.rows(Extraction, "agent = ''")
    changes.append(
        Change(Extraction, [f.model_copy(update={"assignment": "New_Mill"}) for f in facts])
    )
    empty = {"assignment": "New_Mill", "text": "", "text_sha": "none", "status": "empty"}
    reports = warehouse.rows(Report, "agent = 'bob'")
    changes.append(Change(Report, [r.model_copy(update=empty) for r in reports]))
    warehouse.write(*changes)
    return warehouse


def score(warehouse: Warehouse, protocol: Protocol) -> list[CellPlan]:
    judge = load_judge("offline")
    asyncio.run(judge_pending(warehouse, judge))
    plans = [p for p in plan_cells(warehouse, EDITION, protocol, judge) if p.agent == "bob"]
    scores = compute_scores(warehouse, protocol, judge, plans)
    warehouse.write(Change(Score, scores, replacing={"edition": EDITION}))
    return plans


def rows(warehouse: Warehouse, protocol: Protocol) -> dict[str, LeaderboardRow]:
    return {row.metric: row for row in build_leaderboard_rows(warehouse, EDITION, [protocol])}


def test_an_empty_report_scores_0_where_the_protocol_names_the_metric_and_nothing_elsewhere(
    warehouse: Warehouse,
) -> None:
    protocol = get_protocol("wiki_fact")
    score(warehouse, protocol)
    missing = {s.metric: s for s in warehouse.rows(Score, "assignment = 'New_Mill'")}
    assert {s.state for s in missing.values()} == {"empty"}
    zeros = {name for name, s in missing.items() if s.value is not None}
    assert zeros == {m.name for m in protocol.metrics if m.zero_if_missing}
    assert {"coverage_wiki", "coverage_wiki_soft"} <= zeros
    assert (missing["coverage_wiki"].value, missing["coverage_wiki"].n_items) == (0, 1)
    # Ratios over its own claims, and what silence would win.
    for name in ("ref_acc", "ref_acc_readable", "uncited_share", "wiki_conflict", "leakage_rate"):
        assert missing[name].value is None
        assert missing[name].reason == "the report is empty"


def test_the_figure_counts_the_missing_report_and_can_be_had_without_it(
    warehouse: Warehouse,
) -> None:
    protocol = get_protocol("wiki_fact")
    score(warehouse, protocol)
    found = rows(warehouse, protocol)
    covered = found["coverage_wiki"]
    assert covered.value_present == 1
    assert covered.value == covered.value_zero == 0.5
    assert (covered.n_delivered, covered.n_missing, covered.n_assignments) == (1, 1, 2)
    assert (covered.n_open, covered.provisional) == (0, False)  # nothing is left to come
    assert covered.unranked == "it delivered 1 of 2 reports, fewer than 95 %"
    accurate = found["ref_acc"]
    assert accurate.value == accurate.value_present == accurate.value_zero == 1


def test_a_protocol_may_leave_missing_reports_out_and_scores_follow_without_new_verdicts(
    warehouse: Warehouse,
) -> None:
    score(warehouse, get_protocol("wiki_fact"))
    entry = load_protocol("wiki_fact").model_copy(update={"missing": "excluded"})
    protocol = WikiFact(entry)
    plans = plan_cells(warehouse, EDITION, protocol, load_judge("offline"), ["bob"])
    assert has_outdated_scores(warehouse, plans)
    assert not [plan for plan in plans if plan.state == "pending"]
    plans = score(warehouse, protocol)
    assert not has_outdated_scores(warehouse, plans)
    covered = rows(warehouse, protocol)["coverage_wiki"]
    assert covered.value == covered.value_present == 1
    assert covered.value_zero == 0.5
    [left_out] = warehouse.rows(Score, "assignment = 'New_Mill' AND metric = 'coverage_wiki'")
    assert (left_out.value, left_out.reason) == (None, "the report is empty")


def test_a_missing_report_waits_for_the_facts_that_it_does_not_cover(warehouse: Warehouse) -> None:
    made = warehouse.rows(Extraction, "agent = '' AND assignment = 'New_Mill'")
    nothing = {"edition": EDITION, "agent": "", "assignment": "New_Mill"}
    warehouse.write(Change(Extraction, [], replacing=nothing))
    protocol, judge = get_protocol("wiki_fact"), load_judge("offline")
    score(warehouse, protocol)
    [before] = warehouse.rows(Score, "assignment = 'New_Mill' AND metric = 'coverage_wiki'")
    assert (before.value, before.state, before.reason) == (None, "pending", "waits for facts")
    warehouse.write(Change(Extraction, made))
    assert has_outdated_scores(warehouse, plan_cells(warehouse, EDITION, protocol, judge, ["bob"]))
    score(warehouse, protocol)
    [after] = warehouse.rows(Score, "assignment = 'New_Mill' AND metric = 'coverage_wiki'")
    assert after.value == 0


def test_a_judge_that_cannot_compare_gives_a_missing_report_no_0(warehouse: Warehouse) -> None:
    score(warehouse, get_protocol("wiki_writing"))
    values = warehouse.rows(Score, "assignment = 'New_Mill'")
    assert values
    assert all(each.value is None for each in values)


def test_a_missing_article_loses_every_comparison_of_wiki_writing(warehouse: Warehouse) -> None:
    protocol, judge = get_protocol("wiki_writing"), ScriptedJudge()
    assert CompareArticles in judge.decides
    plans = plan_cells(warehouse, EDITION, protocol, judge, ["bob"])
    scores = compute_scores(warehouse, protocol, judge, plans)
    lost = {s.metric: (s.value, s.n_items) for s in scores if s.assignment == "New_Mill"}
    assert lost == {
        "writing_overall": (0, 39), "writing_well_written": (0, 21), "writing_neutral": (0, 10),
        "writing_broad": (0, 8), "writing_both_orders": (None, 0), "position_bias": (None, 0),
    }  # fmt: skip


def test_a_metric_that_the_configuration_does_not_name_gets_no_0(warehouse: Warehouse) -> None:
    entry = load_protocol("wiki_writing")
    unnamed = tuple(m.model_copy(update={"zero_if_missing": False}) for m in entry.metrics)
    protocol = WikiWriting(entry.model_copy(update={"metrics": unnamed}))
    judge = ScriptedJudge()
    plans = plan_cells(warehouse, EDITION, protocol, judge, ["bob"])
    missing = [s for s in compute_scores(warehouse, protocol, judge, plans) if s.state == "empty"]
    assert {(s.value, s.n_items) for s in missing} == {(None, 0)}


def test_an_empty_answer_to_a_question_scores_0_0_0_as_in_the_published_code() -> None:
    truth = make_ground_truth(
        "e", "q", "flights", "published", (TruthClaim(value="A"),), TruthSettings()
    )
    answers = pl.DataFrame(
        {"assignment": ["q"], "text": [""], "category": [truth.category],
         "truths": [truth.model_dump(mode="json")["truths"]], "settings": [truth.settings],
         "trace": [None]},
        schema_overrides={"trace": pl.String},
    )  # fmt: skip
    judged = of_missing("q").model_copy(update={"answers": answers})
    found = get_protocol("claim_discovery").count_missing(judged, ScriptedJudge())
    for name in ("claim_precision", "claim_recall", "claim_f1", "compat_f1", "answered_share"):
        assert found[name] == {"q": 1}


@pytest.mark.parametrize("name", sorted(set(PROTOCOLS) - {"claim_discovery", "wiki_fact"}))
def test_every_named_metric_has_items_that_a_missing_report_did_not_answer(name: str) -> None:
    class AllDeciding(ScriptedJudge):
        decides = ScriptedJudge.decides | {GradeItems, RateKeywords, ScorePair}

    protocol = get_protocol(name)
    named = {m.name for m in protocol.metrics if m.zero_if_missing}
    found = protocol.count_missing(of_missing("x"), AllDeciding())
    assert named - {"writing_both_orders"} == set(found)  # asked in one order by default


def of_missing(assignment: str) -> JudgedReports:
    plan = CellPlan(
        edition="e", protocol="p", agent="a", assignment=assignment, title="", judge="j",
        model_version="1", prompt_sha="", protocol_version="1", input_sha="", cell_id="c",
        state="empty", article_url="",
    )  # fmt: skip
    return framed({}).model_copy(update={"reports": build_plan_frame([plan])})


def test_each_protocol_follows_its_paper_and_0_where_that_is_silent() -> None:
    assert {name: load_protocol(name).missing for name in PROTOCOLS} == PAPERS


def test_no_metric_of_which_less_is_better_can_be_0_for_a_missing_report() -> None:
    given = {"name": "m", "title": "M", "aggregate": "macro", "better": "lower",
             "description": "", "zero_if_missing": True}  # fmt: skip
    with pytest.raises(ConfigurationError, match="a missing report would win"):
        validate_config(Path("x.yaml"), given, MetricEntry)
