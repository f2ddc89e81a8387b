"""Stamps as they are used here: the targets, the prose, and how little the smallest tests reach."""

import re
from pathlib import Path, PurePosixPath

import pytest

from tests.stamps.reach import STARTS_NOTHING
from tests.stamps.sources import source
from tests.stamps.tree import is_prose
from tests.stamps.units import TARGETS, Units

ROOT = Path(__file__).resolve().parents[3]
METRICS = sorted((ROOT / "tests" / "tasks" / "metrics").glob("test_*.py"))


@pytest.fixture(scope="module")
def units() -> Units:
    return Units(ROOT)


def test_ci_runs_every_target_and_lint_and_prose(units: Units) -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert tuple(re.findall(r"^(?:\w+=\S+ )?prove (\S+)", script, re.MULTILINE)) == TARGETS
    assert {"lint", "prose"} <= {*re.findall(r"^make (\S+)$", script, re.MULTILINE)}
    assert {*TARGETS, "lint", "prose"} <= units.makefile.rules.keys()
    named = set(re.findall(r"[\w-]+", " ".join(re.findall(r"\bdue (\S+)", script))))
    assert named - {"1"} <= {*TARGETS}


@pytest.mark.parametrize("target", ["demo", "rig-wheel", "test", "rig-kills"])
def test_who_starts_the_command_reaches_the_product(target: str, units: Units) -> None:
    product = {each for top in ("evergreen", "flows", "tasks", "configs", "data/sample")
               for each in units.tree.below(top)}  # fmt: skip
    assert product
    assert product <= units.reached(target, target)


def test_a_long_test_that_starts_a_server_reaches_the_product(units: Units) -> None:
    files = [each for each in units.names("test-long") if "flows" in PurePosixPath(each).parts]
    assert files
    for file in files:
        assert {*units.tree.below("configs")} <= units.reached("test-long", file), file


def test_a_change_of_one_long_test_makes_few_others_run_again(units: Units) -> None:
    """One that names the folder `tests/long` in a text that most share would bind them all."""
    changed = "tests/long/flows/test_batch.py"
    files = units.names("test-long")
    again = [each for each in files if changed in units.reached("test-long", each)]
    assert changed in again
    assert len(again) < len(files) / 10, again


def test_the_rigs_reach_the_data_that_they_read(units: Units) -> None:
    edition = units.tree.below("shared/data/wlc/2025_Mar_Nov")
    for target in ("rig-formats", "rig-questions", "rig-local-model"):
        assert {*edition} <= units.reached(target, target)
    if not edition:
        pytest.skip("the published edition is not in ../shared")


@pytest.mark.parametrize("file", METRICS, ids=lambda path: path.stem)
def test_tests_of_metrics_reach_no_flow(file: Path, units: Units) -> None:
    found = units.reached("test-long", file.relative_to(ROOT).as_posix())
    assert {each for each in found if each.startswith("flows/")} <= STARTS_NOTHING


def test_the_stamps_tests_reach_their_own_tools(units: Units) -> None:
    assert "tests/stamps/reach.py" in units.reached("test", "test")


def test_tests_that_read_prose_are_run_for_every_change(units: Units) -> None:
    run = {*units.tests("prose")}
    for file in units.tree.below("tests"):
        if PurePosixPath(file).match("test_*.py") and "stamps" not in PurePosixPath(file).parts:
            read = units.tree.path(file).read_bytes()
            prose = {text for text in source(read, file).texts
                     if (is_prose(text) or text == "docs") and (ROOT / text).exists()}  # fmt: skip
            assert not prose or file in run, f"{file} names {prose}: mark it `prose`, name it there"


def test_nothing_lies_beside_packages_that_prose_would_hide() -> None:
    assert not is_prose("data/sample/README.md")
    assert not is_prose("configs/prompts/fact/check.md")
    assert is_prose("CHANGELOG.md")
    assert is_prose("docs/images/prefect-run.png")
