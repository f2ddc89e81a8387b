"""What .ci/run runs: what has no stamp, and what the newest commit claims."""

import pytest

from tests.stamps.made_project import Project
from tests.stamps.plan import plan, planned, table
from tests.stamps.stamps import Stamp, write_stamps
from tests.stamps.units import TARGETS, Units


def stamp_all(project: Project) -> None:
    units = Units(project.root)
    for target in TARGETS:
        names = units.names(target)
        write_stamps(project.root, target, [Stamp(name, units.sha(target, name)) for name in names])


def due(project: Project, everything: bool = False) -> set[str]:
    return {row.target for row in plan(Units(project.root), everything) if row.names}


def test_without_stamps_all_is_due_and_with_all_of_them_nothing(project: Project) -> None:
    assert due(project) == {*TARGETS}
    stamp_all(project)
    assert due(project) == set()
    assert due(project, everything=True) == {*TARGETS}


def test_prose_makes_nothing_due(project: Project) -> None:
    stamp_all(project)
    project.commit("code, with its stamps")
    for path in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/page.md", "docs/shown.png"):
        project.write(path, "Words.\n")
    project.commit("prose")
    assert due(project) == set()


def test_a_module_makes_due_what_reaches_it(project: Project) -> None:
    stamp_all(project)
    project.write("tasks/store/reading.py", "# changed\n")
    assert due(project) == {
        "demo", "rig-wheel", "test", "test-lake", "rig-formats", "rig-kills", "rig-prefect",
    }  # fmt: skip


def test_a_clean_clone_proves_once_more_what_a_commit_claims(project: Project) -> None:
    stamp_all(project)
    assert due(project) == set()  # not committed yet: this machine has just proven it
    project.commit("code, with its stamps")
    assert due(project) == {"demo", "test"}
    assert planned(Units(project.root), "test").why == "this commit brings its stamp"
    write_stamps(project.root, "demo", [])  # as this run may leave it
    assert "test" in due(project)
    project.git("checkout", "--quiet", ".")
    project.write("README.md", "More words.\n")
    project.commit("prose")
    assert due(project) == set()


def test_a_merge_that_brings_a_stamp_is_proven_too(project: Project) -> None:
    project.git("checkout", "--quiet", "-b", "branch")
    stamp_all(project)
    project.commit("stamps")
    project.git("checkout", "--quiet", "-")
    project.git("merge", "--quiet", "--no-ff", "--message", "joined", "branch")
    assert due(project) == {"demo", "test"}


def test_the_table_says_what_is_run_and_why(project: Project) -> None:
    stamp_all(project)
    project.write("tests/long/test_board.py", "# changed\n")
    lines = table(list(plan(Units(project.root)))).splitlines()
    said = {line.split()[0]: " ".join(line.split()[1:]) for line in lines}
    assert said["demo"] == "- stamped"
    assert said["test-long"] == "1 of 2 it reaches what was changed"
    assert said["lint"] == said["prose"] == "yes always"


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_planned(target: str, project: Project) -> None:
    assert planned(Units(project.root), target).why == "no stamp"
