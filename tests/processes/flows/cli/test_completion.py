"""A shell completes commands, options and values."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.warehouse.snapshot import export_edition
from tasks.warehouse.store import open_warehouse
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import ROOT
from tests.tasks.annotated import sample_warehouse

CALLED = "import sys; sys.argv = ['evergreen']; from flows.__main__ import main; main()"
"""As the installed script calls it: a shell's variables go by the name."""
Complete = Callable[..., list[str]]


@pytest.fixture
def completed(evergreen: Evergreen, monkeypatch: pytest.MonkeyPatch) -> Complete:
    """What the command, in this process, offers for what was typed so far."""
    # By it Click tells whether a program was started as `python -m`, and is called that.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    def call(typed: str) -> list[str]:
        for name, value in asked(f"evergreen {typed}").items():
            monkeypatch.setenv(name, value)
        return evergreen()[1].split()

    return call


def asked(words: str, instruction: str = "complete_bash") -> dict[str, str]:
    """What a shell sets."""
    return {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1),
            "_EVERGREEN_COMPLETE": instruction}  # fmt: skip


def said_to_a_shell(**variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CALLED],
        cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_shell_asks_a_process() -> None:
    assert said_to_a_shell(**asked("evergreen ev")).split() == ["evaluate"]
    assert "_EVERGREEN_COMPLETE=complete_bash" in said_to_a_shell(**asked("", "source_bash"))


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
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
def test_a_shell_completes_words(typed: str, offered: list[str], completed: Complete) -> None:
    assert completed(typed) == offered


def test_a_shell_completes_what_is_in_a_warehouse_that_a_run_holds(
    tmp_path: Path, completed: Complete
) -> None:
    path = sample_warehouse(tmp_path)
    with open_warehouse(path) as store:
        export_edition(store, "sample")
        before = path.stat().st_mtime_ns
        assert completed(f"leaderboard --warehouse {path} --edition s") == ["sample"]
        assert completed(f"--warehouse {path} edition show s") == ["sample"]
        report = "sample_scholar/Eddystone_Lighthouse"
        assert completed(f"explain --warehouse {path} sample_scholar/Ed") == [report]
        assert path.stat().st_mtime_ns == before
