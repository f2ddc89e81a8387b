"""`evergreen import reports`: what it shows, what it asks consent for, how it ends."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flows.cli import import_reports as reports_cli
from flows.cli.main import app
from flows.display import console
from tasks.editions.names import UnknownName
from tasks.imports.wlc import import_edition
from tasks.warehouse.rows import Report
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import SAMPLE
from tests.tasks.documents.builders import lines, pdf, scan

Import = Callable[..., tuple[int, str]]
TEXT = "Mercury is the smallest planet of them all.\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """The command over the sample edition: exit code, and what it said."""
    warehouse = tmp_path / "warehouse.duckdb"
    with open_warehouse(warehouse) as store:
        import_edition(store, SAMPLE, "sample", ["sample_sketch"])

    def call(path: Path, *options: str) -> tuple[int, str]:
        said = Console(width=200, record=True, file=(tmp_path / "said").open("w"))
        for module in (console, reports_cli):
            monkeypatch.setattr(module, "STDERR", said)
        where = ["--edition", "sample", "--warehouse", str(warehouse)]
        done = CliRunner().invoke(app, ["import", "reports", str(path), *where, *options])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, said.export_text()

    return call


def given(folder: Path) -> Path:
    folder.mkdir()
    (folder / "Mercury (planet).md").write_text(TEXT)
    (folder / "the eddystone lighthouse.md").write_text("A light stands on the rocks.\n")
    (folder / "idx-3.pdf").write_bytes(pdf(lines("Seven bridges were there once."), scan))
    (folder / "holiday.docx").write_bytes(b"x")
    return folder


def stored(tmp_path: Path) -> set[str]:
    with open_warehouse(tmp_path / "warehouse.duckdb") as store:
        return {report.assignment for report in store.rows(Report, "agent = 'mine'")}


def test_guesses_are_shown_and_wait_for_consent(run: Import, tmp_path: Path) -> None:
    code, said = run(given(tmp_path / "files"), "--agent", "mine")
    assert code == 1
    assert "Guesses" in said
    assert "the eddystone lighthouse.md" in said
    assert "left out: idx-3.pdf: Seven_Bridges_of_Königsberg is a guess, by number" in said
    assert "left out: holiday.docx: no assignment has a name like it" in said
    assert "sample: 4 files of mine: 1 new, 0 changed, 0 unchanged, 0 not read, 3 left out." in said
    assert "Accept the guesses with --yes" in said
    assert stored(tmp_path) == {"Mercury_(planet)"}


def test_a_configured_agents_name_in_another_spelling_needs_consent(
    run: Import, tmp_path: Path
) -> None:
    folder = given(tmp_path / "files")
    with pytest.raises(UnknownName, match=r"'Lexical-Baseline'.* Did you mean lexical_baseline\?"):
        run(folder, "--agent", "Lexical-Baseline")
    assert "of Lexical-Baseline: 3 new" in run(folder, "--agent", "Lexical-Baseline", "--yes")[1]
    assert "of Lexical-Baseline: 0 new" in run(folder, "--agent", "Lexical-Baseline")[1]


def test_with_consent_all_that_can_be_read_is_in(run: Import, tmp_path: Path) -> None:
    folder = given(tmp_path / "files")
    (folder / "holiday.docx").unlink()
    code, said = run(folder, "--agent", "mine", "--yes")
    assert code == 0
    assert "idx-3.pdf: page 2 of 2 not read: no text, 1 picture" in said
    assert "3 new" in said
    assert "Next: evergreen fetch" in said
    assert len(stored(tmp_path)) == 3
    code, said = run(folder, "--agent", "mine", "--yes")
    assert (code, "3 unchanged" in said) == (0, True)


def test_a_file_that_cannot_be_read_is_named_and_ends_with_one(run: Import, tmp_path: Path) -> None:
    file = tmp_path / "Mercury_(planet).pdf"
    file.write_bytes(b"<html>")
    code, said = run(file, "--agent", "mine")
    assert code == 1
    assert "not read: Mercury_(planet).pdf: its name ends in .pdf, but its content is HTML" in said
    assert "Next:" not in said
    assert stored(tmp_path) == set()
