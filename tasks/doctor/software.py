"""Check the versions of Python and the libraries, and DuckDB's extensions."""

import platform
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tasks.doctor.finding import CheckGroup, Finding, Status
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.lake import load_extensions

GROUP = CheckGroup("software")
PROJECT = "evergreen-bench"
ROOT = Path(__file__).resolve().parents[2]
ALWAYS_LISTED = ("prefect", "fastapi", "sqlalchemy", "duckdb", "polars")
"""Libraries whose versions are always listed."""
INSTALL = "Reinstall the locked dependencies: pip install --require-hashes --no-deps -r {lock}."


def check_software(root: Path = ROOT) -> Iterator[Finding]:
    """Check Python, every required library, and the extensions.

    root: the folder of `pyproject.toml`; without that file, the installed metadata counts.
    """
    python, libraries = _load_requirements(root)
    yield _check_python(python)
    yield _check_libraries(libraries)
    yield _check_extensions()


def _load_requirements(root: Path) -> tuple[str, list[Requirement]]:
    """Return the required versions of Python and of the libraries; those of lakes only if they are
    installed."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    except FileNotFoundError:
        listed = [Requirement(line) for line in requires(PROJECT) or ()]
        return "", [each for each in listed if not each.marker or "extra" not in str(each.marker)]
    extra = map(Requirement, project.get("optional-dependencies", {}).get("lake", ()))
    return project["requires-python"], [
        *map(Requirement, project["dependencies"]),
        *(each for each in extra if _find_version(each.name)),
    ]


def _check_python(required: str) -> Finding:
    found = platform.python_version()
    if SpecifierSet(required).contains(found, prereleases=True):
        return GROUP.ok("python", f"Python {found}.")
    return GROUP.fail(
        "python",
        f"Python {found}; required: {required}.",
        "Recreate the environment with a matching Python.",
    )


def _check_libraries(required: Sequence[Requirement]) -> Finding:
    wrong, is_failure = [], False
    for requirement in required:
        if requirement.marker and not requirement.marker.evaluate():
            continue
        found = _find_version(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            wrong.append(
                f"{requirement.name} is {found or 'missing'}, required: {requirement.specifier}"
            )
            is_failure |= found is None or "==" in str(requirement.specifier)
    if wrong:
        status: Status = "fail" if is_failure else "warn"
        return GROUP.finding(
            status, "libraries", f"{'; '.join(wrong)}.", INSTALL.format(lock="requirements.lock")
        )
    named = ", ".join(f"{name} {_find_version(name)}" for name in ALWAYS_LISTED)
    return GROUP.ok("libraries", f"{named}; all {len(required)} match pyproject.toml.")


def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _check_extensions() -> Finding:
    if _find_version("duckdb-extension-ducklake") is None:
        return GROUP.skipped(
            "extensions",
            "The extra `lake` is not installed; only a lake needs them.",
        )
    try:
        loaded = load_extensions()
    except WarehouseError as error:
        reinstall = INSTALL.format(lock="requirements-lake.lock")
        advice = f"{reinstall} Without them, a lake cannot be used; file warehouses can."
        return GROUP.fail("extensions", first_line(error), advice)
    named = ", ".join(f"{name} {number}" for name, number in loaded.items())
    return GROUP.ok("extensions", f"DuckDB loads {named} from wheels.")
