"""`evergreen` alone: five lines in a project, the help elsewhere."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.warehouse.file_lock import lock_warehouse
from tasks.warehouse.pages import Fetch
from tasks.warehouse.rows import Citation
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tasks.warehouse.writer import Change
from tests.flows.conftest import Evergreen
from tests.tasks.scored_articles import COVERAGE, articles, scored

FIVE = [
    "Warehouse  data/warehouse.duckdb",
    "Edition    e: 2 articles, 0 agents",
    "Done       0 reports, 4 cells judged by offline; pending: nothing",
    "Leader     bob (Cov. 80.0) or ann",
    "Next       evergreen import reports FOLDER --agent AGENT",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without a word about another warehouse."""
    monkeypatch.delenv("EVERGREEN_WAREHOUSE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_warehouse(project: Path) -> Path:
    (project / "data").mkdir()
    path = project / "data" / "warehouse.duckdb"
    with open_warehouse(path) as store:
        articles(store, ("art", "art"))
        scored(store, {COVERAGE: {"ann": (0.8, 0.6), "bob": (0.9, 0.7)}})
        export_edition(store, "e")
    return path


def test_elsewhere_it_prints_the_help(project: Path, evergreen: Evergreen) -> None:
    code, out, _ = evergreen()
    assert (code, "Usage: " in out) == (0, True)
    assert not [*project.iterdir()]


def test_in_a_new_project_it_says_how_to_begin(project: Path, evergreen: Evergreen) -> None:
    (project / "configs").mkdir()
    code, out, _ = evergreen()
    assert code == 0
    assert out.splitlines()[0] == "Warehouse  data/warehouse.duckdb: none yet"
    assert "evergreen demo" in out
    assert [path.name for path in project.iterdir()] == ["configs"]


def test_in_a_project_it_says_in_five_lines_where_one_stands(
    project: Path, evergreen: Evergreen
) -> None:
    make_warehouse(project)
    code, out, said = evergreen()
    assert (code, out.splitlines(), said) == (0, FIVE, "")


def test_while_a_run_owns_the_warehouse_it_reads_the_export(
    project: Path, evergreen: Evergreen
) -> None:
    with lock_warehouse(make_warehouse(project)):
        code, out, _ = evergreen()
    assert (code, out.splitlines()[1:]) == (0, FIVE[1:])
    assert out.startswith(f"{FIVE[0]} (in use; this is its last export)\n")


def test_an_empty_warehouse_and_one_that_is_named(project: Path, evergreen: Evergreen) -> None:
    with open_warehouse(project / "other.duckdb"):
        pass
    code, out, _ = evergreen("--warehouse", project / "other.duckdb")
    assert (code, "Edition    none yet. Import one (" in out) == (0, True)


def test_nothing_judged_is_said(project: Path, evergreen: Evergreen) -> None:
    path = project / "w.duckdb"
    with open_warehouse(path) as store:
        articles(store, ("art",))
    _, out, _ = evergreen("--warehouse", path)
    assert "Edition    e: 1 article, 0 agents" in out
    assert "Leader     nothing judged yet" in out


def test_pages_of_a_busy_host_are_named_with_the_time_to_fetch_them(
    project: Path, evergreen: Evergreen
) -> None:
    path, url = make_warehouse(project), "https://busy.org/page"
    with open_warehouse(path) as store:
        cited = Citation(edition="e", agent="ann", assignment="x0", number=0, url=url, raw_url=url,
                         kind="explicit")  # fmt: skip
        busy = Fetch(edition="e", url=url, asked_url=url, source="direct", outcome="unreached",
                     fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
                     headers='{"retry-after": "86400"}')  # fmt: skip
        store.write(Change(Citation, [cited]), Change(Fetch, [busy]))
        export_edition(store, "e")
    again = "again after 2026-01-02 00:00 UTC."
    assert again in " ".join(evergreen("status")[1].split())
    with lock_warehouse(path):
        assert again in " ".join(evergreen("status")[1].split()), "the export tells it, too"
