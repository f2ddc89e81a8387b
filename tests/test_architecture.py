"""The arrows between the rooms point one way; this holds them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.protocols.registry import PROTOCOLS

ROOT = Path(__file__).resolve().parents[1]

LEVELS: list[set[str]] = [
    {"flows"},
    {"tasks"},  # the stage shells: files directly under tasks/
    {
        "tasks.protocols",
        "tasks.editions",
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
    {"tasks.frozen"},
]
"""Rooms from the top down: a room may import its own level and those below."""

ALL_PROTOCOLS = {*PROTOCOLS, "own_rubric"}
OPENS_THE_STORE = {"tasks.warehouse.store", "tasks.warehouse.reading", "tasks.warehouse.snapshot"}


def modules() -> list[tuple[str, Path]]:
    found = []
    for top in ("flows", "tasks"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found.append((name.removesuffix(".__init__"), path))
    return found


def imports(path: Path) -> set[str]:
    """Every module a file imports, wherever in the file the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


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


@pytest.mark.parametrize(("module", "path"), modules(), ids=[name for name, _ in modules()])
def test_a_module_imports_only_from_its_own_level_and_below(module: str, path: Path) -> None:
    upward = sorted(
        name
        for name in imports(path)
        if name.split(".")[0] in ("flows", "tasks") and level(name) < level(module)
    )
    assert not upward, f"{module} imports upward: {upward}"


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


def test_the_command_starts_without_what_takes_seconds_to_load() -> None:
    # Prefect also reads its settings at import, and these are only known once a run begins.
    heavy = "'prefect', 'google.genai'"
    code = f"import sys, flows.cli; print([name for name in ({heavy}) if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
