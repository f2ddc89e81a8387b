"""Who gets a stamp: what passed, and was not skipped for a reason that nobody allowed."""

from collections import Counter
from pathlib import Path

import pytest

from tests.stamps.made_project import Project
from tests.stamps.outcomes import Outcome
from tests.stamps.plan import planned
from tests.stamps.proving import prove
from tests.stamps.stamps import LACKING, Stamp, read_stamps, refusal, unproven, write_stamps
from tests.stamps.units import Units

SHARES = "tests/tasks/test_shares.py"
BOARD = "tests/long/test_board.py"
OTHER = "tests/long/test_other.py"
PASSES = "import pytest\ndef test_it(): pass\n"
FAILS = "def test_it(): assert False\n"
SKIPPED = "import pytest\ndef test_it(): pass\ndef test_more(): pytest.skip('no browser')\n"


def proven(project: Project, target: str) -> tuple[int, dict[str, tuple[str, ...]]]:
    """Run what no stamp covers: make's exit code, and the stamps there are."""
    units = Units(project.root)
    code = prove(units, target, planned(units, target).names)
    return code, {stamp.name: stamp.unproven for stamp in read_stamps(project.root, target)}


def is_due(project: Project, target: str) -> bool:
    return bool(planned(Units(project.root), target).names)


def test_what_passed_is_stamped_and_no_longer_due(project: Project) -> None:
    assert is_due(project, "test")
    assert proven(project, "test") == (0, {"test": ()})
    assert not is_due(project, "test")
    project.write("tasks/metrics/shares.py", "share = 1.0\n")
    assert is_due(project, "test")


@pytest.mark.parametrize("code", [FAILS, SKIPPED, "import nothing\n"])
def test_what_failed_or_was_skipped_is_not_stamped(code: str, project: Project) -> None:
    project.write("tests/test_new.py", code)
    assert proven(project, "test")[1] == {}


@pytest.mark.parametrize("workers", [0, 1])
def test_of_several_files_those_are_stamped_that_passed_whole(
    workers: int, project: Project
) -> None:
    fixture = "import pytest\n@pytest.fixture\ndef bad():\n"
    whole = {
        "passes": PASSES,
        "fails_as_expected": f"import pytest\n@pytest.mark.xfail\n{FAILS}",
    }
    broken = {
        "fails": PASSES + FAILS.replace("test_it", "test_more"),
        "skips": SKIPPED,
        "skips_at_once": "import pytest\npytest.importorskip('nothing')\n",
        "begins_badly": f"{fixture}    return 1 / 0\ndef test_it(bad): pass\n",
        "ends_badly": f"{fixture}    yield\n    1 / 0\ndef test_it(bad): pass\n",
    }
    for name, code in (whole | broken).items():
        project.write(f"tests/long/test_{name}.py", code)
    makefile = (project.root / "Makefile").read_text("utf-8")
    project.write("Makefile", makefile.replace("-q tests/long", f"-q tests/long -n {workers}"))
    project.write(BOARD, "import nothing\n" if workers else FAILS)  # else none would be run
    ended, stamps = proven(project, "test-long")
    assert ended != 0
    assert stamps == {OTHER: ()} | {f"tests/long/test_{name}.py": () for name in whole}


def test_a_failure_takes_back_the_stamp_there_was(project: Project) -> None:
    proven(project, "test")
    project.write(SHARES, FAILS)
    code, stamps = proven(project, "test")
    assert code != 0
    assert stamps == {}


def test_long_tests_are_run_and_stamped_file_by_file(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write(BOARD, FAILS)
    code, stamps = proven(project, "test-long")
    assert code != 0
    assert stamps == {OTHER: ()}
    assert f"{BOARD}: no stamp, it failed" in capfd.readouterr().out
    project.write(BOARD, PASSES)
    assert planned(Units(project.root), "test-long").names == [BOARD]
    assert proven(project, "test-long") == (0, {BOARD: (), OTHER: ()})
    assert "1 passed" in capfd.readouterr().out
    (project.root / OTHER).unlink()
    project.write(BOARD, f"{PASSES}# changed\n")
    assert proven(project, "test-long") == (0, {BOARD: ()})


def test_a_run_that_is_cut_short_stamps_nothing(project: Project) -> None:
    project.write(BOARD, "def test_it(): raise KeyboardInterrupt\n")
    code, stamps = proven(project, "test-long")
    assert code != 0
    assert stamps == {}


def test_what_is_lacking_by_permission_is_told_each_time(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LACKING, "needs a Docker engine", lambda: True)
    skipped = PASSES + "def test_b(): pytest.skip('needs a Docker engine: no answer')\n"
    project.write(SHARES, skipped)
    assert proven(project, "test") == (0, {"test": ("needs a Docker engine (1)",)})
    assert "test: not proven: needs a Docker engine (1)" in capfd.readouterr().out
    row = planned(Units(project.root), "test")
    assert (row.names, row.unproven) == ([], ["test: needs a Docker engine (1)"])
    monkeypatch.setitem(LACKING, "needs a Docker engine", lambda: False)  # another machine has one
    assert is_due(project, "test")


def test_a_rig_is_stamped_when_it_passes(project: Project) -> None:
    assert proven(project, "rig-questions") == (0, {"rig-questions": ()})
    assert not is_due(project, "rig-questions")


@pytest.mark.parametrize("code", ["print('Skipped: no compiler.')\n", "raise SystemExit(1)\n"])
def test_a_rig_that_fails_or_says_it_was_skipped_is_not_stamped(
    code: str, project: Project
) -> None:
    proven(project, "rig-questions")
    project.write("tests/rigs/questions.py", code)
    proven(project, "rig-questions")
    assert is_due(project, "rig-questions")


def test_what_changes_while_it_runs_is_not_stamped(project: Project) -> None:
    project.write("tests/rigs/questions.py", "import tasks.other\n"
                  "open('tasks/other.py', 'a').write('# changed')\n")  # fmt: skip
    assert proven(project, "rig-questions") == (0, {})
    project.write("tests/rigs/questions.py", "open('README.md', 'a').write('changed')\n")
    assert proven(project, "rig-questions") == (0, {"rig-questions": ()})


def test_stamps_are_lines_in_order_and_two_branches_may_be_joined(tmp_path: Path) -> None:
    stamps = [Stamp("b", "2"), Stamp("a", "1", ("needs a Docker engine (8)",)), Stamp("b", "3")]
    write_stamps(tmp_path, "test-long", stamps)
    assert (tmp_path / ".ci/stamps/test-long").read_text("utf-8") == (
        "a\t1\tneeds a Docker engine (8)\nb\t2\nb\t3\n"
    )
    assert read_stamps(tmp_path, "test-long") == sorted(stamps)


def test_reasons_are_counted_together_and_others_refuse_the_stamp() -> None:
    allowed = Counter({"needs a Docker engine: a": 2, "needs a Docker engine: b": 1})
    assert refusal(Outcome(1, 0, allowed)) is None
    assert unproven(Outcome(1, 0, allowed)) == ("needs a Docker engine (3)",)
    assert refusal(Outcome(1, 0, allowed + Counter(["no browser"]))) == "skipped: no browser"
    assert refusal(Outcome(3, 1)) == "it failed"
    assert refusal(Outcome()) == "no test was run"
