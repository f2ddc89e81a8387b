"""Commands that would do nothing say so, and start no Prefect server."""

import shutil
from pathlib import Path

import pytest

from tasks.configuration.models import load_judges
from tasks.editions.prompts import assign_writing
from tasks.planning.edition_options import AssignOptions
from tasks.planning.options import AskOptions, BackfillOptions, EvaluateOptions, FetchOptions
from tasks.planning.steps import find_backfill_outcome
from tasks.warehouse.rows import Report, content_sha
from tasks.warehouse.snapshot import export_edition, is_snapshot_current
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.tasks.runs import outcome_of

JUDGE = load_judges().default
AGENT = "sample_blogger"


@pytest.fixture(scope="module")
def finished(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small edition, judged by Wiki Fact, with a prompt for every article, and its
    export; to be copied."""
    path = Path(shutil.copy(small, tmp_path_factory.mktemp("finished") / "w.duckdb"))
    with open_warehouse(path) as store:
        assign_writing(store, "sample")
        export_edition(store, "sample")
    return path.parent


@pytest.fixture
def warehouse(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "w", symlinks=True)) / "w.duckdb"


@pytest.fixture
def without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.run.start_server", lambda **_: pytest.fail("a server was started"))


EVALUATE = EvaluateOptions(edition="sample", protocols=["wiki_fact"])


def ask(*agents: str) -> AskOptions:
    return AskOptions(edition="sample", agents=[*agents])


def backfilled(store: Warehouse, agent: str) -> str | None:
    asked = BackfillOptions(agents=[agent], editions=["sample"], protocols=["wiki_fact"])
    return find_backfill_outcome(store, asked, JUDGE)


def write_report(store: Warehouse, text: str) -> None:
    """Another report in the place of one that is judged."""
    [before] = store.rows(Report, "agent = $1 AND assignment LIKE 'Eddystone%'", [AGENT])
    store.write(Change(Report, [before.model_copy(
        update={"text": text, "text_sha": content_sha(text)})]))  # fmt: skip


@pytest.mark.usefixtures("without_a_run")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("evaluate", "--protocol", "wiki_fact"), "sample is evaluated."),
        (("assign",), "sample: 1 assignment to write an article, 0 of them new."),
        (("fetch",), "cited pages are archived."),
    ],
    ids=["evaluate", "assign", "fetch"],
)
def test_a_command_that_would_do_nothing_says_so(
    command: tuple[str, ...], said: str, warehouse: Path, evergreen: Evergreen
) -> None:
    code, _, remarks = evergreen(*command, "--edition", "sample", "--warehouse", warehouse)
    assert code == 0
    assert "Nothing was pending: sample" in remarks
    assert said in remarks


def test_an_evaluation_is_not_done_while_a_report_is_new(warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        assert outcome_of(store, EVALUATE) == "sample is evaluated."
        write_report(store, "The lighthouse was first lit in 1698.")
        assert outcome_of(store, EVALUATE) is None


def test_nothing_is_done_before_its_export_is(warehouse: Path) -> None:
    """What a run that was killed between its last row and its export leaves for the next one."""

    def outcomes(store: Warehouse) -> list[str | None]:
        return [
            outcome_of(store, FetchOptions(edition="sample", fallbacks=[])),
            outcome_of(store, ask(AGENT)),
            outcome_of(store, EVALUATE),
        ]

    with open_warehouse(warehouse) as store:
        assert None not in outcomes(store)
        store._connection.execute("UPDATE pages SET title = 'Another title' WHERE status = 'ok'")
        assert outcomes(store) == [None, None, None]
        export_edition(store, "sample")
        assert None not in outcomes(store)


def test_an_agent_that_is_asked_for_nothing_has_no_stages_to_come(warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        store._connection.execute("UPDATE assignments SET prompt = NULL")
        export_edition(store, "sample")
        assert backfilled(store, "a_newcomer") == "sample: no report of a_newcomer is missing."


@pytest.mark.parametrize("table", ["cells", "scores", "leaderboard", "diagnostics"])
def test_an_evaluation_is_not_done_while_a_stage_is_behind(table: str, warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        store._connection.execute(f"DELETE FROM {table}")
        assert outcome_of(store, EVALUATE) is None


def test_nobody_is_asked_whose_reports_are_there(warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        outcome = outcome_of(store, ask(AGENT))
        assert outcome == f"sample: no report of {AGENT} is missing."
        assert outcome_of(store, ask(AGENT, "a_newcomer")) is None


def test_a_backfill_is_done_when_all_its_stages_are(warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        done = backfilled(store, AGENT)
        assert done is not None
        assert "sample is evaluated." in done
        assert backfilled(store, "a_newcomer") is None
        write_report(store, "Another one.")
        assert backfilled(store, AGENT) is None


def test_a_new_article_has_to_be_assigned(warehouse: Path) -> None:
    with open_warehouse(warehouse) as store:
        assert outcome_of(store, AssignOptions(edition="sample"))
        store._connection.execute("UPDATE assignments SET prompt = NULL")
        assert not outcome_of(store, AssignOptions(edition="sample"))


@pytest.mark.parametrize("command", [("evaluate", "--protocol", "wiki_fact"), ("fetch",)])
def test_the_next_run_exports_what_a_killed_one_has_not(
    command: tuple[str, ...], warehouse: Path, evergreen: Evergreen
) -> None:
    with open_warehouse(warehouse) as store:
        store._connection.execute("UPDATE editions SET title = 'Another title'")
        assert not is_snapshot_current(store, "sample")
    code, _, remarks = evergreen(*command, "--edition", "sample", "--warehouse", warehouse)
    assert code == 0
    assert "Nothing was pending" not in remarks
    with open_warehouse(warehouse) as store:
        assert is_snapshot_current(store, "sample")
