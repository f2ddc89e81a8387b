"""The command in the hands of a user who makes mistakes: clear words, exit codes, nothing lost."""

import io
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.rigs.compared_tables import contents
from tests.sample_edition import PART as SAMPLE
from tests.tasks.annotated import sample_warehouse

ROOT = Path(__file__).resolve().parents[3]
REPORT = "test_data/sample_blogger/md_data/Mercury_(planet).md"
OF_A_REPORT = "test_data/sample_scholar/json_data/Mercury_(planet).json"


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """A copy of the sample edition to damage."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "edition"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """With the sample edition."""
    return sample_warehouse(tmp_path)


@pytest.mark.parametrize(
    ("name", "damaged", "said", "n_reports"),
    [(REPORT, b"\xff\xfe not text", "UTF-8", 8), (OF_A_REPORT, b'{"query": ', OF_A_REPORT, 9)],
    ids=["a report that is not UTF-8", "a report's JSON that is cut"],
)
def test_a_file_that_cannot_be_read_is_listed_and_the_rest_goes_in(
    evergreen: Evergreen, layout: Path, tmp_path: Path, name: str, damaged: bytes, said: str,
    n_reports: int,
) -> None:  # fmt: skip
    (layout / name).write_bytes(damaged)
    warehouse = tmp_path / "w.duckdb"
    code, _, remarks = evergreen("import", "wlc", layout, "--warehouse", warehouse)
    assert code == 0
    assert name in remarks
    assert said in remarks
    with open_warehouse(warehouse) as store:
        assert store.value("SELECT count(*) FROM reports") == n_reports


def test_an_empty_report_goes_in_as_empty(
    evergreen: Evergreen, layout: Path, tmp_path: Path
) -> None:
    (layout / REPORT).write_text("  \n")
    warehouse = tmp_path / "w.duckdb"
    assert evergreen("import", "wlc", layout, "--warehouse", warehouse)[0] == 0
    _, status, _ = evergreen("status", "--format", "json", "--warehouse", warehouse)
    stages = {row["stage"]: row for row in json.loads(status)}
    assert (stages["reports"]["done"], stages["reports"]["final"]) == (8, 1)
    assert stages["verdicts wiki_fact"]["pending"] == 8


def test_importing_again_changes_nothing(evergreen: Evergreen, warehouse: Path) -> None:
    def made() -> object:
        with duckdb.connect(str(warehouse), read_only=True) as connection:
            return connection.execute("SELECT imported_at FROM editions").fetchall()

    before = contents(warehouse), made()
    remarks = evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)[2]
    assert "0 new or changed" in remarks
    assert (contents(warehouse), made()) == before


def test_a_newer_warehouse_is_refused_and_left_alone(evergreen: Evergreen, warehouse: Path) -> None:
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("UPDATE warehouse_info SET schema_version = 99")
    before = warehouse.read_bytes()
    for arguments in (("import", "wlc", SAMPLE), ("evaluate", "--edition", "sample"),
                      ("status",), ("sql", "SELECT 1")):  # fmt: skip
        code, _, remarks = evergreen(*arguments, "--warehouse", warehouse)
        assert (code, "schema version 99" in remarks) == (1, True)
    assert warehouse.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(evergreen: Evergreen) -> None:
    asked = ("import", "wlc", SAMPLE, "--warehouse", "/proc/evergreen/w.duckdb")
    code, _, remarks = evergreen(*asked)
    assert code == 1
    assert "/proc/evergreen" in remarks
    assert "--warehouse" in remarks


def test_the_warehouse_may_be_named_before_the_command_or_in_the_environment(
    evergreen: Evergreen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVERGREEN_WAREHOUSE", raising=False)
    warehouse = tmp_path / "w.duckdb"
    assert evergreen("--warehouse", warehouse, "import", "wlc", SAMPLE)[0] == 0
    assert warehouse.exists()
    monkeypatch.setenv("EVERGREEN_WAREHOUSE", str(warehouse))
    assert "sample" in evergreen("status")[1]


def test_sql_answers_as_csv_and_json(evergreen: Evergreen, warehouse: Path) -> None:
    question = "SELECT agent, count(*) AS n FROM reports GROUP BY agent ORDER BY agent"
    asked = ("sql", question, "--warehouse", warehouse, "--format")
    assert json.loads(evergreen(*asked, "json")[1])[0] == {"agent": "sample_blogger", "n": 3}
    assert evergreen(*asked, "csv")[1].splitlines()[:2] == ["agent,n", "sample_blogger,3"]


def test_sql_may_begin_with_a_comment_and_come_from_stdin(
    evergreen: Evergreen, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "-- How many there are\nSELECT 1 AS n"
    common = ("--format", "csv", "--warehouse", warehouse)
    assert evergreen("sql", asked, *common)[1] == "n\n1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(asked))
    assert evergreen("sql", "-", *common)[1] == "n\n1\n"
