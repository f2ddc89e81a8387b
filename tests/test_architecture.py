"""The arrows between the rooms point one way; this holds them."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tasks.protocols.registry import PROTOCOLS
from tests.stamps.sources import imports
from tests.stamps.sources import modules as modules_below

ROOT = Path(__file__).resolve().parents[1]

LEVELS: list[set[str]] = [
    {"flows"},
    {"tasks"},  # the stage shells: files directly under tasks/
    {
        "tasks.protocols",
        "tasks.benchmarks",
        "tasks.annotation",
        "tasks.inversion",
        "tasks.agents",
        "tasks.documents",
        "tasks.sandbox",
        "tasks.site",
    },
    {"tasks.wikipedia", "tasks.web"},
    {"tasks.judges", "tasks.extraction"},
    {"tasks.models"},
    {"tasks.metrics", "tasks.warehouse", "tasks.configuration", "tasks.processes"},
    {"tasks.base", "tasks.errors"},
]
"""Rooms from the top down: a room may import its own level and those below."""

ALL_PROTOCOLS = {*PROTOCOLS, "own_rubric"}
OPENS_THE_STORE = {"tasks.warehouse.store", "tasks.warehouse.reading", "tasks.warehouse.snapshot"}


def modules() -> list[tuple[str, Path]]:
    return modules_below(ROOT, "flows", "tasks")


def room(module: str) -> str:
    parts = module.split(".")
    named = ".".join(parts[:2])
    if any(named in rooms for rooms in LEVELS):
        return named
    if parts[0] == "tasks" and len(parts) > 1 and (ROOT / "tasks" / parts[1]).is_dir():
        return named
    return parts[0]


def level(module: str) -> int:
    for number, rooms in enumerate(LEVELS):
        if room(module) in rooms:
            return number
    pytest.fail(f"{module}: room {room(module)} has no place in LEVELS; give it one")


def test_a_module_imports_only_from_its_own_level_and_below() -> None:
    upward = {
        module: above
        for module, path in modules()
        if (above := sorted(
            name
            for name in imports(path)
            if name.split(".")[0] in ("flows", "tasks") and level(name) < level(module)
        ))
    }  # fmt: skip
    assert upward == {}


def test_only_flows_and_stage_shells_import_prefect() -> None:
    offenders = [
        module
        for module, path in modules()
        if any(name.split(".")[0] == "prefect" for name in imports(path))
        and room(module) not in ("flows", "tasks")
    ]
    assert offenders == []


def test_only_stage_shells_and_the_command_touch_the_store() -> None:
    offenders = [
        module
        for module, path in modules()
        if imports(path) & OPENS_THE_STORE and room(module) not in ("flows", "tasks",
                                                                    "tasks.warehouse")
    ]  # fmt: skip
    assert offenders == []


def test_only_the_warehouse_opens_duckdb() -> None:
    offenders = [
        module
        for module, path in modules()
        if "duckdb" in imports(path) and room(module) != "tasks.warehouse"
    ]
    assert offenders == []


def test_metrics_do_no_input_or_output() -> None:
    forbidden = {"httpx", "duckdb", "socket", "subprocess", "requests", "urllib.request"}
    offenders = {
        module: sorted(imports(path) & forbidden)
        for module, path in modules()
        if room(module) == "tasks.metrics" and imports(path) & forbidden
    }
    assert offenders == {}


def protocol_of(module: str) -> str | None:
    """The protocol that a module is of: it, or a part of it that begins with its name."""
    own = module.removeprefix("tasks.protocols.")
    names = [name for name in ALL_PROTOCOLS if own == name or own.startswith(f"{name}_")]
    return max(names, key=len, default=None) if own != module else None


def test_no_protocol_imports_another() -> None:
    for module, path in modules():
        if own := protocol_of(module):
            assert {protocol_of(name) for name in imports(path)} <= {own, None}, module


def test_every_package_is_named_in_pyproject() -> None:
    # setuptools skips a package called "tasks" in silence, so they are listed by hand.
    listed = (ROOT / "pyproject.toml").read_text("utf-8")
    for module, path in modules():
        if path.name == "__init__.py":
            assert f'"{module}"' in listed, f"add {module} to [tool.setuptools] packages"


def test_no_file_is_called_utils() -> None:
    assert [str(path) for _, path in modules() if path.stem in ("utils", "helpers", "common")] == []


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


def test_no_command_loads_what_only_its_run_needs() -> None:
    code = (
        "import sys; from tests.flows.cli.test_options import commands; "
        "assert len([*commands()]) > 50"
    )
    assert loaded(code, ("prefect", "google.genai", "scipy", "bm25s", "lancedb", "mcp")) == "[]"
