"""A shell completes commands, options and values."""

import os
import subprocess
import sys

import pytest

from tests.flows.llm_runs import ROOT

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
    ],
)
def test_a_shell_completes_words(typed: str, offered: list[str]) -> None:
    words = f"evergreen {typed}"
    assert completed("complete_bash", words).split() == offered


def test_the_script_for_a_shell_can_be_had() -> None:
    assert "_EVERGREEN_COMPLETE=complete_bash" in completed("source_bash", "")


def completed(instruction: str, words: str) -> str:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", CALLED],
        cwd=ROOT,
        env={**os.environ, **asked, "_EVERGREEN_COMPLETE": instruction},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
