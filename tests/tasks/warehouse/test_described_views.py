"""The views that people ask: each counts what it says it counts."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.warehouse.calls import Call
from tasks.warehouse.explanations import report_id
from tasks.warehouse.jobs import CollectionCost, ImportIssue, Job, JobState
from tasks.warehouse.results import Cell, LeaderboardRow, Score, Verdict
from tasks.warehouse.rows import Report, replace_surrogates
from tasks.warehouse.snapshot import export_edition, open_snapshot
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.scripted_judge import ScriptedJudge
from tests.tasks.citing import ASSIGNMENT, EDITION, judge_all, page, write_edition
from tests.tasks.made_rows import a_row

GOOD, WALL, NEVER = "https://good.org", "https://wall.org", "https://never.org"
KEY = {"edition": EDITION, "agent": "a", "assignment": ASSIGNMENT}
# Names and titles hold no NUL, which a lake keeps but cannot be asked for (Postgres has none).
ANY_TEXT = st.text(st.characters(exclude_characters="\0"), max_size=12).map(replace_surrogates)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """`one` states the fact, `two` does not."""
    reports = {
        "one": [("old mill", [GOOD]), ("red tower", [GOOD, WALL, NEVER])],
        "two": [("red tower", [WALL])],
    }
    with open_warehouse(tmp_path_factory.mktemp("views") / "w.duckdb") as opened:
        write_edition(opened, reports, [page(GOOD, "red tower"), page(WALL, status="bot_wall")])
        judge_all(opened, ScriptedJudge())
        yield opened


def records(warehouse: Warehouse, sql: str) -> list[dict[str, Any]]:
    return warehouse.frame(sql).to_dicts()


def test_a_fact_is_counted_once_for_each_agent_that_was_judged(judged: Warehouse) -> None:
    (fact,) = records(judged, "SELECT * FROM coverage_by_fact")
    assert (fact["fact"], fact["judge"], fact["title"]) == ("old mill", "scripted", "Old Mill")
    assert (fact["n_agents"], fact["n_covered"], fact["share"]) == (2, 1, 0.5)
    (section,) = records(judged, "SELECT * FROM coverage_by_section")
    assert (section["n_facts"], section["n_decided"], section["n_covered"]) == (1, 2, 1)
    assert (section["n_agents"], section["share"]) == (2, 0.5)


def test_a_fact_that_nobody_decided_has_no_share(warehouse: Warehouse) -> None:
    write_edition(warehouse, {"a": []}, [])
    verdict = a_row(Verdict, **KEY, step="coverage", item="fact:0", status="not_assessed")
    score = a_row(Score, **KEY, value=None, cell_id="c")
    warehouse.write(Change(Verdict, [verdict]), Change(Score, [score]))
    (fact,) = records(warehouse, "SELECT n_agents, n_covered, share FROM coverage_by_fact")
    (section,) = records(warehouse, "SELECT n_decided, share FROM coverage_by_section")
    assert fact == {"n_agents": 0, "n_covered": 0, "share": None}
    assert section == {"n_decided": 0, "share": None}


def test_a_verdict_is_explained_by_its_claim_its_fact_and_its_page(judged: Warehouse) -> None:
    found = records(judged, "SELECT * FROM verdicts_explained WHERE agent = 'one'")
    stored = judged.frame("SELECT count(*) FROM current_verdicts WHERE agent = 'one'").item()
    assert len(found) == stored
    by_item = {(row["step"], row["item"]): row for row in found}
    fact = by_item["coverage", "fact:0"]
    assert (fact["fact"], fact["claim"], fact["page_status"]) == ("old mill", None, None)
    conflict = by_item["conflict", "claim:1"]
    assert (conflict["claim_number"], conflict["claim"], conflict["url"]) == (1, "red tower", None)
    pages = {url: by_item["citation", f"claim:1 {url}"] for url in (GOOD, WALL, NEVER)}
    assert {url: row["page_status"] for url, row in pages.items()} == {
        GOOD: "ok", WALL: "bot_wall", NEVER: "not fetched",
    }  # fmt: skip
    assert {row["claim"] for row in pages.values()} == {"red tower"}
    assert pages[GOOD]["prompt_sha"] == "sha-of-wiki_fact"


def test_views_of_the_wiki_protocols_hold_nothing_of_another(judged: Warehouse) -> None:
    def shown(view: str) -> list[dict[str, Any]]:
        return records(judged, f"SELECT * FROM {view} ORDER BY ALL")

    views = ("fact_verdicts", "coverage_by_fact", "leaderboard_wide")
    before = [shown(view) for view in views]
    copied = [
        row.model_copy(update={"protocol": "fact", "cell_id": f"fact of {row.cell_id}"})
        for row in judged.rows(Verdict, "protocol = 'wiki_fact'")
    ]
    named = [
        row.model_copy(update={"protocol": "fact", "cell_id": f"fact of {row.cell_id}"})
        for row in judged.rows(Score, "protocol = 'wiki_fact'")
    ]
    figure = a_row(LeaderboardRow, protocol="fact", agent="only here", provisional=True)
    judged.write(Change(Verdict, copied), Change(Score, named), Change(LeaderboardRow, [figure]))
    assert copied
    assert [shown(view) for view in views] == before
    of_fact = {"protocol": "fact"}
    judged.write(
        Change(Verdict, [], replacing=of_fact), Change(Score, [], replacing=of_fact),
        Change(LeaderboardRow, [], replacing=of_fact),
    )  # fmt: skip


def test_what_is_open_and_what_failed_is_counted_by_agent(judged: Warehouse) -> None:
    failed = {
        (row["agent"], row["stage"], row["failure"]): row["n"]
        for row in records(judged, "SELECT * FROM failures_by_agent")
    }
    assert failed == {
        ("one", "page", "bot_wall"): 1,
        ("one", "verdict", "skipped"): 1,
        ("one", "verdict", "unfetchable"): 1,
        ("two", "page", "bot_wall"): 1,
        ("two", "verdict", "unfetchable"): 1,
    }
    [waiting] = records(judged, "SELECT agent, n_open FROM open_items")
    assert waiting == {"agent": "one", "n_open": 1}  # a page that was never fetched


def test_reports_that_wait_or_failed_or_lack_something_are_open(warehouse: Warehouse) -> None:
    def score(assignment: str, state: str, n_open: int, reason: str | None) -> Score:
        of = {"assignment": assignment, "state": state, "n_open": n_open, "reason": reason}
        return a_row(Score, **of, value=None)

    warehouse.write(
        Change(Score, [
            score("1", "pending", 0, "waits for facts"), score("2", "failed", 0, "broken"),
            score("3", "done", 4, None), score("4", "done", 0, None),
            score("5", "not_assessed", 0, "it cannot"), score("6", "empty", 0, "empty"),
            score("7", "pending", 0, "3 items are open"),
        ])
    )  # fmt: skip
    found = warehouse.frame("SELECT assignment, state, n_open, reason FROM open_items").rows()
    assert found == [
        ("1", "pending", 0, "waits for facts"),
        ("2", "failed", 0, "broken"),
        ("3", "open", 4, "cited pages or answers are missing"),
        ("7", "open", 3, "3 items are open"),
    ]


def job(assignment: str, usd: float | None, state: JobState = "done", attempt: int = 1) -> Job:
    of = {"assignment": assignment, "job": f"{assignment} {attempt}", "attempt": attempt}
    error = "no answer" if state == "failed" else None
    return a_row(Job, **of, state=state, cost_usd=usd, error=error)


def cost(warehouse: Warehouse) -> dict[str, Any]:
    (row,) = records(warehouse, "SELECT * FROM cost_by_agent")
    return row


def test_a_cost_says_whether_it_is_known_of_all_reports(warehouse: Warehouse) -> None:
    entered = [a_row(CollectionCost, assignment=name, usd=4.0) for name in "23"]
    warehouse.write(Change(Report, [a_row(Report, assignment=name) for name in "123"]))
    row = cost(warehouse)
    assert (row["reports"], row["priced_reports"], row["report_cost"]) == (3, 0, "unknown")
    assert (row["report_usd"], row["usd_per_report"], row["judging_cost"]) == (None,) * 3
    warehouse.write(
        Change(Job, [job("1", 1.0, "failed"), job("1", 2.0, attempt=2), job("4", 1.0)]),
        Change(CollectionCost, entered[1:]),
    )
    row = cost(warehouse)
    assert (row["reports"], row["priced_reports"], row["report_cost"]) == (3, 2, "at least")
    assert (row["report_usd"], row["usd_per_report"]) == (8.0, None)
    warehouse.write(Change(CollectionCost, entered[:1]))
    row = cost(warehouse)
    assert (row["priced_reports"], row["report_cost"]) == (3, "known")
    assert (row["report_usd"], row["usd_per_report"]) == (12.0, 4.0)


def test_judging_without_calls_says_so_and_is_unknown_without_a_price(warehouse: Warehouse) -> None:
    verdict = a_row(Verdict)
    warehouse.write(
        Change(Report, [a_row(Report)]), Change(Cell, [a_row(Cell)]), Change(Verdict, [verdict])
    )
    row = cost(warehouse)
    assert (row["judged_reports"], row["judging_calls"]) == (1, 0)
    assert (row["judging_usd"], row["judging_cost"]) == (None, "no calls")
    bought = verdict.model_copy(update={"call_id": "c"})
    warehouse.write(Change(Verdict, [bought]), Change(Call, [a_row(Call, cost_usd=0.25)]))
    row = cost(warehouse)
    assert (row["judging_calls"], row["unpriced_calls"]) == (1, 0)
    assert (row["judging_usd"], row["judging_usd_per_report"]) == (0.25, 0.25)
    assert row["judging_cost"] == "known"
    warehouse.write(Change(Call, [a_row(Call, cost_usd=None)]))
    row = cost(warehouse)
    assert (row["judging_calls"], row["unpriced_calls"]) == (1, 1)
    assert (row["judging_usd"], row["judging_usd_per_report"]) == (None, None)


def test_failed_jobs_and_unreadable_files_are_counted_as_failures(warehouse: Warehouse) -> None:
    issue = a_row(ImportIssue, scope="a", path="x.md", kind="not_utf8",
                  severity="unreadable", message="x.md is not UTF-8")  # fmt: skip
    warehouse.write(
        Change(Job, [job("1", None, "failed"), job("2", None, "lost"), job("3", 1.0)]),
        Change(ImportIssue, [issue, issue.model_copy(update={"scope": "", "path": "y"})]),
    )
    found = warehouse.frame("SELECT agent, stage, failure, n, example FROM failures_by_agent")
    assert found.rows() == [
        ("a", "import", "not_utf8", 1, "x.md is not UTF-8"),
        ("a", "report", "failed", 1, "no answer"),
        ("a", "report", "lost", 1, None),
    ]


def test_the_index_counts_what_there_is_of_each_report(judged: Warehouse) -> None:
    rows = records(judged, "SELECT * FROM report_index")
    assert [(r["agent"], r["n_claims"], r["n_citations"], r["n_facts"]) for r in rows] == [
        ("one", 2, 4, 1), ("two", 1, 1, 1),
    ]  # fmt: skip
    assert rows[0]["n_characters"] == len("A report.")


@settings(max_examples=3, deadline=None)
@given(keys=st.sets(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), min_size=20, max_size=40))
def test_the_index_gives_every_report_the_id_that_pages_have(
    keys: set[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reports = [a_row(Report, edition=e, agent=a, assignment=x) for e, a, x in sorted(keys)]
    with open_warehouse(tmp_path_factory.mktemp("ids") / "w.duckdb") as opened:
        opened.write(Change(Report, reports))
        rows = opened.frame("SELECT report, edition, agent, assignment FROM report_index").rows()
    assert {tuple(key): report for report, *key in rows} == {key: report_id(*key) for key in keys}


def test_an_export_from_before_a_table_was_added_is_read_without_it(judged: Warehouse) -> None:
    (export_edition(judged, EDITION) / "agent_pairs.parquet").unlink()
    connection, _ = open_snapshot(judged.location)
    with connection:
        assert connection.sql("SELECT count(*) FROM agent_pairs").fetchall() == [(0,)]
        assert connection.sql("SELECT count(*) > 0 FROM reports").fetchall() == [(True,)]


def test_an_export_has_the_same_views_with_the_same_rows(judged: Warehouse) -> None:
    export_edition(judged, EDITION)
    connection, _ = open_snapshot(judged.location)
    with connection:
        for view in ("coverage_by_fact", "verdicts_explained", "report_index", "cost_by_agent"):
            sql = f"SELECT * FROM {view} ORDER BY ALL"
            assert connection.sql(sql).pl().to_dicts() == records(judged, sql)
