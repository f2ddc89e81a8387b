"""Whether the interpreter, the libraries and DuckDB's extensions are those that fit together."""

import platform
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tasks.doctor.finding import About, Finding
from tasks.warehouse.errors import WarehouseError, first_line
from tasks.warehouse.lake_maintenance import loaded_extensions

ABOUT = About("software")
PROJECT = "evergreen-bench"
ROOT = Path(__file__).resolve().parents[2]
NAMED = ("prefect", "fastapi", "sqlalchemy", "duckdb", "polars")
"""Libraries whose versions are always told."""
INSTALL = (
    "Install the locked dependencies again: "
    "pip install --require-hashes --no-deps -r requirements.lock"
)


def check_software(root: Path = ROOT) -> Iterator[Finding]:
    """Python, every library that the project names, and the extensions.

    root: where `pyproject.toml` is; what was installed counts where it is not.
    """
    python, wanted = _wanted(root)
    yield _python(python)
    yield _libraries(wanted)
    yield _extensions()


def _wanted(root: Path) -> tuple[str, list[Requirement]]:
    """Which Python, and which libraries."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    except FileNotFoundError:
        listed = [Requirement(line) for line in requires(PROJECT) or ()]
        return "", [each for each in listed if not each.marker or "extra" not in str(each.marker)]
    return project["requires-python"], [Requirement(line) for line in project["dependencies"]]


def _python(wanted: str) -> Finding:
    found = platform.python_version()
    if SpecifierSet(wanted).contains(found, prereleases=True):
        return ABOUT.ok("python", f"Python {found}.")
    return ABOUT.fail(
        "python", f"Python {found}; wanted {wanted}.", "Make the environment anew with such a one."
    )


def _libraries(wanted: Sequence[Requirement]) -> Finding:
    wrong, worst = [], False
    for requirement in wanted:
        if requirement.marker and not requirement.marker.evaluate():
            continue
        found = _version(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            wrong.append(
                f"{requirement.name} is {found or 'missing'}, wanted {requirement.specifier}"
            )
            worst |= found is None or "==" in str(requirement.specifier)
    if wrong:
        return ABOUT.told("fail" if worst else "warn", "libraries", f"{'; '.join(wrong)}.", INSTALL)
    named = ", ".join(f"{name} {_version(name)}" for name in NAMED)
    return ABOUT.ok("libraries", f"{named}; all {len(wanted)} are as pyproject.toml wants them.")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _extensions() -> Finding:
    try:
        loaded = loaded_extensions()
    except WarehouseError as error:
        advice = f"{INSTALL} Without them there is no lake; files work."
        return ABOUT.fail("extensions", first_line(error), advice)
    named = ", ".join(f"{name} {number}" for name, number in loaded.items())
    return ABOUT.ok("extensions", f"DuckDB loads {named} from wheels.")
