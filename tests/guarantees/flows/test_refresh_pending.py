"""What a month has left to do is known before a Prefect server is started."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tasks.editions.manifest import build_manifest, hash_manifest
from tasks.editions.prompts import assign_writing
from tasks.editions.refresh import load_refresh
from tasks.planning.month import find_unfinished
from tasks.protocols.registry import default_protocols
from tasks.publishing.site import build_site
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import Warehouse, open_warehouse
from tasks.warehouse.wiki_editions import Collection
from tasks.warehouse.writer import Change
from tests.flows.asked_runs import agents_of, write_agents
from tests.flows.conftest import Evergreen
from tests.flows.plain_evaluation import evaluate_plainly
from tests.flows.refused_server import STARTED, change, fetch_a_page, refused_server
from tests.tasks.planning.test_month import begun
from tests.tasks.planning.test_unfinished import ran

__all__ = ["refused_server"]
AGENTS = ("sample_blogger", "sample_scholar")
REFRESH = ("refresh", "--edition", "sample", *(f"--agent={agent}" for agent in AGENTS))
SINCE, UNTIL = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 12, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def finished(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a month of which nothing is left and its site; to be copied. The agents'
    reports come from a folder."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "kept").mkdir()
    path = Path(shutil.copy(small, folder / "kept" / "w.duckdb"))
    evaluate_plainly(path, default_protocols("wlc"))
    with open_warehouse(path) as store:
        freeze(store)
        assign_writing(store, "sample")
        build_site(store, "sample", folder / "site")
        export_edition(store, "sample")
    dropped = {"name": "Dropped", "ask": {"kind": "file_drop", "folder": str(folder / "in")}}
    with agents_of(write_agents(folder, **dict.fromkeys(AGENTS, dropped))):
        yield folder


def freeze(store: Warehouse) -> None:
    """As if the sample had been collected."""
    begun = Collection(
        edition="sample", api_url="https://wiki.example/w/api.php", category="c",
        created_since=SINCE, created_until=UNTIL, n_articles=1, rules="{}", formula_version="1",
        n_members=1, frozen_at=UNTIL,
    )  # fmt: skip
    manifest = build_manifest(store, begun)
    frozen = begun.model_copy(
        update={"manifest": manifest, "manifest_sha": hash_manifest(manifest)}
    )
    store.write(Change(Collection, [frozen]))


@pytest.fixture
def month(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished / "kept", tmp_path / "w", symlinks=True)) / "w.duckdb"


def test_a_month_of_which_nothing_is_left_says_so(
    finished: Path, month: Path, evergreen: Evergreen
) -> None:
    site = finished / "site"
    mark = (site / "site.json").stat().st_mtime_ns
    code, shown, said = evergreen(*REFRESH, "--site", site, "--warehouse", month)
    assert code == 0, said
    assert "Nothing was pending: sample is refreshed." in said
    assert "is up to date" in said
    assert "sample_scholar" in shown
    assert (site / "site.json").stat().st_mtime_ns == mark
    _, _, said = evergreen(*REFRESH, "--no-publish", "--warehouse", month)
    assert "Nothing was pending: sample is refreshed. sample is evaluated." in said


def test_a_month_that_others_have_finished_is_so_once_refresh_has_seen_it(
    month: Path, evergreen: Evergreen
) -> None:
    asked = (*REFRESH, "--no-publish", "--warehouse", month)
    with open_warehouse(month) as store:
        ran(store, "incomplete", "sample")
        assert [*find_unfinished(store, load_refresh())] == ["sample"]
    code, _, said = evergreen(*asked)
    assert (code, "Nothing was pending: sample is refreshed." in said) == (0, True)
    with open_warehouse(month) as store:
        assert find_unfinished(store, load_refresh()) == {}
        begun(store, "2025-01")
        ran(store, "incomplete", "2025-01")
    assert STARTED in evergreen(*asked)[2], "it looks at what is under way in the other"


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE collections SET frozen_at = NULL",
        "UPDATE assignments SET prompt = NULL WHERE assignment LIKE 'Eddystone%'",
        "INSERT INTO assignments SELECT * REPLACE ('more' AS assignment, 'research' AS kind, "
        "'' AS article) FROM assignments LIMIT 1",
        "DELETE FROM cells WHERE agent = 'sample_scholar'",
        "DELETE FROM leaderboard",
        "",
    ],
    ids=["freezing", "assigning", "asking", "judging", "ranking", "reading"],
)
def test_a_month_goes_on_where_a_step_is_left(
    sql: str, month: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGREEN_OPERATOR", "test@example.org")
    change(month, sql) if sql else fetch_a_page(month)
    code, _, said = evergreen(*REFRESH, "--no-publish", "--warehouse", month)
    assert (code, STARTED in said) == (1, True)


def test_a_month_whose_site_is_not_as_its_figures_are_is_published(
    finished: Path, month: Path, tmp_path: Path, evergreen: Evergreen
) -> None:
    site = Path(shutil.copytree(finished / "site", tmp_path / "site"))
    (site / "data" / "scores.csv").write_text("of the month before")
    assert STARTED in evergreen(*REFRESH, "--site", site, "--warehouse", month)[2]
    assert STARTED in evergreen(*REFRESH, "--site", tmp_path / "new", "--warehouse", month)[2]


def test_a_finished_month_is_still_compared_with_its_manifest(
    month: Path, evergreen: Evergreen
) -> None:
    change(month, "UPDATE articles SET views = 1 + coalesce(views, 0)")
    code, _, said = evergreen(*REFRESH, "--no-publish", "--warehouse", month)
    assert (code, "sample has changed since it was frozen" in said) == (1, True)


def test_a_month_that_ends_early_is_run(
    month: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agents search pages and none is archived, or there is nothing to ask them."""
    asked = (*REFRESH, "--no-publish", "--warehouse", month)
    monkeypatch.setattr("tasks.planning.steps.has_pages", lambda store, edition: False)
    assert "Nothing was pending" in evergreen(*asked)[2]  # these agents search none
    for name, said in (("searches_archive", True), ("has_prompts", False)):
        with monkeypatch.context() as patch:
            patch.setattr(f"tasks.planning.steps.{name}", lambda *_, said=said: said)
            assert STARTED in evergreen(*asked)[2]
