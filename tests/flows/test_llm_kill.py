"""An LLM evaluation that is killed again and again: little is bought twice, nothing is lost."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.server import local_server
from tests.conftest import PREFECT_HOME
from tests.flows.llm_runs import ROOT, prepared_sample

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample edition, ready for a judge; a Prefect server stays up meanwhile."""
    with local_server(PREFECT_HOME):
        yield prepared_sample(tmp_path_factory.getbasetemp())


def test_a_killed_evaluation_buys_again_only_what_was_under_way(
    prepared: Path, tmp_path: Path
) -> None:
    path = shutil.copy(prepared, tmp_path / "sample.duckdb")
    done = subprocess.run(
        [sys.executable, "-m", "tests.rigs.kill_judges", "--work", str(tmp_path / "rig"),
         "--warehouse", str(path), "--kills", "3"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "kill 3:" in done.stdout
    assert "every table is equal" in done.stdout
