"""What the tutorials show in a terminal is what one sees who follows them."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import PREFECT_HOME
from tests.docs.consoles import is_shown, list_sessions, run_session

REPORTS = Path(__file__).resolve().parents[1] / "docs" / "my_reports"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all sessions begin; a later one finds done what an earlier one did."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPORTS, folder / "reports")
    return folder


@pytest.mark.usefixtures("local_api")
@pytest.mark.parametrize("page", list_sessions())
def test_a_page_shows_what_its_commands_print(page: str, folder: Path) -> None:
    steps = list_sessions()[page]
    installed = Path(sys.executable).parent
    environment = {
        "PATH": f"{installed}:{os.environ['PATH']}",
        "EVERGREEN_PREFECT_HOME": str(PREFECT_HOME),
        "COLUMNS": "120",
    }
    printed = run_session(steps, folder, environment)
    for step, found in zip(steps, printed, strict=False):
        assert is_shown(found, step.shown), f"{step.line}: {step.command}\n{found}"
    assert len(printed) == len(steps) + 1, printed[-1]


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("a\nb\nc\n", "a\n…\nc\n", True),
        ("a  \n\nb\n", "a\nb\n", True),
        ("took 3 s: done\n", "took … s: done\n", True),
        ("a\nb\n", "a\n…\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("", "", True),
        ("1\n", "2\n", False),
    ],
)
def test_dots_stand_for_anything(printed: str, shown: str, same: bool) -> None:
    assert is_shown(printed, shown) == same
