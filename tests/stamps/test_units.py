"""A target's sha: of what its rule starts, and of the rule itself."""

import pytest

from tests.stamps.made_project import MAKEFILE, Project
from tests.stamps.units import Makefile, Units


@pytest.mark.parametrize(
    ("target", "path", "matters"),
    [
        ("demo", "configs/judges.yaml", True),
        ("demo", "tasks/store/sql/one.sql", True),
        ("demo", "tests/rigs/kills.py", False),
        ("rig-kills", "configs/judges.yaml", True),
        ("rig-kills", "tasks/other.py", True),
        ("rig-kills", "tests/rigs/kills.py", True),
        ("rig-kills", "tests/conftest.py", False),
        ("rig-questions", "tasks/other.py", True),
        ("rig-questions", "tasks/board.py", False),
        ("rig-questions", "configs/judges.yaml", False),
        ("rig-formats", "../shared/data/wlc/articles.md", True),
        ("rig-formats", "../shared/data/other.csv", False),
        ("test", "tests/tasks/test_shares.py", True),
        ("test", "tests/tasks/test_new.py", True),
        ("test", "tests/long/test_board.py", False),
        ("test-lake", "tests/tasks/conftest.py", True),
        ("test-lake", "tests/test_new.py", False),
        *((target, "README.md", False) for target in ("demo", "test", "rig-kills")),
    ],
)
def test_a_change_matters_to_a_target_that_reaches_it(
    target: str, path: str, matters: bool, project: Project
) -> None:
    before = project.sha(target)
    old = (project.root / path).read_text("utf-8") if (project.root / path).exists() else ""
    project.write(path, f"{old}# changed\n")
    assert (project.sha(target) != before) == matters


def test_long_tests_have_a_stamp_for_each_file(project: Project) -> None:
    units = Units(project.root)
    board, other = "tests/long/test_board.py", "tests/long/test_other.py"
    assert units.names("test-long") == [board, other]
    before = {name: project.sha("test-long", name) for name in (board, other)}
    project.write("tasks/other.py", "# changed\n")
    assert project.sha("test-long", board) == before[board]
    assert project.sha("test-long", other) != before[other]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("tests.rigs.questions --items", "tests.rigs.questions --more --items", {"rig-questions"}),
        ("touch $@", "echo > $@", {"rig-local-model"}),
        ("ITEMS ?= 25", "ITEMS ?= 4", {"demo", "rig-questions", "rig-local-model", "test"}),
        ("## Show it", "## Show what there is", set()),
    ],
)
def test_the_rule_counts_and_what_it_makes_first(
    old: str, new: str, changed: set[str], project: Project
) -> None:
    targets = ("demo", "rig-questions", "rig-local-model", "test")
    before = {target: project.sha(target) for target in targets}
    assert old in MAKEFILE
    project.write("Makefile", MAKEFILE.replace(old, new))
    assert {target for target in targets if project.sha(target) != before[target]} == changed


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", {"tests/long/test_board.py", "tests/long/test_other.py",
              "tests/tasks/test_reading.py", "tests/tasks/test_shares.py"}),
        ("--ignore tests/long", {"tests/tasks/test_reading.py", "tests/tasks/test_shares.py"}),
        ("tests/long/test_board.py tests/tasks/ --ignore=tests/tasks/test_shares.py -n 2",
         {"tests/long/test_board.py", "tests/tasks/test_reading.py"}),
        ("-m slow", {"tests/long/test_board.py"}),
        ("-m 'not slow' tests/long", {"tests/long/test_board.py", "tests/long/test_other.py"}),
    ],
)  # fmt: skip
def test_pytest_is_given_paths_and_a_marker(
    options: str, found: set[str], project: Project
) -> None:
    project.write("tests/long/test_board.py", "@pytest.mark.slow\ndef test_it(): pass\n")
    project.write("Makefile", f"test:\n\tpython -m pytest {options} \\\n\t  $(PYTEST)\n")
    assert {*Units(project.root).tests("test")} == found


def test_a_makefile_is_read_as_make_reads_it() -> None:
    read = Makefile("A := 1\nb c: d ## Help: it\n\techo x; \\\n\t  echo y\n\nd: | e\n\ttouch d\n")
    assert read.settings == "A := 1\n"
    assert read.text("d") == "A := 1\nd: | e\n\ttouch d\n"
    assert "echo y" in read.rules["b c"]
    assert "Help" not in read.rules["b c"]
