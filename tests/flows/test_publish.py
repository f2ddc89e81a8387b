"""Whatever could prevent publication is refused before a person is asked."""

import asyncio
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from flows.publish import check_publishable, run_site_task
from tasks.errors import ExpectedError
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.flows.plain_prefect import plain_prefect


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "warehouse.duckdb"))


@pytest.fixture
def store(path: Path) -> Iterator[Warehouse]:
    with open_warehouse(path) as store:
        yield store


@pytest.mark.parametrize(
    ("edition", "judges", "folder", "said"),
    [
        ("sampel", [], "new", "There is no edition 'sampel'"),
        ("sample", ["offlin"], "new", "no figures of the judge 'offlin'"),
        ("sample", [], "thesis", "thesis holds files and no "),
    ],
    ids=["edition", "judge", "folder"],
)
def test_a_wrong_name_and_a_folder_of_something_else_are_refused(
    store: Warehouse, tmp_path: Path, edition: str, judges: list[str], folder: str, said: str
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work", "utf-8")
    with pytest.raises(ExpectedError, match=re.escape(said)):
        check_publishable(store, edition, judges, tmp_path / folder)


def test_figures_older_than_their_scores_are_refused(path: Path, tmp_path: Path) -> None:
    with open_warehouse(path) as store:
        check_publishable(store, "sample", [], tmp_path / "new")
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE scores SET n_open = n_open + 1")
    with (
        open_warehouse(path) as store,
        pytest.raises(ExpectedError, match="is behind its scores"),
    ):
        check_publishable(store, "sample", [], tmp_path / "new")


def test_a_log_says_which_part_of_the_site_is_being_written(
    store: Warehouse, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with plain_prefect():
        asyncio.run(run_site_task(store, "sample", tmp_path / "site"))
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("Writing the")]
    parts = ("figures", "reports", "assignments", "cited pages", "agents and analyses", "data")
    assert said == [
        "Writing the site",
        *(f"Writing the site: {each}" for each in (*parts, "boards")),
    ]
