"""What a new Python process loads, finds and says, and that it judges as any other does."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from flows.display.console import QUIET_VARIABLE
from tests.flows.llm_runs import ROOT
from tests.tasks.configuration.test_folders import project

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


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("tasks.agents.command.supervisor", (*SLOW, "pydantic", "rich", "yaml")),
        ("flows.runtime.server", ("prefect",)),
        ("evergreen", ("polars", "duckdb", "prefect", "pydantic", "flows", "tasks")),
    ],
)
def test_a_module_that_starts_before_all_else_is_light(module: str, names: tuple[str, ...]) -> None:
    assert loaded(f"import sys, {module}", names) == "[]"


@pytest.mark.parametrize("name", ["tasks", "flows"])
def test_foreign_modules_of_the_same_name_are_named_in_one_sentence(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit('this ran')", "utf-8")
    program = "import evergreen; evergreen.open_warehouse('w.duckdb')"
    done = subprocess.run(  # as a notebook: its folder is the first on the path
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last == (
        f"ImportError: Python finds {tmp_path / name}.py before {ROOT / name}, a package that "
        "Evergreen needs. Rename that file, or start Python in another folder."
    )


def test_a_process_uses_the_folder_in_which_it_starts(tmp_path: Path) -> None:
    project(tmp_path, judges="default: gemini-3.8-flash")
    program = "from tasks.configuration.models import load_judges; print(load_judges().default)"
    bare = {name: value for name, value in os.environ.items() if name != "EVERGREEN_CONFIGS"}
    answered = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path, env=bare, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert answered.stdout.strip() == "gemini-3.8-flash"


def test_what_a_quiet_command_starts_is_quiet_too() -> None:
    code = (
        "from flows.display.console import print_always, print_message; "
        "print_message('a remark'); print_always('an error')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {QUIET_VARIABLE: "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == "an error\n"


DECISIONS = """
import asyncio, sys
from tasks.judges.questions.verify_against_page import VerifyAgainstPage
from tasks.judges.questions.verify_claims import VerifyClaims
from tasks.judges.offline.lexical import SentencePool
from tasks.judges.offline.judge import OfflineJudge
from tasks.judges.offline.retrieval import Bm25
words = "line river bridge station bedford opened passenger service northern miles".split()
pool = tuple(" ".join(words[(i * j + j) % 10] for j in range(1, 9)) + f" {i}." for i in range(60))
claims = tuple(" ".join(words[(3 * i + j * j) % 10] for j in range(7)) for i in range(40))
hits = Bm25(pool).top_many(claims, 10)
prepared = SentencePool(pool)
print([[value.hex() for value in prepared.compare(c, h).features.row()]
       for c, h in zip(claims, hits)])
judge = OfflineJudge()
print(asyncio.run(judge.decide(VerifyClaims(claims=claims, pool=pool, retrieved=hits))))
print(asyncio.run(judge.decide(
    VerifyAgainstPage(claims=claims, url="u", page="\\n".join(pool)))))
"""


def test_the_hash_seed_changes_nothing() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", DECISIONS],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10_000
