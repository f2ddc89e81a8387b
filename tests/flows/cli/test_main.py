"""The command in the hands of a user who makes mistakes: clear words, exit codes, nothing lost."""

import io
import json
import shutil
import sys
from pathlib import Path

import duckdb
import pytest

from flows.cli.main import main
from tasks.warehouse.store import open_warehouse
from tests.conftest import PREFECT_HOME
from tests.sample_edition import PART

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = PART
REPORT = Path("test_data/sample_blogger/md_data/Mercury_(planet).md")


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """A copy of the sample edition to damage."""
    return Path(shutil.copytree(SAMPLE, tmp_path / "edition"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


class Answer:
    """What one call of the command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def evergreen(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVERGREEN_WAREHOUSE", raising=False)
    monkeypatch.setenv("EVERGREEN_PREFECT_HOME", str(PREFECT_HOME))

    def call(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["evergreen", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        code = ended.value.code
        return Answer(code if isinstance(code, int) else 0, said.out, said.err)

    return call


def test_a_report_that_is_not_utf8_is_listed_and_the_rest_goes_in(  # type: ignore[no-untyped-def]
    evergreen, layout: Path, warehouse: Path
) -> None:
    (layout / REPORT).write_bytes(b"\xff\xfe not text")
    answer = evergreen("import", "wlc", layout, "--warehouse", warehouse)
    assert answer.code == 0
    assert str(REPORT) in answer.err
    assert "UTF-8" in answer.err
    with open_warehouse(warehouse) as store:
        assert store.value("SELECT count(*) FROM reports") == 8


def test_an_empty_report_goes_in_as_empty(evergreen, layout: Path, warehouse: Path) -> None:  # type: ignore[no-untyped-def]
    (layout / REPORT).write_text("  \n")
    assert evergreen("import", "wlc", layout, "--warehouse", warehouse).code == 0
    status = evergreen("status", "--format", "json", "--warehouse", warehouse)
    stages = {row["stage"]: row for row in json.loads(status.out)}
    assert (stages["reports"]["done"], stages["reports"]["final"]) == (8, 1)
    assert stages["verdicts wiki_fact"]["pending"] == 8


def test_a_broken_json_is_listed_and_its_report_goes_in_without_it(  # type: ignore[no-untyped-def]
    evergreen, layout: Path, warehouse: Path
) -> None:
    path = Path("test_data/sample_scholar/json_data/Mercury_(planet).json")
    (layout / path).write_text('{"query": ')
    answer = evergreen("import", "wlc", layout, "--warehouse", warehouse)
    assert answer.code == 0
    assert str(path) in answer.err
    with open_warehouse(warehouse) as store:
        assert store.value("SELECT count(*) FROM reports") == 9


def test_importing_again_changes_nothing(evergreen, warehouse: Path) -> None:  # type: ignore[no-untyped-def]
    from tests.rigs.compared_tables import contents

    evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)
    before = contents(warehouse)
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        made = connection.execute("SELECT imported_at FROM editions").fetchall()
    answer = evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)
    assert "0 new or changed" in answer.err
    assert contents(warehouse) == before
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        assert connection.execute("SELECT imported_at FROM editions").fetchall() == made


def test_a_newer_warehouse_is_refused_and_left_alone(evergreen, warehouse: Path) -> None:  # type: ignore[no-untyped-def]
    evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("UPDATE warehouse_info SET schema_version = 99")
    before = warehouse.read_bytes()
    for arguments in (("import", "wlc", SAMPLE), ("evaluate", "--edition", "sample"),
                      ("status",), ("sql", "SELECT 1")):  # fmt: skip
        answer = evergreen(*arguments, "--warehouse", warehouse)
        assert answer.code == 1
        assert "schema version 99" in answer.err
    assert warehouse.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(evergreen) -> None:  # type: ignore[no-untyped-def]
    answer = evergreen("import", "wlc", SAMPLE, "--warehouse", "/proc/evergreen/w.duckdb")
    assert answer.code == 1
    assert "/proc/evergreen" in answer.err
    assert "--warehouse" in answer.err


def test_the_warehouse_may_be_named_before_the_command_or_in_the_environment(  # type: ignore[no-untyped-def]
    evergreen, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evergreen("--warehouse", warehouse, "import", "wlc", SAMPLE).code == 0
    assert warehouse.exists()
    monkeypatch.setenv("EVERGREEN_WAREHOUSE", str(warehouse))
    assert "sample" in evergreen("status").out


def test_sql_answers_as_csv_and_json(evergreen, warehouse: Path) -> None:  # type: ignore[no-untyped-def]
    evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)
    question = "SELECT agent, count(*) AS n FROM reports GROUP BY agent ORDER BY agent"
    as_json = evergreen("sql", question, "--format", "json", "--warehouse", warehouse)
    assert json.loads(as_json.out)[0] == {"agent": "sample_blogger", "n": 3}
    as_csv = evergreen("sql", question, "--format", "csv", "--warehouse", warehouse)
    assert as_csv.out.splitlines()[:2] == ["agent,n", "sample_blogger,3"]


def test_sql_may_begin_with_a_comment_and_come_from_stdin(  # type: ignore[no-untyped-def]
    evergreen, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evergreen("import", "wlc", SAMPLE, "--warehouse", warehouse)
    asked = "-- How many there are\nSELECT 1 AS n"
    common = ("--format", "csv", "--warehouse", warehouse)
    assert evergreen("sql", asked, *common).out == "n\n1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(asked))
    assert evergreen("sql", "-", *common).out == "n\n1\n"
