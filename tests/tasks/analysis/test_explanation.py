"""A report with every decision about it, each in its place and none lost."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.analysis.explanation import explain_reports
from tasks.editions.names import UnknownName, find_report
from tasks.warehouse.explanations import ExplainedReport, ExplainedVerdict, report_id
from tasks.warehouse.jobs import CollectionCost, Job
from tasks.warehouse.pages import Page
from tasks.warehouse.results import Cell, Score, Verdict
from tasks.warehouse.rows import Assignment, Edition, Report, Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import ARTICLE_URL, ASSIGNMENT, EDITION, judge_all, page, write_edition

GOOD, NEVER, LED = "https://good.org", "https://never.org", "https://led.org"
CLAIMS = [
    ("red tower", [GOOD]),
    ("not old mill", [NEVER]),
    ("blue door", [GOOD, NEVER]),
    ("nothing", []),
    ("the article says so", [LED]),
]
FETCHED = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with open_warehouse(tmp_path_factory.mktemp("explained") / "w.duckdb") as opened:
        pages = [
            page(GOOD, "red tower"),
            page(LED, "words", final_url=ARTICLE_URL, fetched_at=FETCHED.isoformat()),
        ]
        write_edition(
            opened, {"one": CLAIMS, "two": CLAIMS[:1], "loose": CLAIMS}, pages, untrusted=["loose"]
        )
        judge_all(opened, ScriptedJudge())
        yield opened


def only(warehouse: Warehouse, agent: str, edition: str = EDITION) -> ExplainedReport:
    (found,) = explain_reports(warehouse, edition, agent)
    return found


def decisions_of(report: ExplainedReport) -> list[ExplainedVerdict]:
    of_claims = [
        decision for claim in report.claims
        for decision in (
            *claim.conflicts, *claim.decisions, *(d for c in claim.citations for d in c.decisions)
        )
    ]  # fmt: skip
    of_facts = [d for fact in report.facts for d in (*fact.decisions, *fact.by_all_claims)]
    return [*of_claims, *of_facts, *report.others]


def test_every_current_verdict_is_in_one_place(warehouse: Warehouse) -> None:
    for agent in ("one", "two", "loose"):
        shown = Counter((d.step, d.item) for d in decisions_of(only(warehouse, agent)))
        stored = warehouse.frame(
            "SELECT step, item FROM current_verdicts WHERE agent = $1", [agent]
        ).rows()
        assert shown == Counter(stored)


def test_a_report_says_of_each_claim_what_became_of_it(warehouse: Warehouse) -> None:
    report = only(warehouse, "one")
    assert [claim.outcomes for claim in report.claims] == [
        {"scripted": word}
        for word in ("supported", "never_fetched", "not_supported", "uncited", "not_supported")
    ]
    (good, never) = report.claims[2].citations
    assert good.page is not None
    assert (good.page.status, good.page.n_chars) == ("ok", len("red tower"))
    assert never.page is None
    assert [d.label for d in report.claims[1].conflicts] == ["inconsistent"]
    assert [fact.text for fact in report.facts] == ["old mill"]
    (fact,) = report.facts
    assert [d.step for d in fact.decisions] == ["coverage"]
    assert [d.step for d in fact.by_all_claims] == ["coverage_all"]
    assert only(warehouse, "two").facts[0].by_all_claims == ()  # no claim cites the article
    assert report.others == ()
    led = report.claims[4].citations[0].page
    assert led is not None
    assert led.fetched_at == FETCHED


def test_leaked_claims_are_those_of_the_figure(warehouse: Warehouse) -> None:
    report = only(warehouse, "one")
    assert [claim.leaked for claim in report.claims] == [False, False, False, False, True]
    (score,) = [s for s in report.scores if s.metric == "leakage_rate"]
    assert (score.value, score.n_items) == (1 / 5, 5)


def test_untrusted_pairs_mark_no_claim_and_say_why(warehouse: Warehouse) -> None:
    report = only(warehouse, "loose")
    assert {word for claim in report.claims for word in claim.outcomes.values()} == {"untrusted"}
    assert (report.pairs_reliable, report.pairs_reason) == (False, "no list of sources")
    # Published pairs count in leakage all the same.
    assert {claim.leaked for claim in report.claims} == {False, True}


def test_judges_and_protocols_can_be_left_out(warehouse: Warehouse) -> None:
    for chosen in ({"judges": ["nobody"]}, {"protocols": ["wiki_writing"]}):
        (report,) = explain_reports(warehouse, EDITION, "one", **chosen)
        assert decisions_of(report) == []
        assert report.scores == ()
        assert {frozenset(claim.outcomes) for claim in report.claims} == {frozenset()}


def test_a_judge_that_decided_nothing_is_shown_only_by_its_name(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        write_edition(warehouse, {"a": CLAIMS}, [page(GOOD, "red tower"), page(LED, "words")])
        judge_all(warehouse, ScriptedJudge())
        warehouse.write(Change(Score, [
            score.model_copy(update={"judge": "unreachable", "state": "pending", "value": None})
            for score in warehouse.rows(Score, "true")
        ]))  # fmt: skip
        report = only(warehouse, "a")
        assert {score.judge for score in report.scores} == {"scripted"}
        assert {judge for claim in report.claims for judge in claim.outcomes} == {"scripted"}
        (named,) = explain_reports(warehouse, EDITION, "a", judges=["unreachable"])
        assert {score.state for score in named.scores} == {"pending"}


def test_only_reports_that_are_there_are_explained(warehouse: Warehouse) -> None:
    assert list(explain_reports(warehouse, EDITION, "one", ["no such assignment"])) == []
    assert list(explain_reports(warehouse, EDITION, "nobody")) == []


def test_answers_that_came_are_shown_while_others_are_open(tmp_path: Path) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        write_edition(warehouse, {"a": CLAIMS}, [page(GOOD, "red tower"), page(LED, "words")])
        judge_all(warehouse, ScriptedJudge(frozenset({"blue door"})))
        report = only(warehouse, "a")
        assert warehouse.frame("SELECT * FROM current_verdicts").is_empty()
        assert {s.state for s in report.scores} == {"pending"}
        assert [claim.outcomes["scripted"] for claim in report.claims[:3]] == [
            "supported", "never_fetched", "open",
        ]  # fmt: skip
        # Judged anew on another state of its inputs: the older answers are not at hand.
        warehouse.write(Change(Page, [page(GOOD, "blue door")], replacing={"url": GOOD}))
        judge_all(warehouse, ScriptedJudge())
        assert only(warehouse, "a").claims[2].outcomes == {"scripted": "supported"}


def test_a_cell_with_another_count_of_open_items_than_the_score_says_is_not_at_hand(
    tmp_path: Path,
) -> None:
    of = {"edition": "e", "protocol": "p", "agent": "a", "assignment": "x", "judge": "j"}
    versions = {"model_version": "m", "prompt_sha": "s"}
    cells = [
        Cell(**of, **versions, cell_id=name, protocol_version="1", input_sha=name, status="done",
             n_verdicts=1, n_open=n_open, finished_at=datetime(2026, 11, day, tzinfo=UTC))
        for name, n_open, day in (("before", 1, 1), ("its own", 1, 2), ("of others", 2, 3))
    ]  # fmt: skip
    verdicts = [
        Verdict(**of, **versions, cell_id=cell.cell_id, step="s", item=cell.cell_id,
                status=Status.JUDGE_ERROR)
        for cell in cells
    ]  # fmt: skip
    score = Score(**of, metric="m", value=None, state="pending", reason="1 items are open",
                  scorer_version="1")  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(Change(Cell, cells), Change(Verdict, verdicts), Change(Score, [score]))
        found = warehouse.frame("SELECT item FROM verdicts_at_hand")["item"].to_list()
    assert found == ["its own"]


def test_a_research_query_without_an_article_is_explained(tmp_path: Path) -> None:
    key = {"edition": "r", "agent": "a", "assignment": "q1"}
    verdicts = [
        Verdict(**key, cell_id="c", protocol=protocol, step="step", item=item, judge="j",
                model_version="m", prompt_sha="s", label="7", status=Status.OK)
        for protocol, item in (
            ("research_gym", "point:10"), ("research_gym", "point:9"), ("race", "depth"),
        )
    ]  # fmt: skip
    score = Score(**key, protocol="race", judge="j", metric="m", value=0.7, n_items=1,
                  state="done", cell_id="c", scorer_version="1")  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(
            Change(Edition, [Edition(edition="r", source="a test")]),
            Change(Assignment, [Assignment(edition="r", assignment="q1", article="",
                                           kind="research", query="Why is the sky blue?")]),
            Change(Report, [Report(**key, text="It is.", text_sha="t", source_path="x.md")]),
            Change(Verdict, verdicts),
            Change(Score, [score]),
        )  # fmt: skip
        report = only(warehouse, "a", "r")
        assert find_report(warehouse, "r", "a/Why is the sky blue?") == ("r", "a", "q1")
    assert (report.article, report.url, report.title) == (None, None, "q1")
    assert report.query == "Why is the sky blue?"
    assert (report.claims, report.facts) == ((), ())
    assert [d.item for d in report.others] == ["depth", "point:9", "point:10"]
    assert report.pairs_reason == "its claims have not been extracted"


def test_what_a_report_cost_is_what_its_own_attempt_and_people_say(tmp_path: Path) -> None:
    key = {"edition": EDITION, "agent": "a", "assignment": ASSIGNMENT}

    def job(name: str, attempt: int, turn: int, usd: float | None) -> Job:
        return Job(
            **key, job=name, attempt=attempt, turn=turn, kind="http", parameters="{}", prompt="p",
            prompt_sha="s", state="done", cost_usd=usd, model_version=f"v{turn}",
            created_at=datetime(2026, 11, 1, 12, turn, tzinfo=UTC),
            finished_at=datetime(2026, 11, 1, 12, turn, 30, tzinfo=UTC),
        )  # fmt: skip

    jobs = [job("first", 1, 1, 9.0), job("asked", 2, 1, 1.5), job("replied", 2, 2, 0.25)]
    report = Report(**key, text="t", text_sha="t", source_path="job replied")
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        warehouse.write(Change(Report, [report]), Change(Job, jobs))
        found = only(warehouse, "a")
        assert (found.usd, found.seconds, found.model_version) == (1.75, 90.0, "v2")
        warehouse.write(Change(CollectionCost, [CollectionCost(**key, usd=2.0, minutes=5)]))
        assert only(warehouse, "a").usd == 3.75
        warehouse.write(Change(Job, [job("replied", 2, 2, None)], replacing={"job": "replied"}))
        assert only(warehouse, "a").usd is None


def test_a_report_is_found_by_any_of_its_names(warehouse: Warehouse) -> None:
    key = (EDITION, "one", ASSIGNMENT)
    for name in (f"one/{ASSIGNMENT}", "one/Old Mill", "ONE/old mill", report_id(*key)):
        assert find_report(warehouse, None, name) == key
        assert find_report(warehouse, EDITION, name) == key


def test_an_unknown_report_is_answered_with_those_that_are_near(warehouse: Warehouse) -> None:
    with pytest.raises(UnknownName, match="one/Old_Mill"):
        find_report(warehouse, EDITION, "ono/Old_Mil")
    with pytest.raises(UnknownName, match="has no reports"):
        find_report(warehouse, "another edition", f"one/{ASSIGNMENT}")


@pytest.fixture
def twice(tmp_path: Path) -> Iterator[Warehouse]:
    """Two editions with reports of the same names."""
    reports = [
        Report(edition=edition, agent="a", assignment=assignment, text="t", text_sha="t",
               source_path="p")
        for edition in ("e1", "e2") for assignment in ("x", "\x1b[2J")
    ]  # fmt: skip
    with open_warehouse(tmp_path / "w.duckdb") as opened:
        opened.write(Change(Report, reports))
        yield opened


def test_a_name_that_several_reports_have_is_answered_with_their_ids(twice: Warehouse) -> None:
    with pytest.raises(UnknownName, match=report_id("e2", "a", "x")):
        find_report(twice, None, "a/x")
    assert find_report(twice, "e2", "a/x") == ("e2", "a", "x")


@pytest.mark.parametrize("wanted", ["a/\x1b[2J", "a/b"])
def test_no_name_of_a_report_acts_on_a_terminal(twice: Warehouse, wanted: str) -> None:
    with pytest.raises(UnknownName) as said:
        find_report(twice, None, wanted)
    assert "\x1b" not in str(said.value)
