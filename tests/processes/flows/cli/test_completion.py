"""A shell completes commands, options and values."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.flows.llm_runs import ROOT
from tests.tasks.annotated import sample_warehouse

CALLED = "import sys; sys.argv = ['evergreen']; from flows.__main__ import main; main()"
"""As the installed script calls it: a shell's variables go by the name."""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ev", ["evaluate"]),
        ("pages w", ["walls"]),
        ("agents j", ["jobs"]),
        ("evaluate --bu", ["--budget"]),
        ("status --format c", ["csv"]),
        ("--ver", ["--version"]),
        ("ask --agent lexical", ["lexical_baseline"]),
        ("agents check lexical", ["lexical_baseline"]),
        ("evaluate --judge off", ["offline"]),
        ("evaluate --protocol wiki_f", ["wiki_fact"]),
        ("leaderboard --warehouse nowhere/w.duckdb --edition ", []),
    ],
)
def test_a_shell_completes_words(typed: str, offered: list[str]) -> None:
    words = f"evergreen {typed}"
    assert completed("complete_bash", words).split() == offered


def test_a_shell_completes_what_is_in_a_warehouse_that_a_run_holds(
    tmp_path: Path,
) -> None:
    path = sample_warehouse(tmp_path)
    with open_warehouse(path) as store:
        export_edition(store, "sample")
        before = path.stat().st_mtime_ns
        words = f"evergreen leaderboard --warehouse {path} --edition s"
        assert completed("complete_bash", words).split() == ["sample"]
        words = f"evergreen --warehouse {path} edition show s"
        assert completed("complete_bash", words).split() == ["sample"]
        words = f"evergreen explain --warehouse {path} sample_scholar/Ed"
        assert completed("complete_bash", words).split() == ["sample_scholar/Eddystone_Lighthouse"]
        assert path.stat().st_mtime_ns == before


def test_the_script_for_a_shell_can_be_had() -> None:
    assert "_EVERGREEN_COMPLETE=complete_bash" in completed("source_bash", "")


def completed(instruction: str, words: str) -> str:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", CALLED],
        cwd=ROOT,
        env={**os.environ, **asked, "_EVERGREEN_COMPLETE": instruction},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
