"""The plan of the house: which rooms there are, and that all arrows between them point down."""

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tasks.masking import HIDDEN, MASK, OWN_KEY
from tasks.protocols.registry import PROTOCOLS

ROOT = Path(__file__).resolve().parents[1]

LEVELS: list[set[str]] = [
    {"evergreen"},  # the library
    {"flows.cli", "flows.__main__"},
    {"flows"},  # a module for each flow, and what runs and serves them
    {"flows.runtime"},
    {"flows.display"},
    {"tasks.doctor"},
    {"tasks.planning"},
    {"tasks", "tasks.publishing"},  # `tasks`: the stages, modules directly in tasks/
    {"tasks.stage"},
    {"tasks.jobs", "tasks.analysis", "tasks.archive"},
    {"tasks.imports", "tasks.annotation", "tasks.scoring", "tasks.collection"},
    {"tasks.judging", "tasks.sandbox", "tasks.drafting", "tasks.editions", "tasks.backup"},
    {"tasks.protocols", "tasks.documents"},
    {"tasks.benchmarks", "tasks.inversion", "tasks.agents", "tasks.web", "tasks.site",
     "tasks.wikipedia"},
    {"tasks.run"},
    {"tasks.extraction", "tasks.costs"},
    {"tasks.judges"},
    {"tasks.models", "tasks.metrics", "tasks.secrecy"},
    {"tasks.configuration", "tasks.warehouse"},
    {"tasks.processes", "tasks.serving", "tasks.files", "tasks.base", "tasks.errors",
     "tasks.foreign_text", "tasks.spreadsheets", "tasks.credentials", "tasks.masking",
     "tasks.outcome"},
]  # fmt: skip
"""The house, from the roof to the ground: a room may import its own level and those below."""

STAGES = {
    "assignments", "candidates", "claims", "diagnostics", "drafts", "key_points", "leaderboard",
    "pages", "questions", "reports", "scores", "verdicts",
}  # fmt: skip
"""The pipeline: the modules in tasks/, beside the ground (`GROUND`)."""
GROUND = {"stage", "run", "base", "errors", "foreign_text", "spreadsheets", "credentials",
          "masking", "outcome"}  # fmt: skip
FLOWS = {
    "ask", "assign", "backfill", "collect", "draft", "evaluate", "fetch", "import_edition",
    "publish", "refresh", "rejudge",
}  # fmt: skip
SERVING = {"alerts", "deployments", "engine", "lineage", "registry", "run", "site_step", "stages"}
"""What else lies in flows/: it serves, names or runs flows, or is a part of one."""
PURE = {
    "agents", "benchmarks", "configuration", "documents", "extraction", "files", "inversion",
    "judges", "metrics", "models", "processes", "protocols", "sandbox", "secrecy", "serving",
    "site", "web", "wikipedia",
}  # fmt: skip
"""Packages of tasks/ that never open the store."""

ALL_PROTOCOLS = {*PROTOCOLS, "own_rubric"}
OPENS_THE_STORE = {"tasks.warehouse.store", "tasks.warehouse.reader", "tasks.warehouse.snapshot"}


@cache
def modules() -> list[tuple[str, Path]]:
    """Every module of the product, with its file."""
    paths = [path for top in ("evergreen", "flows", "tasks") for path in (ROOT / top).rglob("*.py")]
    dotted = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    return [(dotted[path].removesuffix(".__init__"), path) for path in sorted(paths)]


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that a file imports, wherever in the file; `a.b` and `a.b.name` for a name."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(str(node.module))
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


@cache
def imported(path: Path) -> set[str]:
    """The project's own modules that a file imports."""
    return set(imports(path)) & {name for name, _ in modules()}


def room(module: str) -> str:
    named = ".".join(module.split(".")[:2])
    return named if any(named in rooms for rooms in LEVELS) else module.split(".")[0]


def level(module: str) -> int:
    return next(number for number, rooms in enumerate(LEVELS) if room(module) in rooms)


def circle(arrows: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """One circle of arrows; empty if there is none."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def test_every_package_has_a_place_in_the_house() -> None:
    packages = {
        f"{top}.{path.name}"
        for top in ("flows", "tasks")
        for path in (ROOT / top).iterdir()
        if (path / "__init__.py").exists()
    }
    assert packages <= set().union(*LEVELS), "give it a level in LEVELS"


def test_there_are_no_loose_modules() -> None:
    loose = {top: {path.stem for path in (ROOT / top).glob("*.py")} for top in ("flows", "tasks")}
    assert loose == {
        "flows": {"__init__", "__main__", *FLOWS, *SERVING},
        "tasks": {"__init__", *STAGES, *GROUND},
    }, "find it a package: these are flows, stages and nothing else"


def test_every_package_says_what_is_in_it() -> None:
    silent = [
        module
        for module, path in modules()
        if path.name == "__init__.py" and len((ast.get_docstring(parsed(path)) or "").split()) < 10
    ]
    assert silent == [], "say what is in it, what it may import and which tables it writes"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_a_module_imports_only_from_its_own_level_and_below() -> None:
    upward = {
        module: sorted(above)
        for module, path in modules()
        if (above := {name for name in imported(path) if level(name) < level(module)})
    }
    assert upward == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle({module: imported(path) - {module} for module, path in modules()}) == ()


def test_no_packages_import_each_other_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for module, path in modules():
        arrows.setdefault(room(module), set()).update(room(name) for name in imported(path))
    assert circle({here: there - {here} for here, there in arrows.items()}) == ()


def test_only_flows_import_prefect() -> None:
    loaders = {
        module
        for module, path in modules()
        if any(name.split(".")[0] == "prefect" for name in imports(path))
    }
    lazy = {"tasks.configuration.secrets"}  # a key in a Prefect Secret block
    assert {m for m in loaders if not m.startswith("flows.")} <= lazy


def test_pure_packages_never_open_the_store() -> None:
    offenders = [
        module
        for module, path in modules()
        if room(module).removeprefix("tasks.") in PURE and imports(path) & OPENS_THE_STORE
    ]
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
    """The protocol that a module is of: it, or a part of its folder."""
    own = module.removeprefix("tasks.protocols.")
    return own.split(".")[0] if own.split(".")[0] in ALL_PROTOCOLS else None


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


def test_secrets_are_masked_in_one_place() -> None:
    marks = {MASK, OWN_KEY, HIDDEN}
    found = {
        module
        for module, path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and node.value in marks | {m.encode() for m in marks}
    }
    assert found - {"tasks.documents.html"} == {"tasks.masking"}  # a selector of CSS


def test_no_two_classes_have_the_same_name() -> None:
    owners: dict[str, list[str]] = {}
    for module, path in modules():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, []).append(module)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


def test_no_file_is_called_utils() -> None:
    assert [str(path) for _, path in modules() if path.stem in ("utils", "helpers", "common")] == []
