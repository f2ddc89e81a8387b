"""What `pages read` has to do is known before a Prefect server is started; and a misspelt warehouse
is refused before a file is made of it."""

import shutil
from pathlib import Path

import pytest

from tasks.planning.options import ReadOptions
from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.refused_server import STARTED, fetch_a_page, refused_server
from tests.tasks.runs import outcome_of

__all__ = ["refused_server"]


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    path = Path(shutil.copy(sample, tmp_path / "w.duckdb"))
    with open_warehouse(path) as store:
        export_edition(store, "sample")
    return path


def test_where_no_page_was_fetched_none_is_read_again(
    warehouse: Path, evergreen: Evergreen
) -> None:
    read = ("pages", "read", "--edition", "sample", "--warehouse", warehouse)
    code, _, said = evergreen(*read)
    assert code == 0
    assert "Nothing was pending: sample: there are no fetched pages to read again." in said
    with open_warehouse(warehouse) as store:
        store._connection.execute("UPDATE editions SET title = 'Another title'")
        assert outcome_of(store, ReadOptions(edition="sample")) is None
        export_edition(store, "sample")
        assert outcome_of(store, ReadOptions(edition="sample"))
    fetch_a_page(warehouse)
    assert STARTED in evergreen(*read)[2]


OF_AN_EDITION = [
    ("agents", "cost", "somebody", "--usd", "1"),
    ("annotate", "make", "--kind", "criteria"),
    ("ask", "--agent", "lexical_baseline"),
    ("ask", "--agent", "lexical_baseline", "--estimate"),
    ("assign",),
    ("backfill", "--agent", "lexical_baseline"),
    ("draft", "rubrics", "--judge", "local", "--to", "drafts"),
    ("evaluate", "--estimate", "--judge", "local"),
    ("evaluate",),
    ("explain", "a/b"),
    ("fetch",),
    ("draft", "import", "draft.json"),
    ("import", "reports", "reports"),
    ("pages", "counts"),
    ("pages", "read"),
    ("pages", "walls"),
    ("publish", "--to", "site"),
    ("rejudge", "--judge", "local"),
]
OF_A_WAREHOUSE = [
    ("agents", "jobs", "some-job", "--ask-again"),
    ("annotate", "import", "sheet.csv", "--annotator", "somebody"),
    ("backfill", "--agent", "lexical_baseline"),
    ("edition", "drop", "sample"),
    ("edition", "verify", "sample"),
]


@pytest.mark.file_only
@pytest.mark.parametrize(
    "command",
    [(*command, "--edition", "sample") for command in OF_AN_EDITION] + OF_A_WAREHOUSE,
    ids=" ".join,
)
def test_a_misspelt_warehouse_is_refused_and_not_made(
    command: tuple[str, ...], tmp_path: Path, evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERGREEN_LOCAL_URL", "http://localhost:1/v1")
    missing = tmp_path / "nowhere" / "w.duckdb"
    code, _, said = evergreen(*command, "--warehouse", missing)
    assert (code, "there is no warehouse yet" in " ".join(said.split())) == (1, True), said
    assert list(tmp_path.iterdir()) == []
