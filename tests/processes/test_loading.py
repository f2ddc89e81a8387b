"""What a new Python loads before it is clear what it is for."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

import pytest

from tests.flows.llm_runs import ROOT

SLOW = ("aiohttp", "duckdb", "google.genai", "httpx", "numpy", "polars", "prefect", "pyarrow",
        "scipy")  # fmt: skip
"""What takes a tenth of a second or more to load. Prefect also reads its settings then, and these
are only known once a run begins."""
ASKED = {
    "--help": ({}, (*SLOW, "pydantic", "yaml")),
    "--version": ({}, (*SLOW, "pydantic", "rich", "yaml")),
    "dance": ({}, (*SLOW, "yaml")),
    "": (
        {"_EVERGREEN_COMPLETE": "complete_bash", "COMP_WORDS": "evergreen ev", "COMP_CWORD": "1"},
        (*SLOW, "rich", "yaml"),
    ),
    "import --help": ({}, (*SLOW, "yaml")),
}
"""What a person asks `evergreen` before it is clear which command runs (last a word to be
completed), and what must not be loaded for it."""


def loaded(code: str, names: Iterable[str], environ: Mapping[str, str] = {}) -> str:
    """Those of the modules that a new Python has loaded after `code`."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nprint([name for name in {names!r} if name in sys.modules])",
        ],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("given", ASKED)
def test_what_is_asked_before_a_command_loads_nothing_slow(given: str) -> None:
    environ, slow = ASKED[given]
    code = f"""
import sys
from contextlib import suppress
from flows.__main__ import main
sys.argv = ["evergreen", *{given.split()!r}]
with suppress(SystemExit):
    main()"""
    assert loaded(code, slow, environ) == "[]"


def test_a_supervisor_of_a_program_is_light() -> None:
    code = "import sys, tasks.agents.command.supervisor"
    assert loaded(code, (*SLOW, "pydantic", "rich", "yaml")) == "[]"
