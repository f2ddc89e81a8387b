"""Whatever could prevent publication is refused before a person is asked."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from flows.publish import check_publishable
from tasks.errors import ExpectedError
from tasks.warehouse.store import Warehouse, open_warehouse


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
