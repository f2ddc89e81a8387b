"""The next command for an edition, by what its tables say."""

from datetime import timedelta
from pathlib import Path

import pytest

from tasks.agents.registry import Agents
from tasks.planning.next_step import choose_judge, count_progress, find_leaders, find_next_step
from tasks.publishing.downloads import find_sites
from tasks.site.mark import MARK
from tasks.warehouse.jobs import Job, JobState
from tasks.warehouse.operations import REPORTS_SHA, FetchedEdition, Publication
from tasks.warehouse.pages import Fetch
from tasks.warehouse.results import Score
from tasks.warehouse.rows import Assignment, Citation, Edition, Extraction, Report, Row, utc_now
from tasks.warehouse.store import Warehouse
from tasks.warehouse.writer import Change
from tests.tasks.made_rows import a_row
from tests.tasks.scored_articles import COVERAGE, articles, scored


@pytest.fixture
def warehouse(warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """An edition `e` of two articles to write, in a working folder without sites."""
    monkeypatch.chdir(tmp_path)
    articles(warehouse, ("art", "art"))
    return warehouse


def next_step(warehouse: Warehouse, judge: str = "offline") -> str:
    return find_next_step(warehouse, "e", judge, count_progress(warehouse, "e", judge))


def write(warehouse: Warehouse, *rows: Row) -> None:
    for row in rows:
        warehouse.write(Change(type(row), [row]))


def delivered(warehouse: Warehouse, *agents: str, extracted: bool = True) -> None:
    """Write the reports of these agents on both articles, with what they claim."""
    for agent in agents:
        for assignment in ("x0", "x1"):
            key = {"agent": agent, "assignment": assignment}
            write(warehouse, a_row(Report, **key))
            if extracted:
                write(warehouse, a_row(Extraction, **key))


def test_an_edition_without_assignments_gets_them(warehouse: Warehouse) -> None:
    write(warehouse, Edition(edition="bare", source="wikipedia",
                             imported_at=utc_now() + timedelta(days=1)))  # fmt: skip
    found = count_progress(warehouse, "bare", "offline")
    assert find_next_step(warehouse, "bare", "offline", found) == "evergreen assign"


def test_without_reports_agents_are_asked_or_reports_imported(warehouse: Warehouse) -> None:
    assert next_step(warehouse) == "evergreen import reports FOLDER --agent AGENT"
    write(warehouse, Assignment(edition="e", assignment="x0", article="x0", prompt="Write."))
    assert next_step(warehouse) == "evergreen ask --agent AGENT"


def test_jobs_that_run_are_waited_for_by_asking_the_same_agents(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def configured(*names: str) -> None:
        ask = {"kind": "http", "url": "https://agent.org"}
        entries = {name: {"name": name, "ask": ask} for name in names}
        agents = Agents.model_validate({"clarification_reply": "…", "agents": entries})
        monkeypatch.setattr("tasks.planning.next_step.load_agents", lambda: agents)

    configured("bob", "cid", "dan")
    delivered(warehouse, "ann")
    write(
        warehouse, make_job("bob", "running"), make_job("cid", "overdue"), make_job("ann", "done")
    )
    assert next_step(warehouse) == "evergreen ask --agent bob --agent cid"
    write(warehouse, make_job("dan", "failed"))
    found = count_progress(warehouse, "e", "offline")
    assert (found.jobs, found.failed) == (2, 1)
    configured("bob")
    assert next_step(warehouse) == "evergreen ask --agent bob"
    configured()
    assert "ask" not in next_step(warehouse)


def make_job(agent: str, state: JobState) -> Job:
    return a_row(Job, job=f"{agent}-1", agent=agent, assignment="x0", state=state)


def test_pages_are_fetched_before_reports_are_judged(warehouse: Warehouse) -> None:
    delivered(warehouse, "ann", extracted=False)
    assert next_step(warehouse) == "evergreen fetch"  # it extracts what they cite
    delivered(warehouse, "ann")
    assert next_step(warehouse) == "evergreen evaluate"
    assert next_step(warehouse, "gpt-5") == "evergreen evaluate --judge gpt-5"


def test_a_page_that_was_not_reached_is_fetched_when_its_second_look_is_due(
    warehouse: Warehouse,
) -> None:
    delivered(warehouse, "ann")
    url = "https://host.org/page"
    write(warehouse, a_row(Citation, agent="ann", assignment="x0", url=url, raw_url=url))
    assert next_step(warehouse) == "evergreen fetch"
    fetch = a_row(Fetch, url=url, asked_url=url, source="direct", outcome="unreached")
    write(warehouse, fetch)
    assert next_step(warehouse) == "evergreen evaluate"
    asked = {"fetched_at": utc_now() - timedelta(hours=25), "headers": '{"retry-after": "86400"}'}
    busy = fetch.model_copy(update=asked)
    write(warehouse, busy)
    assert next_step(warehouse) == "evergreen fetch"
    write(warehouse, busy.model_copy(update={"fetched_at": utc_now() - timedelta(hours=23)}))
    assert next_step(warehouse) == "evergreen evaluate", "its host asked for a day"


def test_pages_that_a_fetch_left_pending_keep_nobody_from_judging_the_rest(
    warehouse: Warehouse,
) -> None:
    def fetched(hours_ago: int) -> FetchedEdition:
        found = warehouse.frame(f"SELECT {REPORTS_SHA} AS sha FROM reports WHERE edition = 'e'")
        ended = utc_now() - timedelta(hours=hours_ago)
        return FetchedEdition(edition="e", ended_at=ended, reports_sha=found["sha"][0])

    delivered(warehouse, "ann")
    write(warehouse, a_row(Citation, agent="ann", assignment="x0"))
    assert next_step(warehouse) == "evergreen fetch"
    write(warehouse, fetched(hours_ago=1000))
    assert next_step(warehouse) == "evergreen fetch", "they may be there now"
    write(warehouse, fetched(hours_ago=2))
    assert next_step(warehouse) == "evergreen evaluate"
    delivered(warehouse, "bob")
    assert next_step(warehouse) == "evergreen fetch", "what came since may cite other pages"
    write(warehouse, fetched(hours_ago=0))
    assert next_step(warehouse) == "evergreen evaluate"


def test_what_is_judged_is_published_and_then_explained(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    delivered(warehouse, "ann", "bob")
    scored(warehouse, {COVERAGE: {"ann": (0.9, 0.7), "bob": (0.2, 0.1)}})
    assert next_step(warehouse) == "evergreen publish --to site"
    write(warehouse, Publication(edition="e", folder="the site", judges='["offline"]'))
    site = tmp_path / "the site"
    site.mkdir()
    (site / MARK).write_text('{"edition": "e", "judges": ["offline"], "signature": null}', "utf-8")
    assert [found.folder for found in find_sites(warehouse, "e")] == ["the site"]
    assert next_step(warehouse) == "evergreen publish --to 'the site' --judge offline"
    (site / MARK).unlink()  # it is gone, and somebody knows why
    assert next_step(warehouse) == "evergreen explain ann/x1"


def test_open_cells_are_judged_again(warehouse: Warehouse) -> None:
    delivered(warehouse, "ann")
    scored(warehouse, {COVERAGE: {"ann": (0.9, 0.7)}})
    failed = {"judge": "offline", "value": None, "state": "failed", "cell_id": "c"}
    write(warehouse, a_row(Score, agent="ann", assignment="x0", **failed))
    assert next_step(warehouse) == "evergreen evaluate"


def test_a_judge_that_can_decide_nothing_is_replaced(warehouse: Warehouse) -> None:
    delivered(warehouse, "ann")
    of = {"protocol": "wiki_writing", "metric": "writing_overall", "judge": "offline"}
    for assignment in ("x0", "x1"):
        key = {"agent": "ann", "assignment": assignment}
        write(warehouse, a_row(Score, **of, **key, value=None, state="not_assessed"))
    assert next_step(warehouse) == "evergreen evaluate --judge JUDGE"


def test_an_older_edition_is_named(warehouse: Warehouse) -> None:
    write(warehouse, Edition(edition="newer", source="wlc",
                             imported_at=utc_now() + timedelta(days=1)))  # fmt: skip
    assert next_step(warehouse).endswith(" --edition e")


def test_the_judge_that_has_judged_most_is_meant(warehouse: Warehouse) -> None:
    assert choose_judge(warehouse, "e") == "offline"
    scored(warehouse, {COVERAGE: {"ann": (0.9, None)}}, judge="gpt-5")
    assert choose_judge(warehouse, "e") == "gpt-5"
    scored(warehouse, {COVERAGE: {"ann": (0.9, None)}})
    assert choose_judge(warehouse, "e") == "offline"


def test_those_who_cannot_be_told_apart_lead_together(warehouse: Warehouse) -> None:
    assert find_leaders(warehouse, "e", "offline") is None
    scored(warehouse, {COVERAGE: {"ann": (0.8, 0.6), "bob": (0.9, 0.7)}})
    leaders = find_leaders(warehouse, "e", "offline")
    assert leaders is not None
    assert (leaders.agents, leaders.heading) == (("bob", "ann"), "Cov.")
